//! The answers of a controller and a namespace to Identify.

use base::bytes::{array, text, u8_at, u16_at, u32_at, u64_at, u128_at};

use super::command::NamespaceFormat;

/// Answer to Identify Controller, as far as ssdlab uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Composite temperature from which performance may suffer, in kelvin; 0 if not reported.
    pub warning_temperature_k: u16,
    /// Whether the controller has a volatile write cache.
    pub volatile_write_cache: bool,
    /// Whether the controller can change its power state by itself.
    pub autonomous_power: bool,
    /// Its power states, state 0 first.
    pub power_states: Vec<PowerState>,
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
            format: commands & 1 << 1 != 0,
            format_hits_all: attributes & 1 != 0,
            erase_hits_all: attributes & 1 << 1 != 0,
            crypto_erase: attributes & 1 << 2 != 0,
            sanitize_crypto: sanitize & 1 != 0,
            sanitize_block: sanitize & 1 << 1 != 0,
            warning_temperature_k: u16_at(bytes, 266),
            volatile_write_cache: u8_at(bytes, 525) & 1 != 0,
            autonomous_power: u8_at(bytes, 265) & 1 != 0,
            power_states: (0..=states).map(|state| power_state(bytes, state)).collect(),
        }
    }
}

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

/// Answer to Identify Namespace, as far as ssdlab uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifyNamespace {
    /// Size in blocks.
    pub size_blocks: u64,
    /// Blocks that may be allocated.
    pub capacity_blocks: u64,
    /// Blocks allocated now.
    pub used_blocks: u64,
    /// Size of a block, or `None` if the answer makes no sense.
    pub block_bytes: Option<u32>,
    /// Metadata beside or behind each block.
    pub metadata_bytes: u16,
    pub format: NamespaceFormat,
}

impl IdentifyNamespace {
    /// Decodes the 4,096 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        let (layout, protection) = (u8_at(bytes, 26), u8_at(bytes, 29));
        let lba_format = layout & 0x0f | (layout >> 5 & 0x03) << 4;
        let format_at = 128 + 4 * usize::from(lba_format);
        let shift = u8_at(bytes, format_at + 2);
        Self {
            size_blocks: u64_at(bytes, 0),
            capacity_blocks: u64_at(bytes, 8),
            used_blocks: u64_at(bytes, 16),
            block_bytes: (9..32).contains(&shift).then(|| 1 << shift),
            metadata_bytes: u16_at(bytes, format_at),
            format: NamespaceFormat {
                lba_format,
                extended_metadata: layout & 1 << 4 != 0,
                protection: protection & 0x07,
                protection_first: protection & 1 << 3 != 0,
            },
        }
    }
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
        assert_eq!(namespace.block_bytes, Some(4096));
        assert!(namespace.format.extended_metadata && namespace.format.protection_first);
        assert_eq!(namespace.format.protection, 1);
    }

    proptest! {
        #[test]
        fn no_answer_panics(bytes in prop::collection::vec(any::<u8>(), 0..4200)) {
            let _ = IdentifyController::decode(&bytes);
            let _ = IdentifyNamespace::decode(&bytes);
            let _ = namespace_list(&bytes);
        }
    }
}
