//! Rank of the host's reads against garbage collection on a die (`gc.host_reads`).
//!
//! Phenomenon: firmware that serves reads first lets none wait for more than the operation in progress, and collection
//! falls behind under many reads; firmware that gives collection an equal rank keeps its pace, and a read waits for what
//! was queued before it. Source: priorities of reads over garbage collection and their cost in the tail (Wu and He, FAST
//! 2012; tiny-tail flash, Yan et al., FAST 2017); no vendor says which rank its drives give. Simplifications: `first`
//! passes whatever waits, `in-turn` whatever waits except moves and erases that came before, and does not suspend those;
//! the order of collection itself never changes. Tests: `tests/device/host_reads.rs`, `tests/formulas/host_reads.rs`.

use serde::Deserialize;

use super::job::Job;
use crate::ring::Ring;

/// The rank of the host's reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadRank {
    /// Before all other work that waits for the die.
    #[default]
    First,
    /// Behind the collection that waited before.
    InTurn,
}

impl ReadRank {
    /// Whether a read of the host may interrupt an operation.
    pub(super) fn may_suspend(self, job: Job) -> bool {
        job.is_suspendable() && (self == Self::First || !job.is_gc())
    }

    /// Puts a read for the host behind the collection that waits for its die, and behind the reads there; false if no
    /// collection waits.
    #[cold]
    pub(super) fn queue_behind_gc(others: &mut Ring<Job>, read: Job) -> bool {
        let waits = |job: &Job| job.is_gc() || job.is_host_read() || job.is_read_ahead();
        others.insert_behind_last(read, waits)
    }
}
