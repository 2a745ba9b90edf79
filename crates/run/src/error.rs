//! The errors that can end a run, by the remedy of the user.

use std::path::PathBuf;

use base::Op;
use load::WorkloadError;
use load::trace::TraceError;
use result::store::StoreError;
use target::TargetError;

/// Reason why a run could not begin, or not end regularly.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A parameter or a combination of them is wrong. Names the value and the fix.
    #[error("{0}")]
    Usage(String),
    /// The workload does not fit the target.
    #[error("{0}")]
    Workload(#[from] WorkloadError),
    /// The trace cannot be read, or not to its end.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The target refused, failed or cannot do it.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A journal of promises is damaged, so that it allows no statement about the drive.
    #[error("{0}")]
    Journal(String),
    /// The result could not be written, before the measurement.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The result could not be written to its place, and was saved elsewhere.
    #[error("{source}; what was measured is kept in {}", rescued.display())]
    Rescued {
        /// The error of the library.
        source: StoreError,
        /// The run directory that was written instead.
        rescued: PathBuf,
    },
    /// The result could not be written any more, neither to its place nor elsewhere.
    #[error("{source}, and neither can the directory for temporary files; what was written before is kept in {}", kept.display())]
    NotRescued {
        /// The error of the library.
        source: StoreError,
        /// The run directory, as far as it was written.
        kept: PathBuf,
    },
}

/// A failed command; `words` are the message of the drive about it.
pub(crate) fn command_failed(op: &Op, errno: i32, words: Option<String>) -> TargetError {
    let (kind, len, offset) = (op.kind.name(), op.len, op.offset);
    let words = words.map(|words| format!(" ({words})")).unwrap_or_default();
    TargetError::Device {
        context: format!("{kind} of {len} bytes at offset {offset} failed{words}"),
        source: std::io::Error::from_raw_os_error(errno),
    }
}
