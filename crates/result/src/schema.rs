//! The result of a run as plain data: the content of `run.json`.
//!
//! Values are integers in ns and bytes; rates and MB/s are computed for display. The JSON Schema of
//! these types is one of the [generated files](crate::generated).

mod health;

use std::collections::BTreeMap;

use base::{Facts, Identity};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

pub use health::{Health, HealthSample};

/// Labels of the environment of runs of several real targets at the same time: the targets beside, and the links that
/// are shared with them. A run without them had nothing beside it.
pub const BESIDE: [&str; 2] = ["beside", "shared_links"];
/// Value of these labels if there is none.
pub const NONE_BESIDE: &str = "none";

/// Version of `run.json` and of the Parquet columns that this build writes. Since version 2 histograms count
/// commands that ended after their phase, and those without an answer.
pub const SCHEMA_VERSION: u32 = 2;

/// Figures by their stable names, which [`crate::metrics`] lists; `None` if unknown.
pub type Metrics = BTreeMap<String, Option<f64>>;

/// One test on one target: the description of a run in `run.json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct Run {
    /// Version of this layout; readers refuse a later one.
    pub schema_version: u32,
    /// Name of the run directory, unique in a library.
    pub run_id: String,
    /// `ssdlab` and its version.
    pub tool_version: String,
    /// Version of the suite that the test belongs to: runs of two versions are not compared. 1 in old
    /// files, 0 for a result of another program.
    #[serde(default = "first_suite")]
    pub suite_version: u32,
    /// Name of the test, e.g. `consistency`.
    pub test: String,
    /// Status of the run.
    pub status: RunStatus,
    /// Wall clock at the start, ns since the Unix epoch.
    pub started_unix_ns: u64,
    /// Wall clock at the end; 0 while running.
    pub finished_unix_ns: u64,
    /// The measured target.
    #[serde(deserialize_with = "measured")]
    pub target: Identity,
    /// The source of a result of another program; absent in ssdlab's own runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The machine: kernel, CPU and so on, label to value.
    pub environment: BTreeMap<String, String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Every parameter after defaults and `--set`, name to value.
    pub config: BTreeMap<String, serde_json::Value>,
    /// The one command that repeats this run; made from the request.
    pub command: String,
    /// The request for this run; missing in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// The call of ssdlab that this run is part of; missing in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// The words of the user about the run; absent without any, and in old files.
    #[serde(default, skip_serializing_if = "About::is_empty")]
    pub about: About,
    /// The place of the run among its repetitions; absent where it was not repeated, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
    /// The run that this one continues; absent where it began by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Resumed>,
    /// The used part of the drive, and its base.
    pub span: Span,
    /// The health of the drive; missing if it reports none, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// The purge of the target; missing without one, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<Purge>,
    /// A sample of the data on the target before a run that only reads; missing in other runs, on targets that show no
    /// data, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sample: Option<DataSample>,
    /// The phases of the run, in order.
    pub phases: Vec<Phase>,
    /// Figures by their stable names; null if unknown.
    pub metrics: Metrics,
    /// Warnings about single figures, for readers of those figures; absent if there is none, and in
    /// old files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The decision of a test that decides; absent in other tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Figures in rows and columns; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Findings from the figures, in sentences.
    pub findings: Vec<Finding>,
    /// The file with a row for each command; absent if there is none, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ios: Option<Ios>,
    /// Reasons to trust the figures less.
    pub warnings: Vec<String>,
    /// Omissions of the review that contains this run, each with target, test and reason; missing
    /// if there are none, in other runs and in old files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// The file `ios.parquet` of a run, which is complete.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Ios {
    /// The commands that have a row: `all`, a share such as `1%`, or `slowest:100` of each second.
    pub choice: String,
    /// Rows in the file.
    pub rows: u64,
}

/// Version of the suite in files of the time before it was written.
pub(crate) fn first_suite() -> u32 {
    1
}

/// One test on one target: the whole of `run.json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub(crate) struct RunFile {
    /// The description of the run.
    #[serde(flatten)]
    pub(crate) run: Run,
    /// Protection against damage; missing in old files. It is the last member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checksums: Option<Checksums>,
}

/// Checksums (CRC-32 as eight hexadecimal digits) of the rows and of `run.json` itself.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Checksums {
    /// Checksums of the rows in `series.parquet`.
    pub series: TableChecksums,
    /// Checksums of the rows in `latency.parquet`.
    pub latency: TableChecksums,
    /// Checksum of all bytes of `run.json`, with `00000000` in this place.
    pub run_json: String,
}

