//! Commands on their way to the drive, and their ends on the way back.
//!
//! ```text
//! program -> operating system -> place in the drive's queue -> port -> drive
//! drive -> controller's pipeline -> interrupt -> program
//! ```
//!
//! Each stage has its own file: [`system`](super::system), [`pipeline`](super::pipeline),
//! [`coalescing`](super::coalescing). A drive without any of them has no such path.
//!
//! Each stage is a queue, because a command that comes to it later does not leave it earlier; the pipeline alone has a
//! spread. Of two ends at the same time, that of the earlier stage comes first. The report of an end is no event of its
//! own where it does nothing but give a place in the drive's queue back that nobody waits for.

use std::collections::VecDeque;

use base::OpKind;

use super::coalescing::{Coalescing, Pending, PostEffect};
use super::pipeline::{Pipeline, PipelineLatency};
use super::system::{HostSystem, Way};
use crate::events::NEVER;
use crate::ring::Ring;

/// The stages of a drive; a default path has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stages {
    /// The host, or `None` if commands reach the drive at once.
    pub host: Option<HostSystem>,
    /// The controller's pipeline, or `None` if it adds no time.
    pub pipeline: Option<PipelineLatency>,
    /// The rule for interrupts, or `None` if each end raises one.
    pub coalescing: Option<Coalescing>,
}

/// An event of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A command has reached the drive.
    Arrived(u32),
    /// The program receives the end of a command.
    Delivered(u32),
}

/// Ends of a stage, the earliest first; of two at the same time, the one that was set first comes first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(
    bound(serialize = "T: Copy + Default + serde::Serialize"),
    bound(deserialize = "T: Copy + Default + serde::Deserialize<'de>")
)]
struct Ends<T> {
    queue: Ring<(u64, T)>,
    /// Time of the first one; [`NEVER`] if there is none.
    next_ns: u64,
    /// No end so far is later.
    last_ns: u64,
}

impl<T: Copy + Default> Ends<T> {
    fn new() -> Self {
        Self { queue: Ring::default(), next_ns: NEVER, last_ns: 0 }
    }

    #[inline]
    fn set(&mut self, time_ns: u64, end: T) {
        if time_ns >= self.last_ns {
            self.queue.push_back((time_ns, end));
            self.last_ns = time_ns;
        } else {
            self.queue.insert((time_ns, end), |&(later_ns, _)| later_ns > time_ns);
        }
        self.next_ns = self.next_ns.min(time_ns);
    }

    /// Removes the first one, if it is at this time.
    #[inline]
    fn take(&mut self, now_ns: u64) -> Option<T> {
        if self.next_ns != now_ns {
            return None;
        }
        let (_, end) = self.queue.pop_front()?;
        self.next_ns = self.queue.front().map_or(NEVER, |(time_ns, _)| time_ns);
        Some(end)
    }
}

/// An event on the side of the drive, where interrupts wait for several ends.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
enum Report {
    /// The drive posts the end of a command.
    Post(u32),
    /// The time of an interrupt has come.
    Interrupt(u32),
}

impl Default for Report {
    fn default() -> Self {
        Self::Post(0)
    }
}

/// All commands that are neither in the drive nor with the program.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Transit {
    way: Way,
    pipeline: Pipeline,
    pending: Option<Pending>,
    /// Free places in the drive's queue.
    places: u32,
    /// Commands without a place, each with the earliest time to send it.
    kept_back: VecDeque<(u32, u64)>,
    /// Commands on their way to the drive.
    arrivals: Ends<u32>,
    /// Reports to come; empty without a rule for interrupts.
    reports: Ends<Report>,
    /// Ends on their way to the program; without a rule for interrupts from the drive's work on.
    deliveries: Ends<u32>,
    /// Number of the first deliveries whose places are free again.
    posted: usize,
    next_ns: u64,
}

impl Transit {
    /// The path to an idle drive that takes `places` commands; `None` if it has no stages.
    pub fn new(stages: Stages, places: u32, seed: u64) -> Option<Self> {
        (stages != Stages::default()).then(|| Self {
            way: Way::new(stages.host.unwrap_or(HostSystem::NONE)),
            pipeline: Pipeline::new(stages.pipeline.unwrap_or(PipelineLatency::NONE), seed),
            pending: stages.coalescing.map(Pending::new),
            places,
            kept_back: VecDeque::new(),
            arrivals: Ends::new(),
            reports: Ends::new(),
            deliveries: Ends::new(),
            posted: 0,
            next_ns: NEVER,
        })
    }

