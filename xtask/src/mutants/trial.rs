//! One test of the copy, with or without a check.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::checkout::Checkout;
use super::list::{Mutant, TestName};
use super::switches::VARIABLE;
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
    /// The verdict on a test that passed, failed, or did not end.
    const fn of(passed: Option<bool>) -> Self {
        match passed {
            Some(true) => Self::Missed,
            Some(false) => Self::Noticed,
            None => Self::Hung,
        }
    }

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

    /// Builds the program of some tests, which must pass with every check in its place; each filter selects one.
    pub(super) fn whole(&self, test: &TestName, filters: &BTreeSet<&str>) -> Result<Built> {
        let log = self.log(&format!("all-{}-{}", test.package, test.program));
        let Some(built) = self.build(test, &log)? else { bail!("no build; see {log}") };
        let filters: Vec<_> = filters.iter().copied().collect();
        let passed = self.test(&built, "", &filters, &log)?;
        ensure!(passed == Some(true), "{test} fails with every check in its place; see {log}");
        let output = fs::read_to_string(&log)?;
        let passed: Vec<&str> = output.lines().filter(|line| line.ends_with(" ... ok")).collect();
        for filter in filters {
            let is_selected = passed.iter().any(|line| line.contains(filter));
            ensure!(is_selected, "{filter} selects no test of {test}; see {log}");
        }
        Ok(built)
    }

    /// Runs the test of a check with the switch that removes it, and with that of the one that covers it.
    pub(super) fn switched(&self, built: &Built, mutant: &Mutant) -> Result<Verdict> {
        let cover = mutant.covered_by.iter().map(|cover| format!(",{cover}"));
        let removed = [mutant.name.clone()].into_iter().chain(cover).collect::<String>();
        let log = self.log(&mutant.name);
        File::create(&log)?;
        let passed = self.test(built, &removed, &[&mutant.test.filter], &log)?;
        Ok(Verdict::of(passed))
    }

    /// Builds the program of a test of the copy as it is now, and runs it.
    pub(super) fn alone(&self, mutant: &Mutant) -> Result<Verdict> {
        let log = self.log(&mutant.name);
        let Some(built) = self.build(&mutant.test, &log)? else {
            return Ok(Verdict::NotCompiled);
        };
        Ok(Verdict::of(self.test(&built, "", &[&mutant.test.filter], &log)?))
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

    /// Builds the program of a test, and the program under test where it is another; `None` if that
    /// is not possible.
    fn build(&self, test: &TestName, log: &str) -> Result<Option<Built>> {
        let mut cargo = self.cargo(&["test", "--no-run", "--quiet", "--package", &test.package]);
        cargo.arg("--message-format=json-render-diagnostics");
        match test.program.as_str() {
            "lib" => cargo.arg("--lib"),
            "bin" => cargo.arg("--bins"),
            program => cargo.args(["--test", program]),
        };
        if test.package == "xtask" {
            cargo.args(["--features", "binary"]);
            let mut program = self.cargo(&["build", "--quiet", "--package", "ssdlab-cli"]);
            if !program.stderr(File::create(log)?).status()?.success() {
                return Ok(None);
            }
        }
        let output = cargo.stdin(Stdio::null()).stderr(File::create(log)?).output()?;
        if !output.status.success() {
            return Ok(None);
        }
        let messages = String::from_utf8(output.stdout)?;
        let built = messages.lines().rev().find_map(Built::of_message);
        built.map(Some).with_context(|| format!("cargo named no program of {test}"))
    }

    /// Whether the tests of these filters passed, or `None` if they did not end.
    fn test(
        &self,
        built: &Built,
        removed: &str,
        filters: &[&str],
        log: &str,
    ) -> Result<Option<bool>> {
        let mut test = Command::new(&built.program);
        test.env(VARIABLE, removed);
        // Words of a test, not dots; a test that cannot run here fails.
        test.args(["--format=pretty", "--test-threads=1"]).args(filters).env("CI", "true");
        test.current_dir(&built.package).env("CARGO_MANIFEST_DIR", &built.package);
        test.env("SSDLAB_BIN", self.checkout.target_dir.join("debug/ssdlab"));
        ends_well(&mut test, log)
    }
}

/// A program with tests.
pub(super) struct Built {
    program: PathBuf,
    /// The directory of its package, in which its tests run.
    package: PathBuf,
}

impl Built {
    /// The program in a message of cargo, or `None` if it tells of something else.
    fn of_message(line: &str) -> Option<Self> {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let program = PathBuf::from(message["executable"].as_str()?);
        let manifest = PathBuf::from(message["manifest_path"].as_str()?);
        Some(Self { program, package: manifest.parent()?.to_owned() })
    }
}

/// Whether a test succeeded, or `None` if it did not end in time; its output is added to the log.
fn ends_well(test: &mut Command, log: &str) -> Result<Option<bool>> {
    let out = File::options().append(true).open(log)?;
    test.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).process_group(0);
    let mut child = test.spawn().context("cannot start a test")?;
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        sleep(Duration::from_millis(20));
    }
    end_group(&mut child)?;
    Ok(None)
}

/// Ends a test and what it started.
fn end_group(child: &mut Child) -> Result<()> {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).status()?;
    child.wait()?;
    Ok(())
}
