//! The steps of `cargo xtask test`: what each one runs and what it cannot do without.
//!
//! Order matters twice: a step stands after those in its `after`, and within a lane the steps run
//! from top to bottom. Whatever measures time runs alone, after both lanes are done.

use std::process::Command;

use anyhow::Result;

use crate::log::Log;
use crate::proc;
use crate::schema;
use crate::setup::{self, Need};
use crate::web;
use crate::workspace::Workspace;

/// One named check.
pub(crate) struct Step {
    /// Name for `--only` and for the summary.
    pub(crate) name: &'static str,
    /// What it answers, for `--list`.
    pub(crate) what: &'static str,
    /// Which queue it stands in.
    pub(crate) lane: Lane,
    /// Steps whose outcome it builds on.
    pub(crate) after: &'static [&'static str],
    /// Parts of the machine that it cannot do without.
    pub(crate) needs: &'static [Need],
    /// Does it.
    pub(crate) run: fn(&Workspace, Log) -> Result<()>,
}

/// The two lanes run side by side: cargo keeps the cores busy, the other one mostly waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Before everything else.
    First,
    /// Work behind cargo's lock.
    Cargo,
    /// npm and pip.
    Side,
    /// Measures time or needs the memory: nothing may run beside it.
    Alone,
}

const NODE: &[Need] = &[Need::Program("node"), Need::Program("npm")];

/// All steps, in order.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "setup",
        what: "install the Debian packages that are missing",
        lane: Lane::First,
        after: &[],
        needs: &[Need::Packages],
        run: |_, log| setup::system_packages(log),
    },
    Step {
        name: "web-deps",
        what: "install the packages of the web page",
        lane: Lane::First,
        after: &[],
        needs: NODE,
        run: web::install,
    },
    Step {
        name: "fmt",
        what: "is the Rust code formatted?",
        lane: Lane::Cargo,
        after: &[],
        needs: &[],
        run: |workspace, log| {
            let mut fmt = workspace.cargo(["fmt", "--all", "--check", "--", "--color=never"]);
            proc::stream(log, &mut fmt)
        },
    },
    Step {
        name: "types",
        what: "are schema/ and the TypeScript types what the Rust types say?",
        lane: Lane::Cargo,
        after: &["web-deps"],
        needs: NODE,
        run: schema::check,
    },
    Step {
        name: "clippy",
        what: "does the Rust code compile without warnings?",
        lane: Lane::Cargo,
        after: &[],
        needs: &[],
        run: clippy,
    },
    Step {
        name: "web-check",
        what: "does the web page's code type-check and lint?",
        lane: Lane::Side,
        after: &["web-deps"],
        needs: NODE,
        run: |workspace, log| proc::stream(log, &mut workspace.npm(["run", "check"])),
    },
    Step {
        name: "web-test",
        what: "do the web page's unit tests pass?",
        lane: Lane::Side,
        after: &["web-deps"],
        needs: NODE,
        run: |workspace, log| proc::stream(log, &mut workspace.npm(["run", "test"])),
    },
    Step {
        name: "web-build",
        what: "build web/dist/index.html, which the programs embed",
        lane: Lane::Side,
        after: &["web-deps"],
        needs: NODE,
        run: web::build,
    },
    Step {
        name: "web-e2e",
        what: "does the page work in a browser?",
        lane: Lane::Side,
        after: &["web-build"],
        needs: &[Need::Program("node"), Need::Program("npm"), Need::Program("chromium")],
        run: web::end_to_end,
    },
    Step {
        name: "python-deps",
        what: "make .venv for the Python tests",
        lane: Lane::Side,
        after: &[],
        needs: &[Need::Program("python3")],
        run: setup::python_environment,
    },
    Step {
        name: "rust-test",
        what: "do the crates' own tests pass?",
        lane: Lane::Cargo,
        after: &["web-build"],
        needs: &[],
        run: |workspace, log| {
            let mut test = workspace.cargo(["test", "--workspace", "--exclude", "xtask"]);
            proc::stream(log, &mut test)
        },
    },
    Step {
        name: "tidy",
        what: "do the house rules hold: dependencies, sizes, leftovers, links?",
        lane: Lane::Cargo,
        after: &[],
        needs: &[],
        run: |workspace, log| {
            proc::stream(log, &mut workspace.cargo(["test", "--package", "xtask"]))
        },
    },
    Step {
        name: "release",
        what: "build the release binary",
        lane: Lane::Cargo,
        after: &["web-build"],
        needs: &[],
        run: |workspace, log| proc::stream(log, &mut workspace.build_release()),
    },
    Step {
        name: "integration",
        what: "does the binary keep its contract: output, seeds, exit codes, messages?",
        lane: Lane::Alone,
        after: &["release"],
        needs: &[],
        run: |workspace, log| {
            integration(workspace, log, &["simulated::", "usage::", "interrupt::"])
        },
    },
    Step {
        name: "devices",
        what: "does it refuse devices in use, and survive a full disk? (loop devices, tmpfs)",
        lane: Lane::Alone,
        after: &["release"],
        needs: &[Need::Root, Need::LoopDevices, Need::Program("mkfs.ext4")],
        run: |workspace, log| integration(workspace, log, &["devices::", "full_disk::"]),
    },
    Step {
        name: "agreement",
        what: "does the I/O engine agree with fio on the same file?",
        lane: Lane::Alone,
        after: &["release"],
        needs: &[Need::Program("fio")],
        run: |workspace, log| integration(workspace, log, &["agreement::"]),
    },
    Step {
        name: "acceptance",
        what: "is a full-size simulated run complete, and do its sums agree?",
        lane: Lane::Alone,
        after: &["release", "python-deps"],
        needs: &[],
        run: |workspace, log| integration(workspace, log, &["acceptance::"]),
    },
    Step {
        name: "python",
        what: "can Python read what a run leaves behind?",
        lane: Lane::Alone,
        after: &["release", "python-deps"],
        needs: &[],
        run: python_tests,
    },
];

