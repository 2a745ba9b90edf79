//! The loop over several jobs. With one job it issues the commands that [`crate::drive::drive`] issues.

use std::sync::atomic::AtomicBool;

use base::{Completion, Nanos, Op};
use load::Generator;
use result::rows::PhaseRows;
use result::schema::Phase;
use target::Target;
use target::TargetError;

use super::running::Running;
use super::{JobSpec, Jobs};
use crate::drive::{End, Seconds, WATCH, wait_until};
use crate::recorder::Recorder;

/// Record and rows of each job, in their order; `None` for a job that never began.
pub type Parts = Vec<Option<(Phase, PhaseRows)>>;

/// Issues the commands of all jobs until they end, until the deadline of `recorder`, until `interrupted`,
/// or until a command fails; then waits for outstanding ones. `recorder` holds the sum of all jobs. The
/// generators are those of the jobs, in their order.
///
/// # Errors
/// If the target as a whole is lost; what was recorded stays in `recorder` and in the parts.
pub fn drive_jobs<T: Target>(
    target: &mut T,
    jobs: &Jobs,
    generators: &mut [Generator],
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    on_second: impl FnMut(&Recorder),
) -> (Result<End, TargetError>, Parts) {
    let mut together = Together::new(jobs, generators, recorder);
    let end = together.keep_busy(target, recorder, interrupted, on_second);
    let now = target.now();
    if end.is_err() {
        let jobs = together.jobs.iter_mut().zip(0..);
        jobs.for_each(|(job, number)| job.give_up(now, recorder, number));
    }
    recorder.backlogs = together.jobs.iter().map(Running::backlog).collect();
    recorder.ios_not_issued = together.jobs.iter().map(Running::ios_not_issued).sum();
    (end, together.jobs.into_iter().map(|job| job.finish(now)).collect())
}

/// All jobs in progress.
struct Together<'a> {
    jobs: Vec<Running<'a>>,
    /// The job of each tag of the target, and its own tag.
    owners: Vec<(usize, u32)>,
    /// The tags without a job; the last one is the next.
    free_tags: Vec<u32>,
    start: Nanos,
    deadline: Option<Nanos>,
    /// The next commands for the target.
    ops: Vec<Op>,
}

impl<'a> Together<'a> {
    fn new(jobs: &'a Jobs, generators: &'a mut [Generator], recorder: &Recorder) -> Self {
        let depth = jobs.queue_depth();
        let running = jobs.jobs.iter().zip(generators);
        Self {
            jobs: running.map(|(spec, generator)| Running::new(spec, generator)).collect(),
            owners: vec![(0, 0); depth as usize],
            free_tags: (0..depth).rev().collect(),
            start: recorder.start(),
            deadline: recorder.deadline(),
            ops: Vec::with_capacity(depth as usize),
        }
    }

    /// Begins a job with as many of the free tags as it has depth: the jobs that run are never more
    /// than [`Jobs::queue_depth`] permits.
    fn begin(&mut self, index: usize, now: Nanos) {
        let depth = self.jobs[index].spec.workload.queue_depth as usize;
        let at = self.free_tags.len().saturating_sub(depth);
        let tags: Vec<_> = self.free_tags.drain(at..).rev().collect();
        for (own, tag) in (0..).zip(&tags) {
            self.owners[*tag as usize] = (index, own);
        }
        self.jobs[index].begin(now, self.deadline, tags);
    }

    /// Notices the end of a job, whose tags are free then.
    fn notice_end(&mut self, index: usize, now: Nanos) {
        self.free_tags.extend(self.jobs[index].notice_end(now).into_iter().rev());
    }

    fn notice_ends(&mut self, now: Nanos) {
        (0..self.jobs.len()).for_each(|index| self.notice_end(index, now));
    }

