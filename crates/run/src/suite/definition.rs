//! The declarations of a test: everything that makes it listed, planned, reviewed and drawn.

use serde::Serialize;

use super::procedure::Procedure;
use super::site::Site;
use crate::error::RunError;
use crate::params::{Param, Params};

/// The definition of a test.
#[derive(Debug)]
pub struct Definition {
    /// The word on the command line and in results.
    pub name: &'static str,
    /// The heading of its part of a page.
    pub heading: &'static str,
    /// The question it answers, in one sentence.
    pub question: &'static str,
    /// The part of the suite that it belongs to.
    pub chapter: Chapter,
    /// Its place within the chapter.
    pub place: u8,
    /// Whether it destroys the data on the target.
    pub writes: bool,
    /// Its parameters with defaults.
    pub params: &'static [Param],
    /// The reason why it takes no rate, or `None` if it takes one.
    pub closed_loop: Option<&'static str>,
    /// Its runs in the reviews.
    pub reviews: &'static [ReviewEntry],
    /// The charts of its results, beside those that the rows of a run decide: passes by zone, power by state.
    pub charts: &'static [Chart],
    /// Its procedure with these parameters at a site.
    pub procedure: fn(&Params, &Site<'_>) -> Result<Procedure, RunError>,
}

/// A part of the suite. Lists and pages have the parts in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(u8)]
pub enum Chapter {
    /// The pace that a full drive keeps.
    #[serde(rename = "Steady state")]
    SteadyState,
    /// Rates of single kinds of transfers.
    Speed,
    /// Time that commands take, alone and among others.
    Response,
    /// Writes that go on for long.
    #[serde(rename = "Sustained writes")]
    Sustained,
    /// Power and the work done for it.
    Energy,
    /// Replays of recorded work.
    #[serde(rename = "Storage bench")]
    StorageBench,
    /// The tests of the SNIA PTS.
    #[serde(rename = "SNIA PTS")]
    Pts,
}

/// A form of the whole suite on one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Every test as published.
    Full,
    /// Minutes instead of hours.
    Quick,
    /// The tests of the SNIA PTS.
    Pts,
}

/// A run of a test in a review.
#[derive(Clone, Copy, Debug)]
pub struct ReviewEntry {
    /// The review.
    pub review: Review,
    /// Its settings, `key=value` with spaces between.
    pub settings: &'static str,
    /// The share of spare area, or `None` if the span is that of the review.
    pub spare: Option<&'static str>,
}

impl ReviewEntry {
    /// A run of the full review, with the test's defaults.
    pub const FULL: Self = Self { review: Review::Full, settings: "", spare: None };
    /// A run of the PTS review, with the test's defaults.
    pub const PTS: Self = Self { review: Review::Pts, settings: "", spare: None };

    /// A run of the quick review.
    #[must_use]
    pub const fn quick(settings: &'static str) -> Self {
        Self { review: Review::Quick, settings, spare: None }
    }
}

/// A chart of a test's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Chart {
    /// Graphs of every second of the phase `load`, with everything that a reader can switch there.
    Seconds,
    /// A table as curves, a line a column, the runs of all drives on the same axes.
    Curves {
        /// Name of the table.
        table: &'static str,
        /// Units of the columns that get a plot, one for each unit.
        units: &'static [&'static str],
        /// Whether the rows stand on a logarithmic axis: each has about twice the value of the one before.
        log_rows: bool,
    },
    /// Bars of the power that a drive draws in each state.
    PowerBars,
}
