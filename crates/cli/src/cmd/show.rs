//! `ssdlab show`: a summary of runs in the terminal.

use std::collections::BTreeMap;
use std::path::Path;

use io::shell::quoted_path;
use result::schema::{Mark, MarkKind, Run, RunStatus, Table, TableColumn};
use result::stats::difference::differences;
use result::stats::findings::percent;
use result::stats::health::{HealthRow, HealthSummary};
use result::store::{RunDir, resolve_run};

use crate::args::{Format, ShowArgs};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, bytes, count, latency, seconds};

/// How a figure is shown.
#[derive(Clone, Copy)]
enum Unit {
    Iops,
    Latency,
    Share,
    Plain,
    Seconds,
    MbPerS,
    Us,
    Busy,
}

/// Figures in the order in which they are read.
const FIGURES: [(&str, &str, Unit); 39] = [
    ("iops_peak_mean_first_60s", "mean of the first 60 s", Unit::Iops),
    ("iops_mean", "mean of the whole load", Unit::Iops),
    ("iops_steady_mean", "steady mean", Unit::Iops),
    ("iops_steady_min", "steady minimum", Unit::Iops),
    ("iops_steady_max", "steady maximum", Unit::Iops),
    ("iops_steady_stddev", "steady standard deviation", Unit::Iops),
    ("iops_steady_cv", "steady coefficient of variation", Unit::Plain),
    ("last400_stddev", "last 400 s: standard deviation", Unit::Iops),
    ("last400_mean_over_stddev", "last 400 s: mean / standard deviation", Unit::Plain),
    ("seconds_below_half_mean_share", "seconds below half the mean", Unit::Share),
    ("latency_ns_mean", "latency, mean", Unit::Latency),
    ("latency_ns_p50", "latency, median", Unit::Latency),
    ("latency_ns_p99", "latency, 99%", Unit::Latency),
    ("latency_ns_p999", "latency, 99.9%", Unit::Latency),
    ("latency_ns_p9999", "latency, 99.99%", Unit::Latency),
    ("latency_ns_max", "latency, largest", Unit::Latency),
    ("latency_steady_ns_mean", "steady latency, mean", Unit::Latency),
    ("fall_start_s", "the fall begins", Unit::Seconds),
    ("steady_start_s", "steady state begins", Unit::Seconds),
    ("avg_data_rate_mb_per_s", "average data rate", Unit::MbPerS),
    ("avg_data_rate_mb_per_s_read", "average data rate, reads", Unit::MbPerS),
    ("avg_data_rate_mb_per_s_write", "average data rate, writes", Unit::MbPerS),
    ("busy_time_s", "busy time", Unit::Busy),
    ("busy_time_s_read", "busy time, reads", Unit::Busy),
    ("busy_time_s_write", "busy time, writes", Unit::Busy),
    ("avg_service_time_us", "average service time", Unit::Us),
    ("avg_service_time_us_read", "average service time, reads", Unit::Us),
    ("avg_service_time_us_write", "average service time, writes", Unit::Us),
    ("latency_ns_p99_read", "latency of reads, 99%", Unit::Latency),
    ("latency_ns_p99_write", "latency of writes, 99%", Unit::Latency),
    ("queue_depth_mean", "mean queue depth", Unit::Plain),
    ("queue_depth_1_share", "commands at queue depth 1", Unit::Share),
    ("issue_lateness_ns_p99", "issued late, 99%", Unit::Latency),
    ("issue_lateness_ns_max", "issued late, at most", Unit::Latency),
    ("address_folded_share", "commands on addresses of other data", Unit::Share),
    ("waf_steady", "write amplification, steady", Unit::Plain),
    ("controller_busy_steady_share", "controller busy, steady", Unit::Share),
    ("channel_busy_steady_share", "channels busy, steady", Unit::Share),
    ("die_busy_steady_share", "dies busy, steady", Unit::Share),
];

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Iops => format!("{} IOPS", count(value)),
        Unit::Latency => latency(value),
        Unit::Share => percent(value),
        Unit::Plain => format!("{value:.3}"),
        Unit::Seconds => format!("{value:.0} s"),
        Unit::MbPerS => format!("{value:.1} MB/s"),
        Unit::Busy => format!("{value:.1} s"),
        Unit::Us => format!("{value:.1} us"),
    }
}

