//! Run directories of a library, without a look at their content.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::run_id::{RUN_ID_RULE, is_run_id};
use crate::store::{LATENCY_FILE, RUN_FILE, SERIES_FILE, StoreError};

/// Largest `run.json`: that of a run with 10,000 phases has a fifth of it.
const RUN_BYTES_MAX: u64 = 32 << 20;
/// Largest Parquet file: a run of a month has a tenth of it.
const ROWS_BYTES_MAX: u64 = 1 << 30;

const FILES: [(&str, u64); 3] =
    [(RUN_FILE, RUN_BYTES_MAX), (SERIES_FILE, ROWS_BYTES_MAX), (LATENCY_FILE, ROWS_BYTES_MAX)];

/// A directory that looks like a run.
#[derive(Clone, Debug)]
pub struct RunCandidate {
    /// Name of the directory.
    pub name: String,
    /// The directory.
    pub path: PathBuf,
    /// Sizes and times of its files: they change with its content.
    pub stamp: String,
    /// The obstacle that shows without a look at its content, or `None` if there is none.
    pub obstacle: Option<String>,
}

/// The directories of `library` with at least one file of a run, by name; none if there is no
/// library yet.
///
/// # Errors
/// If the library cannot be read.
pub fn scan(library: &Path) -> Result<Vec<RunCandidate>, StoreError> {
    let entries = match fs::read_dir(library) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(StoreError::io("read the library", library))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read the library", library))?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.extend(scan_one(&entry.path()).map(with_plain_name));
        }
    }
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The run in a directory, or `None` if it has no file of a run.
pub fn scan_one(path: &Path) -> Option<RunCandidate> {
    let files = FILES.map(|(file, _)| fs::metadata(path.join(file)).ok());
    if files.iter().all(Option::is_none) {
        return None;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stamps: Vec<_> = files.iter().map(|file| file.as_ref().map(stamp)).collect();
    let stamp = serde_json::to_string(&stamps).unwrap_or_default();
    Some(RunCandidate { obstacle: obstacle(&files), name, path: path.to_owned(), stamp })
}

fn with_plain_name(found: RunCandidate) -> RunCandidate {
    if is_run_id(&found.name) {
        return found;
    }
    let words = format!("the name of the directory cannot be that of a run; {RUN_ID_RULE}");
    RunCandidate { obstacle: Some(words), ..found }
}

/// Size and time of change in ns since the Unix epoch.
fn stamp(file: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (file.len(), file.mtime(), file.mtime_nsec())
}

/// A missing, endless or huge file. A pipe in the place of a file would hold its reader forever.
fn obstacle(files: &[Option<Metadata>; 3]) -> Option<String> {
    for ((name, bytes_max), file) in FILES.iter().zip(files) {
        match file {
            None => return Some(format!("half written: there is no {name}")),
            Some(file) if !file.is_file() => return Some(format!("{name} is no regular file")),
            Some(file) if file.len() > *bytes_max => {
                let (bytes, most) = (base::Bytes(file.len()), base::Bytes(*bytes_max));
                return Some(format!("{name} has {bytes}, more than {most}"));
            }
            Some(_) => {}
        }
    }
    None
}
