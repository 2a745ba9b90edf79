//! The web page: one HTML file, built by npm and embedded into the command line program.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::proc;
use crate::workspace::Workspace;

/// The verb `web`: from nothing to `web/dist/index.html`.
pub(crate) fn bundle(workspace: &Workspace) -> Result<()> {
    let log = Log::stderr("web");
    need_node()?;
    install(workspace, log)?;
    build(workspace, log)
}

/// Fetches the packages, where those in place are not the ones that the lock file names.
pub(crate) fn install(workspace: &Workspace, log: Log) -> Result<()> {
    let lock = workspace.path("web/package-lock.json");
    let installed = workspace.path("web/node_modules/.installed-lock.json");
    if same_bytes(&lock, &installed) {
        log.line("web/node_modules is as the lock file wants it");
        return Ok(());
    }
    proc::stream(log, &mut workspace.npm(["ci", "--no-audit", "--no-fund"]))?;
    std::fs::copy(&lock, &installed)
        .with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(())
}

/// Builds the bundle and makes sure that there is one.
pub(crate) fn build(workspace: &Workspace, log: Log) -> Result<()> {
    proc::stream(log, &mut workspace.npm(["run", "build"]))?;
    let page = workspace.path("web/dist/index.html");
    let length = page.metadata().map_or(0, |metadata| metadata.len());
    if length == 0 {
        bail!("`npm run build` left no {}; see vite.config.ts for where it went", page.display());
    }
    log.line(&format!("{} has {length} bytes", page.display()));
    Ok(())
}

/// The browser tests, on the bundle that is there. `npm run e2e` would build it first, and that
/// would pull the file away from under a compiler that embeds it in the other lane.
pub(crate) fn end_to_end(workspace: &Workspace, log: Log) -> Result<()> {
    let mut vitest = workspace.npm(["exec", "--", "vitest", "run"]);
    proc::stream(log, vitest.args(["--config", "vitest.e2e.config.ts"]))
}

fn need_node() -> Result<()> {
    for program in ["node", "npm"] {
        if proc::which(program).is_none() {
            bail!("{program} is not in PATH: the report page needs Node.js 20 or newer and npm");
        }
    }
    Ok(())
}

fn same_bytes(a: &Path, b: &Path) -> bool {
    match (std::fs::read(a), std::fs::read(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
