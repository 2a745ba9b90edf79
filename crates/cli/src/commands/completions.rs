//! `ssdlab completions`: the command line for shells.

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Args as ClapArgs, Command, ValueHint};
use clap_complete::Shell;
use run::Test;
use sim::model::BUILT_IN;

use crate::commands::list::LISTS;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

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
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Commands whose first words are a test and targets, for fish.
const WITH_TEST: &str = "__fish_seen_subcommand_from run plan";
/// Commands with targets alone.
const WITH_TARGET: &str = "__fish_seen_subcommand_from run plan review expose models verify";

/// Prints the script for a shell.
pub fn run(args: &CompletionsArgs, command: Command) -> anyhow::Result<u8> {
    let mut command = completable(command);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "ssdlab", &mut script);
    let script = String::from_utf8(script).context("the script is no text")?;
    data!("{}", script.trim_end());
    if args.shell == Shell::Fish {
        // Its generator knows options only.
        for (condition, words) in [(WITH_TEST, tests()), (WITH_TARGET, drives())] {
            data!("complete -c ssdlab -n \"{condition}\" -a \"{}\"", words.join(" "));
        }
    }
    Ok(EXIT_DONE)
}

fn tests() -> Vec<String> {
    Test::ALL.map(|test| test.name().to_owned()).to_vec()
}

fn drives() -> Vec<String> {
    BUILT_IN.iter().map(|(name, _)| format!("sim:{name}")).collect()
}

/// The command with the names of tests and drives where one of them stands. It parses nothing.
fn completable(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| with_names(&name, arg));
    command.mut_subcommands(completable)
}

fn with_names(command: &str, arg: Arg) -> Arg {
    let one_of = |names: Vec<String>| PossibleValuesParser::new(names);
    match (command, arg.get_id().as_str()) {
        (_, "test" | "tests" | "only") => arg.value_parser(one_of(tests())),
        ("list", "listed") => {
            let lists = LISTS.map(|(name, _)| name.to_owned()).into_iter();
            arg.value_parser(one_of(lists.chain(tests()).collect()))
        }
        ("build", "drives") => {
            arg.value_parser(one_of(BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect()))
        }
        ("expose" | "models", "target") => arg.value_parser(one_of(drives())),
        // Devices and files are completed here, as the shell knows them.
        (_, "targets" | "target") => arg.value_hint(ValueHint::AnyPath),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defaults::Defaults;
    use crate::{Args, help};

    #[test]
    fn every_shell_completes_commands_tests_and_drives() {
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            let mut script = Vec::new();
            let mut command = completable(help::command::<Args>(&Defaults::built_in()));
            clap_complete::generate(shell, &mut command, "ssdlab", &mut script);
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("library") && script.contains("engine"), "{shell}");
            // The generators of the others know options only.
            if matches!(shell, Shell::Bash | Shell::Zsh) {
                assert!(script.contains("load-latency"), "{shell}");
                assert!(script.contains("samsung-840-pro-256gb"), "{shell}");
            }
        }
    }
}
