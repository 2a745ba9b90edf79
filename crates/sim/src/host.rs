//! From the host's command to the drive's door: command slots, controller, link.
//!
//! Phenomenon: each command costs controller time (a serial processor) and its data crosses the link
//! at the link's rate. Source: the rated random IOPS give the cost per command, the rated sequential rate the
//! link; see `docs/simulator.md`. Simplifications: one processor serves host commands and page relocations
//! in order of arrival; a command's data crosses the link in one piece; status frames cost nothing of
//! their own. Tests: `tests/timing.rs`, `tests/shape.rs`.
//!
//! Both stages are first in, first out, so each is a ring of end times that only grow.

use std::collections::VecDeque;

use base::OpKind;

use crate::events::NEVER;

/// A command under way; its index is its tag.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// What to do.
    pub kind: OpKind,
    /// A write that ends only when its data is safe from a loss of power.
    pub fua: bool,
    /// First logical page.
    pub first_page: u32,
    /// Pages.
    pub pages: u32,
    /// Pages that have entered the write buffer.
    pub admitted_pages: u32,
    /// NAND reads still under way.
    pub reads_pending: u32,
    /// When the host sent it.
    pub submitted_ns: u64,
}

/// What the controller works on.
#[derive(Clone, Copy, Debug)]
pub enum ControllerJob {
    /// Decode a host command.
    Command {
        /// Its tag.
        tag: u32,
    },
    /// Relocate the valid pages of a unit that garbage collection has read.
    Relocate {
        /// The unit.
        unit: u32,
        /// Pages that were valid when it was read, bit 0 first.
        valid: u64,
    },
}

/// A serial server: jobs end in the order in which they came.
#[derive(Debug)]
pub struct Server<T> {
    jobs: VecDeque<(u64, T)>,
    free_ns: u64,
    /// When the job in service ends: asked for at every event of the drive.
    next_ns: u64,
}

impl<T> Default for Server<T> {
    fn default() -> Self {
        Self { jobs: VecDeque::with_capacity(64), free_ns: 0, next_ns: NEVER }
    }
}

impl<T> Server<T> {
    /// Queues a job of this length.
    #[inline]
    pub fn push(&mut self, now_ns: u64, length_ns: u64, job: T) {
        let end_ns = self.reserve(now_ns, length_ns);
        self.next_ns = self.next_ns.min(end_ns);
        self.jobs.push_back((end_ns, job));
    }

    /// Takes the server for this length without a job to come back to; returns the end.
    #[inline]
    pub fn reserve(&mut self, now_ns: u64, length_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(now_ns) + length_ns;
        self.free_ns
    }

    /// When the job in service ends; [`NEVER`] while idle.
    #[inline]
    #[must_use]
    pub fn next_event_ns(&self) -> u64 {
        self.next_ns
    }

    /// Takes the job in service.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let (_, job) = self.jobs.pop_front()?;
        self.next_ns = self.jobs.front().map_or(NEVER, |(end_ns, _)| *end_ns);
        Some(job)
    }
}

/// Nanoseconds that `len_bytes` take at a rate, rounded up.
#[inline]
#[must_use]
pub fn transfer_ns(len_bytes: u64, bytes_per_s: u64) -> u64 {
    (len_bytes * 1_000_000_000).div_ceil(bytes_per_s)
}
