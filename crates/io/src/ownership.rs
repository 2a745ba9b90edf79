//! The right to use a target, and the cleanup when it is dropped.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use device::guard::Claim;
use device::guard::file::FileClaim;
use target::TargetError;
use target::UseProbe;

use crate::space::Fit;

/// The right to use the medium behind a descriptor.
#[derive(Debug)]
pub(crate) enum Ownership {
    /// A regular file, ours or lent.
    File(FileHold),
    /// A block device that passed the guard.
    Device(Box<Claim>),
}

impl Ownership {
    /// Makes sure that the open target is still the one the user agreed to. Only then is an
    /// existing file brought to its size.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with code `identity-changed` if it is not; [`TargetError::Device`] if the
    /// file cannot have that size.
    pub(crate) fn recheck(&self, file: &File, capacity_bytes: u64) -> Result<(), TargetError> {
        match self {
            Self::File(hold) => hold.recheck(file, capacity_bytes),
            Self::Device(claim) => claim.recheck(file),
        }
    }
}

impl UseProbe for Ownership {
    fn require_unused(&self) -> Result<(), TargetError> {
        match self {
            Self::File(hold) => hold.claim.as_ref().map_or(Ok(()), FileClaim::require_unused),
            Self::Device(claim) => claim.require_unused(),
        }
    }
}

/// A regular file by name and by inode; removed on drop if it was created for the run.
#[derive(Debug)]
pub(crate) struct FileHold {
    path: PathBuf,
    device_and_inode: (u64, u64),
    /// Whether the file is removed at the end.
    remove: AtomicBool,
    /// Whether it stays, once it was used.
    keep: bool,
    /// The work still to be done on an existing file before the first command.
    fit: Mutex<Option<Fit>>,
    /// The claim on a file that is written to, or `None` if it is only read.
    claim: Option<FileClaim>,
}

impl FileHold {
    pub(crate) fn new(path: PathBuf, metadata: &Metadata, remove: bool) -> Self {
        let device_and_inode = (metadata.dev(), metadata.ino());
        let remove = AtomicBool::new(remove);
        Self { path, device_and_inode, remove, keep: false, fit: Mutex::new(None), claim: None }
    }

    /// Keeps others from the file as long as this lives.
    pub(crate) fn claim(&mut self, claim: FileClaim) {
        self.claim = Some(claim);
    }

    /// Leaves the file as it is until [`FileHold::recheck`].
    pub(crate) fn fit_later(&mut self, fit: Fit) {
        self.fit = Mutex::new(Some(fit));
    }

    /// Lets the file stay after a run that came to use it ([`FileHold::recheck`]). The file of a
    /// run that was refused before must not be in the way of the next.
    pub(crate) fn keep(&mut self) {
        self.keep = true;
    }

    /// Does the postponed work, once.
    fn fit(&self, file: &File) -> Result<(), TargetError> {
        let mut pending = self.fit.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fit) = *pending {
            fit.apply(file, &self.path)?;
            *pending = None;
        }
        Ok(())
    }

    fn names_the_same(&self) -> bool {
        fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == self.device_and_inode)
    }

    fn recheck(&self, file: &File, capacity_bytes: u64) -> Result<(), TargetError> {
        let is_the_same = self.names_the_same();
        if is_the_same {
            self.fit(file)?;
        }
        let long_enough = file.metadata().is_ok_and(|open| open.len() >= capacity_bytes);
        if is_the_same && long_enough {
            if self.keep {
                self.remove.store(false, Ordering::Relaxed);
            }
            return Ok(());
        }
        Err(TargetError::Refused {
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
        // A file that somebody put in its place stays. A failure to remove cannot be reported.
        if self.remove.load(Ordering::Relaxed) && self.names_the_same() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
