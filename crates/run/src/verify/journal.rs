//! The journal during the writes: one line for the run, then one for each flushed batch.
//!
//! A line is synced before the next batch begins, so that after a power cut the journal promises no
//! more than the drive did. Each line begins with a checksum of everything up to its end, because a
//! damaged journal must not accuse a drive. [`Promises`](super::promises::Promises) reads it.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ::target::TargetError;
use base::file::open_regular;
use serde_json::{Value, json};

use super::Layout;
use crate::error::RunError;

/// The first word of every journal, with its version.
pub(super) const FORMAT: &str = "ssdlab-verify-2";

/// The facts for reading back the data of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Serial (or path) of the target, to detect another one.
    pub serial: String,
    /// World-wide name of a drive that has one: the namespaces of a drive share its serial.
    pub wwid: Option<String>,
    /// Seed of the data.
    pub seed: u64,
    /// The places of the blocks.
    pub layout: Layout,
}

/// The checksum of a journal up to the present line. The checksum of each line also covers all
/// earlier lines, so that lost, doubled or exchanged lines are detected.
#[derive(Clone, Debug, Default)]
pub(super) struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// Adds a whole line.
    pub(super) fn add(&mut self, line: &[u8]) {
        self.0.update(line);
    }

    /// The text before `json` in its line: eight hexadecimal digits and a space.
    pub(super) fn before(&self, json: &[u8]) -> String {
        let mut sum = self.0.clone();
        sum.update(json);
        format!("{:08x} ", sum.finalize())
    }
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    checksum: Checksum,
}

impl Journal {
    /// Begins a journal. An existing one stays: it may be the only record of a drive's promises. If
    /// the begin fails, the new file is removed again.
    ///
    /// # Errors
    /// [`RunError::Usage`] with the path if there can be no such file; [`TargetError::Device`] if its
    /// file system fails.
    pub fn create(path: &Path, header: &Header) -> Result<Self, RunError> {
        let file = File::create_new(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => RunError::Usage(format!(
                "the journal {} exists already; read back what it promises with --check, then remove it or \
                 name another one with --journal",
                path.display()
            )),
            _ => unusable(path, error),
        })?;
        // File systems without locks are used without one.
        let _ = file.try_lock();
        let mut journal = Self { file, path: path.to_owned(), checksum: Checksum::default() };
        if let Err(error) = journal.begin(header) {
            // It promises nothing, and would only be in the way of the next attempt.
            if names_the_same(&journal.file, path) {
                let _ = fs::remove_file(path);
            }
            return Err(error);
        }
        Ok(journal)
    }

    /// Whether a living process writes this journal: it holds a lock, which ends with it.
    pub fn is_being_written(path: &Path) -> bool {
        let file = open_regular(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn begin(&mut self, header: &Header) -> Result<(), RunError> {
        let Layout { span_bytes, block_bytes } = header.layout;
        self.append(&json!({
            "format": FORMAT, "serial": header.serial, "wwid": header.wwid, "seed": header.seed.to_string(),
            "span_bytes": span_bytes, "block_bytes": block_bytes,
        }))?;
        // The name must survive as well.
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = File::open(dir.unwrap_or(Path::new(".")));
        dir.and_then(|dir| dir.sync_all()).map_err(|error| failed(&self.path, error))
    }

    /// Records the blocks of a flushed batch, each with its generation, and syncs.
    ///
    /// # Errors
    /// [`TargetError::Device`] with the path if the file cannot be written.
    pub fn flushed(&mut self, batch: &[(u64, u64)]) -> Result<(), RunError> {
        self.append(&json!(batch))
    }

    fn append(&mut self, json: &Value) -> Result<(), RunError> {
        let json = json.to_string();
        let line = format!("{}{json}\n", self.checksum.before(json.as_bytes()));
        self.checksum.add(line.as_bytes());
        let written = self.file.write_all(line.as_bytes());
        written.and_then(|()| self.file.sync_data()).map_err(|error| failed(&self.path, error))
    }
}

/// The error of a journal that cannot be opened: another path helps, unless the file system itself
/// fails.
pub(super) fn unusable(path: &Path, error: io::Error) -> RunError {
    use ErrorKind::{InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound};
    match error.kind() {
        NotFound
        | NotADirectory
        | IsADirectory
        | InvalidFilename
        | InvalidInput
        | ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem => RunError::Usage(format!(
            "the journal {} cannot be used: {error}; name another one with --journal",
            path.display()
        )),
        _ => failed(path, error),
    }
}

/// The file system under the journal failed, for instance because it is full.
/// Whether the path still leads to the open file, and not to what somebody put in its place.
fn names_the_same(file: &File, path: &Path) -> bool {
    let thing = |found: fs::Metadata| (found.dev(), found.ino());
    let open = file.metadata().ok().map(thing);
    open.is_some() && open == fs::symlink_metadata(path).ok().map(thing)
}

fn failed(path: &Path, source: io::Error) -> RunError {
    let context = format!("the journal {} cannot be used", path.display());
    RunError::Target(TargetError::Device { context, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let layout = Layout { span_bytes: 1 << 20, block_bytes: 4096 };
        Header { serial: "S1".to_owned(), wwid: None, seed: u64::MAX, layout }
    }

    #[test]
    fn an_older_journal_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        Journal::create(&path, &header()).unwrap();
        let before = fs::read(&path).unwrap();
        let error = Journal::create(&path, &header()).unwrap_err().to_string();
        assert!(error.contains("--check"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    /// `/dev/full` stands for a file system without room.
    #[test]
    fn a_full_file_system_is_no_fault_of_the_command() {
        let path = Path::new("/dev/full").to_owned();
        let file = File::options().write(true).open(&path).unwrap();
        let mut journal = Journal { file, path, checksum: Checksum::default() };
        let error = journal.flushed(&[(3, 1)]).unwrap_err();
        assert!(matches!(&error, RunError::Target(TargetError::Device { .. })), "{error:?}");
        assert!(error.to_string().contains("/dev/full"), "{error}");
        let nowhere = Journal::create(Path::new("/no/such/journal"), &header()).unwrap_err();
        assert!(matches!(nowhere, RunError::Usage(_)), "{nowhere:?}");
    }
}