pub fn run(args: &ShowArgs) -> anyhow::Result<u8> {
    let mut runs = Vec::new();
    for name in &args.runs {
        let dir = resolve_run(&args.library, name)?;
        runs.push((dir.clone(), RunDir::open(&dir)?));
    }
    if args.format == Format::Json {
        let document: Vec<_> = runs.iter().map(|(_, run)| run.run()).collect();
        data!("{}", serde_json::to_string_pretty(&document)?);
        return Ok(EXIT_DONE);
    }
    for (dir, run) in &runs {
        print_summary(run.run(), dir);
        data!("{}", dir.display());
    }
    for pair in differences(&runs.iter().map(|(_, run)| run.run()).collect::<Vec<_>>()) {
        data!("{}", pair.text);
    }
    Ok(EXIT_DONE)
}

/// Prints one run: what, how it ended, figures, sentences.
pub fn print_summary(run: &Run, dir: &Path) {
    let simulated = if run.target.kind == "simulated" { " (simulated)" } else { "" };
    let firmware = run.target.firmware.as_ref().map(|firmware| format!(", firmware {firmware}"));
    let firmware = firmware.unwrap_or_default();
    data!("{}{firmware}{simulated}: {}, {}", run.target.name, run.test, variant(run));
    if run.status != RunStatus::Complete {
        data!("  {}", status_words(run.status));
    }
    if matches!(run.status, RunStatus::Interrupted | RunStatus::Failed) {
        data!("  to continue it: ssdlab run --resume {}", quoted_path(dir));
    }
    if let Some(resumed) = &run.resumed {
        data!("  continues {}, {} of its phases kept", resumed.run_id, resumed.phases_kept);
    }
    for phase in &run.phases {
        let moved =
            if phase.bytes > 0 { format!(", {}", bytes(phase.bytes)) } else { String::new() };
        data!(
            "  {:6} {}{moved}: {}",
            phase.name,
            seconds(base::Nanos(phase.duration_ns)),
            phase.what
        );
    }
    table::print(&FIGURES.iter().filter_map(|row| figure(run, *row)).collect::<Vec<_>>());
    print_tables(&run.tables);
    print_marks(&run.marks);
    run.health.as_ref().and_then(HealthSummary::of).iter().for_each(print_health);
    if let Some(verdict) = &run.verdict {
        data!("  verdict: {}", verdict.text);
    }
    for finding in &run.findings {
        data!("  - {}", finding.text);
    }
    for warning in &run.warnings {
        data!("  warning: {warning}");
    }
}

/// A figure with what must be known of it; one that is missing has a line where a mark says why.
fn figure(run: &Run, (name, label, unit): (&str, &str, Unit)) -> Option<Vec<String>> {
    let value = run.metrics.get(name).copied().flatten();
    let marks: Vec<_> = run.marks.iter().filter(|mark| mark.metric == name).collect();
    if value.is_none() && marks.is_empty() {
        return None;
    }
    let value = value.map_or_else(|| "-".to_owned(), |value| shown(value, unit));
    let texts: Vec<_> = marks.iter().map(|mark| mark.text.as_str()).collect();
    Some(vec![format!("  {label}"), value, texts.join("; ")])
}

