//! The answers of a controller and a namespace to Identify.

use base::bytes::{array, text, u8_at, u16_at, u32_at, u64_at, u128_at};

use crate::bytes::{bits, put, put_text};

/// Bytes of every answer to Identify.
pub const IDENTIFY_BYTES: usize = 4096;

/// The structures that Identify returns (CNS).
pub mod structure {
    pub const NAMESPACE: u8 = 0x00;
    pub const CONTROLLER: u8 = 0x01;
    pub const ACTIVE_NAMESPACES: u8 = 0x02;
    pub const DESCRIPTORS: u8 = 0x03;
    pub const NAMESPACE_OF_COMMAND_SET: u8 = 0x05;
    pub const CONTROLLER_OF_COMMAND_SET: u8 = 0x06;
    pub const ACTIVE_NAMESPACES_OF_COMMAND_SET: u8 = 0x07;
    pub const INDEPENDENT_NAMESPACE: u8 = 0x08;
    pub const ALLOCATED_NAMESPACES: u8 = 0x10;
    pub const ALLOCATED_NAMESPACE: u8 = 0x11;
    pub const CONTROLLERS_OF_NAMESPACE: u8 = 0x12;
    pub const CONTROLLERS: u8 = 0x13;
    pub const ENDURANCE_GROUPS: u8 = 0x19;
    pub const COMMAND_SETS: u8 = 0x1c;
}

/// Answer to Identify Controller, as far as ssdlab uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentifyController {
    /// Serial number.
    pub serial: String,
    /// Model number.
    pub model: String,
    /// Firmware revision.
    pub firmware: String,
    /// Version of the specification: major, minor, tertiary.
    pub version: (u16, u8, u8),
    /// Size of all NVM, or 0 if the controller does not report it.
    pub total_nvm_bytes: u128,
    /// Size of the NVM that no namespace has.
    pub free_nvm_bytes: u128,
    /// Whether hosts may create, delete, attach and detach namespaces.
    pub namespace_management: bool,
    /// Whether Format NVM is supported.
    pub format: bool,
    /// Whether a format of one namespace formats all of them.
    pub format_hits_all: bool,
    /// Whether a format that erases user data erases that of all namespaces.
    pub erase_hits_all: bool,
    /// Whether a format may delete the encryption key.
    pub crypto_erase: bool,
    /// Whether Sanitize can delete the encryption key.
    pub sanitize_crypto: bool,
    /// Whether Sanitize can erase all blocks.
    pub sanitize_block: bool,
    /// Whether Sanitize can write a pattern over all blocks.
    pub sanitize_overwrite: bool,
    /// Nominal time of an extended self-test, in minutes; 0 without self-tests.
    pub extended_self_test_min: u16,
    /// Composite temperature from which performance may suffer, in kelvin; 0 if not reported.
    pub warning_temperature_k: u16,
    /// Whether the controller has a volatile write cache.
    pub volatile_write_cache: bool,
    /// Whether the controller can change its power state by itself.
    pub autonomous_power: bool,
    /// Its power states, state 0 first.
    pub power_states: Vec<PowerState>,
    /// Composite temperature from which it must not go on, in kelvin; 0 if not reported.
    pub critical_temperature_k: u16,
    /// Longest transfer as a power of two of 4 KiB; 0 for no limit.
    pub transfer_pages_log2: u8,
    /// Number of the controller in its subsystem.
    pub controller_id: u16,
    /// Whether it only tells of other subsystems.
    pub discovery: bool,
    /// Asynchronous events that it sends (OAES).
    pub events: u32,
    /// Outstanding Abort commands, and Asynchronous Event Requests, counted from 0.
    pub outstanding_max: [u8; 2],
    /// Entries of the error log, counted from 0.
    pub error_log_entries: u8,
    /// Unit of the keep-alive time in 100 ms; 0 if there is none.
    pub keep_alive_100ms: u16,
    /// Most outstanding commands of a queue.
    pub commands_max: u16,
    /// Number of namespaces.
    pub namespaces: u32,
    /// Optional commands of the NVM command set (ONCS).
    pub nvm_commands: u16,
    /// Formats of the sources of Copy (OCFS), a bit each.
    pub copy_formats: u16,
    /// Name of the subsystem.
    pub subsystem: String,
    /// Bytes of a command with the data in its capsule, in units of 16.
    pub capsule_16_bytes: u32,
    /// Whether it has flexible data placement, in one endurance group, with its directive.
    pub placement: bool,
}

