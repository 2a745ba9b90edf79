//! The errors of a run directory, worded so that the reader knows the next step.

use std::io;
use std::path::{Path, PathBuf};

use base::Bytes;
use base::text::shortened;

use crate::run_id::RUN_ID_RULE;

/// A failure to write, find or read a run directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}{}", path.display(), help_for(source))]
    Io {
        /// The attempted action, e.g. `write`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The answer of the operating system.
        source: io::Error,
    },
    /// A new run would overwrite an older one.
    #[error("the run directory {} exists already; run directories are never overwritten, \
             so take another run id or another `--library`", path.display())]
    RunExists {
        /// The existing directory.
        path: PathBuf,
    },
    /// The library, or something above it, is not a directory.
    #[error("{} is not a directory, so no library can be there; give one with `--library DIR`", path.display())]
    LibraryNotDirectory {
        /// The obstructing file.
        path: PathBuf,
    },
    /// Too little space for the data of a run.
    #[error("{} has {} free and the results may need {}; \
             free some space or give another place with `--library DIR`", library.display(),
             Bytes(*free_bytes).rounded(), Bytes(*needed_bytes).rounded())]
    NoSpace {
        library: PathBuf,
        /// Bytes available to this user.
        free_bytes: u64,
        /// Bytes that the results may take.
        needed_bytes: u64,
    },
    /// Too little space for a row per command beside the results.
    #[error("{} has {} free, and --ios needs {} there beside the results; \
             free some space, give another place with `--library DIR`, or leave --ios away",
             library.display(), Bytes(*free_bytes).rounded(), Bytes(*needed_bytes).rounded())]
    NoSpaceForIos {
        library: PathBuf,
        /// Bytes available to this user.
        free_bytes: u64,
        /// Bytes without which the file is not begun.
        needed_bytes: u64,
    },
    /// The run has an id that cannot be a name.
    #[error("`{}` cannot be the id of a run{}; {RUN_ID_RULE}", shortened(run_id), place_of(path.as_deref()))]
    RunId {
        /// The id.
        run_id: String,
        /// The file that has it, or `None` for a run that is yet to be written.
        path: Option<PathBuf>,
    },
    /// The path leads to no run directory.
    #[error("{} is not a run directory: it has no run.json", path.display())]
    NotARun {
        /// The path that was given.
        path: PathBuf,
    },
    /// `run.json` is not valid.
    #[error("{} does not hold a run: {reason}; it may be cut off or edited", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The fault and its place.
        reason: String,
    },
    /// A newer ssdlab wrote this run.
    #[error("{} has schema version {found}, this ssdlab reads up to {supported}; \
             read it with a newer ssdlab", path.display())]
    VersionTooNew {
        /// The file.
        path: PathBuf,
        /// Version in the file.
        found: u64,
        /// Newest version that this build reads.
        supported: u32,
    },
    /// A Parquet file is damaged or not from ssdlab.
    #[error("{} cannot be read as Parquet: {reason}; it may be cut off or damaged", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The fault that stopped the reader.
        reason: String,
    },
    /// The files of a run contradict each other.
    #[error("{} contradicts itself: {what}; it may be damaged or edited", path.display())]
    Contradiction {
        /// The run directory.
        path: PathBuf,
        /// The first contradiction.
        what: String,
    },
    /// A Parquet file differs from the written one.
    #[error("{} is damaged: it does not have its checksum any more; to read what is left of it, remove \
             `checksums` from run.json", path.display())]
    FileChanged {
        /// The file.
        path: PathBuf,
    },
    /// The rows of a phase differ from the written ones.
    #[error("{} is damaged: {what}", path.display())]
    RowsChanged {
        /// The file.
        path: PathBuf,
        /// The phase, and the checksums of the written and of the read rows.
        what: String,
    },
    /// `run.json` differs from the written one.
    #[error("{} is damaged, or was edited: it does not have its checksum any more; to use it as it is, remove \
             `checksums` from it", path.display())]
    RunChanged {
        /// The file.
        path: PathBuf,
    },
    /// A column is missing or has another content than documented.
    #[error("column `{column}` in {}: {reason}; docs/reference/formats/run-directory.md lists the columns", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        column: String,
        /// The expected value and the actual one.
        reason: String,
    },
    /// The rows belong to a phase that the run does not list.
    #[error(
        "phase `{phase}` is not among the phases of the run ({known}); add it to `phases` first"
    )]
    PhaseUnknown {
        /// The requested phase.
        phase: String,
        /// The phases of the run.
        known: String,
    },
    /// A value that a signed 64-bit column cannot hold.
    #[error("column `{column}` cannot hold {value}: the largest value is {}", i64::MAX)]
    ValueTooLarge { column: &'static str, value: u64 },
    /// The rows could not be encoded as Parquet.
    #[error("cannot encode the rows of phase `{phase}`: {reason}")]
    Encode {
        phase: String,
        /// The error of the encoder.
        reason: String,
    },
    /// No run of this name.
    #[error("no run `{}` in {}{}", shortened(name), library.display(), near_matches(near))]
    NoSuchRun {
        /// The requested name.
        name: String,
        /// The searched library.
        library: PathBuf,
        /// Similar names.
        near: Vec<String>,
    },
    /// The run has not ended.
    #[error("{} is still running; wait for its end", path.display())]
    InProgress {
        /// The run directory.
        path: PathBuf,
    },
    /// The run directory holds a file that no run has.
    #[error(
        "{} also holds `{}`, which is no file of a run; move that away first",
        path.display(),
        shortened(name)
    )]
    OtherFiles {
        /// The run directory.
        path: PathBuf,
        /// The other file.
        name: String,
    },
    /// The name in the library is a link.
    #[error(
        "{} is a link, and what it leads to may belong to another library; remove the link itself with `rm`",
        path.display()
    )]
    IsLink {
        /// The link.
        path: PathBuf,
    },
    /// The name leads to another thing than before.
    #[error("something else has the name {} now; nothing was removed, look again", path.display())]
    Replaced {
        /// The name.
        path: PathBuf,
    },
    /// Several runs begin with this text.
    #[error("`{}` fits {} runs: {}; give more of the name", shortened(name), matches.len(), first_of(matches))]
    AmbiguousRun {
        /// The requested name.
        name: String,
        /// All matching runs.
        matches: Vec<String>,
    },
}

impl StoreError {
    /// Wraps an error of the operating system; for `map_err`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// Whether the name is the mistake, not a file or a disk.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::LibraryNotDirectory { .. }
                | Self::NotARun { .. }
                | Self::NoSuchRun { .. }
                | Self::AmbiguousRun { .. }
                | Self::InProgress { .. }
        )
    }

    /// Whether the removal was refused, because something else would be lost.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::IsLink { .. } | Self::Replaced { .. } | Self::OtherFiles { .. })
    }

    /// Whether the file system is full: the data can still go elsewhere.
    pub fn is_storage_full(&self) -> bool {
        matches!(self, Self::Io { source, .. } if matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ))
    }
}

fn help_for(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space or give another place with `--library DIR`"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; give a place you may write to with `--library DIR`"
        }
        _ => "",
    }
}

fn place_of(path: Option<&Path>) -> String {
    path.map(|path| format!(", as {} has it", path.display())).unwrap_or_default()
}

fn near_matches(near: &[String]) -> String {
    if near.is_empty() {
        return "; `--library DIR` names another library".to_owned();
    }
    format!("; close to it: {}", first_of(near))
}

fn first_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    text
}
