//! The verb `dist`: one file for any Linux on this processor, page included; beside it manual pages and completions.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use xtask::log::Log;
use xtask::proc;
use xtask::web;
use xtask::workspace::Workspace;

/// Builds page and program, and prints the path of the program.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    web::bundle_if_stale(workspace)?;
    proc::stream(Log::stderr("dist"), &mut workspace.build_release())?;
    let dist = workspace.path("dist");
    std::fs::create_dir_all(&dist).with_context(|| format!("cannot make {}", dist.display()))?;
    let (built, placed) = (workspace.released_ssdlab(), dist.join("ssdlab"));
    std::fs::copy(&built, &placed)
        .with_context(|| format!("cannot copy {} to {}", built.display(), placed.display()))?;
    proc::stream(Log::stderr("dist"), Command::new(&placed).arg("man").arg(dist.join("man")))?;
    completions(&placed, &dist.join("completions"))?;
    println!("{}", placed.display());
    Ok(())
}

/// Writes the scripts that complete commands, under the names that the shells look for.
fn completions(ssdlab: &Path, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for (shell, name) in [("bash", "ssdlab"), ("zsh", "_ssdlab"), ("fish", "ssdlab.fish")] {
        let script = proc::capture(Command::new(ssdlab).args(["completions", shell]))?;
        let path = dir.join(name);
        std::fs::write(&path, script)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