/// One power state of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerState {
    /// The largest power in this state, in 0.1 mW.
    pub power_max_100uw: u32,
    /// Whether no I/O is served in this state.
    pub idle: bool,
    /// Time to enter.
    pub entry_latency_us: u32,
    /// Time to leave.
    pub exit_latency_us: u32,
}

impl IdentifyController {
    /// Decodes the 4,096 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        let version = u32_at(bytes, 80);
        let (commands, attributes) = (u16_at(bytes, 256), u8_at(bytes, 524));
        let sanitize = u32_at(bytes, 328);
        // The number of the last power state; the specification has room for 32.
        let states = u8_at(bytes, 263).min(31);
        Self {
            serial: text(&array::<20>(bytes, 4)),
            model: text(&array::<40>(bytes, 24)),
            firmware: text(&array::<8>(bytes, 64)),
            version: ((version >> 16) as u16, (version >> 8) as u8, version as u8),
            total_nvm_bytes: u128_at(bytes, 280),
            free_nvm_bytes: u128_at(bytes, 296),
            namespace_management: commands & 1 << 3 != 0,
            format: commands & 1 << 1 != 0,
            format_hits_all: attributes & 1 != 0,
            erase_hits_all: attributes & 1 << 1 != 0,
            crypto_erase: attributes & 1 << 2 != 0,
            sanitize_crypto: sanitize & 1 != 0,
            sanitize_block: sanitize & 1 << 1 != 0,
            sanitize_overwrite: sanitize & 1 << 2 != 0,
            extended_self_test_min: if commands & 1 << 4 == 0 { 0 } else { u16_at(bytes, 316) },
            warning_temperature_k: u16_at(bytes, 266),
            volatile_write_cache: u8_at(bytes, 525) & 1 != 0,
            autonomous_power: u8_at(bytes, 265) & 1 != 0,
            power_states: (0..=states).map(|state| power_state(bytes, state)).collect(),
            critical_temperature_k: u16_at(bytes, 268),
            transfer_pages_log2: u8_at(bytes, 77),
            controller_id: u16_at(bytes, 78),
            discovery: u8_at(bytes, 111) == DISCOVERY,
            events: u32_at(bytes, 92),
            outstanding_max: array(bytes, 258),
            error_log_entries: u8_at(bytes, 262),
            keep_alive_100ms: u16_at(bytes, 320),
            commands_max: u16_at(bytes, 514),
            namespaces: u32_at(bytes, 516),
            nvm_commands: u16_at(bytes, 520),
            copy_formats: u16_at(bytes, 534),
            subsystem: text(&array::<256>(bytes, 768)),
            capsule_16_bytes: u32_at(bytes, 1792),
            placement: u32_at(bytes, 96) & PLACEMENT != 0,
        }
    }

    /// The 4,096 bytes of a controller over fabrics, in a subsystem that several hosts may use.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; IDENTIFY_BYTES];
        let (major, minor, tertiary) = self.version;
        put_text(&mut bytes, 4..24, &self.serial, b' ');
        put_text(&mut bytes, 24..64, &self.model, b' ');
        put_text(&mut bytes, 64..72, &self.firmware, b' ');
        // Several controllers in the subsystem.
        put(&mut bytes, 76, [1 << 1, self.transfer_pages_log2]);
        put(&mut bytes, 78, self.controller_id.to_le_bytes());
        put(
            &mut bytes,
            80,
            (u32::from(major) << 16 | u32::from(minor) << 8 | u32::from(tertiary)).to_le_bytes(),
        );
        put(&mut bytes, 92, self.events.to_le_bytes());
        // Hosts have numbers of 128 bits.
        let attributes = if self.placement { 1 | ENDURANCE_GROUPS | PLACEMENT } else { 1 };
        put(&mut bytes, 96, attributes.to_le_bytes());
        put(&mut bytes, 111, [if self.discovery { DISCOVERY } else { IO_CONTROLLER }]);
        let has_self_test = self.extended_self_test_min > 0;
        let commands = bits(&[
            (1, self.format),
            (3, self.namespace_management),
            (4, has_self_test),
            (5, self.placement),
        ]) as u16;
        put(&mut bytes, 256, commands.to_le_bytes());
        put(&mut bytes, 258, self.outstanding_max);
        // One slot of firmware, which is read only.
        put(&mut bytes, 260, [1 << 1 | 1]);
        // Commands and effects, offsets into logs, the list of logs.
        put(&mut bytes, 261, [1 << 1 | 1 << 2 | 1 << 5]);
        put(&mut bytes, 262, [self.error_log_entries]);
        put(&mut bytes, 263, [self.power_states.len().clamp(1, 32) as u8 - 1]);
        put(&mut bytes, 265, [u8::from(self.autonomous_power)]);
        put(&mut bytes, 266, self.warning_temperature_k.to_le_bytes());
        put(&mut bytes, 268, self.critical_temperature_k.to_le_bytes());
        put(&mut bytes, 280, self.total_nvm_bytes.to_le_bytes());
        put(&mut bytes, 296, self.free_nvm_bytes.to_le_bytes());
        put(&mut bytes, 316, self.extended_self_test_min.to_le_bytes());
        // One self-test at a time in the subsystem.
        put(&mut bytes, 318, [u8::from(has_self_test)]);
        put(&mut bytes, 320, self.keep_alive_100ms.to_le_bytes());
        put(
            &mut bytes,
            328,
            bits(&[
                (0, self.sanitize_crypto),
                (1, self.sanitize_block),
                (2, self.sanitize_overwrite),
                // A sanitize always deallocates.
                (29, self.sanitize_crypto || self.sanitize_block || self.sanitize_overwrite),
            ])
            .to_le_bytes(),
        );
        // The last endurance group.
        put(&mut bytes, 340, u16::from(self.placement).to_le_bytes());
        // Commands of 2^6 bytes, completions of 2^4.
        put(&mut bytes, 512, [0x66, 0x44]);
        put(&mut bytes, 514, self.commands_max.to_le_bytes());
        put(&mut bytes, 516, self.namespaces.to_le_bytes());
        put(&mut bytes, 520, self.nvm_commands.to_le_bytes());
        let erasure = [(0, self.format_hits_all), (1, self.erase_hits_all), (2, self.crypto_erase)];
        put(&mut bytes, 524, [bits(&erasure) as u8]);
        // A flush may name all namespaces.
        put(&mut bytes, 525, [u8::from(self.volatile_write_cache) | 0b11 << 1]);
        put(&mut bytes, 534, self.copy_formats.to_le_bytes());
        // Descriptors of data, and offsets into the capsule.
        put(&mut bytes, 536, (1_u32 | 1 << 20).to_le_bytes());
        put_text(&mut bytes, 768..1024, &self.subsystem, 0);
        put(&mut bytes, 1792, self.capsule_16_bytes.to_le_bytes());
        // A completion has 16 bytes.
        put(&mut bytes, 1796, 1_u32.to_le_bytes());
        // One descriptor of data for each command.
        put(&mut bytes, 1803, [1]);
        for (index, state) in self.power_states.iter().take(32).enumerate() {
            put(&mut bytes, 2048 + 32 * index, state.encode());
        }
        bytes
    }
}

