//! `ssdlab man`: the command line for readers of manual pages.

use std::fs;

use anyhow::Context;

use crate::args::shell::ManArgs;
use crate::defaults::Defaults;
use crate::failure::EXIT_DONE;
use crate::help;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::data;

/// Writes a page for each command.
pub fn run(args: &ManArgs) -> anyhow::Result<u8> {
    let cannot = || format!("cannot write manual pages to {}", args.dir.display());
    let pages = tempfile::tempdir().with_context(cannot)?;
    clap_mangen::generate_to(help::command(&Defaults::built_in()), &pages).with_context(cannot)?;
    fs::create_dir_all(&args.dir).with_context(cannot)?;
    for page in pages.path().read_dir().with_context(cannot)? {
        let page = page.with_context(cannot)?;
        let path = args.dir.join(page.file_name());
        let mut file = OutputFile::create(&path, &Inputs::default())?;
        file.write_all(&fs::read(page.path()).with_context(cannot)?)?;
        file.put_in_place()?;
    }
    data!("{}", args.dir.display());
    Ok(EXIT_DONE)
}
