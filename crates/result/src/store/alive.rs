//! Whether somebody still writes a run directory: its writer holds a lock on it, which the kernel takes
//! away with the process, however that ends.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Held by the writer for as long as it lives.
#[derive(Debug)]
pub(super) struct Hold {
    _locked: Option<File>,
}

impl Hold {
    /// Locks the directory. A file system without locks leaves it unlocked, and a reader there cannot
    /// tell a dead writer from a living one.
    pub(super) fn take(dir: &Path) -> Self {
        let locked = File::open(dir)
            .ok()
            .filter(|file| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok());
        Self { _locked: locked }
    }
}

/// Whether it is certain that nobody writes the directory any more.
pub(super) fn is_abandoned(dir: &Path) -> bool {
    File::open(dir).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok())
}
