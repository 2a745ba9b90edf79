//! Changes to run directories that have ended: the words of the user, and removal.

use std::fs;
use std::path::Path;

use super::alive::Hold;
use super::checksum::rewritten;
use super::ios::{IOS_FILE, IOS_FILE_UNFINISHED};
use super::{
    LATENCY_FILE, LIVE_FILE, RUN_FILE, RunDir, SERIES_FILE, StoreError, replace_files, sync_dir,
};
use crate::schema::{About, RunStatus};

/// The files of a run directory.
const OWN: [&str; 8] = [
    RUN_FILE,
    SERIES_FILE,
    LATENCY_FILE,
    IOS_FILE,
    IOS_FILE_UNFINISHED,
    LIVE_FILE,
    "words.md",
    "report.html",
];

impl RunDir {
    /// Replaces the words of the user in `run.json`; everything else, and its protection against
    /// damage, stays.
    ///
    /// # Errors
    /// [`StoreError::InProgress`], or the error of the file system.
    pub fn set_about(&mut self, about: About) -> Result<(), StoreError> {
        let _held = self.held()?;
        self.run.about = about;
        let bytes = rewritten(&self.run, self.checksums.as_ref());
        replace_files(&self.path, &[(RUN_FILE, &bytes)])
    }

    /// Removes the directory. It first loses its description, so that a removal that is cut off
    /// leaves no run behind.
    ///
    /// # Errors
    /// [`StoreError::InProgress`], [`StoreError::OtherFiles`] if it holds anything but the files of a run, or the error
    /// of the file system.
    pub fn remove(self) -> Result<(), StoreError> {
        let _held = self.held()?;
        self.check_removable()?;
        for name in OWN {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
        fs::remove_dir(&self.path).map_err(StoreError::io("remove", &self.path))?;
        sync_dir(self.path.parent().unwrap_or(Path::new(".")))
    }

    /// Makes sure that nothing but the files of an ended run would be lost.
    ///
    /// # Errors
    /// [`StoreError::InProgress`] or [`StoreError::OtherFiles`].
    pub fn check_removable(&self) -> Result<(), StoreError> {
        self.check_ended()?;
        match other_file(&self.path)? {
            Some(name) => Err(StoreError::OtherFiles { path: self.path.clone(), name }),
            None => Ok(()),
        }
    }

    /// Bytes of its files.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        let size = |name: &&str| fs::metadata(self.path.join(name)).map_or(0, |file| file.len());
        OWN.iter().map(size).sum()
    }

    /// The lock of the writer, unless a living one has it.
    fn held(&self) -> Result<Hold, StoreError> {
        self.check_ended()?;
        Ok(Hold::take(&self.path))
    }

    fn check_ended(&self) -> Result<(), StoreError> {
        match self.run.status {
            RunStatus::Running => Err(StoreError::InProgress { path: self.path.clone() }),
            _ => Ok(()),
        }
    }
}

/// A name in the directory that is no file of a run, or `None` if there is none.
fn other_file(dir: &Path) -> Result<Option<String>, StoreError> {
    for entry in fs::read_dir(dir).map_err(StoreError::io("read", dir))? {
        let entry = entry.map_err(StoreError::io("read", dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !(is_file && OWN.contains(&name.as_str())) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
