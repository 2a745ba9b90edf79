//! One test of the copy, with or without a check.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::checkout::Checkout;
use super::list::{Mutant, TestName};
use super::switches::{VARIABLE, removal_at};
use xtask::setup;

/// The package with the tests of the program.
const PROGRAM_TESTS: &str = "xtask";
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
    /// The test fails with every check in its place, so that it notices nothing.
    Fails,
}

impl Verdict {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Noticed => "noticed",
            Self::Hung => "hung",
            Self::Missed => "MISSED",
            Self::Fails => "FAILS",
        }
    }

    pub(super) const fn is_noticed(self) -> bool {
        matches!(self, Self::Noticed | Self::Hung)
    }
}

/// The test programs of the copy.
pub(super) struct Trial<'a> {
    checkout: &'a Checkout,
    programs: Vec<Program>,
}

impl<'a> Trial<'a> {
    /// Builds the programs of these tests in one call, so that all have the same features of their libraries.
    pub(super) fn build(checkout: &'a Checkout, tests: &BTreeSet<&TestName>) -> Result<Self> {
        let mut trial = Self { checkout, programs: Vec::new() };
        let (of_program, of_crates): (BTreeSet<_>, BTreeSet<_>) =
            tests.iter().copied().partition(|test| test.package == PROGRAM_TESTS);
        trial.build_tests(&of_crates, &[])?;
        if !of_program.is_empty() {
            let build = trial.cargo(&["build", "--quiet", "--package", "ssdlab-cli"]);
            trial.output(build, "build-program")?;
            trial.build_tests(&of_program, &["--features", "binary"])?;
        }
        Ok(trial)
    }

    fn build_tests(&mut self, tests: &BTreeSet<&TestName>, more: &[&str]) -> Result<()> {
        let packages: BTreeSet<_> = tests.iter().map(|test| test.package.as_str()).collect();
        let programs: BTreeSet<_> = tests.iter().map(|test| test.program.as_str()).collect();
        let Some(first) = packages.first() else { return Ok(()) };
        let mut cargo = self.cargo(&["test", "--no-run", "--quiet"]);
        cargo.arg("--message-format=json-render-diagnostics").args(more);
        cargo.args(packages.iter().flat_map(|package| ["--package", package]));
        for program in programs {
            match program {
                "lib" => cargo.arg("--lib"),
                // Unit tests of the program.
                "ssdlab" => cargo.args(["--bin", program]),
                program => cargo.args(["--test", program]),
            };
        }
        let messages = self.output(cargo, &format!("build-{first}"))?;
        self.programs.extend(messages.lines().filter_map(Program::of_message));
        Ok(())
    }

    /// The output of a build that must succeed.
    fn output(&self, mut cargo: Command, name: &str) -> Result<String> {
        let log = self.log(name);
        let output = cargo.stdin(Stdio::null()).stderr(File::create(&log)?).output()?;
        if !output.status.success() {
            let names = self.no_rust(&fs::read_to_string(&log)?);
            bail!("no build: what takes the place of a check is no Rust: {names:?}; see {log}");
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The names of the checks before whose places a compiler met errors.
    fn no_rust(&self, messages: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut is_error = false;
        for line in messages.lines() {
            if line.starts_with("error") || line.starts_with("warning") {
                is_error = line.starts_with("error");
            }
            let place = line.trim_start().strip_prefix("--> ").filter(|_| is_error);
            let Some((file, at)) = place.and_then(|place| place.split_once(':')) else { continue };
            let number = at.split(':').next().and_then(|number| number.parse().ok());
            let source = fs::read_to_string(self.checkout.path(file)).unwrap_or_default();
            names.extend(removal_at(&source, number.unwrap_or(0)).map(str::to_owned));
        }
        names
    }

    /// The ones among these filters whose tests fail with every check in its place, or that select no test.
    pub(super) fn failing<'f>(
        &self,
        test: &TestName,
        filters: &BTreeSet<&'f str>,
    ) -> Result<BTreeSet<&'f str>> {
        let log = self.log(&format!("all-{}-{}", test.package, test.program));
        let arguments: Vec<_> = filters.iter().copied().collect();
        self.run(test, "", &arguments, &log)?;
        let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let is_over = output.contains("\ntest result: ");
        let has = |filter: &str, start: &str| {
            output.lines().any(|line| line.starts_with(start) && line.contains(filter))
        };
        let mut failing = filters.clone();
        failing.retain(|filter| !is_over || !has(filter, "test ") || has(filter, "---- "));
        Ok(failing)
    }

