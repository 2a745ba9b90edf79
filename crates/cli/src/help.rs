//! The command line with its headings, examples, exit codes and the defaults of the user.

mod examples;
mod headings;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use study::exit::TABLE;

use crate::args::Args;
use crate::defaults::Defaults;

/// Reads the arguments of this call; beside them, the defaults of the user that it takes, each as a sentence.
///
/// # Errors
/// Wrong arguments; help and version.
pub fn parse(defaults: &Defaults) -> Result<(Args, Vec<String>), clap::Error> {
    let words: Vec<_> = std::env::args_os().collect();
    let mut whole = command(defaults);
    let matches = whole.try_get_matches_from_mut(&words)?;
    let Some(fitting) = defaults.fitting(&matches) else {
        return read(defaults, &mut whole, &matches);
    };
    let mut fewer = command(&fitting);
    let matches = fewer.try_get_matches_from_mut(&words)?;
    read(&fitting, &mut fewer, &matches)
}

fn read(
    defaults: &Defaults,
    command: &mut Command,
    matches: &ArgMatches,
) -> Result<(Args, Vec<String>), clap::Error> {
    let args = Args::from_arg_matches(matches).map_err(|error| error.format(command))?;
    Ok((args, defaults.taken(matches)))
}

/// The whole command line.
pub fn command(defaults: &Defaults) -> Command {
    let command = defaults.apply(with_words(Args::command(), &mut Vec::new()));
    let about = format!(
        "{}\n\n{}\n\n{}",
        command.get_after_help().map(ToString::to_string).unwrap_or_default(),
        exit_codes(),
        ENVIRONMENT
    );
    command.after_help(about)
}

/// The words on defaults below the help of the whole program.
const ENVIRONMENT: &str = "\
Defaults (`ssdlab list config` shows them with their origins):
  SSDLAB_LIBRARY, SSDLAB_ENGINE, SSDLAB_HOST, SSDLAB_FORMAT, or the keys library, engine, host and
  format in $XDG_CONFIG_HOME/ssdlab/config.toml; SSDLAB_CONFIG names another file";

/// A command and those below it with headings and examples; `path` holds the names above it.
fn with_words(command: Command, path: &mut Vec<String>) -> Command {
    path.push(command.get_name().to_owned());
    let examples = examples::of(&path[1..].join(" "));
    let command = command.mut_args(headings::under_heading);
    let lines: Vec<_> = examples.iter().map(|line| format!("  {line}")).collect();
    let command = match examples.as_slice() {
        [] => command,
        _ => command.after_help(format!("Examples:\n{}", lines.join("\n"))),
    };
    let command = command.mut_subcommands(|below| with_words(below, path));
    path.pop();
    command
}

/// The table of exit codes.
fn exit_codes() -> String {
    let line = |(code, meaning): &(u8, &str)| format!("  {code:3}  {meaning}");
    let lines: Vec<_> = TABLE.iter().map(line).collect();
    format!("Exit codes:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command by its path, without `ssdlab`.
    fn paths(command: &Command, above: &str, found: &mut Vec<String>) {
        for below in command.get_subcommands() {
            let path = format!("{above} {}", below.get_name()).trim().to_owned();
            found.push(path.clone());
            paths(below, &path, found);
        }
    }

    #[test]
    fn every_command_has_three_examples_and_each_can_be_called() {
        let mut all = Vec::new();
        paths(&Args::command(), "", &mut all);
        for path in all.iter().map(String::as_str).chain([""]) {
            // The help of `drive` has an example of each of its orders.
            let of = path.strip_prefix("drive ").map_or(path, |_| "drive");
            let examples = examples::of(of);
            assert!(examples.len() >= 3, "ssdlab {path} has {} examples", examples.len());
            if of != path {
                let order = path.trim_start_matches("drive ");
                let has =
                    |line: &&str| shlex::split(line).unwrap().iter().any(|word| word == order);
                assert!(examples.iter().any(has), "no example of ssdlab {path}");
            }
            for line in examples {
                let words = shlex::split(line).unwrap();
                let words = words.into_iter().take_while(|word| word != ">");
                let begin = format!("ssdlab {path}");
                assert!(of != path || line.starts_with(begin.trim()), "{line} is none of {path}");
                let parsed = command(&Defaults::built_in()).try_get_matches_from(words);
                let matches = parsed.unwrap_or_else(|error| panic!("{line}\n{error}"));
                Args::from_arg_matches(&matches).unwrap_or_else(|error| panic!("{line}\n{error}"));
            }
        }
    }

    #[test]
    fn examples_are_of_commands_that_there_are() {
        let mut all = Vec::new();
        paths(&Args::command(), "", &mut all);
        for path in examples::paths() {
            assert!(path.is_empty() || all.iter().any(|known| known == path), "{path}");
        }
    }

    #[test]
    fn the_command_line_holds_together() {
        command(&Defaults::built_in()).debug_assert();
    }

    #[test]
    fn help_and_documentation_have_the_same_exit_codes() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs/command-line.md");
        let page = std::fs::read_to_string(page).unwrap();
        let help = command(&Defaults::built_in()).render_help().to_string();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (code, meaning) in TABLE {
            assert!(page.contains(&format!("| {code} | {meaning} |")), "{code}: {meaning}");
            assert!(words(&help).contains(&format!("{code} {meaning}")), "{help}");
        }
        let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains(" | "));
        let codes = rows.filter_map(|row| row.split(" | ").next()?[2..].parse::<u8>().ok());
        assert_eq!(codes.count(), TABLE.len());
    }
}
