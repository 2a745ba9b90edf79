//! Device Self-test: its kinds, and the log of its results (06h).

use base::bytes::{u8_at, u16_at, u32_at, u64_at};

use crate::bytes::{bits, put};
use crate::status::CommandStatus;

/// Results that the log holds, the newest first.
pub const RESULTS_MAX: usize = 20;
/// Bytes of a result.
const RESULT_BYTES: usize = 28;
/// Bytes of the log.
pub const LOG_BYTES: usize = 4 + RESULTS_MAX * RESULT_BYTES;

/// Codes of a self-test (STC).
pub mod code {
    pub const SHORT: u8 = 0x1;
    pub const EXTENDED: u8 = 0x2;
    /// Ends the one that is going on.
    pub const ABORT: u8 = 0xf;
}

/// Ends of a self-test.
pub mod outcome {
    pub const PASSED: u8 = 0x0;
    /// By a Device Self-test command.
    pub const ABORTED: u8 = 0x1;
    /// By a reset of the controller.
    pub const RESET: u8 = 0x2;
    /// By the end of a namespace.
    pub const NAMESPACE: u8 = 0x3;
    /// By Format NVM.
    pub const FORMATTED: u8 = 0x4;
    /// A segment failed, which the result names.
    pub const FAILED: u8 = 0x7;
    /// By a sanitize.
    pub const SANITIZED: u8 = 0x9;
    /// There is no result in this place of the log.
    pub const UNUSED: u8 = 0xf;
}

/// A segment that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Number of the segment.
    pub segment: u8,
    /// Its first block that could not be read.
    pub block: u64,
    /// The status that a command for this block would end with.
    pub status: CommandStatus,
}

/// The result of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfTestResult {
    /// One of [`code`].
    pub code: u8,
    /// One of [`outcome`].
    pub outcome: u8,
    /// Hours that the drive was switched on at its end.
    pub power_on_hours: u64,
    /// Namespace that was tested; 0 for none.
    pub namespace_id: u32,
    /// The segment that failed, or `None` if none did.
    pub failure: Option<Failure>,
}

impl SelfTestResult {
    /// Namespace, block, type of the status, and its code: the fields that are valid.
    const NAMESPACE: u32 = 0;
    const BLOCK: u32 = 1;
    const STATUS: [u32; 2] = [2, 3];

    fn encode(&self) -> [u8; RESULT_BYTES] {
        let mut bytes = [0; RESULT_BYTES];
        let has_failed = self.failure.is_some();
        let valid = bits(&[
            (Self::NAMESPACE, self.namespace_id != 0),
            (Self::BLOCK, has_failed),
            (Self::STATUS[0], has_failed),
            (Self::STATUS[1], has_failed),
        ]);
        put(&mut bytes, 0, [self.code << 4 | self.outcome & 0xf]);
        put(&mut bytes, 2, [valid as u8]);
        put(&mut bytes, 4, self.power_on_hours.to_le_bytes());
        put(&mut bytes, 12, self.namespace_id.to_le_bytes());
        if let Some(Failure { segment, block, status }) = self.failure {
            put(&mut bytes, 1, [segment]);
            put(&mut bytes, 16, block.to_le_bytes());
            put(&mut bytes, 24, [(status.0 >> 8 & 0b111) as u8, status.0 as u8]);
        }
        bytes
    }

    /// Decodes the 28 bytes, or `None` if there is no result. Missing bytes count as zero.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (status, valid) = (u8_at(bytes, 0), u8_at(bytes, 2));
        if status & 0xf == outcome::UNUSED {
            return None;
        }
        let failure = Failure {
            segment: u8_at(bytes, 1),
            block: u64_at(bytes, 16),
            status: CommandStatus(
                u16::from(u8_at(bytes, 24) & 0b111) << 8 | u16::from(u8_at(bytes, 25)),
            ),
        };
        Some(Self {
            code: status >> 4,
            outcome: status & 0xf,
            power_on_hours: u64_at(bytes, 4),
            namespace_id: if valid & 1 == 0 { 0 } else { u32_at(bytes, 12) },
            failure: (valid & 1 << Self::BLOCK != 0).then_some(failure),
        })
    }
}

/// Device Self-test (log 06h).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfTestLog {
    /// Code and progress in percent of the one that is going on, or `None` if there is none.
    pub running: Option<(u8, u8)>,
    /// Results, the newest first.
    pub results: Vec<SelfTestResult>,
}

impl SelfTestLog {
    /// Decodes the log. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        let [code, percent] = u16_at(bytes, 0).to_le_bytes();
        let results = bytes.get(4..).unwrap_or_default().chunks(RESULT_BYTES).take(RESULTS_MAX);
        Self {
            running: (code & 0xf != 0).then_some((code & 0xf, percent & 0x7f)),
            results: results.map_while(SelfTestResult::decode).collect(),
        }
    }

    /// The log.
    pub fn encode(&self) -> [u8; LOG_BYTES] {
        let mut bytes = [0; LOG_BYTES];
        let (code, percent) = self.running.unwrap_or_default();
        put(&mut bytes, 0, [code, percent]);
        for index in 0..RESULTS_MAX {
            let at = 4 + index * RESULT_BYTES;
            match self.results.get(index) {
                Some(result) => put(&mut bytes, at, result.encode()),
                None => put(&mut bytes, at, [outcome::UNUSED]),
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn result() -> impl Strategy<Value = SelfTestResult> {
        let failure = prop::option::of((any::<u8>(), any::<u64>(), 0_u16..1 << 11));
        let failure = failure.prop_map(|failure| {
            failure.map(|(segment, block, status)| Failure {
                segment,
                block,
                status: CommandStatus(status),
            })
        });
        (1_u8..15, 0_u8..15, any::<(u64, u32)>(), failure).prop_map(
            |(code, outcome, (power_on_hours, namespace_id), failure)| SelfTestResult {
                code,
                outcome,
                power_on_hours,
                namespace_id,
                failure,
            },
        )
    }

    proptest! {
        #[test]
        fn the_log_survives_the_wire(
            running in prop::option::of((1_u8..15, 0_u8..101)),
            results in prop::collection::vec(result(), 0..RESULTS_MAX + 1),
        ) {
            let log = SelfTestLog { running, results };
            prop_assert_eq!(SelfTestLog::decode(&log.encode()), log);
        }

        #[test]
        fn no_log_panics(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
            let _ = SelfTestLog::decode(&bytes);
        }
    }

    /// Figures 202 and 203 of the base specification 2.0.
    #[test]
    fn fields_lie_where_the_specification_has_them() {
        let failure = Failure { segment: 3, block: 0x0102, status: CommandStatus::READ_ERROR };
        let result = SelfTestResult {
            code: code::SHORT,
            outcome: outcome::FAILED,
            power_on_hours: 7,
            namespace_id: 1,
            failure: Some(failure),
        };
        let log = SelfTestLog { running: Some((code::EXTENDED, 42)), results: vec![result] };
        let bytes = log.encode();
        assert_eq!(bytes.len(), 564);
        assert_eq!(bytes[..8], [2, 42, 0, 0, 0x17, 3, 0b1111, 0]);
        let fields = [8, 16, 20, 21, 28, 29, 32].map(|at| bytes[at]);
        assert_eq!(fields, [7, 1, 2, 1, 2, 0x81, 0x0f]);
    }
}
