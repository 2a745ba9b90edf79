//! One test of the copy, with or without a check.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::checkout::Checkout;
use super::list::{Mutant, TestName};
use crate::setup;

/// Time for one test; one that waits for ever without its check has noticed that.
const PATIENCE: Duration = Duration::from_mins(5);

/// The outcome of the removal of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The test failed.
    Noticed,
    /// The test did not end.
    Hung,
    /// The test passed.
    Missed,
    /// The text in the place of the check is no Rust.
    NotCompiled,
}

impl Verdict {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Noticed => "noticed",
            Self::Hung => "hung",
            Self::Missed => "MISSED",
            Self::NotCompiled => "NO BUILD",
        }
    }

    pub(super) const fn is_noticed(self) -> bool {
        matches!(self, Self::Noticed | Self::Hung)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The runner of tests in the copy.
pub(super) struct Trial<'a> {
    checkout: &'a Checkout,
}

impl<'a> Trial<'a> {
    /// Tests need root: a test that is skipped notices nothing.
    pub(super) fn new(checkout: &'a Checkout) -> Result<Self> {
        ensure!(setup::is_root(), "tests with loop devices and mounts need root; run this as root");
        Ok(Self { checkout })
    }

    /// Fails unless the tests of a program pass with every check in its place, and each filter selects one.
    pub(super) fn must_pass(&self, program: &TestName, filters: &[&str]) -> Result<()> {
        let log = self.log(&format!("all-{}-{}", program.package, program.program));
        let Some(true) = self.build(program, &log)? else { bail!("no build; see {log}") };
        let passed = self.test(program, filters, &log)?;
        ensure!(passed == Some(true), "{program} fails with every check in its place; see {log}");
        let output = fs::read_to_string(&log)?;
        let passed: Vec<&str> = output.lines().filter(|line| line.ends_with(" ... ok")).collect();
        for filter in filters {
            let is_selected = passed.iter().any(|line| line.contains(filter));
            ensure!(is_selected, "{filter} selects no test of {program}; see {log}");
        }
        Ok(())
    }

    /// Removes a check, with the one that covers it, and runs its test.
    pub(super) fn remove(&self, mutant: &Mutant, all: &[Mutant]) -> Result<Verdict> {
        let cover = mutant.covered_by.as_ref();
        let cover = all.iter().find(|other| cover == Some(&other.name));
        let _cover = cover.map(|cover| self.checkout.without(cover)).transpose()?;
        // Restored first: both may be in one file.
        let _removed = self.checkout.without(mutant)?;
        let log = self.log(&mutant.name);
        if self.build(&mutant.test, &log)? != Some(true) {
            return Ok(Verdict::NotCompiled);
        }
        Ok(match self.test(&mutant.test, &[&mutant.test.filter], &log)? {
            Some(true) => Verdict::Missed,
            Some(false) => Verdict::Noticed,
            None => Verdict::Hung,
        })
    }

    fn log(&self, name: &str) -> String {
        self.checkout.logs.join(format!("{name}.txt")).to_string_lossy().into_owned()
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(args).current_dir(self.checkout.path(""));
        cargo.env("CARGO_TARGET_DIR", &self.checkout.target_dir);
        // Each build is used once: what only helps a reader of a backtrace is left out.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "1");
        cargo
    }

    fn test_command(&self, test: &TestName) -> Command {
        let mut cargo = self.cargo(&["test", "--quiet", "--package", &test.package]);
        match test.program.as_str() {
            "lib" => cargo.arg("--lib"),
            "bin" => cargo.arg("--bins"),
            program => cargo.args(["--test", program]),
        };
        if test.package == "xtask" {
            cargo.args(["--features", "binary"]);
            cargo.env("SSDLAB_BIN", self.checkout.target_dir.join("debug/ssdlab"));
        }
        cargo
    }

    /// Whether the program of a test could be built.
    fn build(&self, test: &TestName, log: &str) -> Result<Option<bool>> {
        fs::write(log, "")?;
        if test.package == "xtask" {
            let mut cargo = self.cargo(&["build", "--quiet", "--package", "ssdlab-cli"]);
            if ends_well(&mut cargo, log, Duration::MAX)? != Some(true) {
                return Ok(Some(false));
            }
        }
        ends_well(self.test_command(test).arg("--no-run"), log, Duration::MAX)
    }

    /// Whether the tests of these filters passed, or `None` if they did not end.
    fn test(&self, test: &TestName, filters: &[&str], log: &str) -> Result<Option<bool>> {
        let mut cargo = self.test_command(test);
        // Words of a test, not dots; a test that cannot run here fails.
        cargo.args(["--", "--format=pretty", "--test-threads=1"]).args(filters).env("CI", "true");
        ends_well(&mut cargo, log, PATIENCE)
    }
}

/// Whether a command succeeded, or `None` if it did not end in time; its output is added to the file.
fn ends_well(command: &mut Command, log: &str, patience: Duration) -> Result<Option<bool>> {
    let out = File::options().append(true).create(true).open(log)?;
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).process_group(0);
    let mut child = command.spawn().context("cannot start cargo")?;
    let begin = Instant::now();
    while begin.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        sleep(Duration::from_millis(50));
    }
    end_group(&mut child)?;
    Ok(None)
}

/// Ends cargo and the test that it started.
fn end_group(child: &mut Child) -> Result<()> {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).status()?;
    child.wait()?;
    Ok(())
}
