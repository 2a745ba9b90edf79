//! May a figure be called what its name says: is it steady, whole, and of enough samples?
//!
//! This is the one place that decides. Its answers are the marks of `run.json`
//! ([`Run::marks`]), and every surface goes by them. [`steady`] judges a window of a load,
//! [`run`] the run around a figure, and [`reading`] the figures of runs of older versions.
//! [`crate::stats::scale`] judges figures of drives below full size, [`crate::stats::mixture`]
//! means over two levels, and [`crate::stats::latency`] percentiles and ends of phases.
//!
//! [`Run::marks`]: crate::schema::Run::marks

pub mod reading;
pub mod run;
pub mod steady;
pub mod unwritten;

use crate::schema::{Mark, MarkKind};

/// Fewest seconds for a figure of seconds, such as the slowest one or their deviation.
pub const SECONDS_MIN: usize = 10;

/// A reason against a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub kind: MarkKind,
    /// Its words, with the cause.
    pub text: String,
}

impl Reason {
    /// A reason against a steady figure.
    pub fn not_steady(text: String) -> Self {
        Self { kind: MarkKind::NotSteady, text }
    }

    /// The mark of a figure.
    pub fn mark(&self, metric: &str) -> Mark {
        Mark { metric: metric.to_owned(), kind: self.kind, text: self.text.clone(), levels: None }
    }
}

/// The texts of the marks of a figure that disqualify it; empty for a figure that may be used as
/// its name says.
pub fn disqualifying<'a>(marks: &'a [Mark], metric: &'a str) -> impl Iterator<Item = &'a Mark> {
    marks.iter().filter(move |mark| mark.metric == metric && mark.kind.disqualifies())
}