/// Attributes of controllers (CTRATT).
const ENDURANCE_GROUPS: u32 = 1 << 4;
const PLACEMENT: u32 = 1 << 19;
/// Types of controllers.
const IO_CONTROLLER: u8 = 1;
const DISCOVERY: u8 = 2;

fn power_state(bytes: &[u8], state: u8) -> PowerState {
    let at = 2048 + 32 * usize::from(state);
    let flags = u8_at(bytes, at + 3);
    // The unit is 0.01 W unless the flag says 0.0001 W.
    let unit_100uw = if flags & 1 == 0 { 100 } else { 1 };
    PowerState {
        power_max_100uw: u32::from(u16_at(bytes, at)) * unit_100uw,
        idle: flags & 1 << 1 != 0,
        entry_latency_us: u32_at(bytes, at + 4),
        exit_latency_us: u32_at(bytes, at + 8),
    }
}

impl PowerState {
    fn encode(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        // Small powers in units of 0.1 mW, large ones in units of 10 mW.
        let (power, is_fine) = match u16::try_from(self.power_max_100uw) {
            Ok(power) => (power, true),
            Err(_) => ((self.power_max_100uw / 100).min(u16::MAX.into()) as u16, false),
        };
        put(&mut bytes, 0, power.to_le_bytes());
        put(&mut bytes, 3, [bits(&[(0, is_fine), (1, self.idle)]) as u8]);
        put(&mut bytes, 4, self.entry_latency_us.to_le_bytes());
        put(&mut bytes, 8, self.exit_latency_us.to_le_bytes());
        bytes
    }
}

