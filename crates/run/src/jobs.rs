//! Several jobs at once on one target: each has its own commands, depth, pace, begin, end and figures.
//!
//! One thread drives all of them, so that a schedule of one job does not wait for the ends of another.

mod drive;
mod running;

use base::Nanos;
use result::rows::PhaseRows;
use result::schema::Phase;

pub use drive::{Parts, drive_jobs};
pub use load::jobs::{JobSpec, Jobs, JobsError, Think};

use crate::event::Length;

/// The length of the jobs of a phase that is known before the start.
pub fn length(jobs: &Jobs) -> Length {
    let time = jobs.duration.or_else(|| jobs.end_at_most()).or_else(|| rests(jobs));
    let time = time.map(Length::Time);
    time.or_else(|| jobs.total_bytes().map(Length::Bytes)).unwrap_or(Length::Unknown)
}

/// The time of the pauses of jobs that mostly rest; `None` for others.
fn rests(jobs: &Jobs) -> Option<Nanos> {
    let of_job = |job: &JobSpec| {
        let think = job.think?;
        let every = u64::from(think.every.max(1));
        let commands = job.workload.total_bytes()? / u64::from(job.workload.block_bytes.max(1));
        let pauses = (think.pause.0 / every >= REST_NS_MIN).then_some(commands / every)?;
        Some(Nanos(think.pause.0.saturating_mul(pauses).saturating_add(job.delay.0)))
    };
    let times: Option<Vec<Nanos>> = jobs.jobs.iter().map(of_job).collect();
    times?.into_iter().max()
}

/// Pauses after each command, from which on a job mostly rests.
const REST_NS_MIN: u64 = 5_000_000;

/// The record of a job that has begun.
#[derive(Clone, Debug)]
pub struct JobRecord {
    /// Name of the phase that contains it.
    pub phase: String,
    /// The job in the form of a phase: name, begin, length and counts, without its warm-up.
    pub job: Phase,
    /// Its rows, one per second from the end of its warm-up on.
    pub rows: PhaseRows,
}
