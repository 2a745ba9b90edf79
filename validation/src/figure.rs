//! The figures that a fingerprint can take from a run: a metric of the catalogue, or a summary of
//! the rows of a phase.

use std::ops::Range;

use result::metrics::{Scaling, Unit, find};
use result::rows::SecondRow;
use result::stats::consistency::fresh_name;
use result::store::{RunDir, StoreError};
use serde::Deserialize;

use crate::cell::Cell;

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// A metric by its name in the catalogue.
    Metric(String),
    /// A summary of the rows of a phase.
    Rows {
        /// The value of each row.
        value: RowValue,
        /// The summary of these values.
        summary: Summary,
        /// The name of the phase.
        phase: String,
        /// The rows that count.
        part: Part,
    },
    /// The time from which on rows stay below this rate for 20 s, in s from the start of the phase `load`.
    FallBelowIops(f64),
    /// The share of seconds of the steady state with fewer commands than this.
    ShareOfSecondsBelowIops(f64),
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowValue {
    /// Commands per second.
    Iops,
    /// MB/s.
    MbPerS,
}

/// A summary of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summary {
    /// Their mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Standard deviation divided by mean.
    Cv,
}

/// The rows of a phase that count.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// All of them.
    Whole,
    /// The seconds from one to before another.
    Seconds(Range<f64>),
    /// The rows from one percentage to another: for rows of zones, the place in the address space.
    Percent(Range<f64>),
}

/// A figure as its file has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureText {
    metric: Option<String>,
    iops: Option<Summary>,
    mb_per_s: Option<Summary>,
    phase: Option<String>,
    seconds: Option<String>,
    percent: Option<String>,
    fall_below_iops: Option<f64>,
    seconds_below_iops: Option<f64>,
}

/// The phase of the load in the consistency test.
const LOAD: &str = "load";

/// Beginning of the steady state of the consistency test, in s.
const STEADY_FROM_S: f64 = 1_400.0;

/// Time for which a fall must last, in s.
const FALL_S: f64 = 20.0;

impl TryFrom<FigureText> for Figure {
    type Error = String;

    fn try_from(text: FigureText) -> Result<Self, String> {
        let part = part(text.seconds.as_deref(), text.percent.as_deref())?;
        let phase = text.phase.clone().unwrap_or_else(|| LOAD.to_owned());
        let rows = |value, summary| Self::Rows { value, summary, phase, part: part.clone() };
        let has_rows = text.phase.is_some() || part != Part::Whole;
        let figure = match (text.metric, text.iops, text.mb_per_s, text.fall_below_iops) {
            (Some(name), None, None, None) if !has_rows => Self::metric(name)?,
            (None, Some(summary), None, None) => rows(RowValue::Iops, summary),
            (None, None, Some(summary), None) => rows(RowValue::MbPerS, summary),
            (None, None, None, Some(rate)) if !has_rows => Self::FallBelowIops(rate),
            (None, None, None, None) if !has_rows => {
                let rate = text.seconds_below_iops.ok_or(ONE_OF)?;
                return Ok(Self::ShareOfSecondsBelowIops(rate));
            }
            _ => return Err(ONE_OF.to_owned()),
        };
        if text.seconds_below_iops.is_some() { Err(ONE_OF.to_owned()) } else { Ok(figure) }
    }
}

const ONE_OF: &str = "a figure has exactly one of `metric`, `iops`, `mb_per_s`, `fall_below_iops` and \
                      `seconds_below_iops`, and `phase`, `seconds` or `percent` only beside `iops` and `mb_per_s`";

fn part(seconds: Option<&str>, percent: Option<&str>) -> Result<Part, String> {
    match (seconds, percent) {
        (None, None) => Ok(Part::Whole),
        (Some(seconds), None) => range(seconds).map(Part::Seconds),
        (None, Some(percent)) => range(percent).map(Part::Percent),
        (Some(_), Some(_)) => Err("`seconds` and `percent` exclude each other".to_owned()),
    }
}

fn range(text: &str) -> Result<Range<f64>, String> {
    let ends = text.split_once("..").and_then(|(low, high)| {
        let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
        (0.0 <= low && low < high).then_some(low..high)
    });
    ends.ok_or_else(|| format!("`{text}` is no range such as `100..700`"))
}

impl Figure {
    /// A metric that the catalogue knows.
    fn metric(name: String) -> Result<Self, String> {
        match find(&name) {
            Some(_) => Ok(Self::Metric(name)),
            None => Err(format!("the catalogue has no metric `{name}`")),
        }
    }

