//! Two things at once on one die: suspended operations and cache programs.
//!
//! Suspend. Phenomenon: a host read on a die that programs or erases does not wait for
//! milliseconds: the die suspends the operation, serves the waiting reads, and continues the
//! operation. Source: ONFI and Toggle datasheets have the commands; Wu and He, "Reducing SSD read
//! latency via NAND flash program and erase suspension" (FAST 2012). A batch of reads (those that
//! wait when it begins) counts as one suspension. Each operation has a limit of suspensions, so
//! that writes cannot starve. Simplifications: only the array's work can be suspended, not the
//! transfer before it; the work done until then is not lost; reads of garbage collection wait. Where reads of the host
//! take their turn (`gc.host_reads`), collection is not suspended.
//!
//! Cache program. Phenomenon: a die has a second register, so the data of the next program crosses
//! the channel during the array's work on this one. Source: ONFI `PROGRAM PAGE CACHE`.
//! Simplification: reads in between do not disturb the second register.
//!
//! Tests: `tests/device/nand.rs`. A drive without either never runs this code.

use super::features::SuspendLimits;
use super::job::Job;

/// A suspended operation.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Suspension {
    pub(super) job: Job,
    pub(super) left_ns: u64,
    /// Reads of this batch that have not begun.
    pub(super) reads_left: usize,
}

/// The state of a die beside its operation.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Side {
    /// Begin of the array's part of the current operation, past or future.
    pub(super) array_start_ns: u64,
    /// End of the current operation.
    pub(super) end_ns: u64,
    /// Batches of reads so far during the current operation.
    pub(super) suspensions: u32,
    pub(super) suspended: Option<Suspension>,
    /// Time from which the data of the next program in the queue is in the second register.
    pub(super) loaded_ns: Option<u64>,
}

/// The overlaps of all dies.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Overlap {
    pub(super) suspend: Option<SuspendLimits>,
    pub(super) cache_program: bool,
    pub(super) dies: Vec<Side>,
}

impl Overlap {
    /// The overlaps of a drive; `None` for a drive without both features.
    pub(super) fn new(
        dies: u32,
        suspend: Option<SuspendLimits>,
        cache_program: bool,
    ) -> Option<Self> {
        let is_used = suspend.is_some() || cache_program;
        is_used.then(|| Self { suspend, cache_program, dies: vec![Side::default(); dies as usize] })
    }

    pub(super) fn begins(&mut self, die: u32, array_start_ns: u64, end_ns: u64) {
        let side = &mut self.dies[die as usize];
        side.array_start_ns = array_start_ns;
        side.end_ns = end_ns;
        side.suspensions = 0;
    }

    pub(super) fn suspended_job(&self, die: u32) -> Option<Job> {
        self.dies[die as usize].suspended.map(|suspended| suspended.job)
    }

    /// Whether no read is left in any batch.
    pub(super) fn drop_reads(&mut self) {
        for suspended in self.dies.iter_mut().filter_map(|side| side.suspended.as_mut()) {
            suspended.reads_left = 0;
        }
    }

    /// Counts the begin of the next read of the batch, or of the next batch if the operation can
    /// wait for one.
    pub(super) fn takes_read(&mut self, die: u32, waiting: usize) -> bool {
        let side = &mut self.dies[die as usize];
        let (Some(limits), Some(suspended)) = (self.suspend, &mut side.suspended) else {
            return false;
        };
        if suspended.reads_left == 0 && waiting > 0 && side.suspensions < limits.per_operation_max {
            side.suspensions += 1;
            suspended.reads_left = waiting;
        }
        let taken = suspended.reads_left > 0;
        suspended.reads_left -= usize::from(taken);
        taken
    }
}
