//! `ssdlab man`: the command line for readers of manual pages.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args as ClapArgs, Command};

use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::data;

const EXAMPLES: &str = "\
Examples:
  ssdlab man man
  ssdlab man ~/.local/share/man/man1
  ssdlab man /usr/local/share/man/man1";

/// Arguments of `man`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ManArgs {
    /// Directory for the pages: `ssdlab.1`, `ssdlab-run.1` and so on
    pub dir: PathBuf,
}

/// Writes a page for each command.
pub fn run(args: &ManArgs, command: Command) -> anyhow::Result<u8> {
    let cannot = || format!("cannot write manual pages to {}", args.dir.display());
    let pages = tempfile::tempdir().with_context(cannot)?;
    clap_mangen::generate_to(command, &pages).with_context(cannot)?;
    fs::create_dir_all(&args.dir).with_context(cannot)?;
    for page in pages.path().read_dir().with_context(cannot)? {
        let page = page.with_context(cannot)?;
        let path = args.dir.join(page.file_name());
        let mut file = OutputFile::create(&path, "DIR", &Inputs::default())?;
        file.write_all(&fs::read(page.path()).with_context(cannot)?)?;
        file.put_in_place()?;
    }
    data!("{}", args.dir.display());
    Ok(EXIT_DONE)
}
