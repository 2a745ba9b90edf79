//! The small form of a run, for a library that is published whole: points in place of seconds, the
//! curves of its tables, and all its figures. It has no telemetry, no machine and no single phases.

use std::collections::BTreeMap;

use flate2::read::ZlibDecoder;
use serde_json::Value;

use super::Library;
use crate::report::{Pass, RunView, Series, packed};
use crate::stats::summary::mean;

/// Most points of a graph: a phone has about three pixels for each.
const POINTS_MAX: usize = 100;
/// Most bins of a distribution of latencies.
const BINS_MAX: usize = 60;

/// Significant digits of a value that is drawn, and of a figure: more than a reader sees.
const DIGITS: i32 = 4;
const FIGURE_DIGITS: i32 = 6;
/// Members that the row of the run in the library has as well: readers take them from there.
const IN_ROW: [&str; 8] =
    ["target", "config", "metrics", "span", "test", "suite_version", "status", "started"];
/// Members with values for drawing.
const DRAWN: [&str; 3] = ["series", "tables", "passes"];

/// The small form of a packed run: a packed object without the members that its row has.
///
/// # Errors
/// If the stream contains no run.
pub(super) fn small(stream: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let view: RunView = serde_json::from_reader(ZlibDecoder::new(stream))?;
    let mut value = serde_json::to_value(small_view(view))?;
    if let Value::Object(members) = &mut value {
        members.retain(|name, _| !IN_ROW.contains(&name.as_str()));
    }
    shorten_run(&mut value);
    packed(&value)
}

/// A run with the figures, their marks and the curve of its load alone.
pub(crate) fn compact(view: RunView) -> RunView {
    RunView {
        command: String::new(),
        resumed: None,
        latency_bins: Vec::new(),
        tables: Vec::new(),
        passes: Vec::new(),
        findings: Vec::new(),
        warnings: Vec::new(),
        ..small_view(view)
    }
}

/// Leaves the digits of a run that a reader sees.
pub(crate) fn shorten_run(run: &mut Value) {
    let digits = DRAWN.map(|name| (name, DIGITS)).into_iter().chain([("metrics", FIGURE_DIGITS)]);
    for (name, digits) in digits {
        run.get_mut(name).into_iter().for_each(|value| shorten(value, digits));
    }
}

/// The rows of a library, packed: whole, but for the digits of figures that nobody sees. They are a third of the rows.
///
/// # Errors
/// If a row cannot be written.
pub(super) fn small_rows(library: &Library) -> Result<Vec<u8>, serde_json::Error> {
    let mut value = serde_json::to_value(library)?;
    let runs = value.get_mut("runs").and_then(Value::as_array_mut).into_iter().flatten();
    for figures in runs.filter_map(|run| run.get_mut("figures")) {
        shorten(figures, FIGURE_DIGITS);
    }
    packed(&value)
}

/// Leaves so many digits of every number with decimals.
fn shorten(value: &mut Value, digits: i32) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, digits)),
        Value::Object(members) => members.values_mut().for_each(|value| shorten(value, digits)),
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().unwrap_or_default();
            *value = rounded(whole, digits).into();
        }
        _ => {}
    }
}

fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 {
        return value;
    }
    let places = digits - 1 - value.abs().log10().floor() as i32;
    // Division by a power of ten gives the shortest decimals; multiplication does not.
    let (steps, factor) = (10_f64.powi(places.abs()), places >= 0);
    if factor { (value * steps).round() / steps } else { (value / steps).round() * steps }
}

fn small_view(view: RunView) -> RunView {
    RunView {
        environment: BTreeMap::new(),
        health: None,
        phases: Vec::new(),
        series: small_series(&view.series),
        latency_bins: coarse(&view.latency_bins),
        passes: view.passes.iter().map(small_pass).collect(),
        power: Vec::new(),
        ios: Vec::new(),
        ..view
    }
}