    /// The loop.
    fn keep_busy<T: Target>(
        &mut self,
        target: &mut T,
        recorder: &mut Recorder,
        interrupted: &AtomicBool,
        mut on_second: impl FnMut(&Recorder),
    ) -> Result<End, TargetError> {
        let mut ended: Vec<Completion> = Vec::with_capacity(self.owners.len());
        let mut now = target.now();
        let mut seconds = Seconds::start(target, recorder);
        let mut end = None;
        loop {
            self.ops.clear();
            self.notice_ends(now);
            if end.is_none() {
                end = End::reason(now, self.deadline, recorder, interrupted);
                match end {
                    None => end = self.issue(now).then_some(End::Complete),
                    Some(End::Complete) => self.close(self.deadline.unwrap_or(now)),
                    Some(_) => self.jobs.iter_mut().for_each(Running::stop),
                }
                target.submit(&self.ops);
            }
            let is_idle = self.jobs.iter().all(Running::is_idle);
            if let (Some(end), true) = (end, is_idle) {
                self.notice_ends(now);
                return Ok(if recorder.errors > 0 { End::Failed } else { end });
            }
            now = self.wait(target, end.is_none(), is_idle, &mut ended)?;
            for completion in ended.drain(..) {
                self.ended(target, completion, recorder);
            }
            seconds.passed(now, target, recorder, &mut on_second);
        }
    }

    /// Begins the jobs whose time has come, and takes the next commands of each; true if nothing is left to
    /// wait for but outstanding commands.
    fn issue(&mut self, now: Nanos) -> bool {
        for index in 0..self.jobs.len() {
            if self.begins_at(index).is_some_and(|begin| begin <= now) {
                self.begin(index, now);
            }
            self.jobs[index].issue(now, &mut self.ops);
            // A job without any command has ended by now, and others may begin after it.
            self.notice_end(index, now);
        }
        let mut with_ends = self.jobs.iter().filter(|job| job.spec.ends_by_itself()).peekable();
        let is_over = with_ends.peek().is_some() && with_ends.all(|job| job.ended_at().is_some());
        if is_over && self.deadline.is_none() {
            self.close(now);
            return true;
        }
        self.jobs.iter().all(|job| job.ended_at().is_some())
    }

    /// Ends every job at `end`.
    fn close(&mut self, end: Nanos) {
        for job in &mut self.jobs {
            job.close(end, &mut self.ops);
            job.complete();
        }
    }

    /// Time at which a waiting job begins; `None` if it waits for another one, or has begun.
    fn begins_at(&self, index: usize) -> Option<Nanos> {
        let job = &self.jobs[index];
        if !job.is_waiting() {
            return None;
        }
        let JobSpec { after, delay, .. } = job.spec;
        let mut from = self.start;
        for before in after {
            from = from.max(self.jobs[*before].ended_at()?);
        }
        Some(Nanos(from.0.saturating_add(delay.0)))
    }

    /// Waits for the end of a command or the next time at which a job has something to do; returns the time.
    fn wait<T: Target>(
        &self,
        target: &mut T,
        is_running: bool,
        is_idle: bool,
        ended: &mut Vec<Completion>,
    ) -> Result<Nanos, TargetError> {
        let times = (0..self.jobs.len())
            .filter_map(|index| self.begins_at(index).or_else(|| self.jobs[index].next_time()));
        match times.chain(self.deadline.filter(|_| is_idle)).min().filter(|_| is_running) {
            Some(time) => {
                let time = self.deadline.map_or(time, |deadline| time.min(deadline));
                wait_until(target, time, WATCH, is_idle, ended)?;
                Ok(target.now())
            }
            None => {
                target.reap(1, ended)?;
                Ok(ended.last().map_or_else(|| target.now(), |completion| completion.done))
            }
        }
    }

    fn ended<T: Target>(&mut self, target: &mut T, end: Completion, recorder: &mut Recorder) {
        let Some((number, tag)) = self.owners.get(end.tag as usize).copied() else { return };
        let job = self.jobs.get_mut(number);
        if let Some(command) = job.and_then(|job| job.ended(end, tag)) {
            command.record(target, end.tag, recorder, number as u32);
        }
    }
}
