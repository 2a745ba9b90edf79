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
use super::{Nand, Phase};

/// A suspended operation.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Suspension {
    job: Job,
    left_ns: u64,
    /// Reads of this batch that have not begun.
    reads_left: usize,
}

/// The state of a die beside its operation.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Side {
    /// Begin of the array's part of the current operation, past or future.
    array_start_ns: u64,
    /// End of the current operation.
    end_ns: u64,
    /// Batches of reads so far during the current operation.
    suspensions: u32,
    suspended: Option<Suspension>,
    /// Time from which the data of the next program in the queue is in the second register.
    loaded_ns: Option<u64>,
}

/// The overlaps of all dies.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Overlap {
    suspend: Option<SuspendLimits>,
    cache_program: bool,
    dies: Vec<Side>,
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

    fn begins(&mut self, die: u32, array_start_ns: u64, end_ns: u64) {
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
    fn takes_read(&mut self, die: u32, waiting: usize) -> bool {
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

impl Nand {
    /// Handles an addition to the queue of a die: it may begin, or justify a suspension or a
    /// transfer.
    pub(super) fn overlap_queued(&mut self, die: u32, now_ns: u64) {
        if self.dies[die as usize].phase == Phase::Rest {
            return self.start_next_overlapped(die, now_ns);
        }
        self.suspend_for_reads(die, now_ns);
        self.load_next(die, now_ns);
    }

    /// Begins the next work of an idle die.
    pub(super) fn start_next_overlapped(&mut self, die: u32, now_ns: u64) {
        let Some(overlap) = &mut self.overlap else { return };
        let waiting = self.dies[die as usize].host_reads.len();
        let next = if overlap.dies[die as usize].suspended.is_none() {
            self.next_job(die)
        } else if overlap.takes_read(die, waiting) {
            self.next_host_read(die)
        } else {
            return self.resume(die, now_ns);
        };
        let Some(job) = next else { return self.rest(die) };
        let Some(overlap) = &mut self.overlap else { return };
        let loaded_ns =
            if job.is_program() { overlap.dies[die as usize].loaded_ns.take() } else { None };
        let (array_start_ns, end_ns) = self.begin(die, job, now_ns, loaded_ns);
        if let Some(overlap) = &mut self.overlap
            && job.is_suspendable()
        {
            overlap.begins(die, array_start_ns, end_ns);
        }
        self.load_next(die, now_ns);
    }

    /// Suspends the operation of the die, if that is permitted and the operation would end later by
    /// itself.
    fn suspend_for_reads(&mut self, die: u32, now_ns: u64) {
        let state = &mut self.dies[die as usize];
        let Some(overlap) = &mut self.overlap else { return };
        let (Some(limits), Phase::Array) = (overlap.suspend, state.phase) else { return };
        let job = state.current;
        let side = &mut overlap.dies[die as usize];
        let cut_ns = now_ns.max(side.array_start_ns);
        if state.host_reads.is_empty()
            || !self.read_rank.may_suspend(job)
            || side.suspensions >= limits.per_operation_max
            || cut_ns + limits.suspend_ns >= side.end_ns
        {
            return;
        }
        side.suspensions += 1;
        side.suspended = Some(Suspension { job, left_ns: side.end_ns - cut_ns, reads_left: 0 });
        state.phase = Phase::Suspending;
        // The operation itself was counted as busy when it began.
        self.die_busy_ns += limits.suspend_ns;
        self.events.set(die, cut_ns + limits.suspend_ns);
    }

    /// The die can read now: the batch consists of the waiting reads.
    pub(super) fn suspended(&mut self, die: u32, now_ns: u64) {
        let waiting = self.dies[die as usize].host_reads.len();
        if let Some(overlap) = &mut self.overlap
            && let Some(suspended) = &mut overlap.dies[die as usize].suspended
        {
            suspended.reads_left = waiting;
        }
        self.start_next_overlapped(die, now_ns);
    }

    fn resume(&mut self, die: u32, now_ns: u64) {
        let Some(overlap) = &mut self.overlap else { return };
        let side = &mut overlap.dies[die as usize];
        let (Some(limits), Some(suspended)) = (overlap.suspend, side.suspended.take()) else {
            return;
        };
        side.array_start_ns = now_ns + limits.resume_ns;
        side.end_ns = side.array_start_ns + suspended.left_ns;
        self.die_busy_ns += limits.resume_ns;
        self.arrays.resume(die);
        let state = &mut self.dies[die as usize];
        state.current = suspended.job;
        state.phase = Phase::Array;
        self.events.set(die, side.end_ns);
        self.load_next(die, now_ns);
    }

    /// Moves the data of the next program into the second register, if a program is in progress and
    /// another follows it.
    fn load_next(&mut self, die: u32, now_ns: u64) {
        let Some(overlap) = &self.overlap else { return };
        let side = &overlap.dies[die as usize];
        let state = &self.dies[die as usize];
        let under_way = state.phase != Phase::Rest && state.current.is_program();
        let next = state.others.front().filter(|job| job.is_program());
        let Some(next) = next.filter(|_| overlap.cache_program && under_way) else { return };
        if side.loaded_ns.is_some() {
            return;
        }
        // The register is free: what it held went to the array by now, or crosses the channel, for which this waits.
        let loaded_ns = self.claim(die, self.transfers(next), now_ns).end_ns();
        if let Some(overlap) = &mut self.overlap {
            overlap.dies[die as usize].loaded_ns = Some(loaded_ns);
        }
    }
}