/// Size of a logical block and of the metadata beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LbaFormat {
    /// Size of a block, or `None` if the format is unused or makes no sense.
    pub block_bytes: Option<u32>,
    /// Metadata beside or behind each block.
    pub metadata_bytes: u16,
}

/// Largest Copy of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyLimits {
    /// Blocks of a source (MSSRL).
    pub source_blocks: u16,
    /// Blocks of a command (MCL).
    pub blocks: u32,
    /// Sources of a command, counted from 0 (MSRC).
    pub sources: u8,
}

/// Answer to Identify Namespace, as far as ssdlab uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentifyNamespace {
    /// Size in blocks.
    pub size_blocks: u64,
    /// Blocks that may be allocated.
    pub capacity_blocks: u64,
    /// Blocks allocated now.
    pub used_blocks: u64,
    /// The format in use.
    pub format: NamespaceFormat,
    /// The formats that it may have, at most 64.
    pub lba_formats: Vec<LbaFormat>,
    /// Whether unmapped blocks do not count as used.
    pub thin: bool,
    /// Whether deallocated blocks read as zeros.
    pub deallocates_to_zeros: bool,
    /// Blocks of the unit in which writes and deallocations are efficient; 0 if not reported.
    pub unit_blocks: u16,
    /// Largest Copy; 0 without the command.
    pub copy: CopyLimits,
    /// The endurance group; 0 if not reported.
    pub endurance_group: u16,
    /// Globally unique number; 0 if not reported.
    pub guid: u128,
}

