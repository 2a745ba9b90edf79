//! Dies and channels: what occupies them, for how long, and in which order.
//!
//! Phenomenon: a die does one thing at a time (read tR, program tPROG, erase tBERS); a channel moves one
//! die's data at a time. A program first moves its data into the die's register over the channel,
//! then programs; a read first loads the register, then moves. Source: ONFI/Toggle datasheet
//! timing, see `docs/simulator.md`. Simplification: the command and address cycles are part of the times.
//! What a drive model can add has files of its own: [`pages`] (lower and upper pages), [`overlap`] (suspend,
//! cache program), [`retry`] (wear and retention). Tests: `tests/timing.rs` (one operation
//! at one nanosecond), `tests/nand.rs`, `tests/shape.rs`.
//!
//! Order: host reads go first, everything else waits its turn on the die. A channel serves
//! in the order in which transfers become ready.

pub mod fast;
mod job;
pub mod overlap;
pub mod pages;
mod power_loss;
pub mod retry;
pub mod slc;

use crate::events::{EventTree, NEVER};
use crate::ftl::StreamId;
use crate::geometry::Geometry;
use crate::mapping::MapWrite;
use crate::power::OperationCounts;
use crate::ring::Ring;
use fast::FastSuperblocks;
use job::Job;
use overlap::{Overlap, SuspendLimits};
use pages::PageTimes;
use retry::{ErrorGrowth, Retry};
use slc::{SlcMode, SlcTiming};

/// First size of a die's queue. Small on purpose: a ring walks through all of its memory, and a
/// large one would fall out of the cache between two visits. It grows where it must.
const QUEUE_OPS: usize = 8;

/// Times of the NAND and its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandTiming {
    /// Array to register (tR).
    pub read_ns: u64,
    /// Register to array (tPROG) of one unit, mean of lower and upper pages.
    pub program_ns: u64,
    /// Erase of one block on every plane of a die: tBERS, or as often as there are planes where they
    /// work one after the other.
    pub erase_ns: u64,
    /// One 4 KiB page over the channel.
    pub page_transfer_ns: u64,
}

/// What a drive model adds to the plain NAND; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NandFeatures {
    /// Program times of lower and upper pages.
    pub pages: Option<PageTimes>,
    /// Programs and erases give way to host reads.
    pub suspend: Option<SuspendLimits>,
    /// The next program's data crosses the channel during this program.
    pub cache_program: bool,
    /// Worn and old pages are sensed more than once.
    pub retry: Option<ErrorGrowth>,
    /// Some superblocks hold one bit per cell.
    pub slc: Option<SlcTiming>,
}

