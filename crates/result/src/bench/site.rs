//! The Bench as plain files, beside whatever else the directory has: only files of its own manifest
//! are replaced or removed.

mod manifest;
mod place;

use std::io;
use std::path::{Path, PathBuf};

use self::place::Place;
use super::small::{small, small_rows};
use super::{LIBRARY_FILE, Library, PACKED_LIBRARY_FILE, RUNS_FOLDER, packed_name};
use crate::report::BenchPage;

pub use self::manifest::SITE_MARKER;

/// Name of the page of a site.
const PAGE_FILE: &str = "index.html";

/// A failure to write a site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// Something else has the name of a file of the site.
    #[error(
        "{} is there, and {SITE_MARKER} does not list it as a file of this site; move it away, or give \
         another directory", path.display()
    )]
    Taken {
        /// Its path.
        path: PathBuf,
    },
    /// A file of the site is not as it was written.
    #[error(
        "{} was changed since ssdlab wrote it, and would be lost; move it away, or give another \
         directory", path.display()
    )]
    Changed {
        /// Its path.
        path: PathBuf,
    },
    /// The manifest of the site cannot be used.
    #[error(
        "{} is no manifest of a site: {reason}; move it away, or give another directory",
        path.display()
    )]
    Manifest {
        /// Its path.
        path: PathBuf,
        /// The obstacle.
        reason: String,
    },
    /// The path is no directory, or none for a site.
    #[error("{} cannot become a site: {reason}; give another directory", path.display())]
    Unusable {
        /// The path.
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
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Unusable { .. })
    }

    /// Whether a file of somebody else would be lost.
    #[must_use]
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

/// The content of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteForm {
    /// Everything that the page of a report has.
    Whole,
    /// The [small form](small) of each run, and the rows as a zlib stream.
    Small,
}

/// Writes the site of a library to `dir`, in place of an earlier one, beside other files there.
/// `packed` returns the packed file of a run by its name. A call that was cut off is completed by the
/// next one.
///
/// # Errors
/// If a file of somebody else has the name of a new one or was made from an old one, a packed file is
/// missing, or the file system refuses. An earlier site then stays.
pub fn site<E: From<SiteError>>(
    dir: &Path,
    page: &BenchPage,
    library: &Library,
    form: SiteForm,
    mut packed: impl FnMut(&str) -> Result<Vec<u8>, E>,
) -> Result<SiteReport, E> {
    let mut place = Place::of(dir)?;
    for run in &library.runs {
        let mut stream = packed(&run.name)?;
        if form == SiteForm::Small {
            stream = small(&stream).map_err(SiteError::Json)?;
        }
        place.stage(&format!("{RUNS_FOLDER}/{}", packed_name(&run.name)), &stream)?;
    }
    match form {
        SiteForm::Whole => {
            let rows = serde_json::to_vec(library).map_err(SiteError::Json)?;
            place.stage(LIBRARY_FILE, &rows)?;
            place.stage(PAGE_FILE, page.html.as_bytes())?;
        }
        SiteForm::Small => {
            let rows = small_rows(library).map_err(SiteError::Json)?;
            place.stage(PACKED_LIBRARY_FILE, &rows)?;
            place.stage(PAGE_FILE, page.of_packed_library().as_bytes())?;
        }
    }
    Ok(place.publish(&library.tool_version)?)
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SiteError {
    let path = path.to_owned();
    move |source| SiteError::Io { action, path, source }
}