impl IdentifyNamespace {
    /// Decodes the 4,096 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        let (features, layout, protection) = (u8_at(bytes, 24), u8_at(bytes, 26), u8_at(bytes, 29));
        let lba_format = |index| {
            let at = 128 + 4 * usize::from(index);
            let shift = u8_at(bytes, at + 2);
            let block_bytes = (9..32).contains(&shift).then(|| 1 << shift);
            LbaFormat { block_bytes, metadata_bytes: u16_at(bytes, at) }
        };
        let has_unit = features & 1 << 4 != 0;
        Self {
            size_blocks: u64_at(bytes, 0),
            capacity_blocks: u64_at(bytes, 8),
            used_blocks: u64_at(bytes, 16),
            format: NamespaceFormat {
                lba_format: layout & 0x0f | (layout >> 5 & 0x03) << 4,
                extended_metadata: layout & 1 << 4 != 0,
                protection: protection & 0x07,
                protection_first: protection & 1 << 3 != 0,
            },
            lba_formats: (0..=u8_at(bytes, 25).min(63)).map(lba_format).collect(),
            thin: features & 1 != 0,
            deallocates_to_zeros: u8_at(bytes, 33) & 0b111 == 1,
            unit_blocks: if has_unit { u16_at(bytes, 64).wrapping_add(1) } else { 0 },
            copy: CopyLimits {
                source_blocks: u16_at(bytes, 74),
                blocks: u32_at(bytes, 76),
                sources: u8_at(bytes, 80),
            },
            endurance_group: u16_at(bytes, 102),
            guid: u128::from_be_bytes(array(bytes, 104)),
        }
    }

    /// The 4,096 bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; IDENTIFY_BYTES];
        put(&mut bytes, 0, self.size_blocks.to_le_bytes());
        put(&mut bytes, 8, self.capacity_blocks.to_le_bytes());
        put(&mut bytes, 16, self.used_blocks.to_le_bytes());
        put(&mut bytes, 24, [bits(&[(0, self.thin), (4, self.unit_blocks > 0)]) as u8]);
        put(&mut bytes, 25, [self.lba_formats.len().clamp(1, 64) as u8 - 1]);
        let NamespaceFormat { lba_format, extended_metadata, protection, protection_first } =
            self.format;
        let layout =
            lba_format & 0x0f | u8::from(extended_metadata) << 4 | (lba_format >> 4 & 0x03) << 5;
        put(&mut bytes, 26, [layout]);
        put(&mut bytes, 29, [protection & 0x07 | u8::from(protection_first) << 3]);
        // Several controllers may have it.
        put(&mut bytes, 30, [1]);
        // Write Zeroes may deallocate.
        put(&mut bytes, 33, [u8::from(self.deallocates_to_zeros) * (1 << 3 | 1)]);
        if self.unit_blocks > 0 {
            let unit = (self.unit_blocks - 1).to_le_bytes();
            // Write granularity and alignment, deallocate granularity and alignment, optimal write size.
            [64, 66, 68, 70, 72].into_iter().for_each(|at| put(&mut bytes, at, unit));
        }
        put(&mut bytes, 74, self.copy.source_blocks.to_le_bytes());
        put(&mut bytes, 76, self.copy.blocks.to_le_bytes());
        put(&mut bytes, 80, [self.copy.sources]);
        put(&mut bytes, 102, self.endurance_group.to_le_bytes());
        put(&mut bytes, 104, self.guid.to_be_bytes());
        for (index, format) in self.lba_formats.iter().take(64).enumerate() {
            let shift = format.block_bytes.map_or(0, |bytes| bytes.trailing_zeros() as u8);
            put(&mut bytes, 128 + 4 * index, format.metadata_bytes.to_le_bytes());
            put(&mut bytes, 130 + 4 * index, [shift]);
        }
        bytes
    }

    /// The sizes of the format in use.
    pub fn layout(&self) -> LbaFormat {
        self.lba_formats.get(usize::from(self.format.lba_format)).copied().unwrap_or_default()
    }
}

/// Format of a namespace: a format command must repeat it to keep it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamespaceFormat {
    /// Index of the LBA format, 0 to 63.
    pub lba_format: u8,
    /// Whether metadata follows the data of each block.
    pub extended_metadata: bool,
    /// Type of protection information, 0 to 3.
    pub protection: u8,
    /// Whether protection information is at the start of the metadata.
    pub protection_first: bool,
}

/// The list of active namespaces with these numbers.
pub fn namespace_list_of(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0; IDENTIFY_BYTES];
    for (index, number) in numbers.iter().take(IDENTIFY_BYTES / 4).enumerate() {
        put(&mut bytes, 4 * index, number.to_le_bytes());
    }
    bytes
}

/// The list of endurance groups or controllers with these numbers.
pub fn number_list_of(numbers: &[u16]) -> Vec<u8> {
    let mut bytes = vec![0; IDENTIFY_BYTES];
    put(&mut bytes, 0, (numbers.len() as u16).to_le_bytes());
    for (index, number) in numbers.iter().enumerate() {
        put(&mut bytes, 2 + 2 * index, number.to_le_bytes());
    }
    bytes
}