/// Checksums of the rows of one Parquet file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct TableChecksums {
    /// Number of columns in the file; a reader that knows fewer cannot check.
    pub columns: u32,
    /// Whether the file contains a checksum of all its bytes; false in old runs.
    #[serde(default)]
    pub sealed: bool,
    /// One for each phase, in order.
    pub phases: Vec<String>,
}

/// Status of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Still running, or the process died before it could record another status.
    Running,
    /// Every phase ran to its end.
    Complete,
    /// Stopped by the user; the data up to then are kept.
    Interrupted,
    /// The target or the machine failed; the data up to then are kept.
    Failed,
}

/// One call of ssdlab, which may be for several runs: what `--resume` needs to find those that are missing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Invocation {
    /// The same in all its runs and in those that continue them.
    pub id: String,
    /// The command of each of its runs, in order.
    pub commands: Vec<String>,
    /// The request for each of its runs, in the same order; missing in old files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
}

/// The definition of a run, as the user asked for it. It contains no confirmation, because each
/// call needs its own, and no library, because that is the directory above the run directory.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Request {
    /// Name of the test.
    pub test: String,
    /// The string that opens the target.
    pub target: String,
    /// Share of the raw NAND to leave to the drive, e.g. `25%`; missing if the user set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare: Option<String>,
    /// Bytes to use from LBA 0; missing if the user set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// The parameters of the test that were set, in order; among them the trace of a replay.
    pub settings: Vec<Setting>,
    /// Method to purge with, e.g. `nvme-format`; missing for the best one that the target offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<String>,
    /// Meter of the drive's power, e.g. `hwmon:NAME`; missing without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Threads that drive the target.
    pub workers: u32,
    /// Processors of these threads: `near`, `pinned` or `free`.
    pub cpu: String,
    /// Engine, e.g. `auto` or `uring,iopoll`.
    pub engine: String,
    /// The commands that get a row in `ios.parquet`: `all`, `1%`, `slowest:100`; missing for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ios: Option<String>,
    /// Whether the settings and the span are those of a quick form; missing if not, and in old files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// Whether only the steps that read are done, on the data that the target holds; missing if not, and in old files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

/// A parameter of a test that was set.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Setting {
    /// Name of the parameter.
    pub name: String,
    /// Its value, as typed.
    pub value: String,
}

/// The words of the user about a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct About {
    /// Name of the group of runs that it belongs to, for `label:NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl About {
    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The place of a run among its repetitions, which differ in their seeds only.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Repeat {
    /// Its number, from 1 on.
    pub number: u32,
    /// The number of repetitions.
    pub of: u32,
}

/// The part of a run that comes from an earlier, incomplete run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Resumed {
    /// Name of the earlier run.
    pub run_id: String,
    /// Number of phases, from the first one on, that come from it.
    pub phases_kept: u32,
}

/// The source of a result that another program measured.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Origin {
    /// Format of the files: `fio`, `phoronix` or `cdm`.
    pub format: String,
    /// The program that measured, with its version, e.g. `fio-3.42`.
    pub tool: String,
    /// The files that were read, as named on the command line or found below it.
    pub files: Vec<String>,
    /// Conditions that the files do not tell, e.g. `purge`.
    pub unknown: Vec<String>,
}

/// A target with the facts that this build knows; a later one may have written others.
pub(crate) fn measured<'de, D: Deserializer<'de>>(reader: D) -> Result<Identity, D::Error> {
    let mut target = serde_json::Map::deserialize(reader)?;
    if let Some(serde_json::Value::Object(facts)) = target.get_mut("facts") {
        let is_known = |key: &str| Facts::COLUMNS.iter().any(|column| column.key == key);
        if let Some(serde_json::Value::Object(rated)) = facts.get_mut("rated") {
            rated.retain(|key, _| is_known(&format!("rated.{key}")));
        }
        facts.retain(|key, _| key == "rated" || is_known(key));
    }
    serde_json::from_value(target.into()).map_err(D::Error::custom)
}

/// The used part of the LBA space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct Span {
    /// Bytes used, from LBA 0.
    pub span_bytes: u64,
    /// Name of the variant: `default`, or the requested share such as `25%`.
    pub variant: String,
    /// Base of the share: `raw`, `advertised`, or `none` for the default.
    pub base: String,
}

/// The purge of a target.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Purge {
    /// The method, e.g. `nvme-format`; null if it failed.
    pub method: Option<String>,
    /// The methods for this kind of target, the best first.
    pub considered: Vec<PurgeOption>,
}

