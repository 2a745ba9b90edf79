//! The outstanding commands of one workload, and the source of the next ones.

use base::{Completion, Nanos, Op, OpKind, Status};
use load::{Generator, Pacing};
use result::store::ios::NO_JOB;
use target::Target;

use super::outstanding::{Outstanding, OutstandingCommand};
use crate::backlog::Backlog;
use crate::recorder::{Recorder, is_constant};

/// The outcome of an attempt to issue one command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Issued,
    NotDue,
    Exhausted,
}

/// A command that has ended.
pub(crate) struct CommandEnd {
    pub(crate) op: Op,
    /// Its end; `submitted` is the time from which its latency counts: its due time in an open loop.
    pub(crate) end: Completion,
    /// Time at which the target got it.
    pub(crate) issued: Nanos,
}

impl CommandEnd {
    /// Records it as one of this job. `tag` is that by which `target` knows its content.
    #[inline]
    pub(crate) fn record<T: Target>(
        &self,
        target: &mut T,
        tag: u32,
        recorder: &mut Recorder,
        job: u32,
    ) {
        let Self { op, end, issued } = self;
        if let Some(reads) = &mut recorder.reads_constant
            && op.kind == OpKind::Read
            && end.status == Status::Ok
            && let Some(content) = target.read_bytes(tag, op.len as usize)
        {
            *reads += u64::from(is_constant(content));
        }
        recorder.completed(op, end);
        recorder.point(op, *issued, end, job);
    }
}

/// The outstanding commands, and the source of the next ones.
pub(crate) struct Queue<'a> {
    generator: &'a mut Generator,
    /// Start of the schedule of an open loop.
    start: Nanos,
    /// Whether latencies count from due times: an open loop.
    is_open: bool,
    /// Each waits from its due time in an open loop; in a closed one from the last reading of the
    /// clock before its issue.
    pub(crate) outstanding: Outstanding<()>,
    /// The next commands for the target.
    pub(crate) ops: Vec<Op>,
    /// Waits of due commands for room.
    pub(crate) backlog: Backlog,
    /// End of the last command that left a full queue.
    freed: Nanos,
}

impl<'a> Queue<'a> {
    /// No command is outstanding; the schedule begins at `start`.
    pub(crate) fn new(generator: &'a mut Generator, start: Nanos) -> Self {
        let depth = generator.workload().queue_depth;
        let is_open = generator.workload().pacing != Pacing::ClosedLoop;
        Self {
            generator,
            start,
            is_open,
            outstanding: Outstanding::new(depth),
            ops: Vec::with_capacity(depth as usize),
            backlog: Backlog::default(),
            freed: Nanos(0),
        }
    }

    /// Moves the start of the schedule, before the first command.
    pub(crate) fn start_at(&mut self, start: Nanos) {
        self.start = start;
    }

    /// Due time of the next command on the target's clock; `None` in a closed loop.
    #[inline]
    fn due(&self) -> Option<Nanos> {
        self.generator.due().map(|due| Nanos(self.start.0.saturating_add(due.0)))
    }

    /// As [`Queue::due`]; also `None` if the queue is full.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.outstanding.next_tag().and_then(|_| self.due())
    }

    /// Gives every free tag a command, in an open loop only those due by `now`; true if the
    /// workload has none left.
    #[inline]
    pub(crate) fn fill(&mut self, now: Nanos) -> bool {
        self.ops.clear();
        while let Some(tag) = self.outstanding.next_tag() {
            match self.next(now, tag) {
                Next::Issued => {}
                Next::NotDue => return false,
                Next::Exhausted => return true,
            }
        }
        false
    }

    /// Fills the queue with at most `most` commands.
    pub(crate) fn fill_some(&mut self, now: Nanos, most: u32) -> bool {
        self.ops.clear();
        for _ in 0..most {
            let Some(tag) = self.outstanding.next_tag() else { return false };
            match self.next(now, tag) {
                Next::Issued => {}
                Next::NotDue => return false,
                Next::Exhausted => return true,
            }
        }
        false
    }

    #[inline]
    fn next(&mut self, now: Nanos, tag: u32) -> Next {
        let due = self.due();
        if due.is_some_and(|due| due > now) {
            return Next::NotDue;
        }
        let Some(op) = self.generator.next_op(tag) else { return Next::Exhausted };
        if let Some(due) = due {
            self.backlog.issued(due.0, self.freed.0);
        }
        self.outstanding.begin(OutstandingCommand { op, since: due.unwrap_or(now), note: () });
        self.ops.push(op);
        Next::Issued
    }

    /// In an open loop, adds the last commands, those due before `end`; returns the number of those
    /// without room. In a closed loop none.
    pub(crate) fn fill_up_to(&mut self, end: Nanos) -> u64 {
        self.ops.clear();
        if self.due().is_some() {
            self.fill(Nanos(end.0.saturating_sub(1)));
        }
        self.generator.due_before(Nanos(end.0.saturating_sub(self.start.0)))
    }

    /// Records the end of a command and frees its tag.
    #[inline]
    pub(crate) fn ended<T: Target>(
        &mut self,
        target: &mut T,
        end: Completion,
        recorder: &mut Recorder,
    ) {
        if let Some(command) = self.answered(end) {
            command.record(target, end.tag, recorder, NO_JOB);
        }
    }

    /// The command of an end; frees its tag.
    #[inline]
    pub(crate) fn answered(&mut self, end: Completion) -> Option<CommandEnd> {
        let was_full = self.is_open && self.outstanding.next_tag().is_none();
        let OutstandingCommand { op, since, .. } = self.outstanding.end(end.tag)?;
        if was_full {
            self.freed = end.done;
        }
        let submitted = if self.is_open { since } else { end.submitted };
        Some(CommandEnd { op, end: Completion { submitted, ..end }, issued: end.submitted })
    }
}
