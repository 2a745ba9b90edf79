//! From the host's command to the drive's door: command slots, controller, link.
//!
//! Phenomenon: each command costs controller time (a serial processor) and its data crosses the [`link`].
//! Source: the rated random IOPS give the cost per command, the rated sequential rate the
//! link; see `docs/reference/simulator.md`. Simplification: one processor serves host commands and page relocations
//! in order of arrival; where a drive has several [`queues`], the controller chooses among those. Tests:
//! `tests/device/timing.rs`, `tests/device/host.rs`, `tests/formulas/shape.rs`.
//!
//! Both stages are first in, first out, so each is a ring of end times that only grow.

pub mod coalescing;
pub mod commands;
pub mod limits;
pub mod link;
pub mod pauses;
pub mod pipeline;
pub mod processors;
pub mod queues;
pub mod system;
pub mod transit;

use std::ops::Range;

use base::{Data, Op, OpKind};
use serde::Deserialize;

use crate::events::NEVER;
use crate::geometry::PAGE_BYTES;
use crate::ring::Ring;

/// The treatment of deallocate commands (TRIM).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeallocateSupport {
    /// The pages become empty: garbage collection need not move them.
    #[default]
    Works,
    /// The drive accepts the command and forgets nothing, like firmware with a broken TRIM.
    Ignored,
    /// The drive has no such command.
    Absent,
}

/// An order to a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ZoneAction {
    /// Open it explicitly.
    Open,
    /// Close it.
    Close,
    /// Make it full.
    Finish,
    /// Make it empty.
    Reset,
}

/// A command in progress; its index is its tag.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Command {
    /// Kind of the command.
    pub kind: OpKind,
    /// Whether a write ends only when its data is safe from a loss of power.
    pub fua: bool,
    /// Whether a write continues no stream, on a drive that tells.
    pub is_random: bool,
    /// The kind of a write's data, for a drive that compresses.
    pub data: Data,
    /// The placement handle of a write, for a drive that has several.
    pub placement: u8,
    /// The order to a zone that it is, or `None` for a command that is none.
    pub zone_action: Option<ZoneAction>,
    /// First logical page.
    pub first_page: u64,
    /// Number of pages, partly covered ones included.
    pub pages: u32,
    /// Bytes that cross the link.
    pub bytes: u32,
    /// Bytes of its first page before it.
    pub head_bytes: u32,
    /// Bytes of its last page behind it.
    pub tail_bytes: u32,
    /// Pages that had entered the write buffer at its last wait.
    pub admitted_pages: u32,
    /// NAND reads in progress.
    pub reads_pending: u32,
    /// Time at which the host sent it.
    pub submitted_ns: u64,
}

impl Command {
    /// The content of an unused tag.
    pub const NONE: Self = Self {
        kind: OpKind::Flush,
        fua: false,
        is_random: false,
        data: Data::Incompressible,
        placement: 0,
        zone_action: None,
        first_page: 0,
        pages: 0,
        bytes: 0,
        head_bytes: 0,
        tail_bytes: 0,
        admitted_pages: 0,
        reads_pending: 0,
        submitted_ns: 0,
    };

    /// A command as the host sends it at `now_ns` to a drive of pages of 2^`page_bits` bytes.
    #[inline(always)]
    pub fn new(op: &Op, page_bits: u32, now_ns: u64) -> Self {
        let page_bytes = 1 << page_bits;
        let head_bytes = op.offset & (page_bytes - 1);
        let end_in_pages = head_bytes + u64::from(op.len);
        let pages = (end_in_pages + page_bytes - 1) >> page_bits;
        Self {
            kind: op.kind,
            fua: op.fua,
            first_page: op.offset >> page_bits,
            pages: pages as u32,
            bytes: op.len,
            head_bytes: head_bytes as u32,
            tail_bytes: ((pages << page_bits) - end_in_pages) as u32,
            submitted_ns: now_ns,
            ..Self::NONE
        }
    }

    /// Pages that it touches.
    #[inline]
    pub fn touched(&self) -> Range<u64> {
        self.first_page..self.first_page + u64::from(self.pages)
    }

    /// The bytes of the LBA space between its ends, on a drive of pages of this size.
    pub fn span_bytes(&self, page_bytes: u64) -> Range<u64> {
        let begin = self.first_page * page_bytes + u64::from(self.head_bytes);
        begin..begin + u64::from(self.bytes)
    }

    /// Pages that have not entered the write buffer.
    #[inline]
    pub fn not_admitted(&self) -> Range<u64> {
        self.first_page + u64::from(self.admitted_pages)..self.touched().end
    }

    /// Records that its pages before this one have entered the write buffer, and that it waits.
    pub fn set_admitted_before(&mut self, page: u64) {
        self.admitted_pages = (page - self.first_page) as u32;
    }