/// One operation on one die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DieOp {
    /// Program a full unit.
    Program {
        /// Unit over the whole drive.
        unit: u32,
        /// Whose data it is.
        stream: StreamId,
        /// Place in the stream's order of programs.
        sequence: u64,
    },
    /// Program the parity of a stripe.
    Parity {
        /// Unit over the whole drive.
        unit: u32,
    },
    /// Program a unit of journal or checkpoint.
    Map {
        /// Unit over the whole drive.
        unit: u32,
        /// What it holds.
        write: MapWrite,
    },
    /// Read the valid pages of a unit for garbage collection.
    GcRead {
        /// Unit over the whole drive.
        unit: u32,
        /// How many of its pages are valid.
        pages: u32,
        /// Which, bit 0 first.
        valid: u64,
    },
    /// Read pages of one unit for the host.
    HostRead {
        /// Tag of the command.
        tag: u32,
        /// Unit over the whole drive.
        unit: u32,
        /// Pages wanted.
        pages: u32,
    },
    /// Erase this die's blocks of a superblock.
    Erase {
        /// The superblock.
        superblock: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Phase {
    /// Nothing is under way.
    Rest,
    /// The array works; for programs the transfer came first and is included.
    Array,
    /// The data of a read moves over the channel.
    ReadTransfer,
    /// A program or erase gives way to reads.
    Suspending,
}

#[derive(Debug)]
struct Die {
    channel: u32,
    current: Job,
    phase: Phase,
    host_reads: Ring<Job>,
    others: Ring<Job>,
}

/// All dies and channels of a drive.
#[derive(Debug)]
pub struct Nand {
    timing: NandTiming,
    unit_pages: u32,
    superblock_units: u32,
    dies: Vec<Die>,
    channel_free_ns: Vec<u64>,
    events: EventTree,
    pages: Option<PageTimes>,
    /// Superblocks programmed fast, where the drive has a mode for that.
    pub fast: Option<FastSuperblocks>,
    overlap: Option<Overlap>,
    retry: Option<Retry>,
    slc: Option<SlcMode>,
    /// What has been begun since the start.
    pub operations: OperationCounts,
    /// Time dies were busy since the start, summed, counted when an operation starts.
    pub die_busy_ns: u64,
    /// Time channels were transferring since the start, summed.
    pub channel_busy_ns: u64,
}

impl Nand {
    /// Idle dies.
    #[must_use]
    pub fn new(geometry: &Geometry, timing: NandTiming, features: &NandFeatures) -> Self {
        let dies = (0..geometry.dies)
            .map(|die| Die {
                channel: geometry.channel_of_die(die),
                current: Job::default(),
                phase: Phase::Rest,
                host_reads: Ring::with_capacity(QUEUE_OPS),
                others: Ring::with_capacity(QUEUE_OPS),
            })
            .collect();
        Self {
            timing,
            unit_pages: geometry.unit_pages,
            superblock_units: geometry.superblock_units,
            fast: None,
            dies,
            channel_free_ns: vec![0; geometry.channels as usize],
            events: EventTree::new(geometry.dies),
            pages: features.pages.clone(),
            overlap: Overlap::new(geometry.dies, features.suspend, features.cache_program),
            slc: features.slc.map(|timing| SlcMode::new(timing, geometry.superblocks)),
            retry: features.retry.map(|model| Retry::new(geometry, model)),
            operations: OperationCounts::default(),
            die_busy_ns: 0,
            channel_busy_ns: 0,
        }
    }

    /// From now on a superblock that holds nothing is written with one bit per cell, or no longer.
    pub fn set_slc(&mut self, superblock: u32, is_slc: bool) {
        if let Some(slc) = &mut self.slc {
            slc.set(superblock, is_slc);
        }
    }

    /// When the next die has something to say, and which.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> (u64, u32) {
        self.events.earliest()
    }

    /// Gives a die an operation, which waits its turn.
    #[inline]
    pub fn enqueue(&mut self, die: u32, op: DieOp, now_ns: u64) {
        self.enqueue_job(die, Job::new(op, self.unit_pages), now_ns);
    }

    fn enqueue_job(&mut self, die: u32, job: Job, now_ns: u64) {
        let state = &mut self.dies[die as usize];
        // A die at rest has nothing in its queues.
        if state.phase == Phase::Rest && self.overlap.is_none() {
            return self.start(die, job, now_ns);
        }
        let queue = if job.is_host_read() { &mut state.host_reads } else { &mut state.others };
        queue.push_back(job);
        if self.overlap.is_some() {
            self.overlap_queued(die, now_ns);
        }
    }

    /// Handles the event of `die` at `now_ns`; returns the operation that ended, if one did.
    #[inline]
    pub fn on_event(&mut self, die: u32, now_ns: u64) -> Option<DieOp> {
        let Die { current: job, phase, .. } = self.dies[die as usize];
        if phase == Phase::Array && job.is_read() {
            let end_ns = self.transfer(die, job.pages(), now_ns);
            self.die_busy_ns += end_ns - now_ns;
            self.dies[die as usize].phase = Phase::ReadTransfer;
            self.events.set(die, end_ns);
            return None;
        }
        if phase == Phase::Suspending {
            self.suspended(die, now_ns);
            return None;
        }
        self.note_end(job, now_ns);
        self.start_next(die, now_ns);
        Some(DieOp::from(job))
    }

    /// What wear and retention must know.
    #[inline]
    fn note_end(&mut self, job: Job, now_ns: u64) {
        let Some(retry) = &mut self.retry else { return };
        if job.is_program() && !job.is_map() {
            retry.programmed(job.place(), now_ns);
        } else if job.is_erase() {
            retry.erased(job.place());
        }
    }

    /// Takes the next operation from the queues of a die that has nothing under way.
    #[inline]
    fn start_next(&mut self, die: u32, now_ns: u64) {
        if self.overlap.is_some() {
            return self.start_next_overlapped(die, now_ns);
        }
        let state = &mut self.dies[die as usize];
        match state.host_reads.pop_front().or_else(|| state.others.pop_front()) {
            Some(job) => self.start(die, job, now_ns),
            None => self.rest(die),
        }
    }

    /// Starts an operation on a die that has nothing under way and one register.
    #[inline]
    fn start(&mut self, die: u32, job: Job, now_ns: u64) {
        let end_ns = self.array_start_ns(die, job, now_ns) + self.array_ns(job, now_ns);
        self.begin(die, job, now_ns, end_ns);
    }

    /// When the array can begin with an operation: for a program, once the data is in the register.
    #[inline]
    fn array_start_ns(&mut self, die: u32, job: Job, now_ns: u64) -> u64 {
        if job.is_program() { self.transfer(die, job.pages(), now_ns) } else { now_ns }
    }

    /// Counts an operation that begins and says how long the array will work on it.
    #[inline]
    fn array_ns(&mut self, job: Job, now_ns: u64) -> u64 {
        let slc = self.slc_timing(job);
        if job.is_program() {
            self.operations.programs += 1;
            let fast = self.fast.as_ref();
            let fast_ns =
                fast.and_then(|fast| fast.program_ns(job.place() / self.superblock_units));
            match (slc.map(|slc| slc.program_ns).or(fast_ns), &self.pages) {
                (Some(program_ns), _) => program_ns,
                (None, None) => self.timing.program_ns,
                (None, Some(pages)) => pages.program_ns(job.place() % self.superblock_units),
            }
        } else if job.is_erase() {
            self.operations.erases += 1;
            slc.map_or(self.timing.erase_ns, |slc| slc.erase_ns)
        } else if let Some(slc) = slc {
            self.operations.reads += 1;
            slc.read_ns
        } else {
            let retry = self.retry.as_ref();
            let senses = retry.map_or(1, |retry| retry.senses(job.place(), now_ns));
            self.operations.reads += senses;
            self.timing.read_ns * senses
        }
    }

    /// The times of an operation on a superblock with one bit per cell; none for others.
    #[inline]
    fn slc_timing(&self, job: Job) -> Option<SlcTiming> {
        let slc = self.slc.as_ref()?;
        let superblock =
            if job.is_erase() { job.place() } else { job.place() / self.superblock_units };
        slc.timing(superblock)
    }

    #[inline]
    fn begin(&mut self, die: u32, job: Job, now_ns: u64, end_ns: u64) {
        let state = &mut self.dies[die as usize];
        state.current = job;
        state.phase = Phase::Array;
        self.die_busy_ns += end_ns - now_ns;
        self.events.set(die, end_ns);
    }

    #[inline]
    fn rest(&mut self, die: u32) {
        self.dies[die as usize].phase = Phase::Rest;
        self.events.set(die, NEVER);
    }

    /// Moves pages over the channel of `die` as soon as it is free; returns the end.
    #[inline]
    fn transfer(&mut self, die: u32, pages: u32, now_ns: u64) -> u64 {
        let free_ns = &mut self.channel_free_ns[self.dies[die as usize].channel as usize];
        let length_ns = u64::from(pages) * self.timing.page_transfer_ns;
        *free_ns = (*free_ns).max(now_ns) + length_ns;
        self.channel_busy_ns += length_ns;
        self.operations.transfers += u64::from(pages);
        *free_ns
    }
}
