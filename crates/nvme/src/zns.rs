//! Zoned namespaces: the structures of the Zoned Namespace Command Set 1.1.

use crate::bytes::{bits, put};
use crate::identify::IDENTIFY_BYTES;
use base::bytes::{u8_at, u16_at, u32_at, u64_at};

/// Number of the command set (CSI).
pub const COMMAND_SET: u8 = 2;
/// Bytes before the zones of a report.
pub const REPORT_HEADER_BYTES: usize = 64;
/// Bytes of a zone in a report.
pub const DESCRIPTOR_BYTES: usize = 64;

/// Bytes of the log of changed zones.
pub const CHANGED_BYTES: usize = 4096;
/// Zones that it has room for.
pub const CHANGED_MAX: usize = 511;
/// Its count where there are more.
const CHANGED_TOO_MANY: u16 = 0xffff;

/// Opcodes of its commands.
pub mod opcode {
    pub const MANAGEMENT_SEND: u8 = 0x79;
    pub const MANAGEMENT_RECEIVE: u8 = 0x7a;
    pub const APPEND: u8 = 0x7d;
}

/// Orders of Zone Management Send.
pub mod send {
    pub const CLOSE: u8 = 0x01;
    pub const FINISH: u8 = 0x02;
    pub const OPEN: u8 = 0x03;
    pub const RESET: u8 = 0x04;
    pub const OFFLINE: u8 = 0x05;
}

/// States of a zone.
pub mod state {
    pub const EMPTY: u8 = 0x1;
    pub const IMPLICITLY_OPEN: u8 = 0x2;
    pub const EXPLICITLY_OPEN: u8 = 0x3;
    pub const CLOSED: u8 = 0x4;
    pub const READ_ONLY: u8 = 0xd;
    pub const FULL: u8 = 0xe;
    pub const OFFLINE: u8 = 0xf;

    /// States in the order in which Zone Management Receive chooses among them, from 1.
    pub const CHOICES: [u8; 7] =
        [EMPTY, IMPLICITLY_OPEN, EXPLICITLY_OPEN, CLOSED, FULL, READ_ONLY, OFFLINE];
}

/// A zone in a report; blocks are those of the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneDescriptor {
    /// One of [`state`].
    pub state: u8,
    /// Blocks that it can hold.
    pub capacity_blocks: u64,
    /// First block.
    pub start: u64,
    /// The write pointer, or `None` if the zone takes no writes.
    pub write_pointer: Option<u64>,
}

impl ZoneDescriptor {
    /// Type: it must be written in order.
    const SEQUENTIAL: u8 = 0x2;

    /// Decodes the 64 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        let write_pointer = u64_at(bytes, 24);
        Self {
            state: u8_at(bytes, 1) >> 4,
            capacity_blocks: u64_at(bytes, 8),
            start: u64_at(bytes, 16),
            write_pointer: (write_pointer != u64::MAX).then_some(write_pointer),
        }
    }

    /// The 64 bytes.
    pub fn encode(&self) -> [u8; DESCRIPTOR_BYTES] {
        let mut bytes = [0; DESCRIPTOR_BYTES];
        put(&mut bytes, 0, [Self::SEQUENTIAL, self.state << 4]);
        put(&mut bytes, 8, self.capacity_blocks.to_le_bytes());
        put(&mut bytes, 16, self.start.to_le_bytes());
        put(&mut bytes, 24, self.write_pointer.unwrap_or(u64::MAX).to_le_bytes());
        bytes
    }
}

/// A report of these zones in so many bytes. Its count is that of all of them, or of those that it holds.
pub fn report(zones: &[ZoneDescriptor], bytes: usize, counts_held: bool) -> Vec<u8> {
    let room = bytes.saturating_sub(REPORT_HEADER_BYTES) / DESCRIPTOR_BYTES;
    let held = &zones[..room.min(zones.len())];
    let count = if counts_held { held.len() } else { zones.len() };
    let mut report = vec![0; REPORT_HEADER_BYTES];
    put(&mut report, 0, (count as u64).to_le_bytes());
    report.extend(held.iter().flat_map(ZoneDescriptor::encode));
    report.resize(bytes, 0);
    report
}

/// The count of a report, and the zones that it holds.
pub fn zones_of(report: &[u8]) -> (u64, Vec<ZoneDescriptor>) {
    let count = u64_at(report, 0);
    let descriptors = report.get(REPORT_HEADER_BYTES..).unwrap_or_default();
    let held = descriptors.chunks_exact(DESCRIPTOR_BYTES).map(ZoneDescriptor::decode);
    (count, held.take(count as usize).collect())
}

