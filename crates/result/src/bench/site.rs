//! The Bench as plain files, beside whatever else the directory has: only files of its own manifest
//! are replaced or removed.

mod manifest;
mod outcome;
mod place;

use std::path::Path;

use self::manifest::PAGE_FILE;
use self::place::SitePlace;
use super::small::{small, small_rows};
use super::{LIBRARY_FILE, Library, PACKED_LIBRARY_FILE, RUNS_FOLDER, packed_name};
use crate::report::BenchPage;

pub use self::outcome::{SITE_MARKER, SiteError, SiteReport};

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
    let mut place = SitePlace::of(dir)?;
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
