//! The outcome of a call: a site, or the reason against it.

use std::io;
use std::path::{Path, PathBuf};

/// Name of the manifest in the directory of a site.
pub const SITE_MARKER: &str = "ssdlab-site.json";

/// A failure to write a site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// Something else has the name of a file of the site.
    #[error(
        "{} is there, and {SITE_MARKER} does not list it as a file of this site; move it away, or give \
         another directory", path.display()
    )]
    Taken { path: PathBuf },
    /// A file of the site is not as it was written.
    #[error(
        "{} was changed since ssdlab wrote it, and would be lost; move it away, or give another \
         directory", path.display()
    )]
    Changed { path: PathBuf },
    /// The manifest of the site cannot be used.
    #[error(
        "{} is no manifest of a site: {reason}; move it away, or give another directory",
        path.display()
    )]
    Manifest {
        path: PathBuf,
        /// The obstacle.
        reason: String,
    },
    /// The path is no directory, or none for a site.
    #[error("{} cannot become a site: {reason}; give another directory", path.display())]
    Unusable {
        path: PathBuf,
        /// The obstacle.
        reason: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempt.
        action: &'static str,
        /// Its file or directory.
        path: PathBuf,
        /// The answer of the operating system.
        source: io::Error,
    },
    /// The library could not be written as JSON.
    #[error("cannot write the library as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl SiteError {
    /// Whether the named directory is the mistake, not a file or a disk.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Unusable { .. })
    }

    /// Whether a file of somebody else would be lost.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Taken { .. } | Self::Changed { .. } | Self::Manifest { .. })
    }
}

/// A written site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteReport {
    /// Its files, the manifest included.
    pub files: usize,
    /// The size of its files without the manifest.
    pub bytes: u64,
    /// Number of files of an earlier site that are gone.
    pub removed: usize,
    /// Names in its directory that are none of its files, and stayed.
    pub left: Vec<String>,
}

pub(super) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SiteError {
    let path = path.to_owned();
    move |source| SiteError::Io { action, path, source }
}
