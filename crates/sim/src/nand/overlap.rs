//! Two things at once on one die: suspended operations and cache programs.
//!
//! Suspend. Phenomenon: a host read on a die that programs or erases does not wait for
//! milliseconds: the die suspends the operation, serves the waiting reads, and continues the
//! operation. Source: ONFI and Toggle datasheets have the commands; Wu and He, "Reducing SSD read
//! latency via NAND flash program and erase suspension" (FAST 2012). A batch of reads (those that
//! wait when it begins) counts as one suspension. Each operation has a limit of suspensions, so
//! that writes cannot starve. A die stops between two pulses of a program, and firmware asks it when it comes round to
//! that: the time spreads (`tail_ns`). Firmware that expects more reads holds the die for a while (`hold_ns`), which
//! costs the writes beside them: 6,000 reads a second take a quarter of the writes of a Micron 7450 (SSD-iq), 0.7 ms of
//! a die for each read. Some firmware no longer suspends on a die that random writes keep busy, or they would starve
//! (US patent 12,131,064, Intel 2021): `waiting_max` counts the operations that wait there. Simplifications: only the array's work can be suspended, not the
//! transfer before it; the work done until then is not lost; reads of garbage collection wait. Where reads of the host
//! take their turn (`gc.host_reads`), collection is not suspended.
//!
//! Cache program. Phenomenon: a die has a second register, so the data of the next program crosses
//! the channel during the array's work on this one. Source: ONFI `PROGRAM PAGE CACHE`.
//! Simplification: reads in between do not disturb the second register.
//!
//! Tests: `tests/device/nand.rs`. A drive without either never runs this code.

use base::Rng;

use super::features::SuspendLimits;
use super::job::Job;

/// A suspended operation.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Suspension {
    pub(super) job: Job,
    pub(super) left_ns: u64,
    /// Reads of this batch that have not begun.
    pub(super) reads_left: usize,
    /// Time until which the die takes further reads; 0 before the end of the first batch.
    pub(super) held_until_ns: u64,
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
    rng: Rng,
}

impl Overlap {
    /// The overlaps of a drive; `None` for a drive without both features.
    pub(super) fn new(
        dies: u32,
        suspend: Option<SuspendLimits>,
        cache_program: bool,
        seed: u64,
    ) -> Option<Self> {
        let is_used = suspend.is_some() || cache_program;
        is_used.then(|| Self {
            suspend,
            cache_program,
            dies: vec![Side::default(); dies as usize],
            rng: Rng::split(seed, "suspend"),
        })
    }

    /// The time that the next suspension takes.
    pub(super) fn suspend_ns(&mut self, limits: SuspendLimits) -> u64 {
        let SuspendLimits { suspend_ns, tail_ns, .. } = limits;
        suspend_ns + if tail_ns > 0 { self.rng.exponential(tail_ns) } else { 0 }
    }

    /// Time until which a die whose reads have ended waits for further ones, or `None` if its operation continues now.
    pub(super) fn hold_end_ns(&mut self, die: u32, now_ns: u64) -> Option<u64> {
        let suspended = self.dies[die as usize].suspended.as_mut()?;
        if suspended.held_until_ns == 0 {
            suspended.held_until_ns = now_ns + self.suspend?.hold_ns;
        }
        Some(suspended.held_until_ns).filter(|&until_ns| until_ns > now_ns)
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
    pub(super) fn takes_read(&mut self, die: u32, waiting: usize, now_ns: u64) -> bool {
        let side = &mut self.dies[die as usize];
        let (Some(limits), Some(suspended)) = (self.suspend, &mut side.suspended) else {
            return false;
        };
        let is_held = now_ns < suspended.held_until_ns;
        let is_permitted = is_held || side.suspensions < limits.per_operation_max;
        if suspended.reads_left == 0 && waiting > 0 && is_permitted {
            side.suspensions += u32::from(!is_held);
            suspended.reads_left = waiting;
        }
        let taken = suspended.reads_left > 0;
        suspended.reads_left -= usize::from(taken);
        taken
    }
}
