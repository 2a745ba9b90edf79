//! The verb `release`: the files that a user downloads, the same bytes from every checkout of a commit.
//!
//! The program comes from [`dist`]; here it is packed for Debian and as an archive, with the licences and the list
//! of what is inside. The technical note depends on the browser and the fonts of the machine, too.

mod components;
mod crates;
mod debian;
mod licences;
mod python;
mod sbom;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::dist::{self, Distribution};
use xtask::log::Log;
use xtask::proc;
use xtask::setup;
use xtask::workspace::Workspace;

const LOG: Log = Log::stderr("release");

/// The most that a program may take on the disk of a user.
const PROGRAM_BYTES_MAX: u64 = 30_000_000;

/// Name and date of every file of a release.
struct Release {
    version: String,
    /// The target triple of the program.
    target: String,
    /// Seconds since 1970, for everything that carries a date.
    epoch: String,
    /// Whether the packages are packed for a check, in seconds, and not as small as they get.
    is_trial: bool,
}

impl Release {
    fn of(workspace: &Workspace, is_trial: bool) -> Result<Self> {
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            Err(_) => {
                let mut git = Command::new("git");
                git.args(["log", "-1", "--format=%ct"]).current_dir(workspace.root());
                proc::capture(&mut git).context("give the time in SOURCE_DATE_EPOCH")?
            }
        };
        Ok(Self {
            version: workspace.version().to_owned(),
            target: workspace.host().to_owned(),
            epoch: epoch.trim().to_owned(),
            is_trial,
        })
    }

    /// The processor, as target triples name it.
    fn processor(&self) -> &str {
        self.target.split('-').next().unwrap_or_default()
    }

    /// A program whose output is dated by the release.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SOURCE_DATE_EPOCH", &self.epoch).env("TZ", "UTC").env("LC_ALL", "C");
        command
    }
}

/// Builds everything into `dist/`, rehearses the publication of the crates, and prints the path of each file.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    ensure_committed(workspace)?;
    let dir = workspace.path("dist");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    let distribution = dist::build(workspace)?;
    let bytes = distribution.program.metadata()?.len();
    LOG.line(&format!("the program has {:.1} MB", bytes as f64 / 1e6));
    ensure!(bytes <= PROGRAM_BYTES_MAX, "more than {PROGRAM_BYTES_MAX} bytes");
    let release = Release::of(workspace, false)?;
    let mut files = pack(workspace, &release, &distribution, &dir)?;
    files.push(printed_note(workspace, &release, &dir)?);
    files.extend(python::files(workspace, &release, &dir)?);
    crates::rehearse(workspace)?;
    files.push(checksums(&dir, &files)?);
    files.iter().for_each(|file| println!("{}", file.display()));
    Ok(())
}

/// Refuses a checkout whose files are not those of its commit; an archive of the sources has none.
fn ensure_committed(workspace: &Workspace) -> Result<()> {
    if !workspace.path(".git").exists() {
        return Ok(());
    }
    let mut git = Command::new("git");
    git.args(["status", "--porcelain", "--untracked-files=no"]).current_dir(workspace.root());
    let changed = proc::capture(&mut git)?;
    ensure!(changed.is_empty(), "commit these changes first:\n{changed}");
    Ok(())
}

/// The verb `note`: prints the technical note into `dist/`, and the path of the file.
pub(crate) fn note(workspace: &Workspace) -> Result<()> {
    let dir = workspace.path("dist");
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    println!("{}", printed_note(workspace, &Release::of(workspace, false)?, &dir)?.display());
    Ok(())
}

/// The technical note as PDF, with its pictures drawn anew.
fn printed_note(workspace: &Workspace, release: &Release, dir: &Path) -> Result<PathBuf> {
    setup::python_environment(workspace, LOG)?;
    let path = dir.join(format!("ssdlab-note-{}.pdf", release.version));
    let mut print = release.command(&workspace.path(".venv/bin/python").to_string_lossy());
    print.arg("validation/python/note.py").arg(&path).current_dir(workspace.root());
    proc::stream(LOG, &mut print)?;
    Ok(path)
}

