//! Dies and channels: the operations that occupy them, for how long, and in which order.
//!
//! Phenomenon: a die does one thing at a time (read tR, program tPROG, erase tBERS); a channel moves one
//! die's data at a time. A program first moves its data into the die's register over the channel,
//! then programs; a read first loads the register, then moves. Source: ONFI/Toggle datasheet
//! timing, see `docs/reference/simulator.md`. Simplification: the command and address cycles are part of the times.
//! Times of arrays are in [`array`], the bus in [`channels`].
//! The features that a drive model can add have files of their own: [`pages`] (lower and upper
//! pages), `array/page_register.rs`, [`overlap`] (suspend, cache program), [`aging`] (wear and retention),
//! [`spread`] (blocks and layers). Tests:
//! `tests/device/timing.rs` (one operation at one nanosecond), `tests/device/nand.rs`, `tests/formulas/shape.rs`.
//!
//! Order: host reads go first, reads ahead of the host second, everything else waits its turn on the die, unless a drive
//! gives host reads another [`rank`]. A channel serves in the order in which transfers become ready.

pub mod aging;
mod ahead;
mod array;
mod channels;
pub mod fast;
mod features;
mod job;
pub mod moves;
mod op;
mod overlap;
pub mod pages;
mod power_loss;
pub mod programmed;
pub mod rank;
pub mod slc;

use crate::events::EventTree;
use crate::geometry::Geometry;
use crate::mechanism::power::OperationCounts;
use crate::ring::Ring;
use aging::Aging;
use aging::past::Past;
use ahead::AheadQueues;
use array::Arrays;
use channels::{Channels, Claim};
use fast::FastSuperblocks;
use job::Job;
use overlap::{Overlap, Suspension};
use rank::ReadRank;

pub use array::spread;
pub use features::{NandFeatures, NandTiming, SuspendLimits};
pub use op::DieOp;

/// First size of a die's queue. Small on purpose: a ring walks through all of its memory, and a
/// large one would leave the cache between two visits. It grows on demand.
const QUEUE_OPS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[repr(u32)]
enum Phase {
    /// No operation in progress.
    Rest,
    /// The array works; the transfer, before it for a program and after it for a read, is included.
    Array,
    /// A program or erase is suspended for reads.
    Suspending,
    /// A suspended operation waits for further reads.
    Holding,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Die {
    channel: u32,
    current: Job,
    phase: Phase,
    host_reads: Ring<Job>,
    others: Ring<Job>,
}

/// All dies and channels of a drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Nand {
    unit_pages: u32,
    /// Transfers of a page.
    page_transfers: u32,
    dies: Vec<Die>,
    ahead: AheadQueues,
    arrays: Arrays,
    channels: Channels,
    events: EventTree,
    overlap: Option<Overlap>,
    read_rank: ReadRank,
    /// Busy time of dies since the start, summed, counted when an operation starts and when a read
    /// has to wait longer.
    pub die_busy_ns: u64,
}

impl Nand {
    /// Idle dies, whose blocks draw their shares of the spread by this seed.
    pub fn new(
        geometry: &Geometry,
        timing: NandTiming,
        features: &NandFeatures,
        seed: u64,
    ) -> Self {
        let dies = (0..geometry.dies)
            .map(|die| Die {
                channel: geometry.channel_of_die(die),
                current: Job::default(),
                phase: Phase::Rest,
                host_reads: Ring::with_capacity(QUEUE_OPS),
                others: Ring::with_capacity(QUEUE_OPS),
            })
            .collect();
        let overlap = Overlap::new(geometry.dies, features.suspend, features.cache_program, seed);
        Self {
            unit_pages: geometry.unit_pages,
            page_transfers: geometry.host_pages(),
            dies,
            ahead: AheadQueues::new(geometry.dies),
            arrays: Arrays::new(geometry, timing, features, seed),
            channels: Channels::new(geometry, timing.page_transfer_ns),
            events: EventTree::new(geometry.dies),
            overlap,
            read_rank: features.read_rank,
            die_busy_ns: 0,
        }
    }

    /// Sets whether an empty superblock is written with one bit per cell from now on.
    pub fn set_slc(&mut self, superblock: u32, is_slc: bool) {
        self.arrays.set_slc(superblock, is_slc);
    }

    /// Superblocks programmed fast; `None` if the drive has no mode for that.
    pub fn fast(&self) -> Option<&FastSuperblocks> {
        self.arrays.fast()
    }

    /// Superblocks programmed fast, to change; `None` if the drive has no mode for that.
    pub fn fast_mut(&mut self) -> Option<&mut FastSuperblocks> {
        self.arrays.fast_mut()
    }

    /// Enables fast programs of some superblocks.
    pub fn set_fast(&mut self, superblocks: FastSuperblocks) {
        self.arrays.set_fast(superblocks);
    }

