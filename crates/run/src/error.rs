//! The errors that can end a run, split by what the user can do about them.

use std::path::PathBuf;

use base::Op;
use load::WorkloadError;
use load::trace::TraceError;
use result::store::StoreError;
use target::IoError;

/// Why a run could not be done, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A parameter or a combination of them is wrong. Names the value and the fix.
    #[error("{0}")]
    Usage(String),
    /// The workload does not fit the target.
    #[error("{0}")]
    Workload(#[from] WorkloadError),
    /// The trace cannot be read, or not any further.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The target refused, failed or cannot do it.
    #[error(transparent)]
    Target(#[from] IoError),
    /// A journal of promises is damaged, so that nothing can be said about the drive.
    #[error("{0}")]
    Journal(String),
    /// The result could not be written, before anything was measured.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The result could not be written where it was asked for and was saved elsewhere.
    #[error("{source}; what was measured is kept in {}", rescued.display())]
    Rescued {
        /// The error of the library.
        source: StoreError,
        /// The run directory that was written instead.
        rescued: PathBuf,
    },
    /// The result could not be written any more, neither where it was asked for nor elsewhere.
    #[error("{source}, and neither can the directory for temporary files; what was written before is kept in {}", kept.display())]
    NotRescued {
        /// The error of the library.
        source: StoreError,
        /// The run directory as far as it was written.
        kept: PathBuf,
    },
}

/// A command that failed; `words` are what the drive said of it.
pub(crate) fn command_failed(op: &Op, errno: i32, words: Option<String>) -> IoError {
    let (kind, len, offset) = (op.kind.name(), op.len, op.offset);
    let words = words.map(|words| format!(" ({words})")).unwrap_or_default();
    IoError::Device {
        context: format!("{kind} of {len} bytes at offset {offset} failed{words}"),
        source: std::io::Error::from_raw_os_error(errno),
    }
}
