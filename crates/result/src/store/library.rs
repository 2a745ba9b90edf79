//! The directory of runs: its content, the run that a name denotes, and the check whether a new one
//! fits.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use base::text::nearest;

use super::{RUN_FILE, RunDir, StoreError};

/// Most bytes of a run directory for each measured second: one row, and up to a few hundred
/// histogram bins of about two bytes after compression.
const BYTES_PER_SECOND: u64 = 1_024;
/// Bytes of the shortest run directory.
const BYTES_BASE: u64 = 1 << 20;
/// A rewrite needs old and new files side by side.
const COPIES: u64 = 2;

/// One run of a library.
#[derive(Debug)]
pub struct LibraryEntry {
    /// Name of the directory: the run id, unless someone renamed it.
    pub name: String,
    /// The directory.
    pub path: PathBuf,
    /// The run, or the reason why it cannot be read.
    pub run: Result<RunDir, StoreError>,
}

/// Every run directory of `library`, oldest first (by name). A directory without `run.json` is no
/// run directory and is omitted; an unreadable one is listed with its error.
///
/// # Errors
/// If the library itself cannot be read.
pub fn list(library: &Path) -> Result<Vec<LibraryEntry>, StoreError> {
    let entry = |name: String| {
        let path = library.join(&name);
        LibraryEntry { run: RunDir::open(&path), name, path }
    };
    Ok(run_names(library)?.into_iter().map(entry).collect())
}

/// The run directory that `name_or_path` denotes: a path, `latest`, a run id of `library`, or the
/// unique beginning or last part of one, such as `c3ee`. `./latest` is a path.
///
/// # Errors
/// [`StoreError::NoSuchRun`] with the closest names, or [`StoreError::AmbiguousRun`] with all
/// matching ones.
pub fn resolve_run(library: &Path, name_or_path: &str) -> Result<PathBuf, StoreError> {
    if name_or_path == "latest" {
        return latest(library);
    }
    let in_library = library.join(name_or_path);
    for path in [in_library, PathBuf::from(name_or_path)] {
        if !name_or_path.is_empty() && leads_to_run(&path) {
            return Ok(path);
        }
    }
    if name_or_path.contains('/') {
        return Err(StoreError::NotARun { path: PathBuf::from(name_or_path) });
    }
    let names = run_names(library)?;
    let fits = |name: &&String| {
        let last = name.rsplit_once('-').map(|(_, last)| last);
        name.starts_with(name_or_path) || last == Some(name_or_path)
    };
    let mut fitting: Vec<&String> = names.iter().filter(fits).collect();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(only), true) => Ok(library.join(only)),
        (Some(last), false) => Err(StoreError::AmbiguousRun {
            name: name_or_path.to_owned(),
            matches: fitting.into_iter().chain([last]).cloned().collect(),
        }),
        (None, _) => Err(no_such_run(library, name_or_path, &names)),
    }
}

/// Checks that results can be written to `library`, which need not exist yet: that it can be
/// created, a file can be written, and a run of `seconds` measured seconds fits. Leaves nothing
/// behind.
///
/// # Errors
/// Each names the fault and `--library`.
pub fn preflight(library: &Path, seconds: u64) -> Result<(), StoreError> {
    let place = nearest_existing(library)?;
    write_probe(&place)?;
    let free_bytes = free_bytes(&place)?;
    let needed_bytes =
        COPIES.saturating_mul(BYTES_BASE.saturating_add(seconds.saturating_mul(BYTES_PER_SECOND)));
    if free_bytes < needed_bytes {
        return Err(StoreError::NoSpace { library: library.to_owned(), free_bytes, needed_bytes });
    }
    Ok(())
}

/// Bytes of the disk of a directory that are available to this user.
///
/// # Errors
/// [`StoreError`] if there is no such directory.
pub fn free_bytes(place: &Path) -> Result<u64, StoreError> {
    let stat = rustix::fs::statvfs(place)
        .map_err(|errno| StoreError::io("ask for the free space of", place)(errno.into()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The library, or the closest existing directory above it.
pub(super) fn nearest_existing(library: &Path) -> Result<PathBuf, StoreError> {
    for candidate in library.ancestors() {
        let place = if candidate.as_os_str().is_empty() { Path::new(".") } else { candidate };
        match fs::metadata(place) {
            Ok(metadata) if metadata.is_dir() => return Ok(place.to_owned()),
            Ok(_) => return Err(StoreError::LibraryNotDirectory { path: place.to_owned() }),
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {}
                _ => return Err(StoreError::io("use", place)(error)),
            },
        }
    }
    Err(StoreError::LibraryNotDirectory { path: library.to_owned() })
}

/// Only a real write shows it: permissions do not bind root, and network file systems have their
/// own.
fn write_probe(dir: &Path) -> Result<(), StoreError> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let probe = dir.join(format!(".ssdlab-probe-{}-{number}", std::process::id()));
    let created = OpenOptions::new().write(true).create_new(true).open(&probe);
    created.map_err(StoreError::io("write to", dir))?;
    fs::remove_file(&probe).map_err(StoreError::io("write to", dir))
}

fn leads_to_run(path: &Path) -> bool {
    path.join(RUN_FILE).is_file()
        || (path.file_name().is_some_and(|name| name == RUN_FILE) && path.is_file())
}

/// Names of all run directories, in rising order.
fn run_names(library: &Path) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    let entries = match fs::read_dir(library) {
        // A library that nobody has written to yet holds no runs.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(names),
        entries => entries.map_err(StoreError::io("read the library", library))?,
    };
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read the library", library))?;
        if entry.path().join(RUN_FILE).is_file()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The run that started last. Names contain whole seconds, so that `run.json` decides among those
/// of the same second.
fn latest(library: &Path) -> Result<PathBuf, StoreError> {
    const STAMP_CHARS: usize = "20261121-031500".len();
    let names = run_names(library)?;
    let newest = names.last().ok_or_else(|| no_such_run(library, "latest", &names))?;
    let stamp = newest.get(..STAMP_CHARS).unwrap_or(newest);
    let started = |name: &&String| {
        RunDir::open(&library.join(name)).map_or(0, |dir| dir.run().started_unix_ns)
    };
    let of_last_second = names.iter().filter(|name| name.starts_with(stamp));
    Ok(library.join(of_last_second.max_by_key(started).unwrap_or(newest)))
}

fn no_such_run(library: &Path, name: &str, names: &[String]) -> StoreError {
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.into_iter().map(str::to_owned).collect();
    StoreError::NoSuchRun { name: name.to_owned(), library: library.to_owned(), near }
}