    /// Runs the test of a check without it, and without the one that covers it.
    pub(super) fn without(&self, mutant: &Mutant) -> Result<Verdict> {
        let cover = mutant.covered_by.iter().map(|cover| format!(",{cover}"));
        let removed = [mutant.name.clone()].into_iter().chain(cover).collect::<String>();
        let test = &mutant.test;
        let passed = self.run(test, &removed, &[&test.filter], &self.log(&mutant.name))?;
        Ok(match passed {
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
        // Nobody reads a backtrace, and what is slow to build runs but a moment.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
        for package in ["sim", "sim-trial", "load", "expose"] {
            cargo.arg("--config");
            cargo.arg(format!("profile.dev.package.ssdlab-{package}.opt-level=0"));
        }
        cargo
    }

    /// Whether the tests of these filters passed, or `None` if they did not end.
    fn run(
        &self,
        test: &TestName,
        removed: &str,
        filters: &[&str],
        log: &str,
    ) -> Result<Option<bool>> {
        let program = self.programs.iter().find(|program| program.is_of(test));
        let program = program.with_context(|| format!("cargo named no program of {test}"))?;
        let ssdlab = self.checkout.target_dir.join("debug/ssdlab");
        // A test that cannot run here fails with `CI`.
        let environment = [
            (VARIABLE, OsStr::new(removed)),
            ("CI", OsStr::new("true")),
            ("CARGO_MANIFEST_DIR", program.package_dir.as_os_str()),
            ("SSDLAB_BIN", ssdlab.as_os_str()),
        ];
        let mut command = if setup::is_root() {
            Command::new(&program.path)
        } else {
            // It drops the environment.
            let mut sudo = Command::new("sudo");
            let pairs =
                environment.map(|(name, value)| [OsStr::new(name), value].join(OsStr::new("=")));
            sudo.args(["-n", "env"]).args(pairs).arg(&program.path);
            sudo
        };
        command.envs(environment).current_dir(&program.package_dir);
        // Words of a test, not dots.
        command.args(["--format=pretty", "--test-threads=1"]).args(filters);
        ends_well(&mut command, log)
    }
}

/// A program with tests, as cargo tells of it.
struct Program {
    path: PathBuf,
    /// The directory of its package, in which its tests run.
    package_dir: PathBuf,
    package_id: String,
    /// Its name, or `lib`.
    name: String,
}

impl Program {
    /// The program in a message of cargo, or `None` if it tells of something else.
    fn of_message(line: &str) -> Option<Self> {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let path = PathBuf::from(message["executable"].as_str()?);
        let package_dir = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
        let target = &message["target"];
        let kind = target["kind"][0].as_str()?;
        let name = if kind == "lib" { kind } else { target["name"].as_str()? }.to_owned();
        Some(Self {
            path,
            package_dir,
            package_id: message["package_id"].as_str()?.to_owned(),
            name,
        })
    }

    fn is_of(&self, test: &TestName) -> bool {
        // `path+file:///DIR#NAME@VERSION`, without a name if the directory has it.
        let named = format!("#{}@", test.package);
        let is_package =
            self.package_id.contains(&named) || self.package_dir.ends_with(&test.package);
        is_package && self.name == test.program
    }
}

/// Whether a test succeeded, or `None` if it did not end in time; its output goes to the log.
fn ends_well(test: &mut Command, log: &str) -> Result<Option<bool>> {
    let out = File::create(log)?;
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