/// A method and its obstacle.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct PurgeOption {
    /// Name of the method.
    pub method: String,
    /// The obstacle; null if there is none.
    pub obstacle: Option<String>,
}

/// A sample of the data on a target: single reads of a block (4 KiB) at random places that the run reads.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct DataSample {
    /// Reads.
    pub reads: u64,
    /// Reads whose bytes are all the same, e.g. zero.
    pub constant: u64,
    /// Constant reads of blocks that count as never written, or as deallocated: those clearly faster than reads of
    /// data, or all of them if hardly any read found data.
    pub unwritten: u64,
    /// Median latency of the reads that count as unwritten; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten_latency_ns_p50: Option<u64>,
    /// Median latency of the other reads; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_latency_ns_p50: Option<u64>,
}

/// One step of a test.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct Phase {
    /// `purge`, `fill`, `load`, …
    pub name: String,
    /// Description of the step.
    pub what: String,
    /// Start on the target's clock.
    pub start_ns: u64,
    /// Length on the target's clock.
    pub duration_ns: u64,
    /// Commands that ended within the phase; equals the sum in the series.
    pub ios: u64,
    /// Bytes those commands moved.
    pub bytes: u64,
    /// Commands that failed.
    pub errors: u64,
    /// Commands submitted in time that ended after the phase: in its latencies, under its last
    /// second, and in no rate. Up to version 1 they are in no latency either.
    pub ios_after_end: u64,
    /// The longest latency of the phase, if it belongs to a command that was outstanding at its
    /// end; missing otherwise, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_max_after_end: Option<u64>,
    /// Commands without an answer: they failed, or the target was lost. They are in the latencies
    /// with the time that they had waited, and in no rate. Missing if there were none, and in old
    /// files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ios_unanswered: u64,
    /// Commands of an open loop that were due within the phase and found no room in the queue: in
    /// no latency and in no rate. Missing if there were none, and in old files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ios_not_issued: u64,
    /// Reads of blocks that were never written, or were deallocated: a drive answers them without its
    /// NAND. Of a real target in a run that only reads: reads that found nothing but one repeated byte, such as zeros.
    /// Missing if the target does not know, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_unwritten: Option<u64>,
    /// Commands that `--ios` chose and that have no row in `ios.parquet`, because the writer or the disk
    /// was too slow or too small. Missing if there are none, and in old files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ios_lost: u64,
    /// The times within the phase in which the program itself did not run; missing if there were none,
    /// and in old files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
    /// Whether the phase ran to its own end.
    pub complete: bool,
    /// The commands that it asks for; missing in a phase without a workload, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Share of the time in which the busiest thread of the load had a processor, 0 to 1; missing
    /// where nobody asked, where the engine polls, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// The host's part in the commands of the phase; missing on simulated targets, on `null:` but for jobs, in phases
    /// without commands, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostUse>,
}

/// The use of the host by the commands of a phase.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct HostUse {
    /// Processor time of the threads of the load in ssdlab itself.
    pub user_ns: u64,
    /// Processor time of these threads in the kernel. Threads of the kernel that work for the drive are in neither.
    pub system_ns: u64,
    /// Interrupts of the whole machine; missing if they cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts: Option<u64>,
    /// Share of the time in which the processors that the load may use had work, of anybody, 0 to 1; missing in a phase
    /// of less than a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors_busy_share: Option<f64>,
    /// Largest share of a second in which these processors had work; missing in phases that are not of jobs, in short
    /// ones, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_second_share: Option<f64>,
    /// The same load on a target that completes every command at once (`null:`), on the same threads; missing in phases
    /// with a schedule, of several jobs or below 20,000 IOPS and 1 GB/s, and in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_load: Option<NullLoad>,
}

/// A load on a target that completes every command at once.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct NullLoad {
    /// Commands.
    pub ios: u64,
    /// Length.
    pub duration_ns: u64,
}

/// A time in which the program did not run: it was stopped, or the machine slept or had no processor
/// for it. What the clock says about commands of this time is no property of the drive.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Stop {
    /// Begin, from the start of the phase.
    pub start_ns: u64,
    /// Length.
    pub duration_ns: u64,
}

