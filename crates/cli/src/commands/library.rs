//! `ssdlab library`: the runs of a library, and what is made of them.

pub mod build;
pub mod export;
pub mod import;
pub mod list;
pub mod note;
pub mod push;
pub mod rm;
pub mod serve;
pub mod site;

use build::BuildArgs;
use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  ssdlab library build --plan
  ssdlab library build --drives 'samsung-*' --tests consistency,trim
  ssdlab library build --quick --scale 1/64 --library peers";

/// The verbs for libraries.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum LibraryCommand {
    /// Simulate the suite for every drive model, so that a drive is seen among its peers
    Build(BuildArgs),
}
