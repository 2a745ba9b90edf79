//! The declarations of a test: its entries in list, plan, review and charts.

use base::Bytes;
use serde::Serialize;

use super::procedure::Procedure;
use super::settings::TestSettings;
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
    /// Its part of the suite.
    pub chapter: Chapter,
    /// Its place within the chapter.
    pub place: u8,
    /// Whether it destroys the data on the target.
    pub writes: bool,
    /// Whether it is for drives with zones, and for no others.
    pub zoned: bool,
    /// Whether a part of it only reads, and has figures of its own: `--read-only` does that part.
    pub reads_alone: bool,
    /// Its parameters with defaults.
    pub params: &'static [Param],
    /// The reason why it takes no rate, or `None` if it takes one.
    pub closed_loop: Option<&'static str>,
    /// Its runs in the reviews.
    pub reviews: &'static [ReviewEntry],
    /// The figures that answer first, by importance.
    pub headlines: &'static [Headline],
    /// The charts of its results, beside those that the rows of a run decide: passes by zone, power by state.
    pub charts: &'static [Chart],
    /// Its procedure with these parameters at a site.
    pub procedure: fn(&Params, &Site<'_>) -> Result<Procedure, RunError>,
}

impl Definition {
    /// A test with these settings, which writes and takes a rate, has no charts and is in no review.
    pub(crate) const fn of<S: TestSettings>(chapter: Chapter, place: u8) -> Self {
        Self {
            name: "",
            heading: "",
            question: "",
            chapter,
            place,
            writes: true,
            zoned: false,
            reads_alone: false,
            params: S::PARAMS,
            closed_loop: None,
            reviews: &[],
            headlines: &[],
            charts: &[],
            procedure: Procedure::of::<S>,
        }
    }
}

/// A figure that answers first: on the card of a run, and in the table of all drives if it has a column there.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Headline {
    /// Name of the figure.
    pub metric: &'static str,
    /// Its column in the table of all drives, or `None` if it has none.
    #[serde(flatten)]
    pub column: Option<HeadlineColumn>,
}

/// A column of the table of all drives. A soft hyphen tells where a long word may break.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeadlineColumn {
    /// The head above this column and its neighbours; it names their unit.
    pub group: &'static str,
    /// The head, in two or three words.
    pub short: &'static str,
    /// The same as the title of a chart.
    pub title: &'static str,
}

impl Headline {
    /// A figure of the card alone.
    pub(crate) const fn of_card(metric: &'static str) -> Self {
        Self { metric, column: None }
    }

    /// A figure with a column of the table of all drives.
    pub(crate) const fn column(
        metric: &'static str,
        (group, short): (&'static str, &'static str),
        title: &'static str,
    ) -> Self {
        Self { metric, column: Some(HeadlineColumn { group, short, title }) }
    }
}

/// A part of the suite, in the order of lists and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(u8)]
pub enum Chapter {
    /// The pace of a full drive.
    #[serde(rename = "Steady state")]
    SteadyState,
    /// Rates of single kinds of transfers.
    Speed,
    /// Time that commands take, alone and among others.
    Response,
    /// Long writes.
    #[serde(rename = "Sustained writes")]
    Sustained,
    /// Power, and its ratio to the work.
    Energy,
    /// Replays of recorded work, and workloads of one's own.
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
    /// No review: only the quick form of the test by itself.
    Alone,
}

/// A run of a test in a review.
#[derive(Clone, Copy, Debug)]
pub struct ReviewEntry {
    pub review: Review,
    /// Its settings, `key=value` with spaces between.
    pub settings: &'static str,
    /// The share of spare area, or `None` for the span of the review.
    pub spare: Option<&'static str>,
    /// Whether the run is left out of reviews of targets whose NAND writes nothing counts.
    pub needs_counters: bool,
    /// Whether a quick form has the whole target; otherwise the first [`QUICK_SPAN`] of it.
    pub whole: bool,
    /// Knowledge that a quick form does not give, in words; empty for other runs.
    pub lost: &'static str,
}

/// Span of quick forms.
pub const QUICK_SPAN: Bytes = Bytes(4 << 30);

/// Knowledge that most quick forms do not give.
const LOST: &str =
    "rare cases, the rest of the drive, and a steady state: it has 4 GiB and minutes";

impl ReviewEntry {
    /// A run of the full review, with the test's defaults.
    pub const FULL: Self = Self {
        review: Review::Full,
        settings: "",
        spare: None,
        needs_counters: false,
        whole: false,
        lost: "",
    };
    /// A run of the PTS review, with the test's defaults.
    pub const PTS: Self = Self { review: Review::Pts, ..Self::FULL };

    /// A run of the quick review.
    pub const fn quick(settings: &'static str) -> Self {
        Self { review: Review::Quick, settings, lost: LOST, ..Self::FULL }
    }

    /// The quick form of a test that no quick review contains, with what it does not tell.
    pub const fn alone(settings: &'static str, lost: &'static str) -> Self {
        Self { review: Review::Alone, settings, lost, ..Self::FULL }
    }
}

/// A chart of a test's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Chart {
    /// Graphs of every second of the phase `load`, with all switches for a reader.
    Seconds,
    /// A table as curves, one line per column, the runs of all drives on the same axes.
    Curves {
        /// Name of the table.
        table: &'static str,
        /// Units of the columns with a plot, one for each unit.
        units: &'static [&'static str],
        /// Whether the axis of the rows is logarithmic: each row has about twice the value of the
        /// one before.
        log_rows: bool,
    },
    /// A table as a heat map: a cell for each value, in shades by its logarithm. Every value has the same unit.
    HeatMap {
        /// Name of the table.
        table: &'static str,
    },
    /// A table of loads by the time until they are done: the time that a drive saves against the slowest and the
    /// fastest, and in a day. A difference below 0.1 s is none.
    Felt {
        /// Name of the table.
        table: &'static str,
    },
    /// Bars of the power of a drive in each state.
    PowerBars,
}
