//! Rules for the width of Markdown: a page reads well in a terminal and in a diff.

use super::source::{files, read};

/// Columns of a line of text.
const TEXT_COLUMNS: usize = 100;

/// Columns of a row of a table, which cannot wrap.
const ROW_COLUMNS: usize = 160;

/// The numbers of the lines that are too wide; code may be as wide as it is.
fn wide_lines(text: &str) -> Vec<usize> {
    let mut in_code = false;
    let mut wide = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if !in_code && !is_fence && is_too_wide(line) {
            wide.push(index + 1);
        }
    }
    wide
}

fn is_too_wide(line: &str) -> bool {
    let columns = if line.starts_with('|') { ROW_COLUMNS } else { TEXT_COLUMNS };
    line.chars().count() > columns && !is_one_link(line)
}

/// Whether a line holds a link or an image and nothing else, apart from a bullet and a full stop.
fn is_one_link(line: &str) -> bool {
    let line = line.trim().trim_start_matches("- ").trim_end_matches(['.', ',', ';']);
    let opens = line.starts_with('[') || line.starts_with("![");
    opens && line.ends_with(')') && line.matches("](").count() == 1
}

#[test]
fn markdown_is_wrapped() {
    let mut wide = Vec::new();
    for file in files("", "md") {
        let lines = wide_lines(&read(&file));
        wide.extend(lines.into_iter().map(|line| format!("{file}:{line}")));
    }
    assert!(
        wide.is_empty(),
        "wrap text at {TEXT_COLUMNS} columns, and make lists of rows above {ROW_COLUMNS}:\n  {}",
        wide.join("\n  ")
    );
}

#[test]
fn wide_lines_are_found() {
    let word = "x".repeat(TEXT_COLUMNS);
    let text = format!("{word}\n{word} y\n| {word} |\n```\n{word} y\n```\n![{word}](y.svg)\n");
    assert_eq!(wide_lines(&text), [2]);
    let row = format!("| {} |", "x".repeat(ROW_COLUMNS));
    assert_eq!(wide_lines(&format!("{row}\n[{word}](y.md) and [z](z.md)")), [1, 2]);
}
