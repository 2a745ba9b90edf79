//! The crates that others build on, as crates.io would have them.

use anyhow::Result;

use super::LOG;
use xtask::proc;
use xtask::workspace::Workspace;

/// Each before those that depend on it.
const CRATES: [&str; 4] = ["ssdlab-base", "ssdlab-target", "ssdlab-sim", "ssdlab-result"];

/// Packs them and builds each from its package, without an upload.
pub(super) fn rehearse(workspace: &Workspace) -> Result<()> {
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    let mut publish = workspace.cargo(["publish", "--dry-run"]);
    proc::stream(LOG, publish.args(packages))
}

/// The step of the checks: packs them, and builds nothing.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    let mut package = workspace.cargo(["package", "--quiet", "--no-verify", "--allow-dirty"]);
    proc::stream(LOG, package.args(packages))
}
