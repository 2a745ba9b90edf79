//! Log pages of a controller.

use base::bytes::{array, u8_at, u16_at, u32_at, u128_at};

/// A "data unit" of the SMART log: 1,000 units of 512 bytes.
const DATA_UNIT_BYTES: u128 = 512_000;

/// SMART / Health Information (log 02h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmartLog {
    /// Bit by bit: spare, temperature, reliability, read only, backup, persistent memory.
    pub critical_warning: u8,
    /// Composite temperature in kelvin; 0 if not reported.
    pub temperature_k: u16,
    /// Spare left, in percent.
    pub available_spare_percent: u8,
    /// Estimate of the life used, in percent; may exceed 100.
    pub percentage_used: u8,
    /// Read by the host.
    pub host_read_bytes: u64,
    /// Written by the host.
    pub host_written_bytes: u64,
    /// Times it was switched on.
    pub power_cycles: u64,
    /// Hours switched on.
    pub power_on_hours: u64,
    /// Losses of power without notice.
    pub unsafe_shutdowns: u64,
    /// Data that could not be recovered.
    pub media_errors: u64,
    /// Entries ever made in the error log.
    pub error_log_entries: u64,
    /// Minutes above the warning temperature.
    pub warning_temperature_min: u32,
    /// Minutes above the critical temperature.
    pub critical_temperature_min: u32,
    /// Times that it throttled, lightly and heavily.
    pub throttle_count: [u32; 2],
    /// Seconds in which it throttled, lightly and heavily.
    pub throttle_s: [u32; 2],
}

impl SmartLog {
    /// Decodes the 512 bytes. Missing bytes count as zero, counters beyond 64 bits as full.
    pub fn decode(bytes: &[u8]) -> Self {
        let counter = |at| saturated(u128_at(bytes, at));
        let data = |at| saturated(u128_at(bytes, at).saturating_mul(DATA_UNIT_BYTES));
        Self {
            critical_warning: u8_at(bytes, 0),
            temperature_k: u16_at(bytes, 1),
            available_spare_percent: u8_at(bytes, 3),
            percentage_used: u8_at(bytes, 5),
            host_read_bytes: data(32),
            host_written_bytes: data(48),
            power_cycles: counter(112),
            power_on_hours: counter(128),
            unsafe_shutdowns: counter(144),
            media_errors: counter(160),
            error_log_entries: counter(176),
            warning_temperature_min: u32_at(bytes, 192),
            critical_temperature_min: u32_at(bytes, 196),
            throttle_count: [u32_at(bytes, 216), u32_at(bytes, 220)],
            throttle_s: [u32_at(bytes, 224), u32_at(bytes, 228)],
        }
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// State of a sanitize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanitizeState {
    /// None was ever started.
    Never,
    /// The last one was completed.
    Completed,
    /// One is going on.
    InProgress,
    /// The last one failed.
    Failed,
    /// A value that the specification does not define.
    Unknown(u8),
}

/// Sanitize Status (log 81h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SanitizeLog {
    /// Progress in 1/65,536; 65,535 if none is in progress.
    pub progress: u16,
    /// State of the most recent one.
    pub state: SanitizeState,
}

impl SanitizeLog {
    /// Decodes the log.
    pub fn decode(bytes: &[u8]) -> Self {
        let state = match u16_at(bytes, 2) & 0x07 {
            0 => SanitizeState::Never,
            // 4: completed, but blocks were not deallocated, as it was asked for.
            1 | 4 => SanitizeState::Completed,
            2 => SanitizeState::InProgress,
            3 => SanitizeState::Failed,
            other => SanitizeState::Unknown(other as u8),
        };
        Self { progress: u16_at(bytes, 0), state }
    }
}

/// Physical media units written (bytes), from the SMART Cloud log (C0h) of the OCP Datacenter NVMe
/// SSD specification, or `None` if the GUID is missing: other vendors store other data in that log.
pub fn ocp_nand_written_bytes(bytes: &[u8]) -> Option<u64> {
    const GUID: u128 = 0xAFD5_14C9_7C6F_4F9C_A4F2_BFEA_2810_AFC5;
    let is_ocp = u128::from_le_bytes(array(bytes, 496)) == GUID;
    is_ocp.then(|| saturated(u128_at(bytes, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn data_units_are_thousands_of_sectors() {
        let mut bytes = [0; 512];
        bytes[48] = 3;
        assert_eq!(SmartLog::decode(&bytes).host_written_bytes, 3 * 512_000);
        bytes[48..64].fill(0xff);
        assert_eq!(SmartLog::decode(&bytes).host_written_bytes, u64::MAX);
    }

    #[test]
    fn only_the_ocp_log_tells_of_nand() {
        let mut bytes = [0; 512];
        bytes[0] = 42;
        assert_eq!(ocp_nand_written_bytes(&bytes), None);
        bytes[496..].copy_from_slice(&0xAFD5_14C9_7C6F_4F9C_A4F2_BFEA_2810_AFC5_u128.to_le_bytes());
        assert_eq!(ocp_nand_written_bytes(&bytes), Some(42));
    }

    #[test]
    fn every_state_of_a_sanitize_is_told_apart() {
        let state = |status: u8| SanitizeLog::decode(&[0x34, 0x12, status, 1]).state;
        assert_eq!(state(0), SanitizeState::Never);
        assert_eq!(state(1), SanitizeState::Completed);
        assert_eq!(state(2), SanitizeState::InProgress);
        assert_eq!(state(3), SanitizeState::Failed);
        assert_eq!(state(0b1100), SanitizeState::Completed);
        assert_eq!(state(7), SanitizeState::Unknown(7));
        assert_eq!(SanitizeLog::decode(&[0x34, 0x12]).progress, 0x1234);
    }

    proptest! {
        #[test]
        fn no_answer_panics(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = SmartLog::decode(&bytes);
            let _ = SanitizeLog::decode(&bytes);
            let _ = ocp_nand_written_bytes(&bytes);
        }
    }
}
