//! Flexible data placement: the structures of TP4146, which is part of the base specification 2.1.
//!
//! The encoded log has one configuration, of one endurance group.

use base::bytes::{u8_at, u16_at, u32_at, u64_at, u128_at};

use crate::bytes::put;

/// Number of the endurance group.
pub const ENDURANCE_GROUP: u16 = 1;
/// Type of the directive of a write that names a placement identifier.
pub const DIRECTIVE: u8 = 2;
/// The operation of I/O Management Receive that returns the states of handles.
pub const HANDLE_STATUS: u8 = 1;
/// Bytes of the statistics, and of an event with the header before all of them.
pub const LOG_BYTES: usize = 64;

/// Kinds of events of hosts.
pub mod event {
    /// A host exchanged a reclaim unit before it was full.
    pub const UNIT_NOT_FULL: u8 = 0x00;
    /// A write named a placement identifier that there is not.
    pub const INVALID_PLACEMENT: u8 = 0x03;
}

/// Opcodes of its commands.
pub mod opcode {
    pub const MANAGEMENT_RECEIVE: u8 = 0x12;
    pub const MANAGEMENT_SEND: u8 = 0x1d;
}

/// Features of its own, by their numbers.
pub mod feature {
    pub const PLACEMENT: u8 = 0x1d;
    pub const EVENTS: u8 = 0x1e;
}

/// The configuration of an endurance group (log 20h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Reclaim groups, each with a placement identifier for every handle.
    pub groups: u32,
    /// The upper bits of a placement identifier that number its group.
    pub group_bits: u8,
    /// Reclaim unit handles.
    pub handles: u16,
    /// Whether moved data stays with its handle (persistently isolated).
    pub is_persistent: bool,
    /// Nominal size of a reclaim unit.
    pub unit_bytes: u64,
    /// Namespaces.
    pub namespaces: u32,
}

/// Types of handles.
const INITIALLY_ISOLATED: u8 = 1;
const PERSISTENTLY_ISOLATED: u8 = 2;
/// Attributes of a configuration (FDPA): it may be used; number of the upper bits of its identifiers.
const VALID: u8 = 1 << 7;
const GROUP_BITS: u8 = 0x0f;
/// Bytes before the configurations, and of one before its handles.
const HEADER_BYTES: usize = 16;
const CONFIGURATION_BYTES: usize = 64;

impl Configuration {
    /// The log with this configuration as its only one.
    pub fn encode(&self) -> Vec<u8> {
        let descriptor_bytes =
            (CONFIGURATION_BYTES + 4 * usize::from(self.handles)).next_multiple_of(8);
        let mut bytes = vec![0; HEADER_BYTES + descriptor_bytes];
        let size = bytes.len() as u32;
        put(&mut bytes, 4, size.to_le_bytes());
        put(&mut bytes, 16, (descriptor_bytes as u16).to_le_bytes());
        put(&mut bytes, 18, [VALID | self.group_bits & GROUP_BITS]);
        put(&mut bytes, 20, self.groups.to_le_bytes());
        put(&mut bytes, 24, self.handles.to_le_bytes());
        put(&mut bytes, 26, self.handles.saturating_sub(1).to_le_bytes());
        put(&mut bytes, 28, self.namespaces.to_le_bytes());
        put(&mut bytes, 32, self.unit_bytes.to_le_bytes());
        let kind = if self.is_persistent { PERSISTENTLY_ISOLATED } else { INITIALLY_ISOLATED };
        for handle in 0..usize::from(self.handles) {
            put(&mut bytes, HEADER_BYTES + CONFIGURATION_BYTES + 4 * handle, [kind]);
        }
        bytes
    }

