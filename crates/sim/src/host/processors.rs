//! The controller's processors.
//!
//! Phenomenon: a controller has several cores, and each command or relocated page takes the first
//! free one. Source: MDX of the 840 Pro (three cores), SF-2281 (one); SMART. Simplifications: every
//! core does every job; jobs wait in one line. Tests: `tests/latency.rs`, `tests/timing.rs`.

use super::{ControllerJob, Server};
use crate::events::NEVER;

/// One processor, or several with a common line of jobs.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Processors {
    first: Server<ControllerJob>,
    others: Vec<Server<ControllerJob>>,
    /// End of the next job; the drive reads it at every event.
    next_ns: u64,
}

impl Processors {
    /// This number of idle processors, at least one.
    pub fn new(processors: u32) -> Self {
        let others = (1..processors).map(|_| Server::default()).collect();
        Self { first: Server::default(), others, next_ns: NEVER }
    }

    /// Whether jobs end in the order of their arrival, for all lengths.
    #[inline]
    pub fn are_in_order(&self) -> bool {
        self.others.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Server<ControllerJob>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Server<ControllerJob>> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Queues a job of this length.
    #[inline]
    pub fn push(&mut self, now_ns: u64, length_ns: u64, job: ControllerJob) {
        let free = if self.are_in_order() {
            Some(&mut self.first)
        } else {
            self.all_mut().min_by_key(|server| server.free_ns())
        };
        let end_ns = free.map_or(NEVER, |server| server.push(now_ns, length_ns, job));
        self.next_ns = self.next_ns.min(end_ns);
    }

    /// Occupies the only processor for this length without a job to return; returns the end.
    #[inline]
    pub fn reserve(&mut self, now_ns: u64, length_ns: u64) -> u64 {
        debug_assert!(self.are_in_order(), "nobody knows which of several processors is meant");
        self.first.reserve(now_ns, length_ns)
    }

    /// Occupies all of them for this length behind their jobs.
    pub fn pause(&mut self, now_ns: u64, length_ns: u64) {
        for server in self.all_mut() {
            server.reserve(now_ns, length_ns);
        }
    }

    /// End of the next job; [`NEVER`] while all are idle.
    #[inline]
    pub fn next_event_ns(&self) -> u64 {
        self.next_ns
    }

    /// Removes the job that ends next.
    #[inline]
    pub fn pop(&mut self) -> Option<ControllerJob> {
        let next_ns = self.next_ns;
        let ended = if self.are_in_order() {
            self.first.pop()
        } else {
            self.all_mut().find(|server| server.next_event_ns() == next_ns)?.pop()
        };
        let others_ns = self.others.iter().map(Server::next_event_ns).fold(NEVER, u64::min);
        self.next_ns = self.first.next_event_ns().min(others_ns);
        ended
    }

    /// As [`Server::hold_until`], for all of them.
    pub fn hold_until(&mut self, until_ns: u64) {
        self.all_mut().for_each(|server| server.hold_until(until_ns));
    }

    /// As [`Server::busy_ns`], the mean of all of them.
    pub fn busy_ns(&self, now_ns: u64) -> u64 {
        let sum_ns: u64 = self.all().map(|server| server.busy_ns(now_ns)).sum();
        sum_ns / (1 + self.others.len() as u64)
    }
}
