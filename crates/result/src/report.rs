//! The report: one JSON document in a self-contained HTML file.
//!
//! [`build`] collects the document from run directories, and [`Page`] of `cargo xtask web` receives
//! it.

mod density;
mod html;
mod view;
pub mod words;

use std::collections::BTreeMap;

use base::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{Finding, Mark, Origin, Phase, Resumed, RunStatus, Span, Table, Verdict};

use crate::stats::difference::Difference;
use crate::stats::health::HealthSummary;

pub use density::{IosView, OpDensity};
pub(crate) use html::packed;
pub use html::{BenchPage, Page, ReportError};
pub use view::build;
pub(crate) use view::view;

/// Version of the report document that this build writes.
pub const REPORT_VERSION: u32 = 1;

/// The writer of a page, as its documents name it.
pub(crate) const TOOL_VERSION: &str = concat!("ssdlab ", env!("CARGO_PKG_VERSION"));

/// Name of the phase in the graphs.
pub const GRAPHED_PHASE: &str = "load";

/// All data of the page.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Version of this layout.
    pub report_version: u32,
    /// `ssdlab` and its version.
    pub tool_version: String,
    /// Heading of the page.
    pub title: String,
    /// The runs, in the order given.
    pub runs: Vec<RunView>,
    /// Whether a person would notice the difference between two runs, for all comparable pairs.
    pub differences: Vec<Difference>,
    /// The run on whose drive the page opens; missing if the page chooses the best drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Omissions of the reviews that contain the runs, each with target, test and reason.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The editor's words by chapter; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<words::WordsSection>,
    /// Drives of the reference library that stand beside those of the runs; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
}

/// Simulated drives as context: they have bars and curves beside those of the runs, and no rank.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// Their runs in compact form, drive by drive.
    pub runs: Vec<RunView>,
    /// Target strings of the drives whose figures are of an earlier model or simulator.
    pub stale: Vec<String>,
}

/// One run on the page.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// Name of the run directory.
    pub run_id: String,
    /// Version of the suite that the test belongs to; 1 in old runs, 0 for a result of another program.
    #[serde(default = "crate::schema::first_suite")]
    pub suite_version: u32,
    /// Name of the test.
    pub test: String,
    /// Status of the run.
    pub status: RunStatus,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// The measured target.
    pub target: Identity,
    /// The source of a result of another program; missing in ssdlab's own runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Kernel, CPU, … of the machine.
    pub environment: BTreeMap<String, String>,
    /// Seed of the run.
    pub seed: u64,
    /// The one command that repeats it.
    pub command: String,
    /// Part of the LBA space used; `variant` labels the spare-area button.
    pub span: Span,
    /// Resolved parameters.
    pub config: BTreeMap<String, serde_json::Value>,
    /// Whether they are those of a quick form; missing if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// The health of the drive; missing if it reports none.
    pub health: Option<HealthSummary>,
    /// The earlier run that this one continues; missing in other runs.
    pub resumed: Option<Resumed>,
    /// The phases of the run.
    pub phases: Vec<Phase>,
    /// One point per second of the load phase.
    pub series: Series,
    /// Second at which the steady-state graphs begin.
    pub steady_from_s: u32,
    /// Latency distribution of the load phase: lower edge in ns and count, all seconds merged.
    pub latency_bins: Vec<(u64, u64)>,
    /// Figures by name; null if unknown.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// Warnings about single figures, for readers of those figures.
    pub marks: Vec<Mark>,
    /// The decision of a test that decides; missing in other tests.
    pub verdict: Option<Verdict>,
    /// Figures in rows and columns.
    pub tables: Vec<Table>,
    /// Passes over the address space, in order.
    pub passes: Vec<Pass>,
    /// Power, second by second, in the states of the power test.
    pub power: Vec<PowerSeries>,
    /// Single commands of its phases; missing if none were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ios: Vec<IosView>,
    /// Sentences.
    pub findings: Vec<Finding>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl RunView {
    /// Whether `words` are the name of its drive, or its target string.
    pub fn is_of_drive(&self, words: &str) -> bool {
        !words.is_empty() && (words == self.target.name || words == self.target.spec)
    }
}

/// A phase that went over the address space zone by zone: columns of equal length.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pass {
    /// Name of the phase.
    pub phase: String,
    /// First byte of each zone.
    pub offset_bytes: Vec<u64>,
    /// Bytes per second divided by 10^6 (decimal MB/s).
    pub mb_per_s: Vec<f64>,
    /// Zones in a point, which is the middle of them; 1 but in the small form of a library.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub zones_a_point: u32,
}

fn one() -> u32 {
    1
}

fn is_one(value: &u32) -> bool {
    *value == 1
}

/// A phase of the power test: columns of equal length, one value per second.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PowerSeries {
    /// Name of the phase.
    pub phase: String,
    /// Start of the interval, seconds from the start of the phase.
    pub time_s: Vec<f64>,
    /// Completed commands divided by the true interval.
    pub iops: Vec<f64>,
    /// Mean power; null without a reading.
    pub power_w: Vec<Option<f64>>,
    /// Highest reading; for a simulated drive the mean again.
    pub power_w_max: Vec<Option<f64>>,
}

/// Columns of equal length, one value per second. A column without data from the target is an empty
/// array.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Start of the interval, seconds from the start of the phase; empty if the intervals begin at
    /// 0, 1, 2 and so on.
    pub time_s: Vec<f64>,
    /// Seconds in a point: the mean of their rates, the median of their latencies; 1 but in the small
    /// form of a library.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub seconds_a_point: u32,
    /// Completed commands divided by the true interval.
    pub iops: Vec<f64>,
    /// Median latency; null in a second without completions.
    pub latency_ns_p50: Vec<Option<u64>>,
    /// 99th percentile.
    pub latency_ns_p99: Vec<Option<u64>>,
    /// Largest.
    pub latency_ns_max: Vec<Option<u64>>,
    /// Write amplification: programmed pages / host pages; null without host writes. Simulated only.
    pub waf: Vec<Option<f64>>,
    /// Telemetry that the page draws, by the name of its column, in the units of `series.parquet`;
    /// null in a second without telemetry. A column that is always 0 is absent. Simulated only.
    pub telemetry: BTreeMap<String, Vec<Option<u64>>>,
    /// Mean share of dies busy, 0 to 1; null without telemetry. Simulated only.
    pub die_busy_share: Vec<Option<f64>>,
    /// Mean share of channels that transferred, 0 to 1; null without telemetry. Simulated only.
    pub channel_busy_share: Vec<Option<f64>>,
    /// Share of the time in which the controller worked, 0 to 1; null without telemetry, empty in
    /// runs of versions that did not count it. Simulated only.
    pub controller_busy_share: Vec<Option<f64>>,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            time_s: Vec::new(),
            seconds_a_point: 1,
            iops: Vec::new(),
            latency_ns_p50: Vec::new(),
            latency_ns_p99: Vec::new(),
            latency_ns_max: Vec::new(),
            waf: Vec::new(),
            telemetry: BTreeMap::new(),
            die_busy_share: Vec::new(),
            channel_busy_share: Vec::new(),
            controller_busy_share: Vec::new(),
        }
    }
}