/// The feature compiles the integration tests as well, which a plain `cargo test` leaves out.
fn clippy(workspace: &Workspace, log: Log) -> Result<()> {
    let mut clippy = workspace.cargo(["clippy", "--workspace", "--all-targets"]);
    clippy.args(["--features", "xtask/binary", "--", "--deny", "warnings"]);
    proc::stream(log, &mut clippy)
}

/// Runs the modules named in `filters` of xtask/tests/integration against the release binary.
fn integration(workspace: &Workspace, log: Log, filters: &[&str]) -> Result<()> {
    let mut test = workspace.cargo(["test", "--package", "xtask", "--features", "binary"]);
    test.args(["--test", "integration"]);
    let ssdlab = workspace.ssdlab();
    if filters.contains(&"devices::") && !setup::is_root() {
        test.arg("--config").arg(sudo_runner(&ssdlab.to_string_lossy()));
    }
    test.args(["--", "--test-threads=1"]).args(filters).env("SSDLAB_BIN", ssdlab);
    proc::stream(log, &mut test)
}

/// Makes cargo start only the finished test program as root, not the compiler: the target
/// directory stays the user's own. sudo drops the environment, hence `env`.
fn sudo_runner(ssdlab: &str) -> String {
    format!("target.'cfg(unix)'.runner = ['sudo', '-n', 'env', 'SSDLAB_BIN={ssdlab}']")
}

fn python_tests(workspace: &Workspace, log: Log) -> Result<()> {
    let mut pytest: Command = setup::python(workspace);
    pytest.args(["-m", "pytest", "tests/python"]).env("SSDLAB_BIN", workspace.ssdlab());
    proc::stream(log, &mut pytest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runner waits for a step's `after` within its own lane order, so a backward edge would
    /// wait for ever.
    #[test]
    fn every_step_stands_after_those_it_builds_on() {
        for (index, step) in STEPS.iter().enumerate() {
            for after in step.after {
                let place = STEPS.iter().position(|other| other.name == *after);
                assert!(place.is_some_and(|place| place < index), "{} after {after}", step.name);
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}
