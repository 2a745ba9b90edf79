//! `ssdlab completions`: the command line for shells.
//!
//! The script of a shell asks the program with [`VARIABLE`] set, so that it also completes what exists at the moment:
//! devices, runs and their labels.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args as ClapArgs, Command};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
use device::describe::report as discover;
use result::store;
use run::Test;
use sim::model::BUILT_IN;

use crate::args::LIBRARY;
use crate::commands::list::LISTS;
use crate::commands::workload;
use crate::failure::EXIT_DONE;
use crate::ui::out::{data, visible};

/// The variable by which a script asks for completions.
const VARIABLE: &str = "SSDLAB_COMPLETE";

const EXAMPLES: &str = "\
Examples:
  ssdlab completions bash > ~/.local/share/bash-completion/completions/ssdlab
  ssdlab completions zsh > ~/.zfunc/_ssdlab
  ssdlab completions fish > ~/.config/fish/completions/ssdlab.fish";

/// Arguments of `completions`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_parser = PossibleValuesParser::new(Shells::builtins().names()))]
    pub shell: String,
}

/// Prints the script for a shell.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<u8> {
    let shells = Shells::builtins();
    let mut script = Vec::new();
    if let Some(shell) = shells.completer(&args.shell) {
        shell.write_registration(VARIABLE, "ssdlab", "ssdlab", "ssdlab", &mut script)?;
    }
    data!("{}", String::from_utf8_lossy(&script).trim_end());
    Ok(EXIT_DONE)
}

/// Answers the script of a shell; whether one asked.
pub fn answer(command: fn() -> Command) -> bool {
    let words = std::env::args_os();
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(|| completable(command())).var(VARIABLE);
    // A shell shows nothing where completion fails.
    asked.try_complete(words, here.as_deref()).unwrap_or(true)
}

/// The command with candidates where a name stands. It parses nothing.
fn completable(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| with_names(&name, arg));
    command.mut_subcommands(completable)
}

fn with_names(command: &str, arg: Arg) -> Arg {
    let one_of = |names: Vec<String>| PossibleValuesParser::new(names);
    let tests = || Test::ALL.map(|test| test.name().to_owned()).into_iter();
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    match (command, arg.get_id().as_str(), value.as_deref()) {
        (_, "test" | "tests" | "only", _) => arg.value_parser(one_of(tests().collect())),
        ("list", "listed", _) => {
            let lists = LISTS.map(|(name, _)| name.to_owned()).into_iter();
            arg.value_parser(one_of(lists.chain(tests()).collect()))
        }
        ("build", "drives", _) => {
            arg.value_parser(one_of(BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect()))
        }
        (_, "targets" | "target", _) => arg.add(ArgValueCompleter::new(targets)),
        (_, "settings", _) => arg.add(ArgValueCandidates::new(settings)),
        (_, "workload", _) => arg.add(ArgValueCompleter::new(workloads)),
        (_, _, Some("RUN")) => arg.add(ArgValueCandidates::new(runs)),
        ("compare", "a" | "b", _) => arg.add(ArgValueCandidates::new(sides)),
        _ => arg,
    }
}

fn candidate(value: impl Into<std::ffi::OsString>, help: impl Into<String>) -> CompletionCandidate {
    let help: String = visible(&help.into()).into_owned();
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))
}

/// Simulated drives, devices of this machine, and paths.
fn targets(typed: &OsStr) -> Vec<CompletionCandidate> {
    if let Some(path) = typed.to_str().and_then(|typed| typed.strip_prefix("file:")) {
        let paths = PathCompleter::any().complete(path.as_ref());
        return paths.into_iter().map(|path| path.add_prefix("file:")).collect();
    }
    let drives = BUILT_IN.iter().map(|(name, _)| candidate(format!("sim:{name}"), "simulated"));
    let devices = discover::list().into_iter();
    let devices = devices.map(|device| candidate(device.node, device.model.unwrap_or_default()));
    let others = [candidate("file:", "a file"), candidate("null:", "no device")];
    let mut all: Vec<_> = devices.chain(drives).chain(others).collect();
    let typed = typed.to_string_lossy().into_owned();
    all.retain(|one| one.get_value().to_string_lossy().starts_with(&typed));
    all
}

/// The keys of the test on the command line, or those of every test behind its name.
fn settings() -> Vec<CompletionCandidate> {
    let test = words().iter().find_map(|word| word.parse::<Test>().ok());
    let keys = |test: Test, prefix: &str| {
        let key = |param: &run::params::Param| {
            candidate(
                format!("{prefix}{}=", param.name),
                format!("{} ({})", param.help, param.default),
            )
        };
        test.params().iter().map(key).collect::<Vec<_>>()
    };
    match test {
        Some(test) => keys(test, ""),
        None => {
            Test::ALL.iter().flat_map(|&test| keys(test, &format!("{}.", test.name()))).collect()
        }
    }
}

fn workloads(typed: &OsStr) -> Vec<CompletionCandidate> {
    let named = workload::built_in().into_iter().map(|(name, about)| candidate(name, about));
    let typed_text = typed.to_string_lossy().into_owned();
    let named = named.filter(|one| one.get_value().to_string_lossy().starts_with(&typed_text));
    named.chain(PathCompleter::file().complete(typed)).collect()
}

/// The words of the command line that are text.
fn words() -> Vec<String> {
    std::env::args_os().filter_map(|word| word.into_string().ok()).collect()
}

/// The library on the command line, or the usual one.
fn library() -> PathBuf {
    let words = words();
    let behind = words.windows(2).find(|pair| pair[0] == "--library").map(|pair| pair[1].clone());
    let joined = words.iter().find_map(|word| word.strip_prefix("--library=").map(str::to_owned));
    behind.or(joined).unwrap_or_else(|| LIBRARY.to_owned()).into()
}

/// The runs of the library, the newest first.
fn runs() -> Vec<CompletionCandidate> {
    let entries = store::list(&library()).unwrap_or_default();
    let newest = candidate("latest", "the last run");
    [newest]
        .into_iter()
        .chain(entries.into_iter().rev().map(|entry| candidate(entry.name, "")))
        .collect()
}

/// The labels of the library, and its runs.
fn sides() -> Vec<CompletionCandidate> {
    let entries = store::list(&library()).unwrap_or_default();
    let labels = entries.into_iter().filter_map(|entry| entry.run.ok()?.run().about.label.clone());
    let labels: std::collections::BTreeSet<String> = labels.collect();
    let plain = labels.into_iter().filter(|label| !label.contains(char::is_control));
    plain.map(|label| candidate(format!("label:{label}"), "")).chain(runs()).collect()
}
