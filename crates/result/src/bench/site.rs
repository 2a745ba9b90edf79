//! The Bench as plain files: built beside their place and renamed, so that a web server never sees
//! a half of them.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use super::small::{small, small_rows};
use super::{LIBRARY_FILE, Library, PACKED_LIBRARY_FILE, RUNS_FOLDER, packed_name};
use crate::report::BenchPage;

/// Name of the file that marks a directory as a site that may be replaced.
pub const SITE_MARKER: &str = "ssdlab-site.json";
const PAGE_FILE: &str = "index.html";

/// A failure to write a site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// The directory has other content.
    #[error(
        "{} is no site of ssdlab (it has no {SITE_MARKER}) and not empty; give an empty or new \
         directory", path.display()
    )]
    NotASite {
        /// The directory.
        path: PathBuf,
    },
    /// The path is no directory, or none that could be replaced.
    #[error("{} cannot become a site: {reason}; give an empty or new directory", path.display())]
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
        matches!(self, Self::NotASite { .. } | Self::Unusable { .. })
    }
}

/// A written site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteReport {
    /// Its files.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
}

/// The content of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteForm {
    /// Everything that the page of a report has.
    Whole,
    /// The [small form](small) of each run, and the rows as a zlib stream.
    Small,
}

/// Writes the site of a library to `dir`, in place of an earlier one. `packed` returns the packed
/// file of a run by its name.
///
/// # Errors
/// If `dir` has other content, a packed file is missing, or the file system refuses. An earlier
/// site then stays.
pub fn site<E: From<SiteError>>(
    dir: &Path,
    page: &BenchPage,
    library: &Library,
    form: SiteForm,
    mut packed: impl FnMut(&str) -> Result<Vec<u8>, E>,
) -> Result<SiteReport, E> {
    let place = Place::of(dir)?;
    let mut files = Files::beside(&place)?;
    match form {
        SiteForm::Whole => {
            files.write(PAGE_FILE, page.html.as_bytes())?;
            files.write(LIBRARY_FILE, &serde_json::to_vec(library).map_err(SiteError::Json)?)?;
        }
        SiteForm::Small => {
            files.write(PAGE_FILE, page.of_packed_library().as_bytes())?;
            let rows = small_rows(library).map_err(SiteError::Json)?;
            files.write(PACKED_LIBRARY_FILE, &rows)?;
        }
    }
    files.make_dir(RUNS_FOLDER)?;
    for run in &library.runs {
        let mut stream = packed(&run.name)?;
        if form == SiteForm::Small {
            stream = small(&stream).map_err(SiteError::Json)?;
        }
        files.write(&format!("{RUNS_FOLDER}/{}", packed_name(&run.name)), &stream)?;
    }
    let marker = serde_json::json!({ "written_by": library.tool_version });
    files.write(SITE_MARKER, format!("{marker}\n").as_bytes())?;
    Ok(files.put_in_place(&place)?)
}

/// The directory of a site: its path without links, and whether there is something.
struct Place {
    path: PathBuf,
    parent: PathBuf,
    exists: bool,
}

impl Place {
    fn of(dir: &Path) -> Result<Self, SiteError> {
        let unusable =
            |reason: &str| SiteError::Unusable { path: dir.to_owned(), reason: reason.to_owned() };
        let exists = match fs::metadata(dir) {
            Ok(found) if !found.is_dir() => return Err(unusable("it is no directory")),
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(unusable(&error.to_string())),
        };
        let path = if exists { fs::canonicalize(dir) } else { std::path::absolute(dir) };
        let path = path.map_err(failed("find", dir))?;
        let parent = path.parent().ok_or_else(|| unusable("nothing is above it"))?.to_owned();
        let place = Self { path, parent, exists };
        if exists && !place.is_replaceable()? {
            return Err(SiteError::NotASite { path: dir.to_owned() });
        }
        Ok(place)
    }

    fn is_replaceable(&self) -> Result<bool, SiteError> {
        if self.path.join(SITE_MARKER).is_file() {
            return Ok(true);
        }
        let mut content = fs::read_dir(&self.path).map_err(failed("list", &self.path))?;
        Ok(content.next().is_none())
    }
}

/// The files of a site in a directory of their own, which disappears unless it gets its place.
struct Files {
    dir: TempDir,
    report: SiteReport,
}

impl Files {
    fn beside(place: &Place) -> Result<Self, SiteError> {
        let parent = &place.parent;
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ssdlab-site-").permissions(Permissions::from_mode(0o755));
        let dir = builder.tempdir_in(parent).map_err(failed("create a directory in", parent))?;
        Ok(Self { dir, report: SiteReport { files: 0, bytes: 0 } })
    }

    fn make_dir(&self, name: &str) -> Result<(), SiteError> {
        let path = self.dir.path().join(name);
        fs::create_dir(&path).map_err(failed("create", &path))
    }

    fn write(&mut self, name: &str, content: &[u8]) -> Result<(), SiteError> {
        let path = self.dir.path().join(name);
        fs::write(&path, content).map_err(failed("write", &path))?;
        self.report.files += 1;
        self.report.bytes += content.len() as u64;
        Ok(())
    }

    fn put_in_place(self, place: &Place) -> Result<SiteReport, SiteError> {
        let Place { path, exists, .. } = place;
        let built = self.dir.path();
        if *exists {
            // The old site gets the temporary name, and goes with it.
            exchange(built, path).map_err(failed("replace", path))?;
        } else {
            fs::rename(built, path).map_err(failed("create", path))?;
            let _ = self.dir.keep();
        }
        Ok(self.report)
    }
}

/// Exchanges two directories in one step, or in two on a file system that cannot.
fn exchange(built: &Path, old: &Path) -> io::Result<()> {
    if renameat_with(CWD, built, CWD, old, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    let aside = built.with_extension("old");
    fs::rename(old, &aside)?;
    if let Err(error) = fs::rename(built, old) {
        fs::rename(&aside, old)?;
        return Err(error);
    }
    fs::rename(&aside, built)
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SiteError {
    let path = path.to_owned();
    move |source| SiteError::Io { action, path, source }
}
