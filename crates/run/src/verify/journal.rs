//! What was promised: one JSON line for the run, then one for each batch that was flushed.
//!
//! A line is synced before the next batch begins, so that after a power cut the journal promises no more than
//! the drive did. A last line without its end is from the cut and does not count.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use ::io::IoError;
use serde_json::{Value, json};

use super::Layout;
use crate::error::RunError;

/// The first word of every journal, with its version.
const FORMAT: &str = "ssdlab-verify-1";

/// What must be known to read back what a run wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Serial (or path) of the target, to notice another one.
    pub serial: String,
    /// Seed of the data.
    pub seed: u64,
    /// Where the blocks are.
    pub layout: Layout,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Begins a journal. One that is there already is left alone: it may be all that knows what a
    /// drive promised.
    ///
    /// # Errors
    /// [`RunError::Usage`] with the path where there can be no such file; [`IoError::Device`] where its file
    /// system fails.
    pub fn create(path: &Path, header: &Header) -> Result<Self, RunError> {
        let file = File::create_new(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => RunError::Usage(format!(
                "the journal {} exists already; read back what it promises with --check, then remove it or \
                 name another one with --journal",
                path.display()
            )),
            _ => unusable(path, error),
        })?;
        let mut journal = Self { file, path: path.to_owned() };
        let Layout { span_bytes, block_bytes } = header.layout;
        journal.append(&json!({
            "format": FORMAT, "serial": header.serial, "seed": header.seed.to_string(),
            "span_bytes": span_bytes, "block_bytes": block_bytes,
        }))?;
        // The name must survive as well.
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = File::open(dir.unwrap_or(Path::new(".")));
        dir.and_then(|dir| dir.sync_all()).map_err(|error| failed(path, error))?;
        Ok(journal)
    }

    /// Notes the blocks of a flushed batch, each with its generation, and syncs.
    ///
    /// # Errors
    /// [`IoError::Device`] with the path where the file cannot be written.
    pub fn flushed(&mut self, batch: &[(u64, u64)]) -> Result<(), RunError> {
        self.append(&json!(batch))
    }

    fn append(&mut self, line: &Value) -> Result<(), RunError> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.and_then(|()| self.file.sync_data()).map_err(|error| failed(&self.path, error))
    }
}

/// Why a journal cannot be opened: another path helps, unless the file system itself fails.
fn unusable(path: &Path, error: io::Error) -> RunError {
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
fn failed(path: &Path, source: io::Error) -> RunError {
    let context = format!("the journal {} cannot be used", path.display());
    RunError::Target(IoError::Device { context, source })
}

fn not_a_journal(path: &Path, line: usize, expected: &str) -> RunError {
    RunError::Usage(format!(
        "{} is not a journal of `ssdlab verify`: line {line} is not {expected}",
        path.display()
    ))
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promises {
    /// How the run was made.
    pub header: Header,
    /// The last generation promised, by block.
    pub durable: BTreeMap<u64, u64>,
}

impl Promises {
    /// Reads the journal at `path`.
    ///
    /// # Errors
    /// [`RunError::Usage`] where it cannot be read or is not a journal; it names the line.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let mut text = String::new();
        File::open(path).and_then(|mut file| file.read_to_string(&mut text)).map_err(|error| {
            match error.kind() {
                ErrorKind::InvalidData => not_a_journal(path, 1, "text"),
                _ => unusable(path, error),
            }
        })?;
        Self::parse(&text).map_err(|(line, expected)| not_a_journal(path, line, expected))
    }

    fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        // What follows the last line end is from a write that was cut off.
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let mut lines = whole.lines().enumerate();
        let header = lines.next().and_then(|(_, line)| header(line)).ok_or((1, "its header"))?;
        let blocks = header.layout.blocks();
        let mut durable = BTreeMap::new();
        for (index, line) in lines {
            let wrong = (index + 1, "a list of block and generation");
            let batch: Vec<(u64, u64)> = serde_json::from_str(line).map_err(|_| wrong)?;
            if batch.iter().any(|(block, _)| *block >= blocks) {
                return Err((index + 1, "inside the span"));
            }
            durable.extend(batch);
        }
        Ok(Self { header, durable })
    }
}

fn header(line: &str) -> Option<Header> {
    let value: Value = serde_json::from_str(line).ok()?;
    if value["format"] != FORMAT {
        return None;
    }
    let block_bytes = u32::try_from(value["block_bytes"].as_u64()?).ok()?;
    if block_bytes < 512 || !block_bytes.is_power_of_two() {
        return None;
    }
    Some(Header {
        serial: value["serial"].as_str()?.to_owned(),
        seed: value["seed"].as_str()?.parse().ok()?,
        layout: Layout { span_bytes: value["span_bytes"].as_u64()?, block_bytes },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let layout = Layout { span_bytes: 1 << 20, block_bytes: 4096 };
        Header { serial: "S1".to_owned(), seed: u64::MAX, layout }
    }

    #[test]
    fn what_was_flushed_is_read_back_the_last_version_of_each_block() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::create(&path, &header()).unwrap();
        journal.flushed(&[(3, 1), (5, 2)]).unwrap();
        journal.flushed(&[(3, 3)]).unwrap();
        let promises = Promises::read(&path).unwrap();
        assert_eq!(promises.header, header());
        assert_eq!(promises.durable, BTreeMap::from([(3, 3), (5, 2)]));
    }

    #[test]
    fn an_older_journal_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        Journal::create(&path, &header()).unwrap();
        let error = Journal::create(&path, &header()).unwrap_err().to_string();
        assert!(error.contains("--check"), "{error}");
    }

    /// `/dev/full` stands for a file system without room.
    #[test]
    fn a_full_file_system_is_no_fault_of_the_command() {
        let path = Path::new("/dev/full").to_owned();
        let file = File::options().write(true).open(&path).unwrap();
        let error = Journal { file, path }.flushed(&[(3, 1)]).unwrap_err();
        assert!(matches!(&error, RunError::Target(IoError::Device { .. })), "{error:?}");
        assert!(error.to_string().contains("/dev/full"), "{error}");
        let nowhere = Journal::create(Path::new("/no/such/journal"), &header()).unwrap_err();
        assert!(matches!(nowhere, RunError::Usage(_)), "{nowhere:?}");
    }

    #[test]
    fn a_line_that_was_cut_off_promises_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        Journal::create(&path, &header()).unwrap().flushed(&[(3, 1)]).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        for cut in 1..6 {
            let promises = Promises::parse(&whole[..whole.len() - cut]).unwrap();
            assert!(promises.durable.is_empty(), "cut by {cut}");
        }
    }

    #[test]
    fn another_file_is_not_taken_for_a_journal() {
        for (text, line) in [("", 1), ("{}\n", 1), ("hello\n[[1,1]]\n", 1)] {
            assert_eq!(Promises::parse(text).unwrap_err().0, line);
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        Journal::create(&path, &header()).unwrap().flushed(&[(1 << 40, 1)]).unwrap();
        let error = Promises::read(&path).unwrap_err().to_string();
        assert!(error.contains("line 2 is not inside the span"), "{error}");
    }
}
