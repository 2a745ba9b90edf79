//! Files that are complete at any time: either the old or the new ones.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::StoreError;

/// A file beside its final name; removed unless it gets that name.
struct StagedFile {
    temporary: PathBuf,
    target: PathBuf,
}

impl StagedFile {
    fn write(dir: &Path, name: &str, content: &[u8]) -> Result<Self, StoreError> {
        let staged = Self { temporary: dir.join(format!(".{name}.tmp")), target: dir.join(name) };
        // One that a kill left behind goes first, so that the new one follows no link.
        let _ = fs::remove_file(&staged.temporary);
        let mut file = File::create_new(&staged.temporary)
            .map_err(StoreError::io("create", &staged.temporary))?;
        file.write_all(content).map_err(StoreError::io("write", &staged.target))?;
        // Some file systems find out about a full disk only here.
        file.sync_all().map_err(StoreError::io("write", &staged.target))?;
        Ok(staged)
    }

    fn put_in_place(self) -> Result<(), StoreError> {
        fs::rename(&self.temporary, &self.target).map_err(StoreError::io("replace", &self.target))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove, and that is the usual case.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Makes renames and new names in `dir` durable.
pub(super) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    File::open(dir).and_then(|file| file.sync_all()).map_err(StoreError::io("write", dir))
}

/// Replaces several files of one directory. Every byte is on disk before the first name changes, so
/// that a full disk leaves all old files unchanged. Names change in the given order, so that the
/// last file can confirm the others after a crash.
pub(crate) fn replace_files(dir: &Path, files: &[(&str, &[u8])]) -> Result<(), StoreError> {
    let staged = files
        .iter()
        .map(|(name, content)| StagedFile::write(dir, name, content))
        .collect::<Result<Vec<_>, _>>()?;
    for file in staged {
        file.put_in_place()?;
    }
    sync_dir(dir)
}