/// The log of changed zones (BFh): their first blocks, or none if they are too many.
pub fn changed(starts: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; CHANGED_BYTES];
    if starts.len() > CHANGED_MAX {
        put(&mut bytes, 0, CHANGED_TOO_MANY.to_le_bytes());
        return bytes;
    }
    put(&mut bytes, 0, (starts.len() as u16).to_le_bytes());
    let places = (8..).step_by(8);
    places.zip(starts).for_each(|(at, start)| put(&mut bytes, at, start.to_le_bytes()));
    bytes
}

/// First blocks of the zones in that log, or `None` if they are too many.
pub fn changed_of(bytes: &[u8]) -> Option<Vec<u64>> {
    let count = u16_at(bytes, 0);
    (count != CHANGED_TOO_MANY).then(|| {
        let count = usize::from(count).min(CHANGED_MAX);
        (0..count).map(|index| u64_at(bytes, 8 + 8 * index)).collect()
    })
}

/// Answer to Identify of a zoned namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedNamespace {
    /// Most zones open or closed at a time.
    pub active_max: u32,
    /// Most zones open at a time.
    pub open_max: u32,
    /// Blocks from one zone to the next.
    pub zone_blocks: u64,
    /// Index of the LBA format that has zones of this size.
    pub lba_format: u8,
}

impl ZonedNamespace {
    /// Bytes before the sizes of zones, 16 bytes for each LBA format.
    const FORMATS: usize = 2816;

    /// Decodes the 4,096 bytes for this LBA format. Missing bytes count as zero.
    pub fn decode(bytes: &[u8], lba_format: u8) -> Self {
        Self {
            active_max: u32_at(bytes, 4).wrapping_add(1),
            open_max: u32_at(bytes, 8).wrapping_add(1),
            zone_blocks: u64_at(bytes, Self::FORMATS + 16 * usize::from(lba_format)),
            lba_format,
        }
    }

    /// The 4,096 bytes: a zone has no descriptor extension, and no read crosses a border.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; IDENTIFY_BYTES];
        put(&mut bytes, 4, self.active_max.wrapping_sub(1).to_le_bytes());
        put(&mut bytes, 8, self.open_max.wrapping_sub(1).to_le_bytes());
        let at = Self::FORMATS + 16 * usize::from(self.lba_format);
        put(&mut bytes, at, self.zone_blocks.to_le_bytes());
        bytes
    }
}

/// An order of Zone Management Send as dword 13.
pub fn send_dword(order: u8, all: bool) -> u32 {
    u32::from(order) | bits(&[(8, all)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn zones_survive_the_wire(
            zones in prop::collection::vec((1_u8..16, 0..u64::MAX, 0..u64::MAX, any::<bool>()), 0..20),
            room in 0_usize..20,
        ) {
            let zones: Vec<_> = zones
                .into_iter()
                .map(|(state, capacity_blocks, start, is_writable)| ZoneDescriptor {
                    state, capacity_blocks, start, write_pointer: is_writable.then_some(start),
                })
                .collect();
            let bytes = REPORT_HEADER_BYTES + room * DESCRIPTOR_BYTES + 4;
            let held = zones[..room.min(zones.len())].to_vec();
            for (counts_held, count) in [(false, zones.len()), (true, held.len())] {
                let report = report(&zones, bytes, counts_held);
                prop_assert_eq!(report.len(), bytes);
                let (found, mut listed) = zones_of(&report);
                listed.truncate(held.len());
                prop_assert_eq!((found, listed), (count as u64, held.clone()));
            }
        }

        #[test]
        fn changed_zones_survive_the_wire(starts in prop::collection::vec(any::<u64>(), 0..514)) {
            let expected = (starts.len() <= CHANGED_MAX).then(|| starts.clone());
            prop_assert_eq!(changed_of(&changed(&starts)), expected);
        }

        #[test]
        fn a_zoned_namespace_survives_the_wire(
            (active_max, open_max, zone_blocks) in any::<(u32, u32, u64)>(), lba_format in 0_u8..64,
        ) {
            let namespace = ZonedNamespace { active_max, open_max, zone_blocks, lba_format };
            prop_assert_eq!(ZonedNamespace::decode(&namespace.encode(), lba_format), namespace);
        }
    }
}