    /// Whether it covers each page that it touches.
    #[inline]
    pub fn is_whole_pages(&self) -> bool {
        self.head_bytes | self.tail_bytes == 0
    }

    /// Number of pages of [`PAGE_BYTES`] that it touches within some of its pages, each of which has `host_pages`.
    #[inline]
    pub fn host_pages_of(&self, pages: &Range<u64>, host_pages: u32) -> u32 {
        let Range { start, end } = self.touched();
        let before = if pages.start == start { self.head_bytes } else { 0 };
        let behind = if pages.end == end { self.tail_bytes } else { 0 };
        let left_out = (before / PAGE_BYTES as u32) + (behind / PAGE_BYTES as u32);
        (pages.end - pages.start) as u32 * host_pages - left_out
    }

    /// Pages that it covers from their first to their last byte.
    pub fn covered(&self) -> Range<u64> {
        let Range { start, end } = self.touched();
        start + u64::from(self.head_bytes > 0)..end - u64::from(self.tail_bytes > 0)
    }

    /// Pages that it covers in part: the first and the last, if they are such.
    pub fn partial(&self) -> [Option<u64>; 2] {
        let Range { start, end } = self.touched();
        let ends_within = self.tail_bytes > 0;
        let first = (self.head_bytes > 0 || ends_within && self.pages == 1).then_some(start);
        [first, (ends_within && self.pages > 1).then(|| end - 1)]
    }
}

/// A job of the controller.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub enum ControllerJob {
    /// Decode a host command.
    Command {
        /// Tag of the command, unique among those outstanding.
        tag: u32,
    },
    /// Relocate the valid pages of a unit that garbage collection has read.
    Relocate {
        /// Unit over the whole drive.
        unit: u32,
        /// Number of valid pages at the time of the read.
        pages: u32,
        /// Valid pages, bit 0 first.
        valid: u64,
    },
    /// Relocate pages that are rewritten in the order of their LBAs.
    Sort,
}

impl Default for ControllerJob {
    fn default() -> Self {
        Self::Command { tag: 0 }
    }
}

/// A serial server: jobs end in the order of their arrival.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(
    bound(serialize = "T: Copy + Default + serde::Serialize"),
    bound(deserialize = "T: Copy + Default + serde::Deserialize<'de>")
)]
pub struct Server<T> {
    jobs: Ring<(u64, T)>,
    free_ns: u64,
    /// Time of all accepted jobs, waiting ones included.
    taken_ns: u64,
    /// Time before which the server began no job.
    held_until_ns: u64,
    /// End of the job in service; the drive reads it at every event.
    next_ns: u64,
}

impl<T: Copy + Default> Default for Server<T> {
    fn default() -> Self {
        let jobs = Ring::with_capacity(64);
        Self { jobs, free_ns: 0, taken_ns: 0, held_until_ns: 0, next_ns: NEVER }
    }
}

impl<T: Copy + Default> Server<T> {
    /// Queues a job of this length; returns its end.
    #[inline]
    pub fn push(&mut self, now_ns: u64, length_ns: u64, job: T) -> u64 {
        let end_ns = self.reserve(now_ns, length_ns);
        self.next_ns = self.next_ns.min(end_ns);
        self.jobs.push_back((end_ns, job));
        end_ns
    }

    /// Occupies the server for this length without a job to return; returns the end.
    #[inline]
    pub fn reserve(&mut self, now_ns: u64, length_ns: u64) -> u64 {
        self.taken_ns += length_ns;
        self.free_ns = self.free_ns.max(now_ns) + length_ns;
        self.free_ns
    }

    /// End of the last accepted job.
    pub fn free_ns(&self) -> u64 {
        self.free_ns
    }

    /// Time spent on jobs until `now_ns`, if every job came at its present: the queued jobs then
    /// lie without gaps before the end of the last one.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        self.taken_ns - self.free_ns.saturating_sub(now_ns.max(self.held_until_ns))
    }

    /// Begins no job before `until_ns`. Only for an idle server: queued jobs have their times.
    pub fn hold_until(&mut self, until_ns: u64) {
        self.free_ns = self.free_ns.max(until_ns);
        self.held_until_ns = until_ns;
    }

    /// End of the job in service; [`NEVER`] while idle.
    #[inline]
    pub fn next_event_ns(&self) -> u64 {
        self.next_ns
    }

    /// Removes the job in service.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let (_, job) = self.jobs.pop_front()?;
        self.next_ns = self.jobs.front().map_or(NEVER, |(end_ns, _)| end_ns);
        Some(job)
    }
}

/// Nanoseconds for `len_bytes` at a rate, rounded up.
#[inline]
pub fn transfer_ns(len_bytes: u64, bytes_per_s: u64) -> u64 {
    (len_bytes * 1_000_000_000).div_ceil(bytes_per_s)
}