/// The marks of figures that have no line of their own: under what they are about, each text once.
fn print_marks(marks: &[Mark]) {
    let has_line = |mark: &&Mark| FIGURES.iter().any(|(name, ..)| *name == mark.metric);
    let others: Vec<_> = marks.iter().filter(|mark| !has_line(mark)).collect();
    for (kind, heading) in [
        (MarkKind::TooFewCommands, "A percentile takes ten commands beyond it:"),
        (MarkKind::AtLeast, "Latencies that were cut short:"),
        (MarkKind::LateEnd, "The slowest command outlasted its phase:"),
        (MarkKind::TwoRegimes, "Figures over two regimes:"),
    ] {
        let mut by_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for mark in others.iter().filter(|mark| mark.kind == kind) {
            by_text.entry(&mark.text).or_default().push(&mark.metric);
        }
        if !by_text.is_empty() {
            data!("  {heading}");
        }
        for (text, metrics) in by_text {
            data!("    {}: {text}", metrics.join(", "));
        }
    }
}

/// Conditions stand under the last of the tables that share them.
fn print_tables(tables: &[Table]) {
    for (index, table) in tables.iter().enumerate() {
        print_table(table);
        let next = tables.get(index + 1).map(|next| &next.conditions);
        if next != Some(&table.conditions) {
            table.conditions.iter().for_each(|(label, value)| data!("    {label}: {value}"));
        }
    }
}

fn print_table(table: &Table) {
    data!("  {}:", table.title);
    let heading = table.columns.iter().map(column_heading);
    let mut rows = vec![[format!("    {}", table.row_name)].into_iter().chain(heading).collect()];
    for row in &table.rows {
        let cells = row.values.iter().zip(&table.columns).map(|(value, column)| {
            value.map_or_else(|| "-".to_owned(), |value| cell(value, &column.unit))
        });
        rows.push([format!("    {}", row.label)].into_iter().chain(cells).collect());
    }
    table::print(&rows);
}

/// What the drive said about itself before and after the run.
fn print_health(health: &HealthSummary) {
    data!("  The drive's own counters ({}):", health.source);
    let heading = ["    ", "before", "after", "change"].map(str::to_owned).to_vec();
    let line = |row: &HealthRow| {
        let text = |value: Option<i64>| {
            value.map_or_else(|| "-".to_owned(), |value| reading(value, &row.unit))
        };
        let change = match row.change() {
            Some(change) if change > 0 => format!("+{}", reading(change, &row.unit)),
            other => text(other),
        };
        vec![format!("    {}", row.label), text(row.before), text(row.after), change]
    };
    let rows: Vec<_> = [heading].into_iter().chain(health.rows.iter().map(line)).collect();
    table::print(&rows);
    if let Some((low, high)) = health.temperature_c {
        data!("    {low} to {high} degrees C in {} looks", health.looks);
    }
    if let Some(ratio) = health.nand_over_host {
        data!("    write amplification of the whole run, by these counters: {ratio:.2}");
    }
}

fn reading(value: i64, unit: &str) -> String {
    match unit {
        "bytes" if value >= 0 => bytes(value.unsigned_abs()),
        "bytes" => format!("-{}", bytes(value.unsigned_abs())),
        "" => count(value as f64),
        "%" => format!("{value}%"),
        _ => format!("{} {unit}", count(value as f64)),
    }
}

/// Latencies and sizes carry their unit in each cell, since it changes from cell to cell.
fn column_heading(column: &TableColumn) -> String {
    match column.unit.as_str() {
        "ns" | "bytes" | "" => column.name.clone(),
        unit => format!("{} ({unit})", column.name),
    }
}

fn cell(value: f64, unit: &str) -> String {
    match unit {
        "ns" => latency(value),
        "bytes" => bytes(value as u64),
        "IOPS" => count(value),
        "W" => format!("{value:.3}"),
        "" => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

fn variant(run: &Run) -> String {
    let span = bytes(run.span.span_bytes);
    match run.span.base.as_str() {
        "raw" => format!("{} spare of the raw capacity, span {span}", run.span.variant),
        "advertised" => {
            format!("{} spare of the advertised capacity, span {span}", run.span.variant)
        }
        _ => format!("span {span}"),
    }
}

fn status_words(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "still running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "ended early: interrupted",
        RunStatus::Failed => "ended early: failed",
    }
}
