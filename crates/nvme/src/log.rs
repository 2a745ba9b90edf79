//! Log pages of a controller.

use base::bytes::{array, u8_at, u16_at, u32_at, u128_at};

use crate::bytes::{put, put_text};

/// Bytes of the SMART, sanitize, firmware and OCP logs.
pub const LOG_BYTES: usize = 512;
/// Bytes of an entry of the error log.
pub const ERROR_BYTES: usize = 64;
/// GUID of the SMART Cloud log (C0h) of the OCP Datacenter NVMe SSD specification.
const OCP_GUID: u128 = 0xAFD5_14C9_7C6F_4F9C_A4F2_BFEA_2810_AFC5;

/// Numbers of log pages.
pub mod page {
    pub const SUPPORTED: u8 = 0x00;
    pub const ERROR: u8 = 0x01;
    pub const SMART: u8 = 0x02;
    pub const FIRMWARE: u8 = 0x03;
    pub const CHANGED_NAMESPACES: u8 = 0x04;
    pub const EFFECTS: u8 = 0x05;
    pub const SELF_TEST: u8 = 0x06;
    pub const PLACEMENT_CONFIGURATIONS: u8 = 0x20;
    pub const PLACEMENT_USAGE: u8 = 0x21;
    pub const PLACEMENT_STATISTICS: u8 = 0x22;
    pub const PLACEMENT_EVENTS: u8 = 0x23;
    pub const DISCOVERY: u8 = 0x70;
    pub const SANITIZE: u8 = 0x81;
    pub const CHANGED_ZONES: u8 = 0xbf;
    pub const OCP: u8 = 0xc0;
}

/// A "data unit" of the SMART log: 1,000 units of 512 bytes.
const DATA_UNIT_BYTES: u128 = 512_000;

/// SMART / Health Information (log 02h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Read commands of the host.
    pub host_reads: u64,
    /// Write commands of the host.
    pub host_writes: u64,
    /// Minutes that the controller was busy with commands.
    pub busy_min: u64,
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
            host_reads: counter(64),
            host_writes: counter(80),
            busy_min: counter(96),
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

    /// The 512 bytes. Bytes become data units, rounded up.
    pub fn encode(&self) -> [u8; LOG_BYTES] {
        const SPARE_THRESHOLD_PERCENT: u8 = 10;
        let mut bytes = [0; LOG_BYTES];
        let units = |bytes: u64| u128::from(bytes).div_ceil(DATA_UNIT_BYTES);
        put(&mut bytes, 0, [self.critical_warning]);
        put(&mut bytes, 1, self.temperature_k.to_le_bytes());
        put(
            &mut bytes,
            3,
            [self.available_spare_percent, SPARE_THRESHOLD_PERCENT, self.percentage_used],
        );
        let counters = [
            units(self.host_read_bytes),
            units(self.host_written_bytes),
            self.host_reads.into(),
            self.host_writes.into(),
            self.busy_min.into(),
            self.power_cycles.into(),
            self.power_on_hours.into(),
            self.unsafe_shutdowns.into(),
            self.media_errors.into(),
            self.error_log_entries.into(),
        ];
        for (index, counter) in counters.into_iter().enumerate() {
            put(&mut bytes, 32 + 16 * index, counter.to_le_bytes());
        }
        put(&mut bytes, 192, self.warning_temperature_min.to_le_bytes());
        put(&mut bytes, 196, self.critical_temperature_min.to_le_bytes());
        for (at, value) in [216, 220, 224, 228]
            .into_iter()
            .zip(self.throttle_count.into_iter().chain(self.throttle_s))
        {
            put(&mut bytes, at, value.to_le_bytes());
        }
        bytes
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
    /// Whole passes of an overwrite.
    pub passes: u8,
}

impl SanitizeLog {
    /// That of a drive that was never sanitized.
    pub const NEVER: Self = Self { progress: u16::MAX, state: SanitizeState::Never, passes: 0 };
    /// Most passes that it can tell.
    const PASSES_MAX: u8 = 0b1_1111;

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
        let passes = (u16_at(bytes, 2) >> 3) as u8 & Self::PASSES_MAX;
        Self { progress: u16_at(bytes, 0), state, passes }
    }

    /// The log; the time that a sanitize takes is not reported.
    pub fn encode(&self) -> [u8; LOG_BYTES] {
        let mut bytes = [0; LOG_BYTES];
        let state = match self.state {
            SanitizeState::Never => 0,
            SanitizeState::Completed => 1,
            SanitizeState::InProgress => 2,
            SanitizeState::Failed => 3,
            SanitizeState::Unknown(other) => u16::from(other),
        };
        put(&mut bytes, 0, self.progress.to_le_bytes());
        let status = state | u16::from(self.passes.min(Self::PASSES_MAX)) << 3;
        put(&mut bytes, 2, status.to_le_bytes());
        (8..32).step_by(4).for_each(|at| put(&mut bytes, at, u32::MAX.to_le_bytes()));
        bytes
    }
}

/// The log of firmware slots (03h): slot 1 is active.
pub fn firmware(revision: &str) -> [u8; LOG_BYTES] {
    let mut bytes = [0; LOG_BYTES];
    put(&mut bytes, 0, [1]);
    put_text(&mut bytes, 8..16, revision, b' ');
    bytes
}

