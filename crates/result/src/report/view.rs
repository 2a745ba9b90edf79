//! Run directories in the form of the page: columns, rates, and one merged distribution.

use std::collections::BTreeMap;

use base::{Identity, TelemetryRow};

use super::density::densities;
use super::{
    GRAPHED_PHASE, Pass, PowerSeries, REPORT_VERSION, Report, ReportError, RunView, Series,
    TOOL_VERSION,
};
use crate::rows::{PhaseRows, SecondRow};
use crate::run_id::rfc3339;
use crate::schema::Run;
use crate::stats::busy::{CHANNELS, CONTROLLER, DIES, Parts};
use crate::stats::consistency::{configured_from_s, steady_window};
use crate::stats::difference::differences;
use crate::stats::health::HealthSummary;
use crate::stats::latency::Latencies;
use crate::stats::power::{watts, watts_max};
use crate::stats::rates::{full_intervals, iops, mb_per_s, seconds, waf};
use crate::store::RunDir;

/// The report on these runs, in this order. The graphs show the phase named `load`. A run without
/// one has empty columns, and all its figures and phases.
///
/// # Errors
/// If the rows of a run cannot be read, or contradict each other; the message names the file.
pub fn build(title: &str, runs: &[RunDir]) -> Result<Report, ReportError> {
    runs.iter().try_for_each(RunDir::check)?;
    let mut left_out = Vec::new();
    let is_of_these = |reason: &str| {
        let mut specs = runs.iter().map(|dir| dir.run().target.spec.as_str());
        specs.any(|spec| reason.strip_prefix(spec).is_some_and(|rest| rest.starts_with(": ")))
    };
    for reason in runs.iter().flat_map(|dir| &dir.run().left_out) {
        if is_of_these(reason) && !left_out.contains(reason) {
            left_out.push(reason.clone());
        }
    }
    Ok(Report {
        left_out,
        words: Vec::new(),
        context: None,
        subject: None,
        report_version: REPORT_VERSION,
        tool_version: TOOL_VERSION.to_owned(),
        title: title.to_owned(),
        runs: runs.iter().map(view).collect::<Result<_, _>>()?,
        differences: differences(&runs.iter().map(RunDir::run).collect::<Vec<_>>()),
    })
}

/// One run in the form of the page.
///
/// # Errors
/// If its rows cannot be read.
pub(crate) fn view(dir: &RunDir) -> Result<RunView, ReportError> {
    let run = dir.run().clone();
    let has_graph = run.phases.iter().any(|phase| phase.name == GRAPHED_PHASE);
    let rows = if has_graph { dir.phase_rows(GRAPHED_PHASE)? } else { PhaseRows::default() };
    let (steady_from_s, _) = steady_window(&rows.seconds, configured_from_s(&run));
    let (passes, power) = (passes(dir)?, power(dir)?);
    Ok(RunView {
        passes,
        power,
        ios: densities(dir)?,
        series: series(&rows.seconds, &run.target),
        steady_from_s,
        latency_bins: Latencies::of(&rows, 0..u32::MAX).histogram().bins().collect(),
        started: rfc3339(run.started_unix_ns),
        run_id: run.run_id,
        suite_version: run.suite_version,
        test: run.test,
        status: run.status,
        target: run.target,
        origin: run.origin,
        environment: run.environment,
        seed: run.seed,
        command: run.command,
        span: run.span,
        config: run.config,
        quick: run.request.is_some_and(|request| request.quick),
        health: run.health.as_ref().and_then(HealthSummary::of),
        resumed: run.resumed,
        phases: run.phases,
        metrics: run.metrics,
        marks: run.marks,
        verdict: run.verdict,
        tables: run.tables,
        findings: run.findings,
        warnings: run.warnings,
    })
}

/// The phases with a row for each zone; of rounds the first, whose passes represent the others.
fn passes(dir: &RunDir) -> Result<Vec<Pass>, ReportError> {
    let mut passes = Vec::new();
    for index in dir.zoned_phases()? {
        let Some(phase) = dir.run().phases.get(index) else { continue };
        if phase.ios == 0 || is_repeat(&phase.name) {
            continue;
        }
        let rows = dir.rows(index)?;
        let zones = rows.seconds.iter().filter_map(|row| Some((row.offset_bytes?, mb_per_s(row)?)));
        let (offset_bytes, rates): (Vec<_>, Vec<_>) = zones.unzip();
        if !offset_bytes.is_empty() {
            let mb_per_s = rates.into_iter().map(|rate| rounded(rate, 10.0)).collect();
            passes.push(Pass {
                phase: phase.name.clone(),
                offset_bytes,
                mb_per_s,
                zones_a_point: 1,
            });
        }
    }
    Ok(passes)
}

/// Whether a phase is of the second round or a later one.
fn is_repeat(phase: &str) -> bool {
    let round = phase.rsplit_once(".r").and_then(|(_, round)| round.parse::<u32>().ok());
    round.is_some_and(|round| round > 1)
}

/// The phases whose power is a figure of the run, without those that have no reading.
fn power(dir: &RunDir) -> Result<Vec<PowerSeries>, ReportError> {
    let mut found = Vec::new();
    let Run { test, phases, metrics, .. } = dir.run();
    for (index, phase) in phases.iter().enumerate() {
        if !metrics.contains_key(&format!("{test}.{}.power_w_mean", phase.name)) {
            continue;
        }
        let rows = dir.rows(index)?;
        let rows = full_intervals(&rows.seconds);
        if rows.iter().any(|row| watts(row).is_some()) {
            found.push(power_series(&phase.name, &rows));
        }
    }
    Ok(found)
}

