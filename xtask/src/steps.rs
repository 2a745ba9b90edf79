//! The steps of `cargo xtask test`: the action and the requirements of each.
//!
//! Order matters twice: a step stands after those in its `after`, and within a lane the steps run
//! from top to bottom. Steps that measure time run alone, after all lanes have ended.

mod python;

use std::process::Command;

use anyhow::Result;

use crate::fuzz;
use crate::mutants;
use crate::release;
use crate::schema;
use xtask::kernel;
use xtask::log::Log;
use xtask::proc;
use xtask::setup::{self, Need};
use xtask::web;
use xtask::workspace::{Cases, Workspace};

/// One named check.
pub(crate) struct Step {
    /// Name for `--only` and for the summary.
    pub(crate) name: &'static str,
    /// The question that it answers, for `--list`.
    pub(crate) what: &'static str,
    /// Its queue.
    pub(crate) lane: Lane,
    /// Steps that must have passed.
    pub(crate) after: &'static [&'static str],
    /// A step that must have ended, well or not.
    pub(crate) not_before: Option<&'static str>,
    /// A step that must have ended if it was chosen as well, or `None` if it may run beside all.
    pub(crate) behind: Option<&'static str>,
    /// Required parts of the machine.
    pub(crate) needs: &'static [Need],
    /// Its action.
    pub(crate) run: fn(&Workspace, Log) -> Result<()>,
}

impl Step {
    /// The steps without which it cannot start.
    pub(crate) fn builds_on(&self) -> impl Iterator<Item = &'static str> {
        self.after.iter().copied().chain(self.not_before)
    }

    /// The steps that must have ended before it starts, where these were chosen.
    pub(crate) fn waits_for(&self, chosen: &[&Self]) -> impl Iterator<Item = &'static str> {
        let is_chosen = |name: &&str| chosen.iter().any(|other| other.name == *name);
        self.builds_on().chain(self.behind.filter(is_chosen))
    }
}

/// The lanes `Cargo`, `Program` and `Side` run side by side. Cargo locks its directory while it builds, so that
/// large builds stand in one lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Before everything else.
    First,
    /// Builds and their tests.
    Cargo,
    /// Tests that start the finished program, and the Python package.
    Program,
    /// Steps of npm and pip, the browser, and the emulated machine: they wait for much of their time.
    Side,
    /// Steps that measure time: they run alone.
    Alone,
}

/// The programs embed the page if there is one and work without it, so that a broken page does not
/// hide other faults.
const WITH_PAGE: Option<&str> = Some("web-build");

/// Tests of the crates and of the program make loop devices; both at the same time would see those of the other.
const RUST_TESTED: Option<&str> = Some("rust-test");

const NODE: &[Need] = &[Need::Program("node"), Need::Program("npm")];

/// Modules of xtask/tests/integration with a step of their own; the step `integration` runs all others.
const DEVICES: &[&str] = &["devices::", "full_disk::", "hostile::", "recording::", "trim::"];
const TIMED: &[&str] = &["parallel::", "stall::"];
const AGREEMENT: &[&str] = &["agreement::", "import::"];
const ACCEPTANCE: &[&str] = &["acceptance::"];
const EXPOSED: &[&str] = &["exposed::"];

const EMULATOR: &[Need] = &[
    Need::Program("qemu-system-x86_64"),
    Need::Program("busybox"),
    Need::Program("cpio"),
    Need::Program("dmsetup"),
    Need::Program("fio"),
    Need::Program("mkfs.f2fs"),
    Need::Program("nbd-client"),
    Need::Program("nvme"),
    Need::Program("sg_sat_identify"),
    Need::Program("smartctl"),
];

/// The common values of most steps: nothing to wait for, nothing needed.
pub(crate) const STEP: Step = Step {
    name: "",
    what: "",
    lane: Lane::Cargo,
    after: &[],
    not_before: None,
    behind: None,
    needs: &[],
    run: |_, _| Ok(()),
};

