//! Commands of the NVM command set as plain data, and as the kernel takes them for passthrough.

use nvme::fdp;

/// Size of `struct nvme_uring_cmd` of linux/nvme_ioctl.h and of the field of a queue entry that holds it.
pub const URING_COMMAND_BYTES: usize = 80;
/// Size of one range of a Dataset Management command.
pub const RANGE_BYTES: usize = 16;

/// `NVME_URING_CMD_IO`, `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
pub const NVME_URING_CMD_IO: u32 = 0xc048_4e80;

/// Forced unit access, in command dword 12 of a write.
const FUA: u32 = 1 << 30;
/// Attribute Deallocate, in command dword 11 of Dataset Management.
const DEALLOCATE: u32 = 1 << 2;

/// Blocks of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The first one.
    pub start: u64,
    /// Number of blocks, at least one.
    pub count: u32,
}

/// One I/O command, without the place of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoCommand {
    /// Opcode.
    pub opcode: u8,
    /// Namespace.
    pub namespace_id: u32,
    /// Command dwords 10 to 13; those after are 0.
    pub dwords: [u32; 4],
}

impl IoCommand {
    /// Flush: makes acknowledged writes durable.
    pub const fn flush(namespace_id: u32) -> Self {
        Self { opcode: 0x00, namespace_id, dwords: [0; 4] }
    }

    /// Write; with `fua` it ends when the data is durable.
    pub const fn write(namespace_id: u32, blocks: Blocks, fua: bool) -> Self {
        let mut command = Self::transfer(0x01, namespace_id, blocks);
        command.dwords[2] |= if fua { FUA } else { 0 };
        command
    }

    /// Zone Append into the zone that begins at `zone`: writes so many blocks at its end, wherever that is.
    pub const fn append(namespace_id: u32, zone: u64, count: u32, fua: bool) -> Self {
        let write = Self::write(namespace_id, Blocks { start: zone, count }, fua);
        Self { opcode: 0x7d, ..write }
    }

    /// The same write or append, with its data at this placement identifier.
    #[must_use]
    pub const fn placed(mut self, identifier: u16) -> Self {
        self.dwords[2] |= (fdp::DIRECTIVE as u32) << 20;
        self.dwords[3] = (identifier as u32) << 16;
        self
    }

    /// I/O Management Receive of the states of the placement handles, in so many bytes.
    pub const fn placement_handles(namespace_id: u32, bytes: u32) -> Self {
        // The number of dwords counts from 0.
        let dwords = [fdp::HANDLE_STATUS as u32, bytes / 4 - 1, 0, 0];
        Self { opcode: fdp::opcode::MANAGEMENT_RECEIVE, namespace_id, dwords }
    }

    /// Read.
    pub const fn read(namespace_id: u32, blocks: Blocks) -> Self {
        Self::transfer(0x02, namespace_id, blocks)
    }

    /// Dataset Management that deallocates one range, which is its data ([`deallocate_range`]).
    pub const fn deallocate(namespace_id: u32) -> Self {
        // The number of ranges counts from 0.
        Self { opcode: 0x09, namespace_id, dwords: [0, DEALLOCATE, 0, 0] }
    }

    const fn transfer(opcode: u8, namespace_id: u32, blocks: Blocks) -> Self {
        let Blocks { start, count } = blocks;
        // The number of blocks counts from 0 and has 16 bits.
        let dwords = [start as u32, (start >> 32) as u32, (count - 1) & 0xffff, 0];
        Self { opcode, namespace_id, dwords }
    }

    /// `struct nvme_uring_cmd` with data at `address`. The time limit stays that of the kernel.
    #[inline]
    pub fn for_ring(&self, address: u64, data_bytes: u32) -> [u8; URING_COMMAND_BYTES] {
        let mut bytes = [0; URING_COMMAND_BYTES];
        bytes[0] = self.opcode;
        bytes[4..8].copy_from_slice(&self.namespace_id.to_le_bytes());
        bytes[24..32].copy_from_slice(&address.to_le_bytes());
        bytes[36..40].copy_from_slice(&data_bytes.to_le_bytes());
        for (at, dword) in (40..).step_by(4).zip(self.dwords) {
            bytes[at..at + 4].copy_from_slice(&dword.to_le_bytes());
        }
        bytes
    }
}

