//! `ssdlab library list`: the runs of a library.

use clap::Args as ClapArgs;
use result::run_id::rfc3339;
use result::schema::{Run, RunStatus};
use result::store::{self, LibraryEntry, RunDir};

use crate::args::heading;
use crate::args::{Format, PlaceArgs};
use crate::failure::EXIT_DONE;
use crate::summary::last_letters;
use crate::ui::out::{Emphasis, data, write_emphasised};
use crate::ui::table::{self, bytes};

const EXAMPLES: &str = "\
Examples:
  ssdlab library list
  ssdlab library list --drive 840 --test consistency --since 2026-11-01
  ssdlab library list --label before --format json";

/// Arguments of `library list`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Only drives with this text in their name
    #[arg(long, value_name = "TEXT", help_heading = heading::RUNS)]
    pub drive: Option<String>,
    /// Only this test
    #[arg(long, value_name = "TEST", help_heading = heading::RUNS)]
    pub test: Option<String>,
    /// Only runs with this label
    #[arg(long, value_name = "NAME", help_heading = heading::WORDS)]
    pub label: Option<String>,
    /// Only runs with this tag
    #[arg(long, value_name = "WORD", help_heading = heading::RUNS)]
    pub tag: Option<String>,
    /// Only runs that began on this day or later (UTC), e.g. 2026-11-24
    #[arg(long, value_name = "DATE", value_parser = parse_date, help_heading = heading::RUNS)]
    pub since: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// A day as the first letters of a time: `2026-11-24`.
fn parse_date(text: &str) -> Result<String, String> {
    let is_number = |part: &str, width: usize, most: u32| {
        let number = part.parse::<u32>().ok().filter(|number| (1..=most).contains(number));
        part.len() == width && number.is_some()
    };
    let parts: Vec<_> = text.split('-').collect();
    match parts.as_slice() {
        [year, month, day]
            if is_number(year, 4, 9999) && is_number(month, 2, 12) && is_number(day, 2, 31) =>
        {
            Ok(text.to_owned())
        }
        _ => Err("expected a day such as 2026-11-24".to_owned()),
    }
}

pub fn run(args: &ListArgs) -> anyhow::Result<u8> {
    let entries = store::list(&args.place.library)?;
    let names: Vec<_> = entries.iter().map(|entry| entry.name.clone()).collect();
    let (readable, rejected): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.run.is_ok());
    let runs: Vec<RunDir> = readable.into_iter().filter_map(|entry| entry.run.ok()).collect();
    let runs: Vec<_> = runs.iter().filter(|dir| fits(args, dir.run())).collect();
    if args.place.format == Format::Json {
        let rejected = rejected.iter().map(|entry| {
            let reason = entry.run.as_ref().err().map(ToString::to_string);
            serde_json::json!({ "name": entry.name, "reason": reason })
        });
        let rejected: Vec<_> = rejected.collect();
        let runs: Vec<_> = runs.iter().map(|dir| document(dir)).collect();
        data!("{}", serde_json::json!({ "runs": runs, "rejected": rejected, "error": null }));
        return Ok(EXIT_DONE);
    }
    if runs.is_empty() {
        data!("no run in {} fits", args.place.library.display());
    }
    print_by_drive(&runs, &names);
    rejected.iter().for_each(print_rejected);
    Ok(EXIT_DONE)
}

fn fits(args: &ListArgs, run: &Run) -> bool {
    let contains = |text: &String| run.target.name.to_lowercase().contains(&text.to_lowercase());
    args.drive.as_ref().is_none_or(contains)
        && args.test.as_ref().is_none_or(|test| run.test == *test)
        && args.label.as_ref().is_none_or(|label| run.about.label.as_ref() == Some(label))
        && args.tag.as_ref().is_none_or(|tag| run.about.tags.contains(tag))
        && args.since.as_ref().is_none_or(|day| rfc3339(run.started_unix_ns) >= *day)
}

pub fn document(dir: &RunDir) -> serde_json::Value {
    let run = dir.run();
    serde_json::json!({
        "run_id": run.run_id, "path": dir.path(), "drive": run.target.name,
        "simulated": run.target.is_simulated(), "test": run.test, "spare": run.span.variant,
        "span_bytes": run.span.span_bytes, "status": run.status,
        "started": rfc3339(run.started_unix_ns), "size_bytes": dir.size_bytes(), "about": run.about,
    })
}

/// Prints the runs below their drives, in the order of the first runs.
fn print_by_drive(runs: &[&RunDir], names: &[String]) {
    let rows: Vec<_> = runs.iter().map(|dir| row(dir.run(), dir.size_bytes(), names)).collect();
    let mut drives: Vec<(String, Vec<String>)> = Vec::new();
    for (dir, line) in runs.iter().zip(table::lines(&rows)) {
        let target = &dir.run().target;
        let simulated = if target.is_simulated() { " (simulated)" } else { "" };
        let drive = format!("{}{simulated}", target.name);
        match drives.iter_mut().find(|(name, _)| *name == drive) {
            Some((_, lines)) => lines.push(line),
            None => drives.push((drive, vec![line])),
        }
    }
    for (drive, lines) in drives {
        write_emphasised(Emphasis::Title, &drive);
        lines.iter().for_each(|line| data!("  {line}"));
    }
}

fn row(run: &Run, size_bytes: u64, names: &[String]) -> Vec<String> {
    let status = match run.status {
        RunStatus::Running => Some("running"),
        RunStatus::Complete => None,
        RunStatus::Interrupted => Some("interrupted"),
        RunStatus::Failed => Some("failed"),
    };
    let words = run.about.label.iter().chain(&run.about.tags).map(String::as_str);
    let began = rfc3339(run.started_unix_ns).replace('T', " ");
    vec![
        short_name(&run.run_id, names).to_owned(),
        run.test.clone(),
        run.span.variant.replace("default", "as sold"),
        began[..began.len() - ":00Z".len()].to_owned(),
        bytes(size_bytes),
        status.into_iter().chain(words).collect::<Vec<_>>().join(", "),
    ]
}

/// The last letters of a run, or all of its name where another run has the same ones.
fn short_name<'a>(run_id: &'a str, names: &[String]) -> &'a str {
    let short = last_letters(run_id);
    let others = names.iter().filter(|name| *name != run_id);
    if others.into_iter().any(|name| name.ends_with(short)) { run_id } else { short }
}

fn print_rejected(entry: &LibraryEntry) {
    if let Err(reason) = &entry.run {
        data!("not readable: {}: {reason}", entry.name);
    }
}
