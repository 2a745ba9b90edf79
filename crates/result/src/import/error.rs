//! The reasons to refuse a file of another program.

use std::io;
use std::path::{Path, PathBuf};

use base::Bytes;
use base::text::shortened_words;

use crate::store::StoreError;

/// A failure to import results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The operating system refused.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The answer of the operating system.
        source: io::Error,
    },
    /// The file is larger than any result.
    #[error("{} has {} and a {what} has at most {}", path.display(), Bytes(*bytes).rounded(), Bytes(*max_bytes).rounded())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The kind of file.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The largest permitted size.
        max_bytes: u64,
    },
    /// The content is not in the format.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault, with its line if there are lines.
        reason: String,
    },
    /// The files are sound and do not make one result.
    #[error("{0}")]
    Usage(String),
    /// The run directory cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ImportError {
    /// A fault of the content of a file.
    pub(super) fn damaged(path: &Path, reason: impl AsRef<str>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: shortened_words(reason.as_ref()) }
    }

    /// The error of the operating system about a path.
    pub(super) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Unreadable { path, source }
    }
}
