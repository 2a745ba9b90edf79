//! Dies and channels: what occupies them, for how long, and in which order.
//!
//! Phenomenon: a die does one thing at a time (read tR, program tPROG, erase tBERS); a channel moves one
//! die's data at a time. A program first moves its data into the die's register over the channel,
//! then programs; a read first loads the register, then moves. Source: ONFI/Toggle datasheet
//! timing, see `docs/simulator.md`. Simplifications: lower and upper pages share one mean program time;
//! no suspend; the command and address cycles are part of the times. Tests: `tests/timing.rs` (one operation
//! at one nanosecond), `tests/shape.rs`.
//!
//! Order: host reads go first, everything else waits its turn on the die. A channel serves
//! in the order in which transfers become ready.

use std::collections::VecDeque;

use crate::events::{EventTree, NEVER};
use crate::ftl::StreamId;
use crate::geometry::Geometry;

/// First size of a die's queue. Small on purpose: a ring walks through all of its memory, and a
/// large one would fall out of the cache between two visits. It grows where it must.
const QUEUE_OPS: usize = 8;

/// Times of the NAND and its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandTiming {
    /// Array to register (tR).
    pub read_ns: u64,
    /// Register to array (tPROG), mean of lower and upper pages, all planes at once.
    pub program_ns: u64,
    /// Erase of one block on all planes (tBERS).
    pub erase_ns: u64,
    /// One 4 KiB page over the channel.
    pub page_transfer_ns: u64,
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
    /// Read the valid pages of a unit for garbage collection.
    GcRead {
        /// Unit over the whole drive.
        unit: u32,
        /// Its valid pages, bit 0 first.
        valid: u64,
    },
    /// Read pages of one unit for the host.
    HostRead {
        /// Tag of the command.
        tag: u32,
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
enum Phase {
    /// The array works; for programs the transfer came first and is included.
    Array,
    /// The data of a read moves over the channel.
    ReadTransfer,
}

#[derive(Debug)]
struct Die {
    channel: u32,
    current: Option<(DieOp, Phase)>,
    host_reads: VecDeque<DieOp>,
    others: VecDeque<DieOp>,
}

/// All dies and channels of a drive.
#[derive(Debug)]
pub struct Nand {
    timing: NandTiming,
    unit_pages: u32,
    dies: Vec<Die>,
    channel_free_ns: Vec<u64>,
    events: EventTree,
    /// Time dies were busy since the start, summed, counted when an operation starts.
    pub die_busy_ns: u64,
    /// Time channels were transferring since the start, summed.
    pub channel_busy_ns: u64,
}

impl Nand {
    /// Idle dies.
    #[must_use]
    pub fn new(geometry: &Geometry, timing: NandTiming) -> Self {
        let dies = (0..geometry.dies)
            .map(|die| Die {
                channel: geometry.channel_of_die(die),
                current: None,
                host_reads: VecDeque::with_capacity(QUEUE_OPS),
                others: VecDeque::with_capacity(QUEUE_OPS),
            })
            .collect();
        Self {
            timing,
            unit_pages: geometry.unit_pages,
            dies,
            channel_free_ns: vec![0; geometry.channels as usize],
            events: EventTree::new(geometry.dies),
            die_busy_ns: 0,
            channel_busy_ns: 0,
        }
    }

    /// When the next die has something to say, and which.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> (u64, u32) {
        self.events.earliest()
    }

    /// Puts an operation into a die's queue.
    #[inline]
    pub fn enqueue(&mut self, die: u32, op: DieOp, now_ns: u64) {
        let state = &mut self.dies[die as usize];
        match op {
            DieOp::HostRead { .. } => state.host_reads.push_back(op),
            _ => state.others.push_back(op),
        }
        if state.current.is_none() {
            self.start_next(die, now_ns);
        }
    }

    /// Handles the event of `die` at `now_ns`; returns the operation that ended, if one did.
    #[inline]
    pub fn on_event(&mut self, die: u32, now_ns: u64) -> Option<DieOp> {
        let (op, phase) = self.dies[die as usize].current?;
        let pages = match op {
            DieOp::GcRead { valid, .. } => valid.count_ones(),
            DieOp::HostRead { pages, .. } => pages,
            DieOp::Program { .. } | DieOp::Parity { .. } | DieOp::Erase { .. } => 0,
        };
        if pages > 0 && phase == Phase::Array {
            let end_ns = self.transfer(die, pages, now_ns);
            self.die_busy_ns += end_ns - now_ns;
            self.dies[die as usize].current = Some((op, Phase::ReadTransfer));
            self.events.set(die, end_ns);
            return None;
        }
        self.start_next(die, now_ns);
        Some(op)
    }

    /// Takes the next operation from the queues of a die that has nothing under way.
    fn start_next(&mut self, die: u32, now_ns: u64) {
        let state = &mut self.dies[die as usize];
        let next = state.host_reads.pop_front().or_else(|| state.others.pop_front());
        state.current = next.map(|op| (op, Phase::Array));
        let end_ns = match next {
            None => NEVER,
            Some(DieOp::Program { .. } | DieOp::Parity { .. }) => {
                self.transfer(die, self.unit_pages, now_ns) + self.timing.program_ns
            }
            Some(DieOp::GcRead { .. } | DieOp::HostRead { .. }) => now_ns + self.timing.read_ns,
            Some(DieOp::Erase { .. }) => now_ns + self.timing.erase_ns,
        };
        if next.is_some() {
            self.die_busy_ns += end_ns - now_ns;
        }
        self.events.set(die, end_ns);
    }

    /// Moves pages over the channel of `die` as soon as it is free; returns the end.
    #[inline]
    fn transfer(&mut self, die: u32, pages: u32, now_ns: u64) -> u64 {
        let free_ns = &mut self.channel_free_ns[self.dies[die as usize].channel as usize];
        let length_ns = u64::from(pages) * self.timing.page_transfer_ns;
        *free_ns = (*free_ns).max(now_ns) + length_ns;
        self.channel_busy_ns += length_ns;
        *free_ns
    }
}
