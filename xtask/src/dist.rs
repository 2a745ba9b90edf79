//! The verb `dist`: one file for any Linux on this processor, page included; beside it manual pages and completions.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use xtask::log::Log;
use xtask::proc;
use xtask::web;
use xtask::workspace::Workspace;

/// The files of a user.
pub(crate) struct Distribution {
    /// The program.
    pub(crate) program: PathBuf,
    /// Folder of the manual pages.
    pub(crate) man: PathBuf,
    /// Folder of the scripts that complete commands.
    pub(crate) completions: PathBuf,
}

/// Builds page and program, and prints the path of the program.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    println!("{}", build(workspace)?.program.display());
    Ok(())
}

/// Builds page and program into `dist/`.
pub(crate) fn build(workspace: &Workspace) -> Result<Distribution> {
    web::bundle_if_stale(workspace)?;
    proc::stream(Log::stderr("dist"), &mut workspace.build_release()?)?;
    place(&workspace.released_ssdlab(), &workspace.path("dist"))
}

/// Copies a program to `dir` without its symbols, and lets it write its pages and scripts there.
pub(crate) fn place(built: &Path, dir: &Path) -> Result<Distribution> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let program = dir.join("ssdlab");
    std::fs::copy(built, &program)
        .with_context(|| format!("cannot copy {} to {}", built.display(), program.display()))?;
    let stripped = proc::stream(Log::stderr("dist"), Command::new("strip").arg(&program));
    stripped.context("strip is in the package binutils")?;
    let (man, completions) = (dir.join("man"), dir.join("completions"));
    proc::stream(Log::stderr("dist"), Command::new(&program).arg("man").arg(&man))?;
    write_completions(&program, &completions)?;
    Ok(Distribution { program, man, completions })
}

/// Writes the scripts that complete commands, under the names that the shells look for.
fn write_completions(ssdlab: &Path, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for (shell, name) in [("bash", "ssdlab"), ("zsh", "_ssdlab"), ("fish", "ssdlab.fish")] {
        let script = proc::capture(Command::new(ssdlab).args(["completions", shell]))?;
        let path = dir.join(name);
        std::fs::write(&path, script)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