    /// Whether a smaller drive has the same figure, where times and amounts are in proportion to it. Single seconds,
    /// commands and pauses are not: the blocks of a smaller drive are shorter.
    pub fn keeps_at_scale(&self) -> bool {
        match self {
            Self::Metric(name) => find(name)
                .is_some_and(|row| row.scaling != Scaling::Lost || row.unit == Unit::Bytes),
            Self::Rows { summary: Summary::Mean, .. } | Self::FallBelowIops(_) => true,
            Self::Rows { summary, part, .. } => {
                *summary != Summary::Cv && matches!(part, Part::Percent(_))
            }
            Self::ShareOfSecondsBelowIops(_) => false,
        }
    }

    /// The figure of the run of a cell at full size, or `None` if the run does not know it.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn of(&self, dir: &RunDir, cell: &Cell) -> Result<Option<f64>, StoreError> {
        let time = cell.time_scale().as_f64();
        let load = || Ok(dir.phase_rows(LOAD)?.seconds);
        match self {
            Self::Metric(name) => {
                let is_amount = find(name).is_some_and(|row| row.unit == Unit::Bytes);
                let share = if is_amount { cell.size().as_f64() } else { 1.0 };
                Ok(of_same_seconds(dir, name).map(|value| value / share))
            }
            Self::Rows { value, summary, phase, part } => {
                if !dir.run().phases.iter().any(|found| found.name == *phase) {
                    return Ok(None);
                }
                let rows = dir.phase_rows(phase)?.seconds;
                let values = part.of(&rows, time).iter().map(|row| value.of(row)).collect();
                Ok(summary.of(values))
            }
            Self::FallBelowIops(rate) => Ok(fall(&load()?, *rate, time)),
            Self::ShareOfSecondsBelowIops(rate) => Ok(share_below(&load()?, *rate, time)),
        }
    }
}

/// A metric. Those who published a claim looked at the same seconds whatever state the drive was in.
fn of_same_seconds(dir: &RunDir, name: &str) -> Option<f64> {
    let of = |name: &str| dir.run().metrics.get(name).copied().flatten();
    of(name).or_else(|| of(&fresh_name(name)?))
}

impl RowValue {
    fn of(self, row: &SecondRow) -> f64 {
        let seconds = row.duration_ns as f64 / 1e9;
        let count = match self {
            Self::Iops => row.ios.iter().sum::<u64>() as f64,
            Self::MbPerS => row.bytes.iter().sum::<u64>() as f64 / 1e6,
        };
        if seconds > 0.0 { count / seconds } else { 0.0 }
    }
}

impl Part {
    fn of<'a>(&self, rows: &'a [SecondRow], time: f64) -> &'a [SecondRow] {
        let at = |place: f64| (place.round() as usize).min(rows.len());
        let per_percent = rows.len() as f64 / 100.0;
        match self {
            Self::Whole => rows,
            Self::Seconds(range) => &rows[at(range.start * time)..at(range.end * time)],
            Self::Percent(range) => {
                &rows[at(range.start * per_percent)..at(range.end * per_percent)]
            }
        }
    }
}

impl Summary {
    fn of(self, values: Vec<f64>) -> Option<f64> {
        let count = values.len() as f64;
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)?;
        let square = |value: f64| (value - mean) * (value - mean);
        match self {
            Self::Mean => Some(mean),
            Self::Min => values.into_iter().reduce(f64::min),
            Self::Max => values.into_iter().reduce(f64::max),
            Self::Cv => Some((values.into_iter().map(square).sum::<f64>() / count).sqrt() / mean),
        }
    }
}

/// The time, in seconds of full size, from which on the rate stays below a bound for a while.
fn fall(rows: &[SecondRow], rate: f64, time: f64) -> Option<f64> {
    let length = ((FALL_S * time).round() as usize).max(1);
    let is_low = |rows: &[SecondRow]| rows.iter().all(|row| RowValue::Iops.of(row) < rate);
    let was_high = rows.iter().position(|row| RowValue::Iops.of(row) >= rate)?;
    let after = rows[was_high..].windows(length).position(is_low)?;
    Some((was_high + after) as f64 / time)
}

