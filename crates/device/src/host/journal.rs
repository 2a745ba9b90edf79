//! Journals of the settings found, written to disk before a change: one file for each setting that
//! is switched, locked while its run is alive.
//!
//! A lock ends with its process, however that ends; so a journal that can be locked is one left
//! behind. Journals are made and taken under a lock of the directory, so that a half-made journal
//! is never mistaken for one left behind.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use target::TargetError;

use super::patience::patiently;

/// Directory of the journals: a restart clears it, as it does the settings.
pub(crate) const DIR: &str = "/run/ssdlab";

/// A journal is a few hundred bytes; a larger file is none.
const BYTES_MAX: u64 = 64 << 10;

/// A journal in force: the file is locked as long as this lives.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Journal {
    /// Writes the settings found to the file `name` and makes it durable.
    pub(crate) fn write(
        dir: &Path,
        name: &str,
        entry: &impl Serialize,
    ) -> Result<Self, TargetError> {
        let path = dir.join(name);
        write(dir, &path, entry).map_err(|source| TargetError::Device {
            context: format!(
                "cannot note in {} what is to be put back, so nothing is switched",
                path.display()
            ),
            source,
        })
    }

    /// Removes it: all settings are restored.
    pub(crate) fn remove(self) {
        // A journal that stays restores the same setting once more, which does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

fn write(dir: &Path, path: &Path, entry: &impl Serialize) -> io::Result<Journal> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let dir = lock_dir(dir)?;
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.custom_flags(OFlags::NOFOLLOW.bits() as i32).open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    if file.metadata()?.len() > 0 {
        let words = "an earlier run was killed and its settings are not put back yet; run `ssdlab restore-settings`";
        return Err(io::Error::other(words));
    }
    file.write_all(serde_json::to_string(entry)?.as_bytes())?;
    file.sync_all()?;
    dir.sync_all()?;
    Ok(Journal { path: path.to_owned(), _file: file })
}

fn lock_dir(dir: &Path) -> io::Result<File> {
    let dir = File::open(dir)?;
    patiently(|| flock(&dir, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from))?;
    Ok(dir)
}

/// Journals of runs that are no longer alive, with names that begin with `prefix`. Files without a
/// journal are removed: nothing had been changed yet when they were written.
pub(crate) fn left_behind<E: DeserializeOwned>(dir: &Path, prefix: &str) -> Vec<(E, Journal)> {
    let Ok(_locked) = lock_dir(dir) else { return Vec::new() };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort_unstable();
    names.iter().filter_map(|name| take(&dir.join(name))).collect()
}

fn take<E: DeserializeOwned>(path: &Path) -> Option<(E, Journal)> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    let file = File::options().read(true).write(true).custom_flags(flags).open(path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let mut text = String::new();
    let read = (&file).take(BYTES_MAX).read_to_string(&mut text);
    let entry = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    let journal = Journal { path: path.to_owned(), _file: file };
    if entry.is_none() {
        let _ = fs::remove_file(path);
    }
    Some((entry?, journal))
}
