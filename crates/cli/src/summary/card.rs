//! A run as a card of 80 columns: name, pace, the most telling figures, verdict, path.

use std::path::Path;

use base::text::hanging;
use device::host::shell::quoted_path;
use result::metrics::catalogue;
use result::schema::Run;
use run::Test;

use super::footnotes::Footnotes;
use super::{figure_row, print_title, table_rows};
use crate::args::LIBRARY;
use crate::ui::out::{COLUMNS, Emphasis, data, write_emphasised};
use crate::ui::plot::sparkline;
use crate::ui::table::{self, count};

const FIGURES_MAX: usize = 5;
const WARNINGS_MAX: usize = 2;

/// Prints the card of a run with the IOPS of every second of its load.
pub fn print_card(run: &Run, dir: &Path, iops: &[f64]) {
    print_title(run, dir);
    if !iops.is_empty() {
        let (low, high) = (
            iops.iter().copied().fold(f64::INFINITY, f64::min),
            iops.iter().copied().fold(0.0, f64::max),
        );
        data!("  {}", sparkline(iops));
        data!("  {} s, {} to {} IOPS", iops.len(), count(low), count(high));
    }
    let chosen = headlines(run);
    let footnotes = Footnotes::of(&run.marks, |metric| chosen.contains(&metric));
    let rows: Vec<_> =
        chosen.iter().filter_map(|metric| figure_row(run, metric, &footnotes)).collect();
    table::print(&rows);
    if let (true, Some(first)) = (rows.is_empty(), run.tables.first()) {
        data!("  {}:", first.title);
        table::print(&table::leading_columns(table_rows(first), COLUMNS));
    }
    footnotes.print(Some(COLUMNS));
    let verdict = run.verdict.as_ref().map(|verdict| format!("verdict: {}", verdict.text));
    let sentence = verdict.or_else(|| run.findings.first().map(|finding| finding.text.clone()));
    sentence.iter().for_each(|sentence| data!("{}", hanging("  ", sentence, COLUMNS)));
    for warning in run.warnings.iter().take(WARNINGS_MAX) {
        write_emphasised(Emphasis::Attention, &hanging("  warning: ", warning, COLUMNS));
    }
    let more = run.warnings.len().saturating_sub(WARNINGS_MAX);
    let more = if more > 0 { format!(", {more} more warnings") } else { String::new() };
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let short = last_letters(&name);
    let library = dir.parent().filter(|library| *library != Path::new(LIBRARY));
    let library =
        library.map_or_else(String::new, |library| format!(" --library {}", quoted_path(library)));
    write_emphasised(
        Emphasis::Aside,
        &format!("  all figures, findings and tables{more}: ssdlab show {short} --all{library}"),
    );
}

/// The last letters of a run, by which every command takes it.
pub fn last_letters(run_id: &str) -> &str {
    run_id.rsplit('-').next().unwrap_or(run_id)
}

/// The figures of the card: the headlines of the test, or else its first ones, as far as the run has them.
fn headlines(run: &Run) -> Vec<&str> {
    let test: Option<Test> = run.test.parse().ok();
    let named = test.map_or(&[][..], |test| test.definition().headlines);
    let has = |metric: &&str| run.metrics.contains_key(*metric);
    let mut chosen: Vec<&str> = named.iter().map(|one| one.metric).filter(has).collect();
    if chosen.is_empty() {
        let first = catalogue().iter().filter(|metric| metric.in_summary);
        chosen = first.map(|metric| metric.name.as_ref()).filter(has).collect();
    }
    chosen.truncate(FIGURES_MAX);
    chosen
}