/// All steps, in order.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "setup",
        what: "install the Debian packages that are missing",
        lane: Lane::First,
        needs: &[Need::Packages],
        run: |_, log| setup::system_packages(log),
        ..STEP
    },
    Step {
        name: "web-deps",
        what: "install the packages of the web page",
        lane: Lane::First,
        needs: NODE,
        run: web::install,
        ..STEP
    },
    Step {
        name: "fmt",
        what: "is the Rust code formatted?",
        lane: Lane::Cargo,
        run: |workspace, log| {
            let mut fmt = workspace.cargo(["fmt", "--all", "--check", "--", "--color=never"]);
            proc::stream(log, &mut fmt)
        },
        ..STEP
    },
    Step {
        name: "web-build",
        what: "build web/dist/index.html, which the programs embed",
        lane: Lane::Side,
        after: &["web-deps"],
        needs: NODE,
        run: web::build,
        ..STEP
    },
    Step {
        name: "types",
        what: "are the list of tests, schema/, docs/reference/metrics.md and the TypeScript what the source says?",
        lane: Lane::Cargo,
        after: &["web-deps"],
        not_before: WITH_PAGE,
        needs: NODE,
        run: schema::check,
        ..STEP
    },
    Step {
        name: "program",
        what: "build the binary that tests start",
        lane: Lane::Cargo,
        not_before: WITH_PAGE,
        run: |workspace, log| proc::stream(log, &mut workspace.build_program()),
        ..STEP
    },
    Step {
        name: "clippy",
        what: "does the Rust code compile without warnings?",
        lane: Lane::Cargo,
        run: clippy,
        ..STEP
    },
    Step {
        name: "web-check",
        what: "does the web page's code type-check and lint?",
        lane: Lane::Side,
        after: &["web-deps"],
        needs: NODE,
        run: |workspace, log| proc::stream(log, &mut workspace.npm(["run", "check"])),
        ..STEP
    },
    Step {
        name: "web-test",
        what: "do the web page's unit tests pass?",
        lane: Lane::Side,
        after: &["web-deps"],
        needs: NODE,
        run: |workspace, log| proc::stream(log, &mut workspace.npm(["run", "test"])),
        ..STEP
    },
    Step {
        name: "python-deps",
        what: "make .venv for the Python tests",
        lane: Lane::Side,
        needs: &[Need::Program("python3")],
        run: setup::python_environment,
        ..STEP
    },
    Step {
        name: "markdown",
        what: "is the text of the documentation formatted?",
        lane: Lane::Program,
        after: &["python-deps"],
        run: |workspace, log| python::markdown(workspace, log, &["--check"]),
        ..STEP
    },
    Step {
        name: "crates",
        what: "has every crate a licence, a source and a single version, as deny.toml permits?",
        lane: Lane::Program,
        after: &["python-deps"],
        run: python::crates,
        ..STEP
    },
    Step {
        name: "kernel",
        what: "unpack Debian's kernel for the emulated machine",
        lane: Lane::Side,
        needs: &[Need::Program("apt-get"), Need::Program("dpkg-deb"), Need::Program("depmod")],
        run: kernel::unpack,
        ..STEP
    },
    Step {
        name: "web-e2e",
        what: "does the page work in a browser?",
        lane: Lane::Side,
        after: &["web-build"],
        needs: &[Need::Program("node"), Need::Program("npm"), Need::Program("chromium")],
        run: web::end_to_end,
        ..STEP
    },
    Step {
        name: "rust-test",
        what: "do the crates' own tests pass?",
        lane: Lane::Cargo,
        not_before: WITH_PAGE,
        run: |workspace, log| {
            let mut test = workspace.cargo(["test", "--workspace", "--exclude", "xtask"]);
            proc::stream(log, test.arg("--no-fail-fast"))
        },
        ..STEP
    },
    Step {
        name: "tidy",
        what: "do the house rules hold: dependencies, sizes, leftovers, links?",
        lane: Lane::Cargo,
        run: |workspace, log| {
            let mut test = workspace.cargo(["test", "--package", "xtask"]);
            proc::stream(log, test.arg("--no-fail-fast"))
        },
        ..STEP
    },
    Step {
        name: "example",
        what: "does a program outside the workspace build and run with a policy of its own?",
        lane: Lane::Cargo,
        run: |workspace, log| {
            let manifest = "examples/own-policy/Cargo.toml";
            let mut run =
                workspace.cargo(["run", "--quiet", "--locked", "--manifest-path", manifest]);
            proc::stream(log, run.arg("--target-dir").arg(workspace.target_dir().join("examples")))
        },
        ..STEP
    },
    Step {
        name: "fuzz",
        what: "do the readers of traces, runs and NBD survive hostile input? (a minute each in CI)",
        lane: Lane::Cargo,
        run: fuzz::check,
        ..STEP
    },
    Step {
        name: "release",
        what: "are the packages for Debian, Python and Rust complete, and does the program in them run?",
        lane: Lane::Cargo,
        after: &["program", "web-build", "python-deps"],
        needs: &[
            Need::Program("dpkg-deb"),
            Need::Program("gzip"),
            Need::Program("strip"),
            Need::Program("zstd"),
        ],
        run: release::check,
        ..STEP
    },
    Step {
        name: "golden",
        what: "does a release build of the simulator give the results of a debug build? (--full)",
        lane: Lane::Alone,
        run: |workspace, log| match workspace.cases() {
            Cases::All => {
                let mut test = workspace.cargo(["test", "--release", "--package", "ssdlab-sim"]);
                proc::stream(log, test.args(["--test", "golden"]))
            }
            Cases::Tenth(_) => left_to_full(log),
        },
        ..STEP
    },
    Step {
        name: "py",
        what: "does the Python package work: types, tests, examples in its documentation?",
        lane: Lane::Program,
        after: &["python-deps"],
        not_before: Some("program"),
        run: python::check,
        ..STEP
    },
    Step {
        name: "integration",
        what: "does the binary keep its contract: output, seeds, exit codes, messages?",
        lane: Lane::Program,
        after: &["program"],
        run: |workspace, log| {
            let others = [DEVICES, TIMED, AGREEMENT, ACCEPTANCE, EXPOSED].concat();
            let skipped: Vec<_> = others.into_iter().flat_map(|it| ["--skip", it]).collect();
            integration(workspace, log, &skipped)
        },
        ..STEP
    },
    Step {
        name: "acceptance",
        what: "is a full-size simulated run complete, and do its sums agree?",
        lane: Lane::Program,
        after: &["program", "python-deps"],
        run: |workspace, log| integration(workspace, log, ACCEPTANCE),
        ..STEP
    },
    Step {
        name: "python",
        what: "can Python read what a run leaves behind?",
        lane: Lane::Program,
        after: &["program", "python-deps"],
        run: python_tests,
        ..STEP
    },
    Step {
        name: "devices",
        what: "does it refuse devices in use, and survive a full disk? (loop devices, tmpfs)",
        lane: Lane::Program,
        after: &["program"],
        behind: RUST_TESTED,
        needs: &[Need::Root, Need::LoopDevices, Need::Program("mkfs.ext4")],
        run: |workspace, log| integration(workspace, log, DEVICES),
        ..STEP
    },
    Step {
        name: "exposed",
        what: "is a simulated drive a disk for fio, qemu-img, the tools of libnbd and Linux?",
        lane: Lane::Program,
        after: &["program"],
        behind: RUST_TESTED,
        needs: &[
            Need::Root,
            Need::LoopDevices,
            Need::Program("mkfs.ext4"),
            Need::Program("fio"),
            Need::Program("nbdinfo"),
            Need::Program("nbdcopy"),
            Need::Program("qemu-img"),
        ],
        run: |workspace, log| integration(workspace, log, EXPOSED),
        ..STEP
    },
    Step {
        name: "qemu",
        what: "does it work on NVMe and SATA drives, slow, failing and unplugged ones? (emulated)",
        lane: Lane::Side,
        after: &["program", "kernel"],
        behind: Some("clippy"),
        needs: EMULATOR,
        run: emulated,
        ..STEP
    },
    Step {
        name: "timed",
        what: "do targets run side by side, and do stalled commands end in time? (loop devices)",
        lane: Lane::Alone,
        after: &["program"],
        needs: &[
            Need::Root,
            Need::LoopDevices,
            Need::Program("mkfs.ext4"),
            Need::Program("taskset"),
        ],
        run: |workspace, log| integration(workspace, log, TIMED),
        ..STEP
    },
    Step {
        name: "agreement",
        what: "does the I/O engine agree with fio on the same file, and an import with fio itself?",
        lane: Lane::Alone,
        after: &["program"],
        needs: &[Need::Program("fio")],
        run: |workspace, log| integration(workspace, log, AGREEMENT),
        ..STEP
    },
    Step {
        name: "instructions",
        what: "do simulated commands take at most 3% more instructions than in bench/baseline.csv?",
        lane: Lane::Cargo,
        after: &["program"],
        needs: &[Need::Program("valgrind")],
        run: |workspace, log| {
            proc::stream(log, &mut workspace.build_debug(&["--bin", "ssdlab-bench"]))?;
            let mut bench = Command::new(workspace.debug_dir().join("ssdlab-bench"));
            bench.args(["sim", "--compare"]).current_dir(workspace.root());
            proc::stream(log, &mut bench)
        },
        ..STEP
    },
    Step {
        name: "mutants",
        what: "does a test fail without each check before a write or a removal? (--full)",
        lane: Lane::Alone,
        needs: &[Need::Root, Need::LoopDevices, Need::Program("mkfs.ext4")],
        run: |workspace, log| match workspace.cases() {
            Cases::All => mutants::check(workspace, log),
            Cases::Tenth(_) => left_to_full(log),
        },
        ..STEP
    },
];

