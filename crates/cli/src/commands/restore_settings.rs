//! `ssdlab restore-settings`: restores power settings of drives that a killed run had changed, and the
//! kernel's block tracer after a killed recording. `run`, `review` and `trace record` do the same
//! when they start.

use clap::Args as ClapArgs;
use session::targets::restore_left_behind;

use crate::args::Format;
use crate::args::heading;
use crate::failure::{EXIT_DONE, Failure};
use crate::ui::out::{data, talk};

const EXAMPLES: &str = "\
Examples:
  ssdlab restore-settings
  ssdlab restore-settings --format text
  ssdlab restore-settings --format json";

/// Arguments of `restore-settings`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct RestoreSettingsArgs {
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &RestoreSettingsArgs) -> anyhow::Result<u8> {
    let (mut restored, mut failures) = (Vec::new(), Vec::new());
    for outcome in restore_left_behind() {
        match outcome {
            Ok(words) => restored.push(words),
            Err(error) => failures.push(Failure::from_error(&error.into())),
        }
    }
    for failure in &failures {
        talk!("error: {}", failure.message);
    }
    match args.format {
        Format::Json => data!(
            "{}",
            serde_json::json!({
                "restored": restored, "error": failures.first(), "errors": failures,
            })
        ),
        Format::Text if restored.is_empty() && failures.is_empty() => {
            data!("no run has left anything behind");
        }
        Format::Text => restored.iter().for_each(|words| data!("{words}")),
    }
    Ok(failures.first().map_or(EXIT_DONE, |failure| failure.exit_code))
}
