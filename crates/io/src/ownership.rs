//! Why a target may be used, and what is undone when it is dropped.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::error::IoError;
use crate::guard::Claim;

/// The right to use what is behind a descriptor.
#[derive(Debug)]
pub(crate) enum Ownership {
    /// A regular file, ours or lent.
    File(FileHold),
    /// A block device that passed the guard.
    Device(Box<Claim>),
}

impl Ownership {
    /// Makes sure that the open target is still the one the user agreed to.
    ///
    /// # Errors
    /// [`IoError::Refused`] with code `identity-changed` where it is not.
    pub(crate) fn recheck(&self, file: &File, capacity_bytes: u64) -> Result<(), IoError> {
        match self {
            Self::File(hold) => hold.recheck(file, capacity_bytes),
            Self::Device(claim) => claim.recheck(file),
        }
    }
}

/// A regular file by name and by inode; removed on drop where it was created for the run.
#[derive(Debug)]
pub(crate) struct FileHold {
    path: PathBuf,
    device_and_inode: (u64, u64),
    remove: bool,
}

impl FileHold {
    pub(crate) fn new(path: PathBuf, metadata: &Metadata, remove: bool) -> Self {
        Self { path, device_and_inode: (metadata.dev(), metadata.ino()), remove }
    }

    /// Lets the file stay after the run.
    pub(crate) fn keep(&mut self) {
        self.remove = false;
    }

    fn names_the_same(&self) -> bool {
        fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == self.device_and_inode)
    }

    fn recheck(&self, file: &File, capacity_bytes: u64) -> Result<(), IoError> {
        let long_enough = file.metadata().is_ok_and(|open| open.len() >= capacity_bytes);
        if self.names_the_same() && long_enough {
            return Ok(());
        }
        Err(IoError::Refused {
            code: "identity-changed",
            message: format!(
                "{} was replaced or cut short since it was opened; expected the same file of at \
                 least {capacity_bytes} bytes: stop whatever touches it and run again",
                self.path.display()
            ),
        })
    }
}

impl Drop for FileHold {
    fn drop(&mut self) {
        // Whoever put another file in its place keeps it. A failure to remove has nowhere to go.
        if self.remove && self.names_the_same() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
