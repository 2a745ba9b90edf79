//! The verbs that measure: each starts a program of `bench/` or `validation/` and passes its arguments on.

use anyhow::Result;
use xtask::workspace::Workspace;

/// Arguments of a verb, passed on.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Measures ssdlab itself; false if a bench fails.
pub(crate) fn speed(workspace: &Workspace, args: &Args) -> Result<bool> {
    run(workspace, &["--package", "ssdlab-bench"], args)
}

/// Sets models beside real drives by an example of `validation/`, built for speed; false if a model
/// does not do what it should.
pub(crate) fn truth(workspace: &Workspace, example: &str, args: &Args) -> Result<bool> {
    run(workspace, &["--release", "--package", "ssdlab-validation", "--example", example], args)
}

fn run(workspace: &Workspace, program: &[&str], args: &Args) -> Result<bool> {
    let mut cargo = workspace.cargo(["run", "--quiet"]);
    cargo.args(program).arg("--").args(&args.options);
    Ok(cargo.status()?.success())
}
