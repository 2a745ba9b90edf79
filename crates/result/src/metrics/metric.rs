//! One row of the catalogue.

use serde::Serialize;

/// The unit of a value. The form in which people see a figure follows from its unit.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Commands per second.
    Iops,
    /// Nanoseconds; shown in the unit that suits the value.
    Ns,
    /// Microseconds.
    Us,
    /// Seconds.
    S,
    /// Minutes.
    Min,
    /// A share from 0 to 1; shown in percent.
    Share,
    /// A number without a unit that need not be whole.
    Ratio,
    /// Decimal megabytes per second.
    MbPerS,
    /// Bytes; shown in decimal units.
    Bytes,
    /// Watts.
    W,
    /// Joules for 10^9 bytes.
    JPerGb,
    /// A whole number of things.
    Count,
}

impl Unit {
    /// The unit as the documentation writes it.
    #[must_use]
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
            Self::Count => "count",
        }
    }
}

/// Which of two values is the better one.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The larger.
    Higher,
    /// The smaller.
    Lower,
}

/// Name, label, unit, better, explanation.
pub(super) type Row = (&'static str, &'static str, Unit, Option<Better>, &'static str);

/// One row of the catalogue: a metric, or a family of metrics that differ in a part of their names.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Metric {
    /// Stable name. In a family, `<word>` stands for any text without a dot.
    pub name: String,
    /// Name for people, which stands by itself. Metrics with a dot in their names, which are those
    /// of a test or a step, are shown under their names.
    pub label: String,
    /// Unit of the value.
    pub unit: Unit,
    /// Which of two values is better, or `None` if neither is by itself.
    pub better: Option<Better>,
    /// Meaning of the figure and how it is computed.
    pub explanation: &'static str,
    /// Heading under which the figure stands.
    pub chapter: &'static str,
    /// Whether `ssdlab show` has a line for it. Tables and sentences of the run show the others.
    pub in_summary: bool,
}

impl Metric {
    /// Whether a run that names `metric` means this one.
    pub(super) fn covers(&self, metric: &str) -> bool {
        let (own, other) = (self.name.split('.'), metric.split('.'));
        let is_same = |(own, other): (&str, &str)| own == other || own.starts_with('<');
        own.clone().count() == other.clone().count() && own.zip(other).all(is_same)
    }
}
