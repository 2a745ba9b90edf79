//! Every command that a document or a message names is one that there is, with flags that it has.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;

use super::command;
use crate::commands::Args;
use crate::defaults::Defaults;

/// Places with texts for users, below the top of the checkout.
const PLACES: [&str; 9] = [
    "README.md",
    "HACKING.md",
    "ARCHITECTURE.md",
    "docs",
    "crates",
    "py",
    "web/src",
    "web/README.md",
    "xtask/src",
];
const ENDINGS: [&str; 5] = ["md", "rs", "ts", "py", "ipynb"];

fn files(at: &Path, found: &mut Vec<PathBuf>) {
    if at.is_file() {
        let ending = at.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        found.extend(ENDINGS.contains(&ending).then(|| at.to_owned()));
        return;
    }
    let hidden = ["target", "node_modules", "dist", "tests", ".venv"];
    for entry in fs::read_dir(at).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !hidden.iter().any(|hidden| name.to_str() == Some(hidden)) {
            files(&entry.path(), found);
        }
    }
}

/// The commands between backquotes, which may continue on the next line of a text, a comment or a string.
fn quoted(text: &str) -> Vec<String> {
    let is_line = |mention: &&str| mention.len() < 400 && !mention.contains("\n\n");
    let plain = |mention: &str| {
        let lines = mention.lines().map(|line| line.trim_end_matches('\\'));
        lines
            .map(|line| line.trim().trim_start_matches('/').trim_start_matches('!').trim())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let starts = text.match_indices("`ssdlab ").map(|(start, _)| &text[start + 1..]);
    starts.filter_map(|rest| rest.split('`').next()).filter(is_line).map(plain).collect()
}

/// The commands in the blocks of a Markdown text.
fn in_blocks(text: &str) -> Vec<String> {
    let blocks = text.split("```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines).map(|line| line.trim().trim_start_matches("sudo "));
    lines.filter(|line| line.starts_with("ssdlab ")).map(str::to_owned).collect()
}

/// Words behind `ssdlab` that are no commands: of a version, and of a member in the JSON of fio.
const OTHERS: [&str; 2] = ["version", "marks"];

/// A word that stands for others.
fn is_placeholder(word: &str) -> bool {
    OTHERS.contains(&word)
        || word.contains(['{', '<', '$', '.'])
        || word.chars().next().is_some_and(|c| !c.is_lowercase())
}

/// The fault of a command, or `None` if its names and flags are those of the program.
fn fault(whole: &Command, mention: &str) -> Option<String> {
    // The program answers it before it reads any argument.
    if mention == "ssdlab --version --verbose" {
        return None;
    }
    let mut at = whole;
    for word in
        mention.split_whitespace().skip(1).take_while(|word| !["#", "|", ">", ";"].contains(word))
    {
        if let Some(flag) = word.strip_prefix("--") {
            let flag = flag.split(['=', ',', ')']).next().unwrap_or_default();
            let has =
                |command: &Command| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
            if !flag.is_empty() && !["help", "version"].contains(&flag) && !has(at) {
                return Some(format!("`{}` has no --{flag}", at.get_name()));
            }
        } else if let Some(below) = at.find_subcommand(word) {
            at = below;
        } else if at.has_subcommands() && at.get_positionals().count() == 0 {
            return (!is_placeholder(word)).then(|| format!("`{}` has no `{word}`", at.get_name()));
        }
    }
    None
}

#[test]
fn commands_in_documents_and_messages_are_those_of_the_program() {
    let whole = command::<Args>(&Defaults::built_in());
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    PLACES.iter().for_each(|place| files(&top.join(place), &mut all));
    let (mut faults, mut count) = (Vec::new(), 0);
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        let blocks = if path.extension().is_some_and(|ending| ending == "md") {
            in_blocks(&text)
        } else {
            Vec::new()
        };
        for mention in quoted(&text).into_iter().chain(blocks.clone()) {
            count += 1;
            faults.extend(
                fault(&whole, &mention)
                    .map(|fault| format!("{}: {mention}: {fault}", path.display())),
            );
        }
        for line in blocks {
            let words = shlex::split(&line).unwrap_or_else(|| panic!("{line}"));
            let words: Vec<_> = words
                .into_iter()
                .take_while(|word| ![">", "|", "&"].contains(&word.as_str()))
                .collect();
            let has_placeholder = words[1..]
                .iter()
                .any(|word| word.contains("...") || word.chars().all(char::is_uppercase));
            if let Err(error) = whole.clone().try_get_matches_from(&words)
                && !has_placeholder
            {
                faults.push(format!("{}: {line}: {}", path.display(), error.kind()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 100, "only {count} commands were found");
}