/// Numbers in a list of controllers, or `None` if it is too short for their count.
pub fn number_list(bytes: &[u8]) -> Option<Vec<u16>> {
    let numbers = bytes.get(2..2 + 2 * usize::from(u16_at(bytes, 0)))?;
    Some(numbers.chunks_exact(2).map(|number| u16_at(number, 0)).collect())
}

/// The descriptors of a namespace: its own number and that of its command set.
pub fn descriptors(guid: u128, command_set: u8) -> Vec<u8> {
    const GUID: u8 = 2;
    const COMMAND_SET: u8 = 4;
    let mut bytes = vec![0; IDENTIFY_BYTES];
    put(&mut bytes, 0, [GUID, 16]);
    put(&mut bytes, 4, guid.to_be_bytes());
    put(&mut bytes, 20, [COMMAND_SET, 1]);
    put(&mut bytes, 24, [command_set]);
    bytes
}

/// The structure of a namespace that all command sets share: several controllers may have it, and it is ready.
pub fn independent_namespace() -> Vec<u8> {
    const SHARED: u8 = 1;
    const READY: u8 = 1;
    let mut bytes = vec![0; IDENTIFY_BYTES];
    put(&mut bytes, 1, [SHARED]);
    put(&mut bytes, 14, [READY]);
    bytes
}

/// The combinations of command sets that a controller supports: one, of the sets whose bits are set.
pub fn command_sets(sets: u64) -> Vec<u8> {
    let mut bytes = vec![0; IDENTIFY_BYTES];
    put(&mut bytes, 0, sets.to_le_bytes());
    bytes
}

