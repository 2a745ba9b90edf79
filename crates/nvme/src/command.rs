//! Commands and completions.

use base::bytes::{array, u16_at, u32_at, u64_at};

use crate::bytes::put;
use crate::status::CommandStatus;

/// Bytes of a command.
pub const COMMAND_BYTES: usize = 64;
/// Bytes of a completion.
pub const COMPLETION_BYTES: usize = 16;
/// Bytes of a range of Dataset Management.
pub const RANGE_BYTES: usize = 16;
/// Bytes of a source of Copy in descriptor format 0.
pub const COPY_SOURCE_BYTES: usize = 32;

/// Opcode of the commands of fabrics; their type is in the first byte of the namespace.
pub const FABRICS: u8 = 0x7f;
/// Every namespace of a controller.
pub const ALL_NAMESPACES: u32 = 0xffff_ffff;

/// Opcodes of admin commands.
pub mod admin {
    pub const GET_LOG_PAGE: u8 = 0x02;
    pub const IDENTIFY: u8 = 0x06;
    pub const ABORT: u8 = 0x08;
    pub const SET_FEATURES: u8 = 0x09;
    pub const GET_FEATURES: u8 = 0x0a;
    pub const ASYNC_EVENT: u8 = 0x0c;
    pub const NAMESPACE_MANAGEMENT: u8 = 0x0d;
    pub const SELF_TEST: u8 = 0x14;
    pub const NAMESPACE_ATTACHMENT: u8 = 0x15;
    pub const KEEP_ALIVE: u8 = 0x18;
    pub const DIRECTIVE_RECEIVE: u8 = 0x1a;
    pub const FORMAT: u8 = 0x80;
    pub const SANITIZE: u8 = 0x84;
}

/// Opcodes of commands of the NVM command set.
pub mod nvm {
    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    pub const WRITE_UNCORRECTABLE: u8 = 0x04;
    pub const COMPARE: u8 = 0x05;
    pub const WRITE_ZEROES: u8 = 0x08;
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    pub const VERIFY: u8 = 0x0c;
    pub const COPY: u8 = 0x19;
}

/// The place and length of the data of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataDescriptor {
    /// Offset in the capsule for data in it, else unused.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// Type in bits 7:4 and subtype in bits 3:0.
    pub kind: u8,
}

impl DataDescriptor {
    /// Data that comes in the capsule of the command.
    pub const IN_CAPSULE: u8 = 0x01;
    /// Data that the transport carries apart from the command.
    pub const TRANSPORT: u8 = 0x5a;
}

/// A command as a host sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub opcode: u8,
    /// Fused operation in bits 1:0, kind of the data pointer in bits 7:6.
    pub flags: u8,
    /// Chosen by the host, for the completion.
    pub id: u16,
    /// Namespace; of a command of fabrics its type in bits 7:0.
    pub namespace_id: u32,
    /// Place of the data.
    pub data: DataDescriptor,
    /// Command dwords 10 to 15.
    pub dwords: [u32; 6],
}

impl Command {
    /// The flag of a data pointer that is a descriptor (PSDT), the only one over fabrics.
    pub const DESCRIPTOR: u8 = 1 << 6;

    /// Decodes the 64 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        let [opcode, flags] = array(bytes, 0);
        let offset = u64_at(bytes, 24);
        let data =
            DataDescriptor { offset, bytes: u32_at(bytes, 32), kind: array::<1>(bytes, 39)[0] };
        let dwords = [0, 1, 2, 3, 4, 5].map(|index| u32_at(bytes, 40 + 4 * index));
        let (id, namespace_id) = (u16_at(bytes, 2), u32_at(bytes, 4));
        Self { opcode, flags, id, namespace_id, data, dwords }
    }

    /// The 64 bytes.
    pub fn encode(&self) -> [u8; COMMAND_BYTES] {
        let mut bytes = [0; COMMAND_BYTES];
        put(&mut bytes, 0, [self.opcode, self.flags]);
        put(&mut bytes, 2, self.id.to_le_bytes());
        put(&mut bytes, 4, self.namespace_id.to_le_bytes());
        put(&mut bytes, 24, self.data.offset.to_le_bytes());
        put(&mut bytes, 32, self.data.bytes.to_le_bytes());
        put(&mut bytes, 39, [self.data.kind]);
        for (index, dword) in self.dwords.iter().enumerate() {
            put(&mut bytes, 40 + 4 * index, dword.to_le_bytes());
        }
        bytes
    }

    /// The number in two dwords, of which `low` is the index of the first.
    pub fn u64_in(&self, low: usize) -> u64 {
        u64::from(self.dwords[low]) | u64::from(self.dwords[low + 1]) << 32
    }

    /// Whether its data goes from the host to the controller; meaningless without data.
    pub fn takes_data(&self) -> bool {
        let direction = if self.opcode == FABRICS { self.namespace_id as u8 } else { self.opcode };
        direction & 0b11 == 0b01
    }
}

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Result of the command.
    pub result: u64,
    /// Head of the submission queue.
    pub queue_head: u16,
    /// Number of the submission queue.
    pub queue_id: u16,
    /// The number that the host gave the command.
    pub command_id: u16,
    pub status: CommandStatus,
}