/// A range of Dataset Management without context attributes.
pub fn deallocate_range(blocks: Blocks) -> [u8; RANGE_BYTES] {
    let mut bytes = [0; RANGE_BYTES];
    bytes[4..8].copy_from_slice(&blocks.count.to_le_bytes());
    bytes[8..].copy_from_slice(&blocks.start.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: Blocks = Blocks { start: 0x0123_4567_89ab_cdef, count: 256 };

    /// Figures of the NVM Command Set Specification 1.0: opcodes in 3, Read in 3.2.4, Write in 3.2.6,
    /// Dataset Management in 3.2.3, Zone Append in 3.4.1 of the Zoned Namespace Command Set 1.1, Flush in the base specification 2.0, 7.1.
    #[test]
    fn commands_are_those_of_the_specification() {
        let place = [0x89ab_cdef, 0x0123_4567];
        let read = IoCommand::read(7, BLOCKS);
        assert_eq!((read.opcode, read.namespace_id), (0x02, 7));
        assert_eq!(read.dwords, [place[0], place[1], 255, 0], "SLBA, SLBA, NLB counted from 0");
        let write = IoCommand::write(7, BLOCKS, false);
        assert_eq!((write.opcode, write.dwords), (0x01, read.dwords));
        let durable = IoCommand::write(7, Blocks { count: 1, ..BLOCKS }, true);
        assert_eq!(durable.dwords, [place[0], place[1], 1 << 30, 0], "FUA is bit 30");
        let append = IoCommand::append(7, BLOCKS.start, 1, true);
        assert_eq!(
            (append.opcode, append.dwords),
            (0x7d, durable.dwords),
            "ZSLBA in place of SLBA"
        );
        let deallocate = IoCommand::deallocate(7);
        assert_eq!((deallocate.opcode, deallocate.dwords), (0x09, [0, 0b100, 0, 0]), "NR, AD");
        let flush = IoCommand::flush(7);
        assert_eq!((flush.opcode, flush.namespace_id, flush.dwords), (0x00, 7, [0; 4]));
    }

    /// Directive type in bits 23:20 of dword 12, its specific field in bits 31:16 of dword 13: figures of Write, Zone Append
    /// and I/O Management Receive in TP4146.
    #[test]
    fn a_write_names_its_placement_identifier() {
        let write = IoCommand::write(7, BLOCKS, true);
        let placed = write.placed(0x8003);
        let expected =
            [write.dwords[0], write.dwords[1], write.dwords[2] | 0x0020_0000, 0x8003_0000];
        assert_eq!((placed.opcode, placed.dwords), (0x01, expected));
        let bytes = placed.for_ring(0, 0);
        assert_eq!(bytes[48..56], [0xff, 0, 0x20, 0x40, 0, 0, 0x03, 0x80]);
        let append = IoCommand::append(7, BLOCKS.start, 256, true).placed(0x8003);
        assert_eq!((append.opcode, append.dwords), (0x7d, expected));
        let receive = IoCommand::placement_handles(7, 4096);
        assert_eq!((receive.opcode, receive.namespace_id), (0x12, 7));
        assert_eq!(receive.dwords, [1, 1023, 0, 0], "MO, NUMD counted from 0");
    }

    #[test]
    fn the_longest_transfer_fits_its_field() {
        let longest = IoCommand::write(1, Blocks { start: 0, count: 65_536 }, true);
        assert_eq!(longest.dwords[2], 1 << 30 | 0xffff);
    }

    #[test]
    fn a_range_is_attributes_length_and_start() {
        let range = deallocate_range(Blocks { start: 0x1122_3344_5566_7788, count: 0x99aa_bbcc });
        let expected = [
            0, 0, 0, 0, // context attributes
            0xcc, 0xbb, 0xaa, 0x99, // length in blocks
            0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, // starting LBA
        ];
        assert_eq!(range, expected);
    }

    /// Offsets of `struct nvme_uring_cmd`: opcode 0, nsid 4, metadata 16, addr 24, metadata_len 32,
    /// data_len 36, cdw10 40 to cdw15 60, timeout_ms 64.
    #[test]
    fn the_kernel_finds_each_field_in_its_place() {
        let bytes =
            IoCommand::write(0x0403_0201, BLOCKS, true).for_ring(0xf00d_0000_1000, 0x2_0000);
        let mut expected = [0; URING_COMMAND_BYTES];
        expected[0] = 0x01;
        expected[4..8].copy_from_slice(&[1, 2, 3, 4]);
        expected[24..32].copy_from_slice(&[0, 0x10, 0, 0, 0x0d, 0xf0, 0, 0]);
        expected[36..40].copy_from_slice(&[0, 0, 2, 0]);
        expected[40..48].copy_from_slice(&[0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01]);
        expected[48..52].copy_from_slice(&[0xff, 0, 0, 0x40]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn the_request_has_the_number_of_the_kernel() {
        // Direction both ways, 72 bytes, type 'N', number 0x80.
        let expected = 3 << 30 | 72 << 16 | u32::from(b'N') << 8 | 0x80;
        assert_eq!(NVME_URING_CMD_IO, expected);
    }
}
