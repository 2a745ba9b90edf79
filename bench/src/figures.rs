//! Sections of `docs/evidence/benchmarks.md` that a bench writes, between two comments.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result};
use xtask::proc;
use xtask::workspace::Workspace;

const PAGE: &str = "docs/evidence/benchmarks.md";
const END: &str = "<!-- end -->";
/// Letters in a line of the page.
const WIDTH: usize = 100;

/// A table of figures: its head, and rows of as many cells.
pub(crate) struct Table {
    pub(crate) head: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// A figure for people: about three digits.
pub(crate) fn three(value: f64) -> String {
    match value {
        _ if value >= 100.0 => format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Writes a table into the section of this name, with date, commit, compiler and machine.
pub(crate) fn write(workspace: &Workspace, name: &str, note: &str, table: &Table) -> Result<()> {
    let said = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(workspace.path("."));
        Ok::<_, anyhow::Error>(proc::capture(&mut command)?.trim().to_owned())
    };
    let about = format!(
        "{}, commit {}, {}; {}. {note}",
        said("date", &["--utc", "--iso-8601"])?,
        said("git", &["describe", "--always", "--dirty"])?,
        said("rustc", &["--version"])?,
        machine(),
    );
    let path = workspace.path(PAGE);
    let page = std::fs::read_to_string(&path).with_context(|| PAGE)?;
    std::fs::write(&path, with_section(&page, name, &section(&about, table))?).with_context(|| PAGE)
}

/// The processors and the memory of this machine, in words.
fn machine() -> String {
    let value = |path, field: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(field));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
    };
    let model = value("/proc/cpuinfo", "model name").unwrap_or("unknown model".to_owned());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = value("/proc/meminfo", "MemTotal").unwrap_or_default();
    let kib: u64 = memory.split(' ').next().and_then(|kib| kib.parse().ok()).unwrap_or(0);
    format!("{processors} processors ({model}), {} GiB of memory", kib >> 20)
}

/// The page with another section in the place of the one of this name.
///
/// # Errors
/// For a page without the comments of the section.
fn with_section(page: &str, name: &str, section: &str) -> Result<String> {
    let begin = format!("<!-- figures: {name} -->\n");
    let (before, rest) =
        page.split_once(&begin).with_context(|| format!("{PAGE} has no line {begin}"))?;
    let (_, after) =
        rest.split_once(END).with_context(|| format!("{PAGE}: no {END} after {begin}"))?;
    Ok(format!("{before}{begin}{section}{END}{after}"))
}

fn section(about: &str, table: &Table) -> String {
    let mut text = format!("\n{}\n\n", wrapped(about));
    let _ = writeln!(text, "| {} |", table.head.join(" | "));
    let _ = writeln!(text, "| {} |", vec!["--"; table.head.len()].join(" | "));
    for row in &table.rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text.push('\n');
    text
}

/// A paragraph in lines of the page.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("one line at least");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_replaces_the_one_of_its_name() {
        let table = Table { head: vec!["a", "b"], rows: vec![vec!["1".into(), three(12.34)]] };
        let section = section(&"n ".repeat(160), &table);
        assert!(section.lines().all(|line| line.len() <= WIDTH), "{section}");
        let page = "x\n<!-- figures: one -->\nold\n<!-- end -->\ny\n";
        let page = with_section(page, "one", &section).unwrap();
        assert!(page.contains("| 1 | 12.3 |") && !page.contains("old"), "{page}");
        assert_eq!(with_section(&page, "one", &section).unwrap(), page);
        assert!(with_section(&page, "two", &section).is_err());
    }
}