    /// Adds a past to blocks and data at work; false if the model has neither `[nand.retry]` nor `[nand.wear]`.
    pub fn add_past(&mut self, past: Past) -> bool {
        self.arrays.add_past(past)
    }

    /// Adds a past without power: registers lose their content.
    pub fn age(&mut self, past: Past) {
        self.arrays.age(past);
    }

    /// Superblocks that must move because of their reads.
    #[inline]
    pub fn due_for_reclaim(&self) -> &[u32] {
        self.arrays.aging().map_or(&[], Aging::due)
    }

    /// The operations begun since the start.
    pub fn operations(&self) -> OperationCounts {
        OperationCounts { transfers: self.channels.transfers, ..self.arrays.operations }
    }

    /// Time of transfers since the start, summed over all channels.
    pub fn channel_busy_ns(&self) -> u64 {
        self.channels.busy_ns()
    }

    /// Time of the next event of any die; [`crate::events::NEVER`] if there is none.
    #[inline]
    pub fn next_event_ns(&self) -> u64 {
        self.events.earliest().0
    }

    /// Adds an operation to the queue of a die.
    #[inline(always)]
    pub fn enqueue(&mut self, die: u32, op: DieOp, now_ns: u64) {
        let job = Job::new(op, self.unit_pages);
        // A die at rest has nothing in its queues.
        if self.dies[die as usize].phase == Phase::Rest && self.overlap.is_none() {
            self.begin(die, job, now_ns, None);
        } else {
            self.queue(die, job, now_ns);
        }
    }

    #[inline(never)]
    fn queue(&mut self, die: u32, job: Job, now_ns: u64) {
        let state = &mut self.dies[die as usize];
        let (is_host_read, is_read_ahead) = (job.is_host_read(), job.is_read_ahead());
        let may_be_behind = (is_host_read || is_read_ahead) && self.read_rank == ReadRank::InTurn;
        if may_be_behind && ReadRank::queue_behind_gc(&mut state.others, job) {
            // It has its place.
        } else if is_read_ahead {
            self.ahead.push(die, job);
        } else if is_host_read {
            state.host_reads.push_back(job);
        } else {
            state.others.push_back(job);
        }
        if self.overlap.is_some() {
            self.overlap_queued(die, now_ns);
        }
        self.arrays.sense_beside(die, &self.dies[die as usize].host_reads, now_ns);
    }

    /// The host waits for a read ahead: where that has not begun, it joins the host's reads.
    pub fn hasten(&mut self, die: u32, fetch: u64, now_ns: u64) {
        let Some(job) = self.ahead.take(die, fetch) else { return };
        self.dies[die as usize].host_reads.push_back(job);
        if self.overlap.is_some() {
            self.overlap_queued(die, now_ns);
        }
    }

    /// Handles the next event, which is at `now_ns`; returns the die and the operation that ended, if one did.
    #[inline]
    pub fn on_event(&mut self, now_ns: u64) -> Option<(u32, DieOp)> {
        let (_, die) = self.events.earliest();
        let job = self.dies[die as usize].current;
        self.end(die, job, now_ns).then(|| (die, DieOp::from(job)))
    }

    /// Ends an operation; false if it was only suspended.
    fn end(&mut self, die: u32, job: Job, now_ns: u64) -> bool {
        match self.dies[die as usize].phase {
            Phase::Suspending => self.suspended(die, now_ns),
            Phase::Holding => self.resume(die, now_ns),
            Phase::Rest | Phase::Array => {
                self.ended(die, job, now_ns);
                return true;
            }
        }
        false
    }

    /// Handles the end of an operation.
    #[inline(always)]
    fn ended(&mut self, die: u32, job: Job, now_ns: u64) {
        self.arrays.note_end(job, now_ns);
        if self.overlap.is_some() {
            self.start_next_overlapped(die, now_ns);
        } else {
            self.start_next(die, now_ns);
        }
    }

    /// Begins the next operation from the queues of an idle die with one register.
    #[inline]
    fn start_next(&mut self, die: u32, now_ns: u64) {
        match self.next_job(die) {
            Some(job) => _ = self.begin(die, job, now_ns, None),
            None => self.rest(die),
        }
    }

    /// The operation whose turn it is on a die.
    #[inline]
    fn next_job(&mut self, die: u32) -> Option<Job> {
        if !self.dies[die as usize].host_reads.is_empty() {
            return self.next_host_read(die);
        }
        self.ahead.pop(die).or_else(|| self.dies[die as usize].others.pop_front())
    }

    /// The host read whose turn it is on a die: the one that is sensed first, else the one that came first.
    #[inline(never)]
    fn next_host_read(&mut self, die: u32) -> Option<Job> {
        let reads = &mut self.dies[die as usize].host_reads;
        match self.arrays.first_ready(die) {
            None => reads.pop_front(),
            Some(ready) => reads.take(|&read| read == ready).or_else(|| reads.pop_front()),
        }
    }

