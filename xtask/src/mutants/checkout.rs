//! A copy of the checkout whose checks are removed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::list::Mutant;
use super::switches::switched;
use xtask::proc;
use xtask::workspace::Workspace;

/// The copy, below the target directory.
pub(super) struct Checkout {
    root: PathBuf,
    /// The target directory of its builds.
    pub(super) target_dir: PathBuf,
    /// The directory of the outputs of the tests.
    pub(super) logs: PathBuf,
}

impl Checkout {
    /// Makes the copy equal to the checkout, uncommitted changes included. Files that are equal already keep their
    /// time, so that cargo builds only what has changed since the last call.
    pub(super) fn copy(workspace: &Workspace) -> Result<Self> {
        let dir = workspace.target_dir().join("mutants");
        let checkout = Self {
            root: dir.join("checkout"),
            target_dir: dir.join("target"),
            logs: dir.join("logs"),
        };
        fs::create_dir_all(&checkout.root)?;
        fs::create_dir_all(&checkout.logs)?;
        let kept = kept_files(workspace.root())?;
        for file in &kept {
            copy_if_changed(&workspace.path(file), &checkout.path(file))
                .with_context(|| format!("cannot copy {file}"))?;
        }
        remove_others(&checkout.root, &checkout.root, &kept)?;
        Ok(checkout)
    }

    /// A path inside the copy.
    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Gives every function of these checks a body without each of them.
    pub(super) fn switch(&self, mutants: &[&Mutant]) -> Result<()> {
        let files: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.file.as_str()).collect();
        for file in files {
            let of_file = mutants.iter().copied().filter(|mutant| mutant.file == file);
            let of_file: Vec<_> = of_file.collect();
            let path = self.path(file);
            let source = switched(&fs::read_to_string(&path)?, &of_file);
            fs::write(path, source.with_context(|| format!("in {file}"))?)?;
        }
        Ok(())
    }
}

/// Files that git keeps, or would keep if they were added now.
fn kept_files(root: &Path) -> Result<BTreeSet<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let names = proc::capture(&mut git)?;
    // A link to a directory is kept as one: a crate with its own data has it.
    let is_there = |name: &&str| {
        let path = root.join(name);
        !name.is_empty() && (path.is_file() || path.is_symlink())
    };
    Ok(names.split('\0').filter(is_there).map(str::to_owned).collect())
}

fn copy_if_changed(from: &Path, to: &Path) -> Result<()> {
    if let Some(dir) = to.parent() {
        fs::create_dir_all(dir)?;
    }
    if from.is_symlink() {
        let _ = fs::remove_file(to);
        return Ok(symlink(fs::read_link(from)?, to)?);
    }
    let content = fs::read(from)?;
    if fs::read(to).is_ok_and(|old| old == content) {
        return Ok(());
    }
    fs::write(to, content)?;
    // A script stays one.
    Ok(fs::set_permissions(to, fs::metadata(from)?.permissions())?)
}

/// Removes files of an earlier copy that the checkout has no longer.
fn remove_others(root: &Path, dir: &Path, kept: &BTreeSet<String>) -> Result<()> {
    for entry in dir.read_dir()? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            remove_others(root, &path, kept)?;
            // An empty one may look like a crate; others stay.
            let _ = fs::remove_dir(&path);
            continue;
        }
        let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
        if !kept.contains(&name) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
