//! Failures of an export.

use crate::report::ReportError;
use crate::store::StoreError;

/// A run that cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The files of the run cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be put into the form of the page.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The run has no content of this kind.
    #[error("the run {run} ({test}) has no {content}; {instead}")]
    Nothing {
        /// Name of the run.
        run: String,
        test: String,
        /// The missing content.
        content: &'static str,
        /// An export that it has.
        instead: &'static str,
    },
    /// The format took no value, or the picture could not be drawn.
    #[error("cannot write the export: {reason}")]
    Format {
        /// The words of the library.
        reason: String,
    },
}

impl ExportError {
    /// Whether the call is the mistake, not a file or a disk.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_usage(),
            Self::Nothing { .. } => true,
            Self::Report(_) | Self::Format { .. } => false,
        }
    }

    pub(super) fn format(error: impl std::fmt::Display) -> Self {
        Self::Format { reason: error.to_string() }
    }
}