    /// Begins an operation on an idle die. The data of a program is in the register at `loaded_ns`,
    /// or has to cross the channel first. Returns the begin and the end of the array's work.
    #[inline(always)]
    fn begin(&mut self, die: u32, job: Job, now_ns: u64, loaded_ns: Option<u64>) -> (u64, u64) {
        let array_start_ns = match loaded_ns {
            Some(loaded_ns) => loaded_ns.max(now_ns),
            None if job.is_program() => self.claim(die, self.transfers(job), now_ns).end_ns(),
            None => now_ns,
        };
        let array_end_ns = array_start_ns + self.arrays.begin_ns(die, job, now_ns);
        let mut end_ns = array_end_ns;
        if job.is_read() {
            let claim = self.claim(die, self.transfers(job), array_end_ns);
            self.channels.keep(die, claim);
            end_ns = claim.end_ns();
        }
        let state = &mut self.dies[die as usize];
        state.current = job;
        state.phase = Phase::Array;
        self.die_busy_ns += end_ns - now_ns;
        self.events.set(die, end_ns);
        self.arrays.sense_beside(die, &self.dies[die as usize].host_reads, now_ns);
        (array_start_ns, end_ns)
    }

    /// Transfers over the channel that an operation needs.
    #[inline(always)]
    fn transfers(&self, job: Job) -> u32 {
        if job.is_host_read() { job.pages() } else { job.pages() * self.page_transfers }
    }

    /// Claims the channel of a die for transfers that are ready at a moment.
    #[inline]
    fn claim(&mut self, die: u32, transfers: u32, ready_ns: u64) -> Claim {
        let channel = self.dies[die as usize].channel;
        let Self { channels, events, die_busy_ns, .. } = self;
        channels.claim(channel, transfers, ready_ns, |die, later_ns, end_ns| {
            *die_busy_ns += later_ns;
            events.set(die, end_ns);
        })
    }

    #[inline]
    fn rest(&mut self, die: u32) {
        self.dies[die as usize].phase = Phase::Rest;
        self.events.clear(die);
    }
}

/// The order of work on dies with [`overlap`].
impl Nand {
    /// Handles an addition to the queue of a die: it may begin, or justify a suspension or a
    /// transfer.
    fn overlap_queued(&mut self, die: u32, now_ns: u64) {
        if self.dies[die as usize].phase == Phase::Rest {
            return self.start_next_overlapped(die, now_ns);
        }
        if self.dies[die as usize].phase == Phase::Holding {
            if !self.dies[die as usize].host_reads.is_empty() {
                self.start_next_overlapped(die, now_ns);
            }
        } else {
            self.suspend_for_reads(die, now_ns);
        }
        self.load_next(die, now_ns);
    }

    /// Begins the next work of an idle die.
    fn start_next_overlapped(&mut self, die: u32, now_ns: u64) {
        let Some(overlap) = &mut self.overlap else { return };
        let waiting = self.dies[die as usize].host_reads.len();
        let next = if overlap.dies[die as usize].suspended.is_none() {
            self.next_job(die)
        } else if overlap.takes_read(die, waiting, now_ns) {
            self.next_host_read(die)
        } else if let Some(end_ns) = overlap.hold_end_ns(die, now_ns) {
            return self.hold(die, end_ns);
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
        let end_ns = side.end_ns;
        if state.host_reads.is_empty()
            || !self.read_rank.may_suspend(job)
            || side.suspensions >= limits.per_operation_max
            || state.others.len() > limits.waiting_max as usize
            || cut_ns + limits.suspend_ns >= end_ns
        {
            return;
        }
        let suspend_ns = overlap.suspend_ns(limits);
        if cut_ns + suspend_ns >= end_ns {
            return;
        }
        let side = &mut overlap.dies[die as usize];
        side.suspensions += 1;
        side.suspended =
            Some(Suspension { job, left_ns: end_ns - cut_ns, reads_left: 0, held_until_ns: 0 });
        state.phase = Phase::Suspending;
        // The operation itself was counted as busy when it began.
        self.die_busy_ns += suspend_ns;
        self.events.set(die, cut_ns + suspend_ns);
    }

    /// A suspended operation waits for further reads until this moment.
    fn hold(&mut self, die: u32, end_ns: u64) {
        let suspended = self.overlap.as_ref().and_then(|overlap| overlap.suspended_job(die));
        let state = &mut self.dies[die as usize];
        state.phase = Phase::Holding;
        state.current = suspended.unwrap_or(state.current);
        self.events.set(die, end_ns);
    }

    /// The die can read now: the batch consists of the waiting reads.
    fn suspended(&mut self, die: u32, now_ns: u64) {
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
