//! One job in progress.

use base::{Completion, Nanos, Op};
use load::Generator;
use result::rows::PhaseRows;
use result::schema::Phase;

use super::{JobSpec, Think};
use crate::backlog::Backlog;
use crate::drive::{CommandEnd, Queue};
use crate::recorder::Recorder;

/// The part of its life in which a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before its begin.
    Waiting,
    /// Issues commands, at the latest until this time.
    Running(Option<Nanos>),
    /// Issues none any more.
    Draining,
    /// All have ended, the last one at this time.
    Ended(Nanos),
}

/// A job in progress.
pub(super) struct Running<'a> {
    pub(super) spec: &'a JobSpec,
    /// Its tags on the target by those of its queue, which count from 0; none before its begin and
    /// after its end.
    tags: Vec<u32>,
    queue: Queue<'a>,
    stage: Stage,
    /// The record, from the begin on.
    recorder: Option<Recorder>,
    /// Commands until the next pause, and the end of the present one.
    until_pause: u32,
    pause_end: Option<Nanos>,
    /// Whether it came to its own end.
    complete: bool,
}

impl<'a> Running<'a> {
    pub(super) fn new(spec: &'a JobSpec, generator: &'a mut Generator) -> Self {
        Self {
            spec,
            tags: Vec::new(),
            queue: Queue::new(generator, Nanos(0)),
            stage: Stage::Waiting,
            recorder: None,
            until_pause: spec.think.map_or(0, |think| think.every),
            pause_end: None,
            complete: false,
        }
    }

    /// Time at which its last command ended, or `None` before.
    pub(super) fn ended_at(&self) -> Option<Nanos> {
        match self.stage {
            Stage::Ended(at) => Some(at),
            _ => None,
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.stage == Stage::Waiting
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.outstanding.is_idle()
    }

    /// Begins `now` with these tags on the target; nothing is issued from `phase_end` on.
    pub(super) fn begin(&mut self, now: Nanos, phase_end: Option<Nanos>, tags: Vec<u32>) {
        self.tags = tags;
        let own = self.spec.duration.map(|duration| Nanos(now.0.saturating_add(duration.0)));
        let end = own.into_iter().chain(phase_end).min();
        let figures_from = Nanos(now.0.saturating_add(self.spec.warm_up.0));
        let length = end.map(|end| Nanos(end.0.saturating_sub(figures_from.0)));
        self.recorder = Some(Recorder::new(figures_from, length));
        self.queue.start_at(now);
        self.stage = Stage::Running(end);
    }

    /// Adds its next commands to `ops`, under its tags on the target.
    pub(super) fn issue(&mut self, now: Nanos, ops: &mut Vec<Op>) {
        let Stage::Running(end) = self.stage else { return };
        if end.is_some_and(|end| now >= end) {
            self.close(end.unwrap_or(now), ops);
            self.complete = true;
            return;
        }
        let is_over = match self.spec.think {
            None => self.queue.fill(now),
            Some(think) => self.fill_between_pauses(think, now),
        };
        self.hand_over(ops);
        if is_over {
            self.stage = Stage::Draining;
            self.complete = true;
        }
    }

    /// Issues no more commands after those of an open loop that were due before `end`.
    pub(super) fn close(&mut self, end: Nanos, ops: &mut Vec<Op>) {
        if !matches!(self.stage, Stage::Running(_)) {
            return;
        }
        let without_room = self.queue.fill_up_to(end);
        self.hand_over(ops);
        if let Some(recorder) = &mut self.recorder {
            recorder.ios_not_issued = without_room;
        }
        self.stage = Stage::Draining;
    }

    /// Issues no more commands.
    pub(super) fn stop(&mut self) {
        if matches!(self.stage, Stage::Running(_)) {
            self.stage = Stage::Draining;
        }
    }

    /// Marks a background job, whose end is that of the others, or of the phase.
    pub(super) fn complete(&mut self) {
        self.complete = true;
    }

    /// Notices its end, once nothing is outstanding; returns the tags that it has given back.
    pub(super) fn notice_end(&mut self, now: Nanos) -> Vec<u32> {
        if self.stage != Stage::Draining || !self.is_idle() {
            return Vec::new();
        }
        self.stage = Stage::Ended(now);
        std::mem::take(&mut self.tags)
    }

    /// Time at which it has something to do without the end of a command, or `None` if it waits for one.
    pub(super) fn next_time(&self) -> Option<Nanos> {
        let Stage::Running(end) = self.stage else { return None };
        let pause_end = self.pause_end;
        if self.spec.think.is_some() && self.until_pause == 0 && pause_end.is_none() {
            return None;
        }
        let next = pause_end.into_iter().chain(self.queue.next_due()).max()?;
        Some(end.map_or(next, |end| next.min(end)))
    }

    /// Records the end of one of its commands, under its own tag; returns the command, or `None` if it
    /// is not outstanding.
    pub(super) fn ended(&mut self, end: Completion, tag: u32) -> Option<CommandEnd> {
        let answer = self.queue.answered(Completion { tag, ..end })?;
        let CommandEnd { op, end, .. } = &answer;
        if let Some(recorder) = &mut self.recorder
            && end.done >= recorder.start()
        {
            recorder.completed(op, end);
        }
        Some(answer)
    }

    /// Records its outstanding commands for a lost target, here and in the sum, where it is job `number`.
    pub(super) fn give_up(&mut self, now: Nanos, sum: &mut Recorder, number: u32) {
        self.queue.outstanding.give_up(now, sum, |()| number);
        if let Some(recorder) = &mut self.recorder {
            self.queue.outstanding.give_up(now, recorder, |()| number);
        }
    }

    /// Number of commands of its schedule that found no room in its queue.
    pub(super) fn ios_not_issued(&self) -> u64 {
        self.recorder.as_ref().map_or(0, |recorder| recorder.ios_not_issued)
    }

    /// Waits of its due commands for room.
    pub(super) fn backlog(&self) -> Backlog {
        self.queue.backlog
    }

    /// Its record and rows at the end of the phase, or `None` if it never began.
    pub(super) fn finish(self, now: Nanos) -> Option<(Phase, PhaseRows)> {
        let end = self.ended_at().unwrap_or(now);
        let recorder = self.recorder?;
        let mut phase = Phase { name: self.spec.name.clone(), ..recorder.record() };
        phase.complete = self.complete && recorder.errors == 0;
        let (rows, length) = recorder.finish(end);
        phase.duration_ns = length.0;
        Some((phase, rows))
    }

    /// The next commands up to the pause; begins the pause when the last of them has ended.
    fn fill_between_pauses(&mut self, think: Think, now: Nanos) -> bool {
        self.queue.ops.clear();
        if self.until_pause == 0 {
            if !self.is_idle() {
                return false;
            }
            let pause_end =
                *self.pause_end.get_or_insert(Nanos(now.0.saturating_add(think.pause.0)));
            if now < pause_end {
                return false;
            }
            (self.pause_end, self.until_pause) = (None, think.every);
        }
        let is_over = self.queue.fill_some(now, self.until_pause);
        self.until_pause -= self.queue.ops.len() as u32;
        is_over
    }

    fn hand_over(&mut self, ops: &mut Vec<Op>) {
        let tags = &self.tags;
        ops.extend(self.queue.ops.drain(..).map(|op| Op { tag: tags[op.tag as usize], ..op }));
    }
}
