//! The verb `dist`: one file for any Linux on this processor, page included.

use anyhow::{Context, Result};

use crate::log::Log;
use crate::proc;
use crate::web;
use crate::workspace::Workspace;

/// Builds page and program, and prints the path of the program.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    web::bundle_if_stale(workspace)?;
    proc::stream(Log::stderr("dist"), &mut workspace.build_release())?;
    let dist = workspace.path("dist");
    std::fs::create_dir_all(&dist).with_context(|| format!("cannot make {}", dist.display()))?;
    let (built, placed) = (workspace.ssdlab(), dist.join("ssdlab"));
    std::fs::copy(&built, &placed)
        .with_context(|| format!("cannot copy {} to {}", built.display(), placed.display()))?;
    println!("{}", placed.display());
    Ok(())
}
