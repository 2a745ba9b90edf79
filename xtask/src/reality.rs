//! The verbs that set models beside real drives: each is an example of `crates/reality`, built for
//! speed.

use anyhow::Result;

use crate::workspace::Workspace;

/// Arguments of a verb, passed on.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Runs an example of `crates/reality`; false if a model does not do what it should.
pub(crate) fn run(workspace: &Workspace, example: &str, args: &Args) -> Result<bool> {
    let mut program = workspace.cargo([
        "run",
        "--release",
        "--quiet",
        "--package",
        "ssdlab-reality",
        "--example",
    ]);
    program.args([example, "--"]).args(&args.options);
    Ok(program.status()?.success())
}
