//! One row of the catalogue.

use serde::Serialize;

/// The unit of a value. It determines the form in which people see a figure.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Commands per second.
    Iops,
    /// Nanoseconds; shown in a suitable unit.
    Ns,
    /// Microseconds.
    Us,
    /// Seconds.
    S,
    /// Minutes.
    Min,
    /// A share from 0 to 1; shown in percent.
    Share,
    /// A number without a unit, not necessarily whole.
    Ratio,
    /// Decimal megabytes per second.
    MbPerS,
    /// Bytes; shown in decimal units.
    Bytes,
    /// Watts.
    W,
    /// Joules for 10^9 bytes.
    JPerGb,
    /// Commands per second for each watt.
    IopsPerW,
    /// Decimal megabytes per second for each watt.
    MbPerSPerW,
    /// Degrees Celsius.
    Celsius,
    /// A whole number of things.
    Count,
}

impl Unit {
    /// The unit in the documentation.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Ns => "ns",
            Self::Us => "us",
            Self::S => "s",
            Self::Min => "min",
            Self::Share => "0 to 1",
            Self::Ratio => "ratio",
            Self::MbPerS => "MB/s",
            Self::Bytes => "bytes",
            Self::W => "W",
            Self::JPerGb => "J/GB",
            Self::IopsPerW => "IOPS/W",
            Self::MbPerSPerW => "MB/s/W",
            Self::Celsius => "degrees C",
            Self::Count => "count",
        }
    }
}

/// The better one of two values.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The larger.
    Higher,
    /// The smaller.
    Lower,
}

/// Validity of a figure of a simulated drive below full size (`scale=`) for the drive at full size.
///
/// Shares, rates and write amplification of a small drive are those of the large one. Its blocks
/// are shorter, so that a pause for cleaning is shorter and comes sooner; its spare area is used up
/// sooner.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// Valid.
    Kept,
    /// Valid unless the drive was fresh at the start of the step and cleaned up during it: the
    /// figure then mixes both in a share that depends on the size.
    KeptWhenSteady,
    /// Valid unless the drive cleaned up during the step.
    KeptWithoutCleaning,
    /// Not valid.
    Lost,
}

/// Relation of two figures that tell one fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Their ratio is constant, as that of MB/s to IOPS for commands of one size.
    Proportional,
    /// Their product is constant, as that of IOPS and mean latency at one queue depth.
    Inverse,
}

/// A figure that tells the same fact as another one wherever the relation holds in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The other figure: its name, or in a family the last part of its name.
    pub of: &'static str,
    /// The relation to it.
    pub relation: Relation,
}

/// Name, label, unit, better, scaling, explanation.
pub(super) type Row = (&'static str, &'static str, Unit, Option<Better>, Scaling, &'static str);

/// One row of the catalogue: a metric, or a family of metrics that differ in a part of their names.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Metric {
    /// Stable name. In a family, `<word>` stands for any text without a dot.
    pub name: String,
    /// Name for people, complete by itself. Metrics with a dot in their names belong to a test or a
    /// step; they are shown under their names.
    pub label: String,
    /// Unit of the value.
    pub unit: Unit,
    /// The better direction, or `None` if neither is better by itself.
    pub better: Option<Better>,
    /// Validity of the figure of a drive below full size.
    pub scaling: Scaling,
    /// Meaning of the figure, and its computation.
    pub explanation: &'static str,
    /// Heading above the figure.
    pub chapter: &'static str,
    /// Whether `ssdlab show` has a line for it. Tables and sentences of the run show the others.
    pub in_summary: bool,
    /// Figures that may tell the same fact; each stands before this row in the catalogue.
    #[serde(skip)]
    pub mirrors: Vec<Mirror>,
}

impl Metric {
    /// The label of the figure `metric` of this row: that of a step has the words of the step.
    pub(super) fn label_of(&self, metric: &str) -> String {
        let parts = self.name.split('.').zip(metric.split('.'));
        let is_step = |own: &str| own.starts_with('<') && own != "<test>";
        let steps = parts.filter(|(own, _)| is_step(own)).map(|(_, step)| step_words(step));
        [self.label.clone()].into_iter().chain(steps).collect::<Vec<_>>().join(", ")
    }

    /// Whether the name `metric` of a run belongs to this row.
    pub(super) fn covers(&self, metric: &str) -> bool {
        let (own, other) = (self.name.split('.'), metric.split('.'));
        let is_same = |(own, other): (&str, &str)| own == other || own.starts_with('<');
        own.clone().count() == other.clone().count() && own.zip(other).all(is_same)
    }
}

/// The name of a step in words: `random_read_qd32` as `random read QD 32`.
pub(super) fn step_words(step: &str) -> String {
    let word = |word: &str| match word.strip_prefix("qd") {
        Some(depth) if !depth.is_empty() && depth.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("QD {depth}")
        }
        _ => word.to_owned(),
    };
    step.split(['_', ' ']).map(word).collect::<Vec<_>>().join(" ")
}