/// A point for several seconds: the mean rate, the middle latency, and of the longest latencies the longest. A middle
/// rate would hide the seconds without a command.
fn small_series(series: &Series) -> Series {
    let each = series.iops.len().div_ceil(POINTS_MAX).max(1);
    let count = series.iops.len();
    let start = |at: usize| series.time_s.get(at).copied().unwrap_or(at as f64);
    let some = |column: &[Option<u64>], of: fn(Vec<u64>) -> Option<u64>| -> Vec<Option<u64>> {
        column.chunks(each).map(|part| of(part.iter().copied().flatten().collect())).collect()
    };
    Series {
        seconds_a_point: u32::try_from(each).unwrap_or(u32::MAX),
        time_s: (0..count).step_by(each).map(start).collect(),
        iops: series.iops.chunks(each).map(mean).collect(),
        latency_ns_p50: some(&series.latency_ns_p50, middle),
        latency_ns_p99: some(&series.latency_ns_p99, middle),
        latency_ns_max: some(&series.latency_ns_max, |part| part.into_iter().max()),
        ..Series::default()
    }
}

/// The middle value, the lower one of two; `None` if there is none.
fn middle<T: PartialOrd + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// Neighbouring bins as one, with the lower edge of the first.
fn coarse(bins: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let each = bins.len().div_ceil(BINS_MAX).max(1);
    let sum = |part: &[(u64, u64)]| part.iter().map(|(_, count)| count).sum();
    bins.chunks(each).map(|part| (part[0].0, sum(part))).collect()
}

/// A point for several zones: the middle rate of them, at the place of the first.
fn small_pass(pass: &Pass) -> Pass {
    let each = pass.mb_per_s.len().div_ceil(POINTS_MAX).max(1);
    Pass {
        phase: pass.phase.clone(),
        offset_bytes: pass.offset_bytes.iter().copied().step_by(each).collect(),
        mb_per_s: pass.mb_per_s.chunks(each).filter_map(|part| middle(part.to_vec())).collect(),
        zones_a_point: u32::try_from(each).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_the_mean_of_its_seconds_and_the_longest_of_its_waits() {
        let seconds = 250_u32;
        let ns = |second: u64| if second % 3 == 1 { None } else { Some(second) };
        let series = Series {
            iops: (0..seconds).map(|second| f64::from(second % 3) * f64::from(second)).collect(),
            latency_ns_p50: (0..u64::from(seconds)).map(ns).collect(),
            latency_ns_max: (0..u64::from(seconds)).map(ns).collect(),
            waf: vec![Some(1.0); 250],
            ..Series::default()
        };
        let small = small_series(&series);
        assert_eq!((small.seconds_a_point, small.iops.len(), small.time_s.len()), (3, 84, 84));
        assert_eq!((small.time_s[1], small.iops[1], small.iops[83]), (3.0, 14.0 / 3.0, 0.0));
        assert_eq!((small.latency_ns_p50[1], small.latency_ns_max[1]), (Some(3), Some(5)));
        assert!(small.waf.is_empty());
        let again = small_series(&small);
        assert_eq!(again.iops, small.iops, "a short one stays");
    }

    #[test]
    fn the_first_digits_of_a_number_with_decimals_are_left() {
        for (value, short) in [(123_456.7, 123_500.0), (0.012_345_6, 0.01235), (-9.999_9, -10.0)] {
            assert_eq!(rounded(value, 4), short);
        }
        assert_eq!(rounded(16_386.763_1, 6), 16_386.8);
        let mut value = serde_json::json!([{ "a": [1.234_567, 1_234_567, null, "1.234567"] }]);
        shorten(&mut value, 4);
        assert_eq!(value, serde_json::json!([{ "a": [1.235, 1_234_567, null, "1.234567"] }]));
    }

    #[test]
    fn no_command_of_a_distribution_is_lost() {
        let bins: Vec<_> = (0..500).map(|bin| (bin * 10, bin + 1)).collect();
        let coarse = coarse(&bins);
        assert!(coarse.len() <= BINS_MAX && coarse[1].0 == 90);
        let count = |bins: &[(u64, u64)]| bins.iter().map(|(_, count)| count).sum::<u64>();
        assert_eq!(count(&coarse), count(&bins));
    }

    #[test]
    fn a_stream_without_a_run_is_an_error() {
        assert!(small(b"no stream").is_err());
        assert!(small(&packed(&[1]).unwrap()).is_err());
    }
}
