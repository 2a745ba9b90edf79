//! Commands on their way to the drive, and their ends on the way back.
//!
//! ```text
//! program -> operating system -> place in the drive's queue -> port -> drive
//! drive -> controller's pipeline -> interrupt -> program
//! ```
//!
//! Each stage has its own file: [`system`](super::system), [`pipeline`](super::pipeline),
//! [`coalescing`](super::coalescing). A drive without any of them has no such path.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use base::OpKind;

use super::coalescing::{Coalescing, Pending, PostEffect};
use super::pipeline::{Pipeline, PipelineLatency};
use super::system::{HostSystem, Way};
use crate::events::NEVER;

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

/// The end of a stage.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
enum Stage {
    Arrived(u32),
    PostEffect(u32),
    Interrupt(u32),
    Delivered(u32),
}

/// An event of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A command has reached the drive.
    Arrived(u32),
    /// The program receives the end of a command.
    Delivered(u32),
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
    /// Ends of stages; of two at the same time, the one that was set first comes first.
    events: BinaryHeap<Reverse<(u64, u64, Stage)>>,
    events_set: u64,
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
            events: BinaryHeap::with_capacity(places as usize),
            events_set: 0,
            next_ns: NEVER,
        })
    }

    /// End of the next stage; [`NEVER`] if no command is on the path.
    #[inline]
    pub fn next_event_ns(&self) -> u64 {
        self.next_ns
    }

    fn set(&mut self, time_ns: u64, stage: Stage) {
        self.events.push(Reverse((time_ns, self.events_set, stage)));
        self.events_set += 1;
        self.next_ns = self.next_ns.min(time_ns);
    }

    /// The program issues a command.
    pub fn submit(&mut self, tag: u32, now_ns: u64) {
        let from_ns = self.way.submit(now_ns);
        if self.places == 0 {
            return self.kept_back.push_back((tag, from_ns));
        }
        self.places -= 1;
        self.send(tag, from_ns);
    }

    fn send(&mut self, tag: u32, from_ns: u64) {
        let arrival_ns = self.way.pass(from_ns);
        self.set(arrival_ns, Stage::Arrived(tag));
    }

    /// The drive has done the work of a command.
    pub fn end(&mut self, tag: u32, kind: OpKind, now_ns: u64) {
        let posted_ns = now_ns + self.pipeline.draw_ns(kind);
        self.set(posted_ns, Stage::PostEffect(tag));
    }

    /// Ends the next stage, at `now_ns`; `None` if neither drive nor program gets an event.
    pub fn pop(&mut self, now_ns: u64) -> Option<News> {
        let Reverse((_, _, stage)) = self.events.pop()?;
        self.next_ns = self.events.peek().map_or(NEVER, |Reverse((time_ns, ..))| *time_ns);
        match stage {
            Stage::Arrived(tag) => return Some(News::Arrived(tag)),
            Stage::Delivered(tag) => return Some(News::Delivered(tag)),
            Stage::PostEffect(tag) => self.post(tag, now_ns),
            Stage::Interrupt(interrupt) => {
                if self.pending.as_ref().is_some_and(|pending| pending.is_awaited(interrupt)) {
                    self.interrupt(now_ns);
                }
            }
        }
        None
    }

    /// The drive reports an end: its place is free, and an interrupt follows.
    fn post(&mut self, tag: u32, now_ns: u64) {
        match self.kept_back.pop_front() {
            Some((next, from_ns)) => self.send(next, from_ns.max(now_ns)),
            None => self.places += 1,
        }
        match self.pending.as_mut().map(|pending| pending.post(tag)) {
            None => self.set(now_ns + self.way.complete_ns(), Stage::Delivered(tag)),
            Some(PostEffect::Waits) => {}
            Some(PostEffect::Raises) => self.interrupt(now_ns),
            Some(PostEffect::First { after_ns, interrupt }) => {
                self.set(now_ns + after_ns, Stage::Interrupt(interrupt));
            }
        }
    }

    fn interrupt(&mut self, now_ns: u64) {
        let delivered_ns = now_ns + self.way.complete_ns();
        for tag in self.pending.as_mut().map(Pending::raise).unwrap_or_default() {
            self.set(delivered_ns, Stage::Delivered(tag));
        }
    }
}