/// The feature compiles the integration tests as well, which a plain `cargo test` leaves out.
fn clippy(workspace: &Workspace, log: Log) -> Result<()> {
    let mut clippy = workspace.cargo(["clippy", "--workspace", "--all-targets"]);
    clippy.args(["--features", "xtask/binary", "--", "--deny", "warnings"]);
    proc::stream(log, &mut clippy)
}

/// The verb `format`.
pub(crate) fn format(workspace: &Workspace) -> Result<()> {
    let log = Log::stdout("format");
    proc::stream(log, &mut workspace.cargo(["fmt", "--all"]))?;
    web::install(workspace, log)?;
    proc::stream(log, &mut workspace.npm(["run", "format"]))?;
    setup::python_environment(workspace, log)?;
    python::markdown(workspace, log, &[])
}

fn left_to_full(log: Log) -> Result<()> {
    log.line("left to `cargo xtask test --full`");
    Ok(())
}

/// Runs the tests of xtask/tests/integration that `filters` select, against the program.
fn integration(workspace: &Workspace, log: Log, filters: &[&str]) -> Result<()> {
    let mut test = workspace.cargo(["test", "--package", "xtask", "--features", "binary"]);
    test.args(["--test", "integration"]);
    let ssdlab = workspace.ssdlab();
    if [DEVICES, TIMED].contains(&filters) && !setup::is_root() {
        test.arg("--config").arg(sudo_runner(&ssdlab.to_string_lossy()));
    }
    test.args(["--", "--test-threads=1"]).args(filters).env("SSDLAB_BIN", ssdlab);
    proc::stream(log, &mut test)
}