/// The step of the checks: packs the program that tests start, installs the package into an empty folder, and starts
/// it there. Of the Python package it packs the sources.
pub(crate) fn check(workspace: &Workspace, log: Log) -> Result<()> {
    let dir = workspace.target_dir().join("tmp/release");
    let _ = fs::remove_dir_all(&dir);
    let distribution = dist::place(&workspace.ssdlab(), &dir)?;
    let release = Release::of(workspace, true)?;
    let files = pack(workspace, &release, &distribution, &dir)?;
    checksums(&dir, &files)?;
    proc::stream(log, Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(&dir))?;
    let root = dir.join("root");
    let package = files.iter().find(|file| file.extension().is_some_and(|it| it == "deb"));
    let package = package.context("no package for Debian")?;
    proc::stream(log, Command::new("dpkg-deb").arg("--extract").arg(package).arg(&root))?;
    let mut run = Command::new(root.join("usr/bin/ssdlab"));
    run.args(["run", "consistency", "sim:sandisk-extreme-ii-480gb?scale=1/512"]);
    run.args(["--set", "duration=5s", "--set", "steady_from=2s"]).current_dir(&dir);
    proc::stream(log, &mut run)?;
    crates::check(workspace)?;
    python::check(workspace, &release, &dir)
}

/// Everything but the Python package, into `dir`.
fn pack(
    workspace: &Workspace,
    release: &Release,
    distribution: &Distribution,
    dir: &Path,
) -> Result<Vec<PathBuf>> {
    let parts = components::of_program(workspace)?;
    let texts = write(&dir.join("THIRD-PARTY-LICENSES.txt"), &licences::page(&parts)?)?;
    let name = format!("ssdlab-{}.cdx.json", release.version);
    let sbom = write(&dir.join(name), &sbom::document(release, &parts)?)?;
    let papers: Vec<PathBuf> = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"]
        .map(|name| workspace.path(name))
        .into_iter()
        .chain([texts.clone()])
        .collect();
    let archive = archive(release, distribution, &papers, dir)?;
    let package = debian::package(release, distribution, &papers, dir)?;
    Ok(vec![distribution.program.clone(), archive, package, sbom, texts])
}

/// The program, its pages and its papers as one folder, in a `.tar.zst`.
fn archive(
    release: &Release,
    distribution: &Distribution,
    papers: &[PathBuf],
    dir: &Path,
) -> Result<PathBuf> {
    let name = format!("ssdlab-{}-{}-linux", release.version, release.processor());
    let tree = Tree::new(dir.join("archive"))?;
    tree.add(&distribution.program, &format!("{name}/ssdlab"), 0o755)?;
    for path in below(&distribution.man)?.iter().chain(&below(&distribution.completions)?) {
        let place = path.strip_prefix(dir).context("a page elsewhere")?;
        tree.add(path, &format!("{name}/{}", place.display()), 0o644)?;
    }
    for paper in papers {
        tree.add(paper, &format!("{name}/{}", file_name(paper)), 0o644)?;
    }
    let path = dir.join(format!("{name}.tar.zst"));
    let mut tar = release.command("tar");
    tar.args(["--create", "--sort=name", "--format=gnu", "--owner=0", "--group=0"]);
    let level = if release.is_trial { 1 } else { 19 };
    tar.arg("--numeric-owner").arg(format!("--use-compress-program=zstd -{level} -T1"));
    tar.arg(format!("--mtime=@{}", release.epoch)).arg("--file").arg(&path);
    proc::stream(LOG, tar.arg("--directory").arg(&tree.root).arg(name))?;
    tree.remove()?;
    Ok(path)
}

/// `SHA256SUMS` of these files, in the form of `sha256sum --check`.
fn checksums(dir: &Path, files: &[PathBuf]) -> Result<PathBuf> {
    let mut names: Vec<_> = files.iter().map(|file| file_name(file)).collect();
    names.sort();
    let sums = proc::capture(Command::new("sha256sum").args(names).current_dir(dir))?;
    write(&dir.join("SHA256SUMS"), &sums)
}

/// A folder in which files of a package are laid out, with the rights that they get.
struct Tree {
    root: PathBuf,
}

impl Tree {
    fn new(root: PathBuf) -> Result<Self> {
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).with_context(|| format!("cannot make {}", root.display()))?;
        Ok(Self { root })
    }

    fn add(&self, from: &Path, to: &str, mode: u32) -> Result<()> {
        let data = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        self.write(to, &data, mode)
    }

    fn write(&self, to: &str, data: &[u8], mode: u32) -> Result<()> {
        let path = self.root.join(to);
        let parent = path.parent().context("a file of no folder")?;
        fs::create_dir_all(parent)?;
        fs::write(&path, data).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(mode))?)
    }

    fn remove(self) -> Result<()> {
        Ok(fs::remove_dir_all(self.root)?)
    }
}

/// The files directly in a folder, by name.
fn below(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = dir.read_dir().with_context(|| format!("cannot read {}", dir.display()))?;
    let mut paths: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn write(path: &Path, text: &str) -> Result<PathBuf> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path.to_owned())
}
