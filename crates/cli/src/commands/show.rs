//! `ssdlab show`: a summary of runs in the terminal.

mod ranking;

use clap::Args as ClapArgs;
use result::stats::difference::differences;
use result::store::{RunDir, resolve_run};

use crate::args::{Format, PlaceArgs, heading};
use crate::failure::EXIT_DONE;
use crate::summary::{graphed_iops, print_card, print_summary};
use crate::ui::out::data;
use crate::ui::plot::print_scatter;

const EXAMPLES: &str = "\
Examples:
  ssdlab show  # the latest run
  ssdlab show c3ee --all  # everything about one run
  ssdlab show 20261124 latest  # two runs, and their difference
  ssdlab show latest --library peers --format json";

/// Arguments of `show`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    /// Runs: path, name, start or last letters of a name, or `latest`
    #[arg(default_value = "latest", value_name = "RUN")]
    pub runs: Vec<String>,
    /// Everything: phases, every figure, tables, findings, and the graph
    #[arg(long, help_heading = heading::OUTPUT)]
    pub all: bool,
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
        let iops = graphed_iops(run)?;
        if args.all {
            print_summary(run.run(), dir);
            print_scatter(&iops);
        } else {
            print_card(run.run(), dir, &iops);
        }
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