/// Boots the emulated machine and runs xtask/tests/qemu on its output.
fn emulated(workspace: &Workspace, log: Log) -> Result<()> {
    let mut test = workspace.cargo(["test", "--package", "xtask", "--features", "binary"]);
    test.args(["--test", "qemu"]);
    test.env("SSDLAB_BIN", workspace.ssdlab()).env("SSDLAB_KERNEL", workspace.kernel_dir());
    proc::stream(log, &mut test)
}

/// Makes cargo start only the finished test program as root, not the compiler: the files of the
/// target directory keep their owner. sudo drops the environment, hence `env`.
fn sudo_runner(ssdlab: &str) -> String {
    format!("target.'cfg(unix)'.runner = ['sudo', '-n', 'env', 'SSDLAB_BIN={ssdlab}']")
}

fn python_tests(workspace: &Workspace, log: Log) -> Result<()> {
    let mut pytest: Command = setup::python(workspace);
    pytest
        .args(["-m", "pytest", "-p", "no:cacheprovider", "tests/python"])
        .env("SSDLAB_BIN", workspace.ssdlab());
    proc::stream(log, &mut pytest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane runs from top to bottom, so a step that waits for a later one would wait for ever.
    #[test]
    fn every_step_stands_after_those_it_builds_on() {
        let all: Vec<_> = STEPS.iter().collect();
        for (index, step) in STEPS.iter().enumerate() {
            for other in step.waits_for(&all) {
                let place = STEPS.iter().position(|step| step.name == other);
                assert!(place.is_some_and(|place| place < index), "{} after {other}", step.name);
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
