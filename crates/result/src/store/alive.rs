//! The lock of a run directory: its writer holds it, and the kernel releases it with the process,
//! after any end.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::dir::Dir;

/// The lock of the writer, for its whole life.
#[derive(Debug)]
pub(super) struct Hold {
    _locked: Option<File>,
}

impl Hold {
    /// Locks the directory. A file system without locks leaves it unlocked, and a reader there
    /// cannot distinguish a dead writer from a living one.
    pub(super) fn of(dir: &Dir) -> Self {
        Self { _locked: locked(dir) }
    }

    /// Locks the directory, or `None` if another has locked it or nobody can.
    pub(super) fn alone(dir: &Dir) -> Option<Self> {
        Some(Self { _locked: Some(locked(dir)?) })
    }
}

fn locked(dir: &Dir) -> Option<File> {
    let file = dir.lock_file().ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

/// Whether it is certain that no process writes the directory.
pub(super) fn is_abandoned(dir: &Path) -> bool {
    File::open(dir).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok())
}
