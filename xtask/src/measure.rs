//! The verbs that measure: each starts a program of `bench/` or `validation/` and passes its arguments on.

use std::process::Command;

use anyhow::{Result, ensure};
use xtask::workspace::Workspace;

/// Arguments of a verb, passed on.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Measures ssdlab itself; false if a bench fails. The program only starts others, and is built with the tests.
pub(crate) fn speed(workspace: &Workspace, args: &Args) -> Result<bool> {
    let status = workspace.build_debug(&["--bin", "ssdlab-bench"]).status()?;
    ensure!(status.success(), "the build of ssdlab-bench ended with {status}");
    let mut bench = Command::new(workspace.debug_dir().join("ssdlab-bench"));
    Ok(bench.args(&args.options).current_dir(workspace.root()).status()?.success())
}

/// Sets models beside real drives by an example of `validation/`, built for speed; false if a model
/// does not do what it should.
pub(crate) fn truth(workspace: &Workspace, example: &str, args: &Args) -> Result<bool> {
    let mut cargo = workspace.cargo(["run", "--quiet", "--release", "--package"]);
    cargo.args(["ssdlab-validation", "--example", example, "--"]).args(&args.options);
    Ok(cargo.status()?.success())
}
