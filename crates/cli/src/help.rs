//! The command line with its headings, examples, exit codes and the defaults of the user.

#[cfg(test)]
mod mentions;
mod screen;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use session::exit::TABLE;

use crate::args::Format;
use crate::defaults::{Defaults, leaf};

/// A call as typed.
pub struct Call<A> {
    /// Its arguments.
    pub args: A,
    /// Output on stdout.
    pub format: Format,
    /// The defaults of the user that it takes, each as a sentence.
    pub defaults: Vec<String>,
}

/// Reads the arguments of this call.
///
/// # Errors
/// Wrong arguments; help and version.
pub fn parse<A: CommandFactory + FromArgMatches>(
    defaults: &Defaults,
) -> Result<Call<A>, clap::Error> {
    let words: Vec<_> = std::env::args_os().collect();
    let mut whole = command::<A>(defaults);
    let matches = whole.try_get_matches_from_mut(&words)?;
    let Some(fitting) = defaults.fitting(&matches) else {
        return read(defaults, &mut whole, &matches);
    };
    let mut fewer = command::<A>(&fitting);
    let matches = fewer.try_get_matches_from_mut(&words)?;
    read(&fitting, &mut fewer, &matches)
}

fn read<A: FromArgMatches>(
    defaults: &Defaults,
    command: &mut Command,
    matches: &ArgMatches,
) -> Result<Call<A>, clap::Error> {
    let args = A::from_arg_matches(matches).map_err(|error| error.format(command))?;
    let format = leaf(matches).try_get_one("format").ok().flatten().copied().unwrap_or_default();
    Ok(Call { args, format, defaults: defaults.taken(matches) })
}

/// The whole command line.
pub fn command<A: CommandFactory>(defaults: &Defaults) -> Command {
    let command = defaults.apply(A::command());
    let about = format!(
        "{}\n\n{}\n\n{}",
        command.get_after_help().map(ToString::to_string).unwrap_or_default(),
        exit_codes(),
        ENVIRONMENT
    );
    // The screen has no room for them; manual pages do.
    screen::of_program(command.after_help(about))
}

/// The words on defaults below the help of the whole program.
const ENVIRONMENT: &str = "\
Defaults (`ssdlab list config` shows them with their origins):
  SSDLAB_LIBRARY, SSDLAB_ENGINE, SSDLAB_HOST, SSDLAB_FORMAT, or the keys library, engine, host and
  format in $XDG_CONFIG_HOME/ssdlab/config.toml; SSDLAB_CONFIG names another file";

/// The table of exit codes.
fn exit_codes() -> String {
    let line = |(code, meaning): &(u8, &str)| format!("  {code:3}  {meaning}");
    let lines: Vec<_> = TABLE.iter().map(line).collect();
    format!("Exit codes:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Args;

    /// Every command below this one with its path, without `ssdlab`.
    fn all_below(command: &Command, above: &str) -> Vec<(String, Command)> {
        let one = |below: &Command| {
            let path = format!("{above} {}", below.get_name()).trim().to_owned();
            let deeper = all_below(below, &path);
            [(path, below.clone())].into_iter().chain(deeper).collect::<Vec<_>>()
        };
        command.get_subcommands().flat_map(one).collect()
    }

    fn examples(command: &Command) -> Vec<String> {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.strip_prefix("  "));
        lines.filter(|line| line.starts_with("ssdlab ")).map(str::to_owned).collect()
    }

    #[test]
    fn every_command_has_three_examples_and_each_can_be_called() {
        let whole = command::<Args>(&Defaults::built_in());
        let all = [(String::new(), whole.clone())].into_iter().chain(all_below(&whole, ""));
        for (path, one) in all {
            // The help of `sim control` has an example of each of its commands.
            if let Some(below) = path.strip_prefix("sim control ") {
                let of = whole.find_subcommand("sim").unwrap().find_subcommand("control").unwrap();
                let has =
                    |line: String| shlex::split(&line).unwrap().iter().any(|word| word == below);
                assert!(examples(of).into_iter().any(has), "no example of ssdlab {path}");
                continue;
            }
            let examples = examples(&one);
            assert!(examples.len() >= 3, "ssdlab {path} has {} examples", examples.len());
            for line in examples {
                let words = shlex::split(&line).unwrap();
                let words = words.into_iter().take_while(|word| word != ">");
                let begin = format!("ssdlab {path}");
                assert!(line.starts_with(begin.trim()), "{line} is none of {path}");
                let parsed = whole.clone().try_get_matches_from(words);
                let matches = parsed.unwrap_or_else(|error| panic!("{line}\n{error}"));
                Args::from_arg_matches(&matches).unwrap_or_else(|error| panic!("{line}\n{error}"));
            }
        }
    }

    #[test]
    fn the_command_line_holds_together() {
        command::<Args>(&Defaults::built_in()).debug_assert();
    }

    #[test]
    fn help_and_documentation_have_the_same_exit_codes() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/command-line.md");
        let page = std::fs::read_to_string(page).unwrap();
        let help = exit_codes();
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