    /// The configuration of this index in the log, or `None` if it is missing or not valid.
    pub fn decode(bytes: &[u8], index: u8) -> Option<Self> {
        let mut bytes = bytes.get(HEADER_BYTES..)?;
        for _ in 0..index {
            let descriptor_bytes = usize::from(u16_at(bytes, 0)).max(CONFIGURATION_BYTES);
            bytes = bytes.get(descriptor_bytes..)?;
        }
        let attributes = u8_at(bytes, 2);
        let kind = u8_at(bytes, CONFIGURATION_BYTES);
        (attributes & VALID != 0).then(|| Self {
            groups: u32_at(bytes, 4),
            group_bits: attributes & GROUP_BITS,
            handles: u16_at(bytes, 8),
            is_persistent: kind == PERSISTENTLY_ISOLATED,
            unit_bytes: u64_at(bytes, 16),
            namespaces: u32_at(bytes, 12),
        })
    }
}

/// The index of the configuration in force, from the result of Get Features (1Dh), or `None` if placement is off.
pub fn configuration_in_force(result: u32) -> Option<u8> {
    (result & 1 != 0).then_some((result >> 8) as u8)
}

/// The use of so many handles (log 21h): the controller gave all of them to the namespace.
pub fn usage(handles: u16) -> Vec<u8> {
    const BY_CONTROLLER: u8 = 2;
    let mut bytes = vec![0; 8 + 8 * usize::from(handles)];
    put(&mut bytes, 0, handles.to_le_bytes());
    (0..usize::from(handles)).for_each(|handle| put(&mut bytes, 8 + 8 * handle, [BY_CONTROLLER]));
    bytes
}

/// Bytes of an endurance group so far (log 22h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Written by hosts.
    pub host_written_bytes: u128,
    /// Written to the media.
    pub media_written_bytes: u128,
    /// Erased.
    pub media_erased_bytes: u128,
}

impl Statistics {
    /// The log.
    pub fn encode(&self) -> [u8; LOG_BYTES] {
        let mut bytes = [0; LOG_BYTES];
        for (index, counter) in
            [self.host_written_bytes, self.media_written_bytes, self.media_erased_bytes]
                .into_iter()
                .enumerate()
        {
            put(&mut bytes, 16 * index, counter.to_le_bytes());
        }
        bytes
    }

    /// Decodes the log. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        Self {
            host_written_bytes: u128_at(bytes, 0),
            media_written_bytes: u128_at(bytes, 16),
            media_erased_bytes: u128_at(bytes, 32),
        }
    }
}

/// An event of a host (log 23h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementEvent {
    /// Its kind, of those in [`event`].
    pub kind: u8,
    /// The placement identifier.
    pub placement: u16,
    /// The time of the event in milliseconds.
    pub time_ms: u64,
    /// The namespace.
    pub namespace_id: u32,
}

impl PlacementEvent {
    /// The log of these events.
    pub fn encode_all(events: &[Self]) -> Vec<u8> {
        const HAS_PLACEMENT_AND_NAMESPACE: u8 = 0b11;
        let mut bytes = vec![0; LOG_BYTES * (1 + events.len())];
        put(&mut bytes, 0, (events.len() as u32).to_le_bytes());
        for (index, event) in events.iter().enumerate() {
            let at = LOG_BYTES * (1 + index);
            put(&mut bytes, at, [event.kind, HAS_PLACEMENT_AND_NAMESPACE]);
            put(&mut bytes, at + 2, event.placement.to_le_bytes());
            // 48 bits; the two bytes behind them say where it comes from.
            put(&mut bytes, at + 4, (event.time_ms & 0xffff_ffff_ffff).to_le_bytes());
            put(&mut bytes, at + 12, event.namespace_id.to_le_bytes());
        }
        bytes
    }

    /// The events of a log. Missing bytes count as zero.
    pub fn decode_all(bytes: &[u8]) -> Vec<Self> {
        let count = u32_at(bytes, 0) as usize;
        let events = bytes.chunks_exact(LOG_BYTES).skip(1).take(count);
        let event = |bytes: &[u8]| Self {
            kind: u8_at(bytes, 0),
            placement: u16_at(bytes, 2),
            time_ms: u64_at(bytes, 4) & 0xffff_ffff_ffff,
            namespace_id: u32_at(bytes, 12),
        };
        events.map(event).collect()
    }
}

/// State of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleStatus {
    /// Its placement identifier, and its number.
    pub placement: u16,
    /// Blocks that its reclaim unit still can take.
    pub left_blocks: u64,
}

