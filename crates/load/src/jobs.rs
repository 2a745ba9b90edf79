//! Several jobs at once, as data: workloads with begins and ends.
//!
//! A job begins with the phase, or after the end of another job; it ends by its own time, bytes or
//! order. A job without an end of its own is background: it ends with the last job that has one.

mod concurrent;

use base::{Nanos, Rng};

use crate::generator::Generator;
use crate::pacing::Pacing;
use crate::workload::Workload;

/// A job: commands with a begin and an end of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    /// Name, unique among the jobs of a phase.
    pub name: String,
    /// The commands.
    pub workload: Workload,
    /// Seed of its commands; `None` to derive one from that of the phase and from the name.
    pub seed: Option<u64>,
    /// Indices of the jobs after whose ends this one begins; none if it begins with the phase.
    pub after: Vec<usize>,
    /// Time between that moment and the begin.
    pub delay: Nanos,
    /// Time after which it issues no more commands, from its begin; `None` if bytes, its order or the phase end
    /// it.
    pub duration: Option<Nanos>,
    /// Time from its begin whose commands are in no figure of the job.
    pub warm_up: Nanos,
    /// Pauses between its commands; `None` without any.
    pub think: Option<Think>,
}

/// Pauses of a job: after `every` commands it waits until all of them have ended, and then for `pause`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// Length of a pause.
    pub pause: Nanos,
    /// Commands between two pauses, at least 1.
    pub every: u32,
}

/// A job whose figures last no longer than this part of the time that it was given ended long before.
const EARLY_PART: u64 = 10;

impl JobSpec {
    /// The time that it was given for its figures, if they last only `length`, a small part of that;
    /// `None` for any other job. `phase` is the time of all jobs.
    pub fn early_end(&self, phase: Option<Nanos>, length: Nanos) -> Option<Nanos> {
        let begins_with_phase = self.after.is_empty() && self.delay.0 == 0;
        let given = self.duration.or(phase.filter(|_| begins_with_phase))?;
        let is_early = length.0 < given.0.saturating_sub(self.warm_up.0) / EARLY_PART;
        is_early.then_some(given)
    }

    /// A job from the begin of the phase to its end, or to the end of the workload.
    pub fn new(name: &str, workload: Workload) -> Self {
        Self {
            name: name.to_owned(),
            workload,
            seed: None,
            after: Vec::new(),
            delay: Nanos(0),
            duration: None,
            warm_up: Nanos(0),
            think: None,
        }
    }

    /// Whether it has an end of its own, by time, bytes or order.
    pub fn ends_by_itself(&self) -> bool {
        self.duration.is_some() || self.workload.total_bytes().is_some()
    }

    /// Its commands, under its own seed or one that derives from the seed of the phase and the name. The
    /// other jobs have no influence on it.
    pub fn generator(&self, phase_seed: u64) -> Generator {
        let seed = self.seed.unwrap_or_else(|| Rng::split(phase_seed, &self.name).next_u64());
        Generator::new(self.workload.clone(), seed)
    }
}

/// The jobs of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jobs {
    pub jobs: Vec<JobSpec>,
    /// Time after which every job ends; `None` if they end by themselves.
    pub duration: Option<Nanos>,
}

/// Jobs that cannot be. Names the job and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("job `{job}`: {rule}")]
pub struct JobsError {
    job: String,
    rule: String,
}

impl Jobs {
    /// The most commands that jobs keep outstanding at one time: a job and those that begin after its
    /// end never add up.
    pub fn queue_depth(&self) -> u32 {
        self.outstanding_at_once(|job| job.workload.queue_depth)
    }

    /// The largest sum of `depth` over jobs that may run at one time.
    pub(crate) fn outstanding_at_once(&self, depth: impl Fn(&JobSpec) -> u32) -> u32 {
        let depths: Vec<_> = self.jobs.iter().map(depth).collect();
        let before: Vec<_> = (0..self.jobs.len()).map(|job| self.all_before(job)).collect();
        concurrent::largest_sum(&depths, &before)
    }

