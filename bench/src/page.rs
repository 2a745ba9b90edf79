//! The page of a report and the Bench in a browser: sizes, the time to the first screen, and the time
//! of every kind of button. `bench/page/` measures.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use xtask::proc;
use xtask::web;
use xtask::workspace::Workspace;

/// Arguments of the bench.
#[derive(Args)]
pub(crate) struct PageArgs {
    /// Loads of the page, each with a press of every button
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// A report of `ssdlab report` to measure instead of one on 20 made-up drives
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Measures and returns the JSON document; a table goes to stderr.
pub(crate) fn run(workspace: &Workspace, args: &PageArgs) -> Result<String> {
    web::bundle_if_stale(workspace)?;
    let mut node = Command::new("node");
    node.arg("scripts/bench.mjs").current_dir(workspace.path("web"));
    node.arg("--turns").arg(args.turns.to_string());
    if let Some(report) = &args.report {
        node.arg("--report").arg(std::path::absolute(report)?);
    }
    proc::capture(&mut node)
}
