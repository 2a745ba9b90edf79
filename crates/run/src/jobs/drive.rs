//! The loop over several jobs. With one job it issues the commands that [`crate::drive::drive`] issues.

use std::sync::atomic::AtomicBool;

use base::{Completion, Nanos, Op};
use load::Generator;
use result::rows::PhaseRows;
use result::schema::Phase;
use target::IoError;
use target::capability::Telemetry;

use super::running::Running;
use super::{JobSpec, Jobs};
use crate::drive::{Answer, End, Seconds, WATCH, wait_until};
use crate::recorder::Recorder;

/// Record and rows of each job, in their order; `None` for a job that never began.
pub type Parts = Vec<Option<(Phase, PhaseRows)>>;

/// Issues the commands of all jobs until they end, until the deadline of `recorder`, until `interrupted`,
/// or until a command fails; then waits for outstanding ones. `recorder` holds the sum of all jobs. The
/// generators are those of the jobs, in their order.
///
/// # Errors
/// If the target as a whole is lost; what was recorded stays in `recorder` and in the parts.
pub fn drive_jobs<T: Telemetry>(
    target: &mut T,
    jobs: &Jobs,
    generators: &mut [Generator],
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    on_second: impl FnMut(&Recorder),
) -> (Result<End, IoError>, Parts) {
    let mut together = Together::new(jobs, generators, recorder);
    let end = together.keep_busy(target, recorder, interrupted, on_second);
    let now = target.now();
    if end.is_err() {
        let jobs = together.jobs.iter_mut().zip(0..);
        jobs.for_each(|(job, number)| job.give_up(now, recorder, number));
    }
    recorder.ios_not_issued = together.jobs.iter().map(Running::ios_not_issued).sum();
    (end, together.jobs.into_iter().map(|job| job.finish(now)).collect())
}

/// All jobs in progress.
struct Together<'a> {
    jobs: Vec<Running<'a>>,
    /// The job of each tag.
    owners: Vec<usize>,
    start: Nanos,
    deadline: Option<Nanos>,
    /// The next commands for the target.
    ops: Vec<Op>,
}

impl<'a> Together<'a> {
    fn new(jobs: &'a Jobs, generators: &'a mut [Generator], recorder: &Recorder) -> Self {
        let mut owners = Vec::new();
        let mut running = Vec::with_capacity(jobs.jobs.len());
        for (index, (spec, generator)) in jobs.jobs.iter().zip(generators).enumerate() {
            running.push(Running::new(spec, generator, owners.len() as u32));
            owners.resize(owners.len() + spec.workload.queue_depth as usize, index);
        }
        let ops = Vec::with_capacity(owners.len());
        let (start, deadline) = (recorder.start(), recorder.deadline());
        Self { jobs: running, owners, start, deadline, ops }
    }

    /// The loop.
    fn keep_busy<T: Telemetry>(
        &mut self,
        target: &mut T,
        recorder: &mut Recorder,
        interrupted: &AtomicBool,
        mut on_second: impl FnMut(&Recorder),
    ) -> Result<End, IoError> {
        let mut ended: Vec<Completion> = Vec::with_capacity(self.owners.len());
        let mut now = target.now();
        let mut seconds = Seconds::start(target, recorder);
        let mut end = None;
        loop {
            self.ops.clear();
            self.jobs.iter_mut().for_each(|job| job.notice_end(now));
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
                self.jobs.iter_mut().for_each(|job| job.notice_end(now));
                return Ok(if recorder.errors > 0 { End::Failed } else { end });
            }
            now = self.wait(target, end.is_none(), is_idle, &mut ended)?;
            for completion in ended.drain(..) {
                self.ended(completion, recorder);
            }
            seconds.passed(now, target, recorder, &mut on_second);
        }
    }

    /// Begins the jobs whose time has come, and takes the next commands of each; true if nothing is left to
    /// wait for but outstanding commands.
    fn issue(&mut self, now: Nanos) -> bool {
        for index in 0..self.jobs.len() {
            if self.begins_at(index).is_some_and(|begin| begin <= now) {
                self.jobs[index].begin(now, self.deadline);
            }
            self.jobs[index].issue(now, &mut self.ops);
            // A job without any command has ended by now, and others may begin after it.
            self.jobs[index].notice_end(now);
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
    fn wait<T: Telemetry>(
        &self,
        target: &mut T,
        is_running: bool,
        is_idle: bool,
        ended: &mut Vec<Completion>,
    ) -> Result<Nanos, IoError> {
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

    fn ended(&mut self, end: Completion, recorder: &mut Recorder) {
        let Some(number) = self.owners.get(end.tag as usize).copied() else { return };
        let job = self.jobs.get_mut(number);
        if let Some(Answer { op, end, issued }) = job.and_then(|job| job.ended(end)) {
            recorder.completed(&op, &end);
            recorder.point(&op, issued, &end, number as u32);
        }
    }
}