    /// Longest command of any job, in bytes.
    pub fn longest_bytes(&self) -> u32 {
        self.jobs.iter().map(|job| job.workload.block_bytes).max().unwrap_or(0)
    }

    /// Whether some commands change the content of the target.
    pub fn writes(&self) -> bool {
        self.jobs.iter().any(|job| job.workload.mix.writes())
    }

    /// Latest end of all jobs with an end of their own, if each of them has a duration; `None` otherwise.
    pub fn end_at_most(&self) -> Option<Nanos> {
        let bounded = (0..self.jobs.len()).filter(|job| self.jobs[*job].ends_by_itself());
        let ends = bounded.map(|job| self.end_of(job, self.jobs.len()));
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Sum of the bytes of all jobs with an end of their own, or `None` if a time ends one of them.
    pub fn total_bytes(&self) -> Option<u64> {
        let bounded = self.jobs.iter().filter(|job| job.ends_by_itself());
        bounded.map(|job| job.workload.total_bytes()).sum()
    }

    /// Latest end of a job from the begin of the phase; `None` without a duration. `left` bounds the chain
    /// of jobs.
    fn end_of(&self, job: usize, left: usize) -> Option<Nanos> {
        let spec = self.jobs.get(job).filter(|_| left > 0)?;
        let ends = spec.after.iter().map(|before| self.end_of(*before, left - 1));
        let begin = ends.collect::<Option<Vec<_>>>()?.into_iter().max().unwrap_or_default();
        let length = spec.delay.0.saturating_add(spec.duration?.0);
        Some(Nanos(begin.0.saturating_add(length)))
    }

    /// Checks the relations between the jobs: names, order and ends. Workloads have checks of their own.
    ///
    /// # Errors
    /// [`JobsError`] with the first job that breaks a rule.
    pub fn check(&self) -> Result<(), JobsError> {
        let fail = |job: &JobSpec, rule: String| Err(JobsError { job: job.name.clone(), rule });
        for (index, job) in self.jobs.iter().enumerate() {
            if self.jobs[..index].iter().any(|other| other.name == job.name) {
                return fail(job, "two jobs have this name".to_owned());
            }
            if job.think.is_some_and(|think| think.every == 0) {
                return fail(job, "a pause comes after at least 1 command".to_owned());
            }
            if job.duration.is_some_and(|duration| duration <= job.warm_up) {
                return fail(job, "the warm-up leaves nothing of its duration".to_owned());
            }
            if job.think.is_some() && job.workload.pacing != Pacing::ClosedLoop {
                return fail(
                    job,
                    "it has a rate, so that pauses would only make it late".to_owned(),
                );
            }
            if let Some(rule) = self.impossible_begin(index, job) {
                return fail(job, rule);
            }
        }
        match self.jobs.first() {
            Some(first)
                if self.duration.is_none() && !self.jobs.iter().any(JobSpec::ends_by_itself) =>
            {
                fail(first, "neither it nor another job has an end".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The rule that the begin of a job breaks; `None` if it breaks none.
    fn impossible_begin(&self, index: usize, job: &JobSpec) -> Option<String> {
        for before in &job.after {
            let Some(before) = self.jobs.get(*before) else {
                return Some("it begins after a job that does not exist".to_owned());
            };
            if !before.ends_by_itself() {
                return Some(format!(
                    "it begins after `{}`, which never ends by itself",
                    before.name
                ));
            }
            if !job.ends_by_itself() && self.duration.is_none() {
                let rule = format!("it begins after `{}` and has no end of its own", before.name);
                return Some(rule);
            }
        }
        let is_circle = self.all_before(index)[index];
        is_circle.then(|| "it begins after a job which waits for it".to_owned())
    }

    /// For each job whether it lies before this one: it has ended when this one begins.
    fn all_before(&self, index: usize) -> Vec<bool> {
        let mut seen = vec![false; self.jobs.len()];
        let mut open = self.jobs[index].after.clone();
        while let Some(at) = open.pop() {
            let Some(job) = self.jobs.get(at) else { continue };
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&job.after);
            }
        }
        seen
    }
}
