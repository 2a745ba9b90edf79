//! The crates that others build on, as crates.io would have them.

use anyhow::Result;

use super::LOG;
use xtask::proc;
use xtask::workspace::Workspace;

/// Each before those that depend on it.
const CRATES: [&str; 4] = ["ssdlab-base", "ssdlab-target", "ssdlab-sim", "ssdlab-result"];

/// The built page is packed with `ssdlab-result`, and git does not keep it.
const PAGE: &str = "--allow-dirty";

/// Packs them and builds each from its package, without an upload.
pub(super) fn rehearse(workspace: &Workspace) -> Result<()> {
    of_all(workspace, ["publish", "--dry-run", PAGE])
}

/// The step of the checks: packs them, and builds nothing.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    of_all(workspace, ["package", "--quiet", "--no-verify", PAGE])
}

fn of_all<const N: usize>(workspace: &Workspace, words: [&str; N]) -> Result<()> {
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    proc::stream(LOG, workspace.cargo(words).args(packages))
}
