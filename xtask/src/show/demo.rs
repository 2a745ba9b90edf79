//! The verb `demo`: from a fresh checkout to a report with simulated drives and a real file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use xtask::log::Log;
use xtask::proc;
use xtask::web;
use xtask::workspace::Workspace;

/// Drives with the most different curves: steady, falling deep, and flat.
const DRIVES: [&str; 3] =
    ["sim:sandisk-extreme-ii-480gb", "sim:samsung-840-pro-256gb", "sim:intel-ssd-730-480gb"];
/// A file on the disk of this machine; small, but larger than its caches.
const FILE: &str = "demo/demo.bin";
const FILE_GIB: u64 = 2;
/// Most space for the file, the runs and the build.
const FREE_BYTES_MIN: u64 = 3 << 30;

const LOG: Log = Log::stderr("demo");

/// Builds everything, runs the demonstration and prints the path of the report.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let demo = workspace.path("demo");
    std::fs::create_dir_all(&demo)?;
    check_space(&demo)?;
    timed("web page", || web::bundle_if_stale(workspace))?;
    timed("program", || proc::stream(LOG, &mut workspace.build_program()))?;
    let mut runs =
        timed("simulated drives", || consistency(workspace, &DRIVES, &["--spare", "default,25%"]))?;
    runs.extend(timed("file", || file_run(workspace))?);
    let report = timed("report", || report(workspace, &runs))?;
    println!("{}", report.display());
    Ok(())
}

fn check_space(demo: &Path) -> Result<()> {
    let free = proc::free_bytes(demo)?;
    if free < FREE_BYTES_MIN {
        bail!(
            "the demo needs {:.1} GB in {} and {:.1} GB are free; free some or move the checkout",
            gigabytes(FREE_BYTES_MIN),
            demo.display(),
            gigabytes(free)
        );
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "for people, to one decimal")]
fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

/// The file is removed before and after: an existing file would need `--erase`, and 2 GiB are too
/// much to leave.
fn file_run(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let file = workspace.path(FILE);
    remove_if_there(&file)?;
    let target = format!("file:{FILE}?size={FILE_GIB}GiB");
    let runs = consistency(workspace, &[&target], &["--set", "duration=30s"]);
    remove_if_there(&file)?;
    runs
}

fn remove_if_there(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

fn consistency(workspace: &Workspace, targets: &[&str], options: &[&str]) -> Result<Vec<PathBuf>> {
    let mut command = ssdlab(workspace);
    command.args(["run", "consistency"]).args(targets).args(options);
    command.args(["--library", "demo/runs", "--format", "json"]);
    run_dirs(&proc::capture(&mut command)?)
}

/// The directories in the output of `ssdlab run --format json`.
fn run_dirs(json: &str) -> Result<Vec<PathBuf>> {
    let document: serde_json::Value =
        serde_json::from_str(json).context("`ssdlab run --format json` did not print JSON")?;
    let dirs = document["run_dirs"].as_array().context("its JSON has no `run_dirs`")?;
    dirs.iter()
        .map(|dir| dir.as_str().map(PathBuf::from).context("a run dir that is not a string"))
        .collect()
}

fn report(workspace: &Workspace, runs: &[PathBuf]) -> Result<PathBuf> {
    let output = workspace.path("demo/report.html");
    let mut command = ssdlab(workspace);
    command.arg("report").args(runs).arg("--output").arg(&output);
    command.args(["--title", "ssdlab demo: performance consistency"]);
    proc::stream(LOG, &mut command)?;
    if !output.is_file() {
        bail!("`ssdlab report` ended well but left no {}", output.display());
    }
    Ok(output)
}

fn ssdlab(workspace: &Workspace) -> Command {
    let mut command = Command::new(workspace.ssdlab());
    command.current_dir(workspace.root());
    command
}

fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    LOG.line(&format!("==> {what}"));
    let started = Instant::now();
    let done = work().with_context(|| format!("the demo stopped at: {what}"))?;
    LOG.line(&format!("<== {what} took {:.1} s", started.elapsed().as_secs_f64()));
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_dirs_come_from_the_document() {
        let dirs = run_dirs(r#"{"run_dirs": ["demo/runs/a", "demo/runs/b"]}"#).unwrap();
        assert_eq!(dirs, [PathBuf::from("demo/runs/a"), PathBuf::from("demo/runs/b")]);
        let error = run_dirs("demo/runs/a").unwrap_err().to_string();
        assert!(error.contains("did not print JSON"), "{error}");
        assert!(run_dirs("{}").unwrap_err().to_string().contains("run_dirs"));
    }
}
