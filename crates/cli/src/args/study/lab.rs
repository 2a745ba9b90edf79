//! Arguments of `lab`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// The verbs of a lab of several hosts; `docs/runs/python.md` describes it.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Print the free drives of this host and the command that registers them; changes nothing
    Show(LabArgs),
    /// Join a Ray cluster with the drives of this host
    Start(LabArgs),
}

/// Arguments of `lab show` and `lab start`.
#[derive(Debug, ClapArgs)]
pub struct LabArgs {
    /// Python with the packages ssdlab and ray
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,
    /// Begin a cluster
    #[arg(long, conflicts_with = "address")]
    pub head: bool,
    /// Head of the cluster to join
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
    /// Further target, such as bench=file:/srv/bench; repeatable
    #[arg(long = "drive", value_name = "NAME=TARGET")]
    pub further: Vec<String>,
    /// Arguments of `ray start`, after `--`
    #[arg(last = true, value_name = "ARGUMENT")]
    pub ray: Vec<String>,
}