fn power_series(phase: &str, rows: &[&SecondRow]) -> PowerSeries {
    let column = |of: fn(&SecondRow) -> Option<f64>, steps| {
        rows.iter().map(|row| of(row).map(|value| rounded(value, steps))).collect::<Vec<_>>()
    };
    PowerSeries {
        phase: phase.to_owned(),
        time_s: rows.iter().map(|row| rounded(seconds(row.start_ns), 1e6)).collect(),
        iops: column(iops, 10.0).into_iter().map(Option::unwrap_or_default).collect(),
        power_w: column(watts, 1e4),
        power_w_max: column(watts_max, 1e4),
    }
}

/// The columns of the graphs. A telemetry column is empty if no row has a value.
fn series(rows: &[SecondRow], target: &Identity) -> Series {
    let rows = full_intervals(rows);
    let mut series = Series::default();
    for row in &rows {
        series.time_s.push(rounded(seconds(row.start_ns), 1e6));
        series.iops.push(rounded(iops(row).unwrap_or(0.0), 10.0));
        series.latency_ns_p50.push(row.latency_ns_p50);
        series.latency_ns_p99.push(row.latency_ns_p99);
        series.latency_ns_max.push(row.latency_ns_max);
    }
    if is_every_second(&series.time_s) {
        series.time_s.clear();
    }
    if rows.iter().any(|row| row.telemetry.is_some()) {
        add_telemetry(&mut series, &rows);
        add_busy_shares(&mut series, &rows, &target.details);
    }
    series
}

/// Whether the intervals begin at 0, 1, 2 and so on.
fn is_every_second(time_s: &[f64]) -> bool {
    time_s.iter().zip(0_u32..).all(|(&time, second)| time == f64::from(second))
}

/// The telemetry columns that the page draws. All of them would double the size of the page; the run
/// directory has the others.
const DRAWN: [&str; 4] = ["free_superblocks", "buffer_pages", "gc_moved_pages", "pslc_pages"];

/// A row without telemetry, such as the last one of an interrupted run, is a gap and no zero.
fn add_telemetry(series: &mut Series, rows: &[&SecondRow]) {
    for row in rows {
        series.waf.push(waf(std::slice::from_ref(row)).map(|waf| rounded(waf, 1e4)));
    }
    for column in TelemetryRow::COLUMNS.iter().filter(|column| DRAWN.contains(&column.name)) {
        let value = |row: &&SecondRow| row.telemetry.as_ref().map(column.get);
        let values: Vec<_> = rows.iter().map(value).collect();
        if values.iter().flatten().any(|&value| value > 0) {
            series.telemetry.insert(column.name.to_owned(), values);
        }
    }
}

fn add_busy_shares(series: &mut Series, rows: &[&SecondRow], details: &BTreeMap<String, String>) {
    let shares = |parts: Parts| -> Vec<Option<f64>> {
        let shares = parts.shares(rows, details);
        shares.into_iter().map(|share| share.map(|share| rounded(share, 1e4))).collect()
    };
    series.die_busy_share = shares(DIES);
    series.channel_busy_share = shares(CHANNELS);
    series.controller_busy_share = shares(CONTROLLER);
}

/// Rounds to 1 / `steps`: digits beyond the resolution of a graph would double the size of the
/// page.
fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(details: &[(&str, &str)]) -> Identity {
        let own = |(label, value): &(&str, &str)| ((*label).to_owned(), (*value).to_owned());
        Identity {
            kind: base::TargetKind::Block,
            name: String::new(),
            spec: String::new(),
            serial: None,
            firmware: None,
            capacity_bytes: 0,
            raw_bytes: None,
            log_bytes: None,
            engine: String::new(),
            facts: base::Facts::default(),
            details: details.iter().map(own).collect(),
        }
    }

    #[test]
    fn a_second_without_telemetry_is_a_gap_and_no_zero() {
        let telemetry = TelemetryRow {
            host_pages: 10,
            programmed_pages: 20,
            gc_moved_pages: 10,
            free_superblocks: 7,
            buffer_pages: 2,
            die_busy_ns: 2_000_000_000,
            controller_busy_ns: 250_000_000,
            ..TelemetryRow::default()
        };
        let row = SecondRow { duration_ns: 1_000_000_000, ..SecondRow::default() };
        let told = SecondRow { telemetry: Some(telemetry), ..row.clone() };
        let series = series(&[told, row], &target(&[("sim.dies", "4")]));
        assert_eq!(series.waf, [Some(2.0), None]);
        for column in TelemetryRow::COLUMNS {
            let value = (column.get)(&telemetry);
            let is_told = value > 0 && DRAWN.contains(&column.name);
            let told = is_told.then(|| vec![Some(value), None]);
            assert_eq!(series.telemetry.get(column.name), told.as_ref(), "{}", column.name);
        }
        assert_eq!(series.die_busy_share, [Some(0.5), None]);
        assert_eq!(series.controller_busy_share, [Some(0.25), None]);
        assert!(series.channel_busy_share.is_empty(), "nobody said how many channels there are");
    }

    #[test]
    fn rows_of_any_start_and_length_become_points() {
        let row = SecondRow {
            start_ns: 2_500_000_000,
            duration_ns: 500_000_000,
            ios: [0, 5, 0, 0],
            bytes: [0, 5 * 4_096, 0, 0],
            ..SecondRow::default()
        };
        let series = series(&[row, SecondRow::default()], &target(&[]));
        assert_eq!((series.time_s, series.iops), (vec![2.5], vec![10.0]));
        assert!(series.waf.is_empty() && series.die_busy_share.is_empty());
    }
}
