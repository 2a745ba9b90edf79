//! The verb `screens`: the pictures of page, Bench, card and terminal in docs/pictures, from simulated
//! runs in a real browser.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use super::{Library, ProgramArgs};
use xtask::log::Log;
use xtask::proc;
use xtask::workspace::Workspace;

const LOG: Log = Log::stderr("screens");
const TITLE: &str = "Simulated drives";
/// Drives of the reviews with unlike curves, of five makers.
const DRIVES: [&str; 5] = [
    "intel-ssd-730-480gb",
    "ocz-vector-256gb",
    "samsung-840-pro-256gb",
    "sandisk-extreme-ii-480gb",
    "seagate-600-480gb",
];
/// The drive whose card stands in the terminal, as in the names of its runs.
const TERMINAL: &str = "sandisk-extreme-ii-480-gb";
/// The tests of the first screen, at full size; about ten minutes of processor time.
const OPTIONS: [&str; 2] = ["--tests", "consistency,corners,latency,light,heavy"];

/// Arguments of the verb.
#[derive(Args)]
pub(crate) struct ScreensArgs {
    /// Library of the runs; runs that it has are not repeated
    #[arg(long, value_name = "DIR", default_value = "site/screens")]
    library: PathBuf,
    /// Another library for the picture of the Bench: a directory, or the file of a reference library
    #[arg(long, value_name = "PATH")]
    bench: Option<PathBuf>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Simulates missing runs and takes the pictures.
pub(crate) fn run(workspace: &Workspace, args: &ScreensArgs) -> Result<()> {
    let drives = DRIVES.iter().flat_map(|drive| ["--drives", drive]);
    let options: Vec<&str> = OPTIONS.into_iter().chain(drives).collect();
    let library = Library::build(workspace, LOG, &args.program, &args.library, &options)?;
    let site = workspace.path("site/of-screens");
    library.site(TITLE, &[], &site)?;
    let bench = match &args.bench {
        Some(path) if path.extension().is_some_and(|end| end == "zz") => path.canonicalize()?,
        Some(path) => {
            let bench = workspace.path("site/of-bench");
            Library { path, ..library.clone() }.site(TITLE, &[], &bench)?;
            bench
        }
        None => site.clone(),
    };
    let run = format!("consistency-{TERMINAL}-default");
    let names =
        fs::read_dir(&args.library)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let run = names.filter(|name| name.contains(&run)).max();
    let mut show = library.ssdlab(&["show"]);
    let shown = proc::capture(show.args(run).env("CLICOLOR_FORCE", "1"))?;
    let terminal = workspace.path("site/of-terminal.txt");
    fs::write(&terminal, format!("$ ssdlab show\n{shown}"))?;
    let mut node = Command::new("node");
    node.arg("scripts/screens.mjs").args([bench, site, terminal, workspace.path("docs/pictures")]);
    proc::stream(library.log, node.current_dir(workspace.path("web")))
}
