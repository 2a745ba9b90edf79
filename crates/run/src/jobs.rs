//! Several jobs at once on one target: each has its own commands, depth, pace, begin, end and figures.
//!
//! One thread drives all of them, so that a schedule of one job does not wait for the ends of another.

mod drive;
mod running;

use result::rows::PhaseRows;
use result::schema::Phase;

pub use drive::{Parts, drive_jobs};
pub use load::jobs::{JobSpec, Jobs, JobsError, Think};

use crate::event::Length;

/// The length of the jobs of a phase that is known before the start.
pub fn length(jobs: &Jobs) -> Length {
    let time = jobs.duration.or_else(|| jobs.end_at_most()).map(Length::Time);
    time.or_else(|| jobs.total_bytes().map(Length::Bytes)).unwrap_or(Length::Unknown)
}

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
