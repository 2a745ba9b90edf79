//! `ssdlab show`: a summary of runs in the terminal.

mod ranking;

use clap::Args as ClapArgs;
use result::stats::difference::differences;
use result::store::{RunDir, resolve_run};

use crate::args::{Format, PlaceArgs};
use crate::failure::EXIT_DONE;
use crate::summary::{graphed_iops, print_summary};
use crate::ui::out::data;
use crate::ui::plot::print_scatter;

const EXAMPLES: &str = "\
Examples:
  ssdlab show latest
  ssdlab show 20261124 latest  # two runs, and their difference
  ssdlab show latest --library peers --format json";

/// Arguments of `show`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    /// Runs: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

pub fn run(args: &ShowArgs) -> anyhow::Result<u8> {
    let mut runs = Vec::new();
    for name in &args.runs {
        let dir = resolve_run(&args.place.library, name)?;
        let run = RunDir::open(&dir)?;
        run.check()?;
        runs.push((dir, run));
    }
    if args.place.format == Format::Json {
        let document: Vec<_> = runs.iter().map(|(_, run)| run.run()).collect();
        data!("{}", serde_json::to_string_pretty(&document)?);
        return Ok(EXIT_DONE);
    }
    for (dir, run) in &runs {
        print_summary(run.run(), dir);
        print_scatter(&graphed_iops(run)?);
        data!("{}", dir.display());
    }
    if runs.len() > 1 {
        ranking::print(&runs.iter().map(|(_, run)| run.run()).collect::<Vec<_>>());
    }
    for pair in differences(&runs.iter().map(|(_, run)| run.run()).collect::<Vec<_>>()) {
        data!("{}", pair.text);
    }
    Ok(EXIT_DONE)
}
