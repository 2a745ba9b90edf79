//! Paths: the checkout, the target directory and the programs built into it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::proc;

/// The checkout of the call.
pub struct Workspace {
    root: PathBuf,
    target_dir: PathBuf,
    version: String,
    /// The target triple of this machine.
    host: String,
    /// The commit of the compiler.
    compiler: String,
    cases: Cases,
}

/// The random cases of the tests; `crates/sim/tests/common/cases.rs` reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cases {
    /// All of them, with fixed seeds.
    All,
    /// A tenth, from this seed on.
    Tenth(u64),
}

impl Cases {
    /// The environment variable that passes it to the tests.
    fn variable(self) -> (&'static str, String) {
        match self {
            Self::All => ("SSDLAB_TEST_FULL", "1".to_owned()),
            Self::Tenth(first) => ("SSDLAB_TEST_FIRST_SEED", first.to_string()),
        }
    }
}

impl Workspace {
    /// Asks cargo at run time: a compiled-in path would lead to another checkout if two of them
    /// share a target directory, and the target directory itself may have moved.
    pub fn find() -> Result<Self> {
        let mut metadata = cargo();
        metadata.args(["metadata", "--no-deps", "--format-version=1"]);
        let metadata: serde_json::Value = serde_json::from_str(&proc::capture(&mut metadata)?)?;
        let dir = |key: &str| {
            let path = metadata[key].as_str().map(PathBuf::from);
            path.with_context(|| format!("cargo metadata named no {key}"))
        };
        let (root, target_dir) = (dir("workspace_root")?, dir("target_directory")?);
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let program = packages.into_iter().find(|package| package["name"] == "ssdlab-cli");
        let version = program.and_then(|package| package["version"].as_str());
        let rustc = proc::capture(Command::new("rustc").arg("-vV"))?;
        let fact = |name: &str| {
            let line = rustc.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::to_owned)
                .with_context(|| format!("`rustc -vV` named no {name}:\n{rustc}"))
        };
        Ok(Self {
            root,
            target_dir,
            version: version.context("cargo metadata named no version of ssdlab-cli")?.to_owned(),
            host: fact("host")?,
            compiler: fact("commit-hash")?,
            cases: Cases::Tenth(0),
        })
    }

    /// The checkout, for tests with these cases.
    pub fn with_cases(self, cases: Cases) -> Self {
        Self { cases, ..self }
    }

    /// The random cases of the tests.
    pub fn cases(&self) -> Cases {
        self.cases
    }

    /// The top of the checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside the checkout.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The version of ssdlab.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The target triple of this machine.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Path of the program that tests start, built or not.
    pub fn ssdlab(&self) -> PathBuf {
        self.debug_dir().join("ssdlab")
    }

    /// Path of the program for users and for measurements, built or not.
    pub fn released_ssdlab(&self) -> PathBuf {
        self.target_dir.join(&self.host).join("release/ssdlab")
    }

    /// The directory of everything that cargo builds.
    pub fn target_dir(&self) -> &Path {
        &self.target_dir
    }

    /// The directory of debug builds.
    pub fn debug_dir(&self) -> PathBuf {
        self.target_dir.join("debug")
    }

    /// The directory in which the kernel of the emulated machine is unpacked.
    pub fn kernel_dir(&self) -> PathBuf {
        self.target_dir.join("qemu-kernel")
    }

    /// A cargo command that runs at the top of the checkout.
    pub fn cargo<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = cargo();
        let (name, value) = self.cases.variable();
        command.args(args).current_dir(&self.root).env(name, value);
        command
    }

    /// A debug build of these parts of the workspace, such as `--bin ssdlab`; the programs are in
    /// [`Self::debug_dir`]. For one package, or without a target of the tests, cargo would enable fewer features of
    /// the libraries than for the tests, and compile them and all above them once more; hence the example.
    pub fn build_debug(&self, parts: &[&str]) -> Command {
        let mut command = self.cargo(["build", "--quiet", "--workspace", "--exclude", "xtask"]);
        command.args(["--example", "suite_catalogue"]).args(parts);
        command
    }

    /// An npm command that runs in `web/`.
    pub fn npm<const N: usize>(&self, args: [&str; N]) -> Command {
        let mut command = Command::new("npm");
        command.args(args).current_dir(self.path("web"));
        command
    }

    /// The command that builds [`Self::ssdlab`].
    pub fn build_program(&self) -> Command {
        self.build_debug(&["--bin", "ssdlab"])
    }

    /// The command that builds [`Self::released_ssdlab`], with the C library inside, so that it runs on any
    /// machine. Naming the target, even that of the host, keeps the flags away from procedural macros. Random numbers
    /// come from the kernel's call: a static program would look for `/dev/urandom` first, which an empty root lacks.
    pub fn build_release(&self) -> Result<Command> {
        let args = ["build", "--release", "--package", "ssdlab-cli", "--target", &self.host];
        let mut command = self.cargo(args);
        let flags = ["-Ctarget-feature=+crt-static", "--cfg=getrandom_backend=\"linux_getrandom\""];
        command.envs(self.same_everywhere(&flags)?);
        Ok(command)
    }

    /// Variables for a build with `flags` of the compiler whose bytes do not depend on the folders of this machine.
    pub fn same_everywhere(&self, flags: &[&str]) -> Result<[(&'static str, String); 2]> {
        let sysroot = proc::capture(Command::new("rustc").args(["--print", "sysroot"]))?;
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        let folders = [
            (self.root.clone(), "/ssdlab".to_owned()),
            (self.target_dir.clone(), "/target".to_owned()),
            (cargo_home.context("no home directory")?, "/cargo".to_owned()),
            // The compiler writes this path itself where the sources of its library are not installed.
            (
                Path::new(sysroot.trim()).join("lib/rustlib/src/rust"),
                format!("/rustc/{}", self.compiler),
            ),
        ];
        let named = |flag: &str| {
            let of = |(from, to): &(PathBuf, String)| format!("{flag}={}={to}", from.display());
            folders.iter().map(of).collect::<Vec<_>>()
        };
        let mut rust = named("--remap-path-prefix");
        rust.extend(flags.iter().map(|&flag| flag.to_owned()));
        Ok([
            ("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")),
            ("CFLAGS", named("-ffile-prefix-map").join(" ")),
        ])
    }
}

/// The cargo of this process, so that a toolchain chosen with `cargo +NAME` stays.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if ci_from_environment() {
        // The records for a next build double the space, and make the one build slower.
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether this call runs in the checks of a server.
pub fn ci_from_environment() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}