impl Completion {
    /// Decodes the 16 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        Self {
            result: u64_at(bytes, 0),
            queue_head: u16_at(bytes, 8),
            queue_id: u16_at(bytes, 10),
            command_id: u16_at(bytes, 12),
            status: CommandStatus(u16_at(bytes, 14) >> 1),
        }
    }

    /// The 16 bytes; the phase bit, which fabrics do not have, is 0.
    pub fn encode(&self) -> [u8; COMPLETION_BYTES] {
        let mut bytes = [0; COMPLETION_BYTES];
        put(&mut bytes, 0, self.result.to_le_bytes());
        put(&mut bytes, 8, self.queue_head.to_le_bytes());
        put(&mut bytes, 10, self.queue_id.to_le_bytes());
        put(&mut bytes, 12, self.command_id.to_le_bytes());
        put(&mut bytes, 14, (self.status.0 << 1).to_le_bytes());
        bytes
    }
}

/// A range of Dataset Management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetRange {
    /// Context attributes.
    pub attributes: u32,
    /// Number of blocks.
    pub blocks: u32,
    /// First block.
    pub start: u64,
}

impl DatasetRange {
    /// Decodes the 16 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        Self { attributes: u32_at(bytes, 0), blocks: u32_at(bytes, 4), start: u64_at(bytes, 8) }
    }

    /// The 16 bytes.
    pub fn encode(&self) -> [u8; RANGE_BYTES] {
        let mut bytes = [0; RANGE_BYTES];
        put(&mut bytes, 0, self.attributes.to_le_bytes());
        put(&mut bytes, 4, self.blocks.to_le_bytes());
        put(&mut bytes, 8, self.start.to_le_bytes());
        bytes
    }
}

/// A source of Copy, in descriptor format 0: without protection information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopySource {
    /// First block.
    pub start: u64,
    /// Number of blocks, from 1 to 65,536.
    pub blocks: u32,
}

impl CopySource {
    /// Decodes the 32 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        Self { start: u64_at(bytes, 8), blocks: u32::from(u16_at(bytes, 16)) + 1 }
    }

    /// The 32 bytes.
    pub fn encode(&self) -> [u8; COPY_SOURCE_BYTES] {
        let mut bytes = [0; COPY_SOURCE_BYTES];
        put(&mut bytes, 8, self.start.to_le_bytes());
        put(&mut bytes, 16, (self.blocks.wrapping_sub(1) as u16).to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn commands_and_completions_survive_the_wire(
            [opcode, flags, kind] in any::<[u8; 3]>(),
            (id, namespace_id, offset, bytes) in any::<(u16, u32, u64, u32)>(),
            dwords in any::<[u32; 6]>(),
            status in 0_u16..1 << 15,
        ) {
            let data = DataDescriptor { offset, bytes, kind };
            let command = Command { opcode, flags, id, namespace_id, data, dwords };
            prop_assert_eq!(Command::decode(&command.encode()), command);
            let completion = Completion {
                result: offset,
                queue_head: id,
                queue_id: namespace_id as u16,
                command_id: dwords[0] as u16,
                status: CommandStatus(status),
            };
            prop_assert_eq!(Completion::decode(&completion.encode()), completion);
            let range = DatasetRange { attributes: dwords[0], blocks: dwords[1], start: offset };
            prop_assert_eq!(DatasetRange::decode(&range.encode()), range);
            let source = CopySource { start: offset, blocks: u32::from(id) + 1 };
            prop_assert_eq!(CopySource::decode(&source.encode()), source);
        }
    }

    /// Figures 87 and 91 of the base specification 2.0.
    #[test]
    fn fields_lie_where_the_specification_has_them() {
        let data = DataDescriptor { offset: 0x10, bytes: 0x20, kind: DataDescriptor::TRANSPORT };
        let command = Command {
            opcode: 0x02,
            flags: 0x40,
            id: 0x0304,
            namespace_id: 5,
            data,
            dwords: [10, 11, 12, 13, 14, 15],
        };
        let bytes = command.encode();
        assert_eq!(
            (bytes[0], bytes[1], bytes[2], bytes[4], bytes[24], bytes[32], bytes[39]),
            (2, 0x40, 4, 5, 0x10, 0x20, 0x5a)
        );
        assert_eq!([40, 44, 48, 52, 56, 60].map(|at| bytes[at]), [10, 11, 12, 13, 14, 15]);
        assert_eq!(command.u64_in(0), 11 << 32 | 10);
        let status = CommandStatus::INVALID_FIELD;
        let completion =
            Completion { result: 7, queue_head: 8, queue_id: 9, command_id: 10, status };
        assert_eq!(completion.encode(), [7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 9, 0, 10, 0, 4, 0x80]);
    }
}