/// The list of supported logs (00h).
pub fn supported(pages: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    pages.iter().for_each(|&page| put(&mut bytes, 4 * usize::from(page), 1_u32.to_le_bytes()));
    bytes
}

/// The log of commands and their effects (05h): admin commands, then I/O commands, each with its effects.
pub fn effects(admin: &[(u8, u32)], io: &[(u8, u32)]) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let io = io.iter().map(|(opcode, effects)| (1024, opcode, effects));
    for (table, opcode, effects) in
        admin.iter().map(|(opcode, effects)| (0, opcode, effects)).chain(io)
    {
        put(&mut bytes, table + 4 * usize::from(*opcode), effects.to_le_bytes());
    }
    bytes
}

/// Effects of a command.
pub mod effect {
    pub const SUPPORTED: u32 = 1;
    /// It changes data.
    pub const DATA: u32 = 1 << 1;
    /// It changes the capabilities of a namespace.
    pub const NAMESPACE: u32 = 1 << 2;
    /// It changes the list of namespaces.
    pub const NAMESPACES: u32 = 1 << 3;
    /// It takes one namespace for itself.
    pub const EXCLUSIVE: u32 = 1 << 16;
}

/// A failed command in the error log (01h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorEntry {
    /// Number of the error, from 1.
    pub number: u64,
    /// Number of the submission queue.
    pub queue_id: u16,
    /// The number that the host gave the command.
    pub command_id: u16,
    /// Status of its completion.
    pub status: crate::status::CommandStatus,
    /// First block of the command, or 0.
    pub block: u64,
    /// Namespace.
    pub namespace_id: u32,
}

impl ErrorEntry {
    /// The 64 bytes.
    pub fn encode(&self) -> [u8; ERROR_BYTES] {
        let mut bytes = [0; ERROR_BYTES];
        put(&mut bytes, 0, self.number.to_le_bytes());
        put(&mut bytes, 8, self.queue_id.to_le_bytes());
        put(&mut bytes, 10, self.command_id.to_le_bytes());
        put(&mut bytes, 12, (self.status.0 << 1).to_le_bytes());
        // The place of the error in the command is not reported.
        put(&mut bytes, 14, u16::MAX.to_le_bytes());
        put(&mut bytes, 16, self.block.to_le_bytes());
        put(&mut bytes, 24, self.namespace_id.to_le_bytes());
        bytes
    }
}

/// Physical media units written (bytes), from the SMART Cloud log (C0h) of the OCP Datacenter NVMe
/// SSD specification, or `None` if the GUID is missing: other vendors store other data in that log.
pub fn ocp_nand_written_bytes(bytes: &[u8]) -> Option<u64> {
    let is_ocp = u128::from_le_bytes(array(bytes, 496)) == OCP_GUID;
    is_ocp.then(|| saturated(u128_at(bytes, 0)))
}

/// The SMART Cloud log (C0h) of OCP, as far as a simulated drive knows its values.
pub fn ocp(nand_written_bytes: u64, free_blocks_percent: u8) -> [u8; LOG_BYTES] {
    const VERSION: u16 = 3;
    let mut bytes = [0; LOG_BYTES];
    put(&mut bytes, 0, u128::from(nand_written_bytes).to_le_bytes());
    put(&mut bytes, 120, [free_blocks_percent]);
    put(&mut bytes, 494, VERSION.to_le_bytes());
    put(&mut bytes, 496, OCP_GUID.to_le_bytes());
    bytes
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
        assert_eq!(ocp_nand_written_bytes(&ocp(43, 100)), Some(43));
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
        fn logs_survive_the_wire(
            counters in any::<[u64; 8]>(),
            units in [0..1_u64 << 44, 0..1_u64 << 44],
            (words, bytes, temperature_k) in any::<([u32; 6], [u8; 3], u16)>(),
        ) {
            let log = SmartLog {
                critical_warning: bytes[0],
                temperature_k,
                available_spare_percent: bytes[1],
                percentage_used: bytes[2],
                host_read_bytes: units[0] * 512_000,
                host_written_bytes: units[1] * 512_000,
                host_reads: counters[0],
                host_writes: counters[1],
                busy_min: counters[2],
                power_cycles: counters[3],
                power_on_hours: counters[4],
                unsafe_shutdowns: counters[5],
                media_errors: counters[6],
                error_log_entries: counters[7],
                warning_temperature_min: words[0],
                critical_temperature_min: words[1],
                throttle_count: [words[2], words[3]],
                throttle_s: [words[4], words[5]],
            };
            prop_assert_eq!(SmartLog::decode(&log.encode()), log);
            for state in [SanitizeState::Never, SanitizeState::Completed, SanitizeState::InProgress, SanitizeState::Failed] {
                let log = SanitizeLog { progress: temperature_k, state, passes: bytes[0] & 0x1f };
                prop_assert_eq!(SanitizeLog::decode(&log.encode()), log);
            }
        }

        #[test]
        fn no_answer_panics(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = SmartLog::decode(&bytes);
            let _ = SanitizeLog::decode(&bytes);
            let _ = ocp_nand_written_bytes(&bytes);
        }
    }
}
