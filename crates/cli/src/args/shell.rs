//! Arguments of `completions` and `man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(Debug, ClapArgs)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, ClapArgs)]
pub struct ManArgs {
    /// Directory for the pages: `ssdlab.1`, `ssdlab-run.1` and so on
    pub dir: PathBuf,
}