fn share_below(rows: &[SecondRow], rate: f64, time: f64) -> Option<f64> {
    let steady = Part::Seconds(STEADY_FROM_S..f64::INFINITY).of(rows, time);
    let below = steady.iter().filter(|row| RowValue::Iops.of(row) < rate).count();
    (!steady.is_empty()).then(|| below as f64 / steady.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_rates_and_amounts_are_those_of_a_smaller_drive() {
        let keeps = |text: &str| read(text).unwrap().keeps_at_scale();
        let kept = [
            "metric = 'iops_steady_mean'",
            "metric = 'sustained.write.fast_bytes'",
            "iops = 'mean'\nseconds = '1..30'",
            "mb_per_s = 'min'\nphase = 'write'\npercent = '45..70'",
            "fall_below_iops = 3e4",
        ];
        assert!(kept.into_iter().all(keeps));
        let lost = [
            "metric = 'iops_steady_cv'",
            "metric = 'latency_ns_p999'",
            "iops = 'min'",
            "mb_per_s = 'cv'\nphase = 'write'\npercent = '45..70'",
            "seconds_below_iops = 1e3",
        ];
        assert!(!lost.into_iter().any(keeps));
    }

    fn rows(iops: &[u64]) -> Vec<SecondRow> {
        let row = |iops: &u64| SecondRow {
            duration_ns: 1_000_000_000,
            ios: [0, *iops, 0, 0],
            bytes: [0, *iops * 4096, 0, 0],
            ..SecondRow::default()
        };
        iops.iter().map(row).collect()
    }

    fn read(text: &str) -> Result<Figure, String> {
        toml::from_str::<FigureText>(text).map_err(|error| error.to_string())?.try_into()
    }

    #[test]
    fn figures_are_read_and_others_refused() {
        assert_eq!(read("metric = 'waf_steady'"), Ok(Figure::Metric("waf_steady".to_owned())));
        let want = Figure::Rows {
            value: RowValue::MbPerS,
            summary: Summary::Mean,
            phase: "write".to_owned(),
            part: Part::Percent(50.0..70.0),
        };
        assert_eq!(read("mb_per_s = 'mean'\nphase = 'write'\npercent = '50..70'"), Ok(want));
        assert_eq!(read("fall_below_iops = 3e4"), Ok(Figure::FallBelowIops(30_000.0)));
        let wrong = [
            "",
            "metric = 'nonsense'",
            "metric = 'waf_steady'\niops = 'mean'",
            "metric = 'waf_steady'\nphase = 'load'",
            "iops = 'median'",
            "iops = 'mean'\nseconds = '7..3'",
            "iops = 'mean'\nseconds_below_iops = 3.0",
            "iops = 'mean'\nseconds = '1..3'\npercent = '1..3'",
        ];
        for text in wrong {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_of_rows_are_summarised() {
        let rows = rows(&[10, 20, 30, 40]);
        let values = |part: Part, time| -> Vec<f64> {
            part.of(&rows, time).iter().map(|row| RowValue::Iops.of(row)).collect()
        };
        assert_eq!(values(Part::Seconds(1.0..3.0), 1.0), [20.0, 30.0]);
        assert_eq!(values(Part::Seconds(2.0..6.0), 0.5), [20.0, 30.0], "half the time");
        assert_eq!(values(Part::Percent(75.0..100.0), 1.0), [40.0]);
        assert_eq!(values(Part::Seconds(9.0..12.0), 1.0), [0.0; 0]);
        let all = values(Part::Whole, 1.0);
        let of = |summary: Summary| summary.of(all.clone()).unwrap();
        assert_eq!((of(Summary::Mean), of(Summary::Min), of(Summary::Max)), (25.0, 10.0, 40.0));
        assert!((of(Summary::Cv) - 0.447).abs() < 1e-3);
        assert_eq!(Summary::Mean.of(Vec::new()), None);
    }

    #[test]
    fn a_fall_begins_after_a_high_rate_and_lasts() {
        let mut curve = vec![10; 30];
        curve.extend([50; 100]);
        curve.extend([10, 50]);
        curve.extend([10; 60]);
        assert_eq!(fall(&rows(&curve), 30.0, 1.0), Some(132.0));
        assert_eq!(fall(&rows(&[10; 60]), 30.0, 1.0), None, "it was never above");
        assert_eq!(fall(&rows(&[50; 60]), 30.0, 1.0), None, "it never falls");
        let mut half = vec![50; 1_500];
        half.extend([10; 500]);
        assert_eq!(share_below(&rows(&half), 30.0, 1.0), Some(500.0 / 600.0));
    }
}
