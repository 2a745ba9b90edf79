//! The tables of the documentation are tables: a formatter that meets a blank line in one makes a paragraph of the rest.

use super::source::{files, read};

/// Whether a line is the rule below the head of a table.
fn is_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|letter| "|-: ".contains(letter))
}

/// Numbers of the lines that begin a block of rows without a head and a rule, or have another number of cells than the
/// line above.
fn broken_rows(text: &str) -> Vec<usize> {
    let mut is_block = false;
    let lines: Vec<&str> = text
        .lines()
        .map(|line| {
            is_block ^= line.trim_start().starts_with("```");
            if is_block { "" } else { line.trim() }
        })
        .collect();
    let is_row = |at: usize| lines.get(at).is_some_and(|line| line.starts_with('|'));
    let cells = |at: usize| lines[at].replace("\\|", "").matches('|').count();
    let begins = |at: usize| at == 0 || !is_row(at - 1);
    let is_broken = |&at: &usize| {
        is_row(at)
            && if begins(at) {
                !lines.get(at + 1).is_some_and(|line| is_rule(line))
            } else {
                cells(at) != cells(at - 1)
            }
    };
    (0..lines.len()).filter(is_broken).map(|at| at + 1).collect()
}

#[test]
fn every_row_stands_in_its_table() {
    let table = "| a | b |\n| -- | -- |\n| 1 | `x \\| y` |\n";
    assert!(broken_rows(table).is_empty());
    assert_eq!(broken_rows(&format!("{table}\n| 2 | y | | 3 |\nz |\n")), [5]);
    assert_eq!(broken_rows(&format!("{table}| 2 | y | z |\n")), [4]);
    let broken: Vec<_> = files("", "md")
        .into_iter()
        .flat_map(|file| {
            let rows = broken_rows(&read(&file));
            rows.into_iter().map(move |row| format!("{file}:{row}"))
        })
        .collect();
    assert!(broken.is_empty(), "rows outside of a table:\n  {}", broken.join("\n  "));
}