    /// End of the next stage; [`NEVER`] if no command is on the path.
    #[inline]
    pub fn next_event_ns(&self) -> u64 {
        self.next_ns
    }

    /// The program issues a command.
    #[inline]
    pub fn submit(&mut self, tag: u32, kind: OpKind, bytes: u32, now_ns: u64) {
        let from_ns = self.way.submit(kind, bytes, now_ns);
        if self.places == 0 {
            self.free_places(now_ns);
        }
        if self.places == 0 || !self.kept_back.is_empty() {
            self.kept_back.push_back((tag, from_ns));
        } else {
            self.places -= 1;
            self.arrivals.set(self.way.pass(from_ns), tag);
        }
        self.set_next();
    }

    /// The drive has done the work of a command.
    #[inline]
    pub fn end(&mut self, tag: u32, kind: OpKind, now_ns: u64) {
        let posted_ns = now_ns + self.pipeline.draw_ns(kind);
        match self.pending {
            None => self.deliveries.set(posted_ns + self.way.complete_ns(), tag),
            Some(_) => self.reports.set(posted_ns, Report::Post(tag)),
        }
        self.set_next();
    }

    /// Ends the next stage, at `now_ns`; `None` if neither drive nor program gets an event.
    #[inline]
    pub fn pop(&mut self, now_ns: u64) -> Option<News> {
        let news = if let Some(tag) = self.arrivals.take(now_ns) {
            Some(News::Arrived(tag))
        } else if self.next_report_ns() == now_ns {
            self.report(now_ns);
            None
        } else {
            let delivered = self.deliveries.take(now_ns);
            match self.posted.checked_sub(1) {
                Some(posted) => self.posted = posted,
                None => self.places += 1,
            }
            delivered.map(News::Delivered)
        };
        self.set_next();
        news
    }

    #[inline]
    fn set_next(&mut self) {
        let ways_ns = self.arrivals.next_ns.min(self.deliveries.next_ns);
        self.next_ns = ways_ns.min(self.next_report_ns());
    }

    /// Time of the next report of an end that has an effect of its own; [`NEVER`] if there is none.
    #[inline]
    fn next_report_ns(&self) -> u64 {
        if self.pending.is_some() {
            self.reports.next_ns
        } else if self.kept_back.is_empty() {
            NEVER
        } else {
            self.next_post_ns()
        }
    }

    /// Without a rule for interrupts: time of the next report of an end; [`NEVER`] if there is none.
    fn next_post_ns(&self) -> u64 {
        let delivery = self.deliveries.queue.get(self.posted);
        delivery.map_or(NEVER, |(delivered_ns, _)| delivered_ns - self.way.complete_ns())
    }

    /// Counts the places that reports have given back.
    fn free_places(&mut self, now_ns: u64) {
        while self.pending.is_none() && self.next_post_ns() <= now_ns {
            self.posted += 1;
            self.places += 1;
        }
    }

    /// The drive reports an end, or its interrupt comes.
    fn report(&mut self, now_ns: u64) {
        match self.reports.take(now_ns) {
            Some(Report::Interrupt(interrupt)) => {
                if self.pending.as_ref().is_some_and(|pending| pending.is_awaited(interrupt)) {
                    self.interrupt(now_ns);
                }
            }
            Some(Report::Post(tag)) => {
                self.give_place(now_ns);
                match self.pending.as_mut().map(|pending| pending.post(tag)) {
                    Some(PostEffect::Raises) => self.interrupt(now_ns),
                    Some(PostEffect::First { after_ns, interrupt }) => {
                        self.reports.set(now_ns + after_ns, Report::Interrupt(interrupt));
                    }
                    Some(PostEffect::Waits) | None => {}
                }
            }
            None => {
                self.give_place(now_ns);
                self.posted += 1;
            }
        }
    }

    /// A place is free: the command that was kept back first gets it.
    fn give_place(&mut self, now_ns: u64) {
        match self.kept_back.pop_front() {
            Some((next, from_ns)) => {
                self.arrivals.set(self.way.pass(from_ns.max(now_ns)), next);
            }
            None => self.places += 1,
        }
    }

    fn interrupt(&mut self, now_ns: u64) {
        let delivered_ns = now_ns + self.way.complete_ns();
        for tag in self.pending.as_mut().map(Pending::raise).unwrap_or_default() {
            self.deliveries.set(delivered_ns, tag);
            self.posted += 1;
        }
    }
}
