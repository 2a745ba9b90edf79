//! The web page: one HTML file, built by npm and embedded into the command line program.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::proc;
use crate::workspace::Workspace;

/// The verb `web`: from nothing to `web/dist/index.html`.
pub fn bundle(workspace: &Workspace) -> Result<()> {
    let log = Log::stderr("web");
    need_node()?;
    install(workspace, log)?;
    build(workspace, log)
}

/// Builds the page, but keeps one that is newer than all of its sources: a new file, even with the same
/// bytes, would make cargo compile the programs that embed it again.
pub fn bundle_if_stale(workspace: &Workspace) -> Result<()> {
    const INPUTS: [&str; 4] =
        ["web/src", "web/index.html", "web/package-lock.json", "web/vite.config.ts"];
    let log = Log::stderr("web");
    let newest_input = INPUTS.iter().filter_map(|input| newest(&workspace.path(input))).max();
    let page = newest(&workspace.path("web/dist/index.html"));
    if page.is_some() && page > newest_input {
        log.line("web/dist/index.html is newer than its sources");
        return Ok(());
    }
    bundle(workspace)
}

/// Time of the last change of a file, or of the latest file or directory below a directory.
fn newest(path: &Path) -> Option<SystemTime> {
    let own = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let below = path.read_dir().into_iter().flatten().flatten();
    below.filter_map(|entry| newest(&entry.path())).chain(own).max()
}

/// Fetches the packages, unless those present match the lock file.
pub fn install(workspace: &Workspace, log: Log) -> Result<()> {
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

/// Builds the bundle and makes sure that it exists.
pub fn build(workspace: &Workspace, log: Log) -> Result<()> {
    proc::stream(log, &mut workspace.npm(["run", "build"]))?;
    let page = workspace.path("web/dist/index.html");
    let length = page.metadata().map_or(0, |metadata| metadata.len());
    if length == 0 {
        bail!("`npm run build` left no {}; see vite.config.ts for where it went", page.display());
    }
    log.line(&format!("{} has {length} bytes", page.display()));
    Ok(())
}

/// The browser tests, on the existing bundle. `npm run e2e` would build it first, and would remove
/// the file under a compiler that embeds it in the other lane.
pub fn end_to_end(workspace: &Workspace, log: Log) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_a_tree_is_its_newest_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("below/file");
        std::fs::create_dir(dir.path().join("below")).unwrap();
        let later = SystemTime::now() + std::time::Duration::from_secs(100);
        std::fs::File::create(&file).unwrap().set_modified(later).unwrap();
        assert_eq!(newest(dir.path()), newest(&file));
        assert_eq!(newest(&dir.path().join("missing")), None);
    }
}
