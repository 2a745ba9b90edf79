//! The past of a drive that is not new at the start of the simulation.

use base::facts::Sourced;

use crate::model::schema::{Check, ModelError, section};

section! {
    /// The past of a drive that is not new.
    pub struct AgeSection {
        /// Cycles of every block in addition to `nand.retry.initial_cycles`; absent: none.
        pub cycles: Option<Sourced<u32>> [0, CYCLES_MAX],
        /// Days without power between the data that is written first and the first read of the host; absent: none.
        pub retention_days: Option<Sourced<u32>> [0, DAYS_MAX],
        /// Reads in that time of every block that holds data; absent: none.
        pub read_count: Option<Sourced<u32>> [0, READS_MAX],
    }
}

/// Most cycles of a block.
pub(super) const CYCLES_MAX: u64 = 1_000_000;
/// A hundred years.
const DAYS_MAX: u64 = 36_500;
/// Most reads of a block.
pub(super) const READS_MAX: u64 = 1_000_000_000;

/// Nanoseconds of a day.
pub const DAY_NS: u64 = 24 * 3_600_000_000_000;

/// The past of all blocks and of the first data of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Past {
    /// Initial cycles of every block.
    pub cycles: u32,
    /// Time without power between the data that is written first and the first read of the host from native cells.
    pub retention_ns: u64,
    /// Reads in that time of every block that holds data.
    pub reads: u32,
}

/// The parts of a past that have an effect on a drive.
#[derive(Clone, Copy)]
pub(crate) struct Effects {
    /// Whether its NAND has errors that need retries.
    pub(crate) retry: bool,
    /// Whether those depend on the reads of a block.
    pub(crate) reads: bool,
    /// Whether worn blocks take other times.
    pub(crate) wear: bool,
}

impl AgeSection {
    /// The past of blocks and data. The model must have the keys by which each part of it has an effect.
    pub(crate) fn resolve(&self, check: &Check<'_>, effects: Effects) -> Result<Past, ModelError> {
        let Effects { retry, reads, wear } = effects;
        for (key, value, has_effect, rule) in [
            (
                "age.cycles",
                &self.cycles,
                retry || wear,
                "only nand.retry and nand.wear give it an effect",
            ),
            (
                "age.retention_days",
                &self.retention_days,
                retry,
                "only nand.retry gives it an effect",
            ),
            (
                "age.read_count",
                &self.read_count,
                reads,
                "only nand.retry.per_kiloread_ppb and nand.retry.reclaim_reads give it an effect",
            ),
        ] {
            if let Some(value) = value.as_ref().filter(|_| !has_effect) {
                return check.fail(key, value.value, rule);
            }
        }
        let number = |value: &Option<Sourced<u32>>| value.as_ref().map_or(0, |value| value.value);
        Ok(Past {
            cycles: number(&self.cycles),
            retention_ns: u64::from(number(&self.retention_days)) * DAY_NS,
            reads: number(&self.read_count),
        })
    }
}

impl Past {
    /// Days without power, and nothing else.
    pub const fn days(days: u32) -> Self {
        Self { cycles: 0, retention_ns: (days as u64).saturating_mul(DAY_NS), reads: 0 }
    }
}