/// Numbers in an active namespace list; it ends with the first zero.
pub fn namespace_list(bytes: &[u8]) -> Vec<u32> {
    let entries = bytes.chunks_exact(4).map(|entry| u32_at(entry, 0));
    entries.take_while(|&id| id != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn namespaces_are_listed_to_the_first_zero() {
        assert_eq!(namespace_list(&[1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]), [1, 9]);
        assert_eq!(namespace_list(&[1, 0, 0]), [] as [u32; 0]);
        assert_eq!(namespace_list(&namespace_list_of(&[1, 9])), [1, 9]);
    }

    #[test]
    fn controllers_are_listed_by_their_count() {
        assert_eq!(number_list(&number_list_of(&[1, 9])), Some(vec![1, 9]));
        assert_eq!(number_list(&[2, 0, 1, 0, 9]), None, "the second one is cut off");
        assert_eq!(number_list(&[]), None, "not even a count");
    }

    #[test]
    fn power_is_read_in_both_units() {
        let mut bytes = vec![0; 4096];
        bytes[263] = 1;
        bytes[2048..2050].copy_from_slice(&850_u16.to_le_bytes());
        bytes[2080..2084].copy_from_slice(&[50, 0, 0, 0b11]);
        let states = IdentifyController::decode(&bytes).power_states;
        assert_eq!((states[0].power_max_100uw, states[0].idle), (85_000, false));
        assert_eq!((states[1].power_max_100uw, states[1].idle), (50, true));
    }

    #[test]
    fn the_upper_bits_of_the_format_index_are_apart() {
        let mut bytes = vec![0; 4096];
        bytes[26] = 0b0101_0011;
        bytes[29] = 0b1001;
        bytes[128 + 4 * 0x23 + 2] = 12;
        let namespace = IdentifyNamespace::decode(&bytes);
        assert_eq!(namespace.format.lba_format, 0x23);
        assert_eq!(namespace.layout().block_bytes, None, "it has one format");
        bytes[25] = 0x23;
        let namespace = IdentifyNamespace::decode(&bytes);
        assert_eq!(namespace.layout().block_bytes, Some(4096));
        assert!(namespace.format.extended_metadata && namespace.format.protection_first);
        assert_eq!(namespace.format.protection, 1);
    }

    fn power_states() -> impl Strategy<Value = Vec<PowerState>> {
        let state =
            (0..65_536_u32, any::<(bool, u32, u32)>()).prop_map(|(power, (idle, entry, exit))| {
                PowerState {
                    power_max_100uw: power,
                    idle,
                    entry_latency_us: entry,
                    exit_latency_us: exit,
                }
            });
        prop::collection::vec(state, 1..32)
    }

    proptest! {
        #[test]
        fn a_controller_survives_the_wire(
            (flags, power_states) in (any::<[bool; 12]>(), power_states()),
            texts in ["[a-z0-9]{0,20}", "[a-z0-9]{0,40}", "[a-z0-9]{0,8}", "[a-z0-9:.]{0,223}"],
            (events, namespaces, capsule_16_bytes) in any::<(u32, u32, u32)>(),
            [warning, critical, controller_id, keep_alive, commands, nvm_commands, copy_formats, extended_self_test_min] in any::<[u16; 8]>(),
            ([total_nvm_bytes, free_nvm_bytes], version, bytes) in any::<([u128; 2], (u16, u8, u8), [u8; 4])>(),
        ) {
            let [serial, model, firmware, subsystem] = texts;
            let [format, format_hits_all, erase_hits_all, crypto_erase, sanitize_crypto, sanitize_block, sanitize_overwrite, cache, apst, discovery, placement, namespace_management] = flags;
            let controller = IdentifyController {
                serial, model, firmware, version, total_nvm_bytes, free_nvm_bytes, namespace_management, format, format_hits_all, erase_hits_all, crypto_erase,
                sanitize_crypto, sanitize_block, power_states, discovery, events, namespaces, subsystem, capsule_16_bytes,
                controller_id, nvm_commands, copy_formats, placement, extended_self_test_min, sanitize_overwrite,
                warning_temperature_k: warning,
                critical_temperature_k: critical,
                volatile_write_cache: cache,
                autonomous_power: apst,
                transfer_pages_log2: bytes[0],
                outstanding_max: [bytes[1], bytes[2]],
                error_log_entries: bytes[3],
                keep_alive_100ms: keep_alive,
                commands_max: commands,
            };
            prop_assert_eq!(IdentifyController::decode(&controller.encode()), controller);
        }

        #[test]
        fn a_namespace_survives_the_wire(
            ([size_blocks, capacity_blocks, used_blocks], guid) in any::<([u64; 3], u128)>(),
            (lba_format, protection, unit_blocks, endurance_group) in (0_u8..64, 0_u8..8, any::<u16>(), any::<u16>()),
            [extended_metadata, protection_first, thin, deallocates_to_zeros] in any::<[bool; 4]>(),
            lba_formats in prop::collection::vec((9..32_u32, any::<u16>()), 1..65),
            (source_blocks, blocks, sources) in any::<(u16, u32, u8)>(),
        ) {
            let lba_formats = lba_formats.into_iter().map(|(shift, metadata_bytes)| LbaFormat { block_bytes: Some(1 << shift), metadata_bytes }).collect();
            let format = NamespaceFormat { lba_format, extended_metadata, protection, protection_first };
            let copy = CopyLimits { source_blocks, blocks, sources };
            let namespace = IdentifyNamespace {
                size_blocks, capacity_blocks, used_blocks, format, lba_formats, thin, deallocates_to_zeros, unit_blocks, guid, endurance_group, copy,
            };
            prop_assert_eq!(IdentifyNamespace::decode(&namespace.encode()), namespace);
        }

        #[test]
        fn no_answer_panics(bytes in prop::collection::vec(any::<u8>(), 0..4200)) {
            let _ = IdentifyController::decode(&bytes);
            let _ = IdentifyNamespace::decode(&bytes);
            let _ = namespace_list(&bytes);
            let _ = number_list(&bytes);
        }
    }
}
