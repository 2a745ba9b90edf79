//! The Python package: a wheel for every Python from 3.11 on, and the archive of its sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{LOG, Release, below};
use xtask::proc;
use xtask::setup;
use xtask::workspace::Workspace;

/// The compiler of C and linker that know every glibc: the package `ziglang` of PyPI.
const ZIG: &str = "ziglang==0.17.1";
/// The oldest glibc for which Rust has a standard library.
const GLIBC: &str = "manylinux_2_17";
/// A use of the package by someone who has just installed it.
const EXAMPLE: &str = "\
import ssdlab
drive = ssdlab.Drive('sandisk-extreme-ii-480gb', scale='1/512')
run = ssdlab.simulate(drive, 'consistency', duration='5s', steady_from='2s')
assert run.status == 'complete', run.status
ssdlab.plot.consistency([run]).figure.savefig('consistency.png')
";

/// Builds both into `dir` and tries them: the wheel without a compiler, the archive by its manifests and its files.
pub(super) fn files(workspace: &Workspace, release: &Release, dir: &Path) -> Result<Vec<PathBuf>> {
    setup::python_environment(workspace, LOG)?;
    let mut zig = setup::python(workspace);
    proc::stream(LOG, zig.args(["-m", "pip", "install", "--quiet", ZIG]))?;
    let mut maturin = maturin(workspace, release, "build", dir);
    maturin.args(["--locked", "--zig", "--compatibility", GLIBC, "--target", &release.target]);
    maturin.envs(workspace.same_everywhere(&[])?);
    maturin.env("CARGO_ZIGBUILD_PYTHON_PATH", workspace.path(".venv/bin/python"));
    proc::stream(LOG, &mut maturin)?;
    let built = below(dir)?.into_iter().find(|path| path.extension().is_some_and(|it| it == "whl"));
    let wheel = built.context("maturin left no wheel")?;
    try_wheel(&wheel, &workspace.target_dir().join("tmp/wheel"))?;
    let archive = sources(workspace, release, dir)?;
    let built_from = workspace.target_dir().join(&release.target).join("wheel/lib_native.d");
    ensure_complete(workspace, &archive, &built_from)?;
    Ok(vec![wheel, archive])
}

/// The step of the checks: the archive alone, beside the library that the tests of Python load.
pub(super) fn check(workspace: &Workspace, release: &Release, dir: &Path) -> Result<()> {
    proc::stream(LOG, &mut workspace.build_debug(&["--lib"]))?;
    let archive = sources(workspace, release, dir)?;
    ensure_complete(workspace, &archive, &workspace.debug_dir().join("lib_native.d"))
}

fn maturin(workspace: &Workspace, release: &Release, verb: &str, dir: &Path) -> Command {
    let python = workspace.path(".venv/bin/python");
    let mut maturin = release.command(&python.to_string_lossy());
    maturin.args(["-m", "maturin", verb, "--manifest-path", "py/Cargo.toml", "--out"]).arg(dir);
    maturin.current_dir(workspace.root());
    maturin
}

/// Packs the crates below the package, with the drive models, hosts, workloads and the page.
fn sources(workspace: &Workspace, release: &Release, dir: &Path) -> Result<PathBuf> {
    proc::stream(LOG, &mut maturin(workspace, release, "sdist", dir))?;
    Ok(dir.join(format!("ssdlab-{}.tar.gz", release.version)))
}

/// Installs the wheel into a new environment that finds no compiler, and runs and draws something there.
fn try_wheel(wheel: &Path, dir: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir)?;
    proc::stream(LOG, Command::new("python3").args(["-m", "venv"]).arg(dir))?;
    let python = || {
        let mut python = Command::new(dir.join("bin/python"));
        python.current_dir(dir).env("PATH", "");
        python
    };
    let package = format!("{}[matplotlib]", wheel.display());
    proc::stream(LOG, python().args(["-m", "pip", "install", "--quiet", &package]))?;
    proc::stream(LOG, python().args(["-c", EXAMPLE]))
}

/// Unpacks the archive, and fails if the first call of pip does, or if a file of the checkout that went into the
/// library is not there. `built_from` is cargo's list of these files, those of `include_str!` and of build scripts
/// among them.
fn ensure_complete(workspace: &Workspace, archive: &Path, built_from: &Path) -> Result<()> {
    let dir = workspace.target_dir().join("tmp/sources");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir)?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--strip-components=1", "--file"]).arg(archive);
    proc::stream(LOG, tar.arg("--directory").arg(&dir))?;
    let mut maturin = setup::python(workspace);
    maturin.args(["-m", "maturin", "pep517", "write-dist-info", "--metadata-directory", "info"]);
    proc::stream(LOG, maturin.current_dir(&dir))?;
    let rule = fs::read_to_string(built_from)
        .with_context(|| format!("cannot read {}", built_from.display()))?;
    let paths = rule.split_once(": ").context("a rule without files")?.1.split_whitespace();
    let own: Vec<_> = paths.filter_map(|path| below_root(workspace, path)).collect();
    ensure!(own.len() > 500, "only {} files: the list is read wrongly", own.len());
    let missing: Vec<_> =
        own.iter().filter(|path| !dir.join(path).exists()).map(String::as_str).collect();
    ensure!(missing.is_empty(), "{} lacks {}", archive.display(), missing.join(", "));
    Ok(())
}

/// A path from the top of the checkout without `..`, or `None` if it stands elsewhere or is built.
fn below_root(workspace: &Workspace, path: &str) -> Option<String> {
    let path = Path::new(path);
    if path.starts_with(workspace.target_dir()) {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for name in path.strip_prefix(workspace.root()).ok()?.iter().filter_map(|it| it.to_str()) {
        if name == ".." { names.pop().map(drop)? } else { names.push(name) }
    }
    Some(names.join("/"))
}
