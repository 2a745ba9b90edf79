//! `ssdlab library rm`: removal of runs by their names.

use clap::Args as ClapArgs;
use result::run_id::is_run_id;
use result::store::RunDir;
use result::store::dir::sweep;
use run::RunError;

use crate::args::{Format, PlaceArgs};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

const EXAMPLES: &str = "\
Examples:
  ssdlab library rm 20261124-102506-consistency-samsung-ssd-840-pro-256-gb-default-3c31
  ssdlab library rm ssdlab-runs/20261124-102506-corners-null-default-77aa
  ssdlab library rm 20261124-102506-corners-null-default-77aa --library old --format json";

/// Arguments of `library rm`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct RmArgs {
    /// Runs by their whole names
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

#[cfg(test)]
mod each_check;

/// Removes all runs of the call, or none if one of them cannot be removed.
pub fn run(args: &RmArgs) -> anyhow::Result<u8> {
    let mut dirs = Vec::new();
    for name in &args.runs {
        let unknown = || {
            let words = "is not the whole name of a run; `ssdlab library list` lists names";
            RunError::Usage(format!("`{name}` {words}"))
        };
        let name = Some(name).filter(|name| is_run_id(name)).ok_or_else(unknown)?;
        let dir = RunDir::open(&args.place.library.join(name))?;
        if dir.run().run_id != *name {
            return Err(unknown().into());
        }
        dir.check_removable()?;
        dirs.push(dir);
    }
    for dir in dirs {
        dir.remove()?;
    }
    sweep(&args.place.library);
    match args.place.format {
        Format::Json => data!("{}", serde_json::json!({ "removed": args.runs, "error": null })),
        Format::Text => data!("removed {}", args.runs.join(", ")),
    }
    Ok(EXIT_DONE)
}