impl HandleStatus {
    /// The states of handles, as I/O Management Receive returns them.
    pub fn encode_all(handles: &[Self]) -> Vec<u8> {
        let mut bytes = vec![0; 16 + 32 * handles.len()];
        put(&mut bytes, 14, (handles.len() as u16).to_le_bytes());
        for (index, handle) in handles.iter().enumerate() {
            let at = 16 + 32 * index;
            put(&mut bytes, at, handle.placement.to_le_bytes());
            put(&mut bytes, at + 2, handle.placement.to_le_bytes());
            put(&mut bytes, at + 8, handle.left_blocks.to_le_bytes());
        }
        bytes
    }

    /// The states in an answer. Missing bytes count as zero.
    pub fn decode_all(bytes: &[u8]) -> Vec<Self> {
        let handles = bytes.get(16..).unwrap_or_default().chunks_exact(32);
        let status =
            |bytes: &[u8]| Self { placement: u16_at(bytes, 0), left_blocks: u64_at(bytes, 8) };
        handles.take(u16_at(bytes, 14).into()).map(status).collect()
    }
}

/// The placement identifiers of these handles in the first reclaim group, in ascending order: the first is that of writes
/// that name none.
pub fn identifiers(handles: &[HandleStatus], group_bits: u8) -> Vec<u16> {
    let handle_bits = u16::BITS - u32::from(group_bits.min(GROUP_BITS));
    let is_of_first_group = |identifier: &u16| u32::from(*identifier) >> handle_bits == 0;
    let all = handles.iter().map(|handle| handle.placement);
    let mut identifiers: Vec<u16> = all.filter(is_of_first_group).collect();
    identifiers.sort_unstable();
    identifiers.dedup();
    identifiers
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identifiers_are_those_of_the_first_group_each_once() {
        let status = |placement| HandleStatus { placement, left_blocks: 1 };
        let answer = HandleStatus::encode_all(&[2, 0x4000, 0, 1, 0x4001, 2].map(status));
        let handles = HandleStatus::decode_all(&answer);
        assert_eq!(identifiers(&handles, 2), [0, 1, 2]);
        assert_eq!(identifiers(&handles, 0), [0, 1, 2, 0x4000, 0x4001], "one group");
        assert!(identifiers(&[], 0).is_empty());
    }

    #[test]
    fn an_answer_may_be_shorter_than_the_handles_that_it_counts() {
        let status = |placement| HandleStatus { placement, left_blocks: 1 };
        let mut answer = HandleStatus::encode_all(&[0, 1].map(status));
        answer[14..16].copy_from_slice(&u16::MAX.to_le_bytes());
        assert_eq!(identifiers(&HandleStatus::decode_all(&answer), 0), [0, 1]);
        answer.truncate(16 + 32 + 31);
        assert_eq!(identifiers(&HandleStatus::decode_all(&answer), 0), [0]);
        answer[14..16].copy_from_slice(&[0, 0]);
        assert_eq!(HandleStatus::decode_all(&answer), []);
    }

    #[test]
    fn a_configuration_is_found_behind_others() {
        let configuration = Configuration {
            groups: 4,
            group_bits: 2,
            handles: 3,
            is_persistent: true,
            unit_bytes: 6 << 30,
            namespaces: 8,
        };
        let second = configuration.encode();
        let first = Configuration { handles: 8, ..configuration }.encode();
        let both = [&first, &second[HEADER_BYTES..]].concat();
        assert_eq!(Configuration::decode(&both, 1), Some(configuration));
        assert_eq!(Configuration::decode(&both, 2), None);
        assert_eq!([0, 0x0301].map(configuration_in_force), [None, Some(3)]);
    }

    proptest! {
        #[test]
        fn no_answer_of_a_drive_panics(
            bytes in proptest::collection::vec(any::<u8>(), 0..256),
            index: u8,
            group_bits: u8,
        ) {
            let _ = Configuration::decode(&bytes, index);
            let handles = HandleStatus::decode_all(&bytes);
            let found = identifiers(&handles, group_bits);
            prop_assert!(found.is_sorted_by(|low, high| low < high));
        }
    }
}
