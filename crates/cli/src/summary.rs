//! The summary of a run in the terminal.

mod card;
mod footnotes;

use std::path::Path;

use base::text::hanging;
use device::host::shell::quoted_path;
use result::metrics::{catalogue, find, label};
use result::report::GRAPHED_PHASE;
use result::schema::{HostUse, Origin, Run, RunStatus, Table, TableColumn};
use result::stats::health::{HealthRow, HealthSummary};
use result::stats::rates::{full_intervals, iops};
use result::store::ios::IOS_FILE;
use result::store::{RunDir, StoreError};

use crate::ui::out::{COLUMNS, Emphasis, data, write_emphasised};
use crate::ui::table::{self, bytes, count, figure, latency, seconds};

pub use card::{last_letters, print_card};
use footnotes::Footnotes;

/// Imported files that are named one by one.
const FILES_SHOWN_MAX: usize = 3;

/// IOPS of every second of the phase that the page draws; empty without one.
pub fn graphed_iops(dir: &RunDir) -> Result<Vec<f64>, StoreError> {
    if !dir.run().phases.iter().any(|phase| phase.name == GRAPHED_PHASE) {
        return Ok(Vec::new());
    }
    let rows = dir.phase_rows(GRAPHED_PHASE)?;
    Ok(full_intervals(&rows.seconds).into_iter().filter_map(iops).collect())
}

/// Prints the drive, the test and the status of a run.
fn print_title(run: &Run, dir: &Path) {
    let simulated = if run.target.is_simulated() { " (simulated)" } else { "" };
    let firmware = run.target.firmware.as_ref().map(|firmware| format!(", firmware {firmware}"));
    let firmware = firmware.unwrap_or_default();
    let title = format!("{}{firmware}{simulated}: {}, {}", run.target.name, run.test, variant(run));
    write_emphasised(Emphasis::Title, hanging("  ", &title, COLUMNS).trim_start());
    if let Some(origin) = &run.origin {
        print_origin(origin);
    }
    if run.status != RunStatus::Complete {
        write_emphasised(Emphasis::Attention, &format!("  {}", status_words(run.status)));
    }
    if matches!(run.status, RunStatus::Interrupted | RunStatus::Failed) {
        let erase =
            if run.target.is_simulated() { "" } else { ", with the --erase of the first call" };
        data!("  to finish it{erase}: ssdlab run --resume {}", quoted_path(dir));
    }
}

/// Prints one run: description, status, figures, sentences.
pub fn print_summary(run: &Run, dir: &Path) {
    print_title(run, dir);
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
        phase.host.filter(|_| phase.ios > 0).iter().for_each(|host| print_host(host, phase.ios));
    }
    if let Some(ios) = &run.ios {
        data!("  single commands ({}): {} rows in {IOS_FILE}", ios.choice, ios.rows);
    }
    let footnotes = Footnotes::of(&run.marks, |_| true);
    let listed = catalogue().iter().filter(|metric| metric.in_summary);
    let rows = listed.filter_map(|metric| figure_row(run, &metric.name, &footnotes));
    table::print(&rows.collect::<Vec<_>>());
    print_tables(&run.tables);
    footnotes.print(None);
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

/// The host's part in a phase.
fn print_host(host: &HostUse, ios: u64) {
    let each = |ns: u64| format!("{:.1} us", ns as f64 / ios as f64 / 1e3);
    let interrupts = host.interrupts.map(|all| format!(", {} interrupts", count(all as f64)));
    data!(
        "         host, per command: {} user, {} system{}",
        each(host.user_ns),
        each(host.system_ns),
        interrupts.unwrap_or_default()
    );
}

/// The source of the figures, and the conditions that it does not tell.
fn print_origin(origin: &Origin) {
    let shown = origin.files.iter().take(FILES_SHOWN_MAX).map(String::as_str);
    let more = origin.files.len().saturating_sub(FILES_SHOWN_MAX);
    let more = (more > 0).then(|| format!("{more} more"));
    let files: Vec<_> = shown.chain(more.as_deref()).collect();
    data!("  measured by {}, not by ssdlab; imported from {}", origin.tool, files.join(", "));
    data!("  unknown: {}", origin.unknown.join(", "));
}

/// A figure with the signs of its marks; a missing figure has a line if a mark gives the reason.
fn figure_row(run: &Run, name: &str, footnotes: &Footnotes) -> Option<Vec<String>> {
    let value = run.metrics.get(name).copied().flatten();
    let signs = footnotes.signs(name);
    if value.is_none() && signs.is_empty() {
        return None;
    }
    let unit = find(name)?.unit;
    let value = value.map_or_else(|| "-".to_owned(), |value| figure(value, unit));
    Some(vec![format!("  {}", label(name)), value, signs])
}

/// Conditions stand under the last table that shares them.
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
    table::print(&table_rows(table));
}

/// The head of a table and its rows.
fn table_rows(table: &Table) -> Vec<Vec<String>> {
    let heading = table.columns.iter().map(column_heading);
    let mut rows = vec![[format!("    {}", table.row_name)].into_iter().chain(heading).collect()];
    for row in &table.rows {
        let cells = row.values.iter().zip(&table.columns).map(|(value, column)| {
            value.map_or_else(|| "-".to_owned(), |value| cell(value, &column.unit))
        });
        rows.push([format!("    {}", row.label)].into_iter().chain(cells).collect());
    }
    rows
}

/// The drive's own counters before and after the run.
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

/// Latencies and sizes have their unit in each cell, because it changes from cell to cell.
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
        "WAF" => format!("{value:.2}"),
        "" => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

fn variant(run: &Run) -> String {
    if run.origin.is_some() {
        return "span unknown".to_owned();
    }
    let span = bytes(run.span.span_bytes);
    match run.span.base.as_str() {
        "raw" => format!("{} spare, span {span}", run.span.variant),
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
