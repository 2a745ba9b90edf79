//! Names the commit in `ssdlab --version`: of a release build, or of the sources of an archive; and the target.
//!
//! A debug build names none, or every commit would compile the program anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The place that `git archive` fills with the commit (see `.gitattributes`).
const ARCHIVE: &str = "COMMIT";
/// Files and folders that the program is built from, below the root of the workspace.
const SOURCES: [&str; 5] = ["Cargo.lock", "crates", "drives", "hosts", "workloads"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={ARCHIVE}");
    let version = env("CARGO_PKG_VERSION");
    let version = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo:rustc-env=SSDLAB_VERSION={version}");
    println!("cargo:rustc-env=SSDLAB_TARGET={}", env("TARGET"));
}

/// The words on the commit, or `None` if nothing tells it.
fn commit() -> Option<String> {
    let archived = fs::read_to_string(ARCHIVE).unwrap_or_default();
    let archived = archived.lines().rfind(|line| !line.starts_with('#')).unwrap_or_default().trim();
    if !archived.is_empty() && !archived.contains('$') {
        return Some(format!("commit {archived}"));
    }
    if env("PROFILE") != "release" {
        return Some("debug build".to_owned());
    }
    let root = PathBuf::from(env("CARGO_MANIFEST_DIR")).join("../..");
    // Only the repository of ssdlab, and not one that this folder happens to stand in.
    let root = fs::canonicalize(root).ok().filter(|root| root.join(".git").exists())?;
    // The log of HEAD grows with every commit and checkout; a change of the sources may be one that is not committed.
    let log = git(&root, &["rev-parse", "--git-path", "logs/HEAD"])?;
    let watched = [root.join(log)].into_iter().chain(SOURCES.map(|name| root.join(name)));
    watched.for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
    let commit = git(&root, &["log", "-1", "--format=%h %cs"])?;
    let args = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changed = git(&root, &[&args[..], &SOURCES].concat())?;
    Some(format!("commit {commit}{}", if changed.is_empty() { "" } else { ", changed" }))
}

/// The answer of git, or `None` if there is no git here, or it refuses.
fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
