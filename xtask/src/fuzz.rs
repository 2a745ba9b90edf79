//! Hostile input against every reader of traces, workload and facts files, runs, results to import and NBD: the targets of `fuzz/`, each
//! for a time.
//!
//! libFuzzer drives them if cargo-fuzz and a nightly toolchain are installed. Otherwise the driver
//! of ssdlab does, on the present toolchain, so that the targets run everywhere.

use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;

use xtask::log::Log;
use xtask::proc;
use xtask::workspace::{Cases, Workspace};

/// ssdlab's own driver.
const DRIVER: &str = "fuzz-driver";
/// The program that writes the first inputs.
const SEEDS: &str = "fuzz-seeds";

const TARGETS: [&str; 14] = [
    "lines",
    "files",
    "csv",
    "blktrace",
    "trace_file",
    "scenario",
    "workload",
    "fio_job",
    "facts",
    "import",
    "run_directory",
    "nbd",
    "nvme",
    "control",
];

/// Arguments of the verb `fuzz`.
#[derive(Args)]
pub(crate) struct FuzzArgs {
    /// One target instead of all: lines, files, csv, `blktrace`, `trace_file`, scenario, workload,
    /// `fio_job`, facts, import, `run_directory`, nbd, nvme, control
    #[arg(long)]
    target: Option<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Seed of ssdlab's own driver
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The verb `fuzz`.
pub(crate) fn run(workspace: &Workspace, args: &FuzzArgs) -> Result<()> {
    let log = Log::stdout("fuzz");
    build(workspace, log)?;
    let with_libfuzzer = has_cargo_fuzz();
    if with_libfuzzer {
        let mut seeds = Command::new(workspace.debug_dir().join(SEEDS));
        proc::stream(log, seeds.arg("fuzz/corpus").current_dir(workspace.root()))?;
    }
    for target in TARGETS.iter().filter(|name| args.target.as_deref().is_none_or(|t| t == **name)) {
        if with_libfuzzer {
            let time = format!("-max_total_time={}", args.seconds);
            let mut fuzz = cargo(workspace, &["+nightly", "fuzz", "run", "--fuzz-dir", "fuzz"]);
            fuzz.args(["--features", "libfuzzer", target, "--", &time, "-rss_limit_mb=4096"]);
            // The release builds of the workspace trade hours of compiler for speed.
            fuzz.env("CARGO_PROFILE_RELEASE_LTO", "off");
            proc::stream(log, &mut fuzz)?;
        } else {
            drive(workspace, log, target, args.seconds, args.seed)?;
        }
    }
    Ok(())
}

/// The step `fuzz`: ssdlab's own driver, each target for a minute, or a tenth of that.
pub(crate) fn check(workspace: &Workspace, log: Log) -> Result<()> {
    let (seconds, seed) = match workspace.cases() {
        Cases::All => (60, 1),
        Cases::Tenth(seed) => (6, seed),
    };
    build(workspace, log)?;
    TARGETS.iter().try_for_each(|target| drive(workspace, log, target, seconds, seed))
}

/// Builds the driver and the writer of the first inputs.
fn build(workspace: &Workspace, log: Log) -> Result<()> {
    // With an example, features are those of the tests.
    proc::stream(log, &mut workspace.build_debug(&["--bin", DRIVER, "--bin", SEEDS]))
}

fn drive(workspace: &Workspace, log: Log, target: &str, seconds: u32, seed: u64) -> Result<()> {
    let mut driver = Command::new(workspace.debug_dir().join(DRIVER));
    driver.arg(target).args([seconds.to_string(), seed.to_string()]);
    driver.current_dir(workspace.root());
    if let Err(error) = proc::stream(log, &mut driver) {
        bail!("{error:#}; again: cargo xtask fuzz --target {target} --seed {seed}");
    }
    Ok(())
}

fn cargo(workspace: &Workspace, args: &[&str]) -> Command {
    // Not the cargo of this toolchain: `+nightly` is understood by the one on the path.
    let mut cargo = Command::new("cargo");
    cargo.args(args).current_dir(workspace.root());
    cargo
}

fn has_cargo_fuzz() -> bool {
    let mut probe = Command::new("cargo");
    probe.args(["+nightly", "fuzz", "--version"]);
    probe.output().is_ok_and(|output| output.status.success())
}