/// The commands of a phase, as its workload describes them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Load {
    /// Share of reads among the reads and writes, in percent.
    pub read_percent: u8,
    /// Share of deallocations among all commands, in percent.
    pub deallocate_percent: u8,
    /// Length of a command; the longest one where lengths vary.
    pub block_bytes: u32,
    /// Order of the addresses, e.g. `uniform`, `sequential` or `zipf(1.1)`.
    pub order: String,
    /// Commands kept outstanding; in an open loop the most that may be.
    pub queue_depth: u32,
    /// Rate of an open loop, e.g. `20000` or `poisson:20000`; missing in a closed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// First byte of the span of the commands.
    pub offset_bytes: u64,
    /// Length of this span.
    pub span_bytes: u64,
}

impl Phase {
    /// Number of commands in its histogram, in a run of this version.
    pub fn ios_in_latencies(&self, schema_version: u32) -> u64 {
        if schema_version < 2 {
            return self.ios;
        }
        self.ios.saturating_add(self.ios_after_end).saturating_add(self.ios_unanswered)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A warning about a figure, for readers of that figure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct Mark {
    /// Name of the metric.
    pub metric: String,
    /// The subject of the warning.
    pub kind: MarkKind,
    /// The warning in words, with its cause.
    pub text: String,
    /// For a mean that mixes two regimes: the means of the first and of the second, in the unit of
    /// the metric. Missing for other metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<[f64; 2]>,
}

/// Reason for a mark.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum MarkKind {
    /// The drive was not in steady state: a steady figure is null, and a fresh one is given.
    NotSteady,
    /// The run used a part of the drive that is no spare-area variant of it, or a file on it.
    PartOfDrive,
    /// The simulated drive is below full size, and the figure depends on the size.
    #[serde(alias = "scaled")]
    Scale,
    /// The run or the phase behind the figure did not end.
    Interrupted,
    /// Too few commands or seconds: null, or given because a standard demands it.
    #[serde(alias = "too-few-commands")]
    FewSamples,
    /// The pace changed its level within the range of the figure.
    TwoRegimes,
    /// The pace never settled on one level: a steady figure is a snapshot of its window.
    Unsettled,
    /// The threads of the load had no time left: the figure is that of the host.
    HostLimited,
    /// The stop rule or a failure cut latencies short: the true figure is this one or larger.
    AtLeast,
    /// The longest latency belongs to a command that was outstanding at the end of its phase: it is
    /// in no rate.
    LateEnd,
    /// Reads among the commands touched blocks that were never written, or were deallocated: the
    /// drive answered without its NAND.
    Unwritten,
    /// The program was stopped, or the machine slept, while the figure was measured.
    Stopped,
}

impl MarkKind {
    /// Whether a figure with this mark is not what its name says: no expectation passes by it, no
    /// fit follows it, and no rank contains it. A part of a drive and a busy host are conditions of a
    /// figure: an expectation of them can be met.
    pub const fn disqualifies(self) -> bool {
        match self {
            Self::NotSteady
            | Self::Scale
            | Self::Interrupted
            | Self::FewSamples
            | Self::Stopped => true,
            Self::PartOfDrive
            | Self::TwoRegimes
            | Self::Unsettled
            | Self::HostLimited
            | Self::Unwritten
            | Self::AtLeast
            | Self::LateEnd => false,
        }
    }
}

/// The verdict of a test with a yes-or-no question.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub outcome: VerdictOutcome,
    /// The decision in words, with its figures.
    pub text: String,
}

/// The decision of a test.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictOutcome {
    /// Yes: the drive has the property.
    Pass,
    /// No: it does not have it.
    Fail,
    /// The run cannot tell; the text gives the reason.
    Inconclusive,
}

/// Figures in rows and columns.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct Table {
    /// Stable name within the test.
    pub name: String,
    /// Heading for people.
    pub title: String,
    /// Subject of the rows, e.g. `block size`.
    pub row_name: String,
    /// The columns, from left to right.
    pub columns: Vec<TableColumn>,
    /// The rows, from top to bottom.
    pub rows: Vec<TableRow>,
    /// Conditions of the measurement, label to value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, String>,
}

/// Heading of a column.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct TableColumn {
    /// Name of the values, e.g. `read`.
    pub name: String,
    /// Unit of its values, e.g. `MB/s`, `IOPS`, `ns`.
    pub unit: String,
}

/// One row of a table.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct TableRow {
    /// Name of the row, e.g. `4KiB`.
    pub label: String,
    /// One value per column; null without a measurement.
    pub values: Vec<Option<f64>>,
}

/// One sentence about the run, tied to a figure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct Finding {
    /// The sentence, with its figure and conditions.
    pub text: String,
    /// Name of the metric behind it.
    pub metric: String,
}
