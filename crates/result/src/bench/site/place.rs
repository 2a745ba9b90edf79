//! New files of a site on their way to their names.
//!
//! All are written, and are on the disk, before the first name changes. A name then changes in one
//! step, and what had it is looked at once more when it can no longer change place. The manifest lists
//! the old and the new content of each name until all have changed, so that the next call completes
//! what a kill cut off.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use rustix::fs::{FileType, FlockOperation, flock};

use super::super::RUNS_FOLDER;
use super::manifest::{Content, Manifest};
use super::outcome::{SITE_MARKER, SiteError, SiteReport, failed};
use crate::store::dir::Dir;

#[cfg(test)]
mod each_check;

/// Beginning of the names of hidden directories for new files.
const HIDDEN: &str = ".ssdlab-site-";
/// Beginning of the names there of things that left their place, and may be those of somebody else.
const TAKEN_OUT: &str = "out-";
/// Largest file that is compared with the manifest; no file of a site is larger.
const BYTES_MAX: u64 = 4 << 30;

/// The directory of a site, and the new files for it.
pub(super) struct SitePlace {
    dir: Dir,
    hidden: Dir,
    manifest: Manifest,
    /// The new files, by the number that is their name in the hidden directory.
    staged: Vec<(String, Content)>,
    /// Whether this call made the directory.
    is_new: bool,
    _lock: Option<File>,
}

impl Drop for SitePlace {
    fn drop(&mut self) {
        let files = (0..self.staged.len()).map(|number| number.to_string());
        for name in files.chain([SITE_MARKER.to_owned()]) {
            let _ = self.hidden.remove_file(&name);
        }
        let _ = remove_hidden(&self.dir, &self.hidden);
        if self.is_new {
            // Only an empty one goes.
            let _ = fs::remove_dir(self.dir.path());
        }
    }
}

impl SitePlace {
    /// The place at `path`, which is created if there is nothing.
    pub(super) fn of(path: &Path) -> Result<Self, SiteError> {
        let unusable =
            |reason: &str| SiteError::Unusable { path: path.to_owned(), reason: reason.to_owned() };
        let is_new = match fs::metadata(path) {
            Ok(found) if !found.is_dir() => return Err(unusable("it is no directory")),
            Ok(_) => false,
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(unusable(&error.to_string())),
        };
        if is_new {
            fs::create_dir_all(path).map_err(failed("create", path))?;
        }
        let path = fs::canonicalize(path).map_err(failed("find", path))?;
        if path.parent().is_none() {
            return Err(unusable("it is the root of all files"));
        }
        let dir = Dir::open(&path).map_err(failed("open", &path))?;
        let lock = lock(&dir).ok_or_else(|| unusable("another ssdlab writes to it"))?;
        let manifest = Manifest::read(&dir)?;
        sweep(&dir, &manifest).map_err(failed("look at", &path))?;
        let hidden = tempfile::Builder::new().prefix(HIDDEN).tempdir_in(&path);
        let hidden = hidden.map_err(failed("create a directory in", &path))?.keep();
        let hidden = dir.sub(&hidden.file_name().unwrap_or_default().to_string_lossy());
        let hidden = hidden.map_err(failed("open a directory in", &path))?;
        Ok(Self { dir, hidden, manifest, staged: Vec::new(), is_new, _lock: lock })
    }

    /// Writes a new file under a number.
    pub(super) fn stage(&mut self, name: &str, content: &[u8]) -> Result<(), SiteError> {
        let number = self.staged.len().to_string();
        self.staged.push((name.to_owned(), Content::of(content)));
        self.write(&number, content, name)
    }

    fn write(&self, hidden: &str, content: &[u8], name: &str) -> Result<(), SiteError> {
        let written = self.hidden.create(hidden).and_then(|mut file| file.write_all(content));
        written.map_err(failed("write", &self.dir.path().join(name)))
    }

    /// Gives all new files their names, and removes those of the earlier site that have none in the new
    /// one.
    pub(super) fn publish(mut self, tool_version: &str) -> Result<SiteReport, SiteError> {
        let path = self.dir.path().to_owned();
        let runs = self.runs_folder()?;
        let old = self.replaceable(runs.as_ref())?;
        let removable = self.removable(runs.as_ref())?;
        self.dir.sync_all().map_err(failed("write to", &path))?;
        let runs = match runs {
            Some(runs) => runs,
            None => {
                self.dir.make(RUNS_FOLDER).map_err(failed("create", &path.join(RUNS_FOLDER)))?
            }
        };
        let files: BTreeMap<_, _> = self.staged.iter().cloned().collect();
        let before = old.iter().chain(&removable).map(|(name, was)| (name.clone(), *was)).collect();
        let written_by = tool_version.to_owned();
        let mut manifest = Manifest { written_by, files, before };
        self.put_manifest(&manifest)?;
        for (number, (name, _)) in self.staged.iter().enumerate() {
            self.put(&runs, &number.to_string(), name, old.get(name).copied())?;
        }
        let mut removed = 0;
        for (name, was) in &removable {
            removed += usize::from(self.remove(&runs, name, *was)?);
        }
        runs.sync().and_then(|()| self.dir.sync()).map_err(failed("write to", &path))?;
        manifest.before.clear();
        self.put_manifest(&manifest)?;
        self.dir.sync().map_err(failed("write to", &path))?;
        self.is_new = false;
        let left = self.left(&runs, &manifest)?;
        let bytes = manifest.files.values().map(|content| content.bytes).sum();
        Ok(SiteReport { files: manifest.files.len() + 1, bytes, removed, left })
    }

    /// The folder of the runs, or `None` if there is nothing of its name. A link is not followed.
    fn runs_folder(&self) -> Result<Option<Dir>, SiteError> {
        let path = self.dir.path().join(RUNS_FOLDER);
        match self.dir.kind(RUNS_FOLDER).map_err(failed("look at", &path))? {
            None => Ok(None),
            Some(FileType::Directory) => {
                self.dir.sub(RUNS_FOLDER).map(Some).map_err(failed("open", &path))
            }
            Some(_) => Err(SiteError::Taken { path }),
        }
    }

    /// The content of the files that have the names of new ones, which are all files of the earlier
    /// site.
    fn replaceable(&self, runs: Option<&Dir>) -> Result<BTreeMap<String, Content>, SiteError> {
        let mut found = BTreeMap::new();
        for (name, _) in &self.staged {
            let path = self.dir.path().join(name);
            let Some((folder, file)) = within(&self.dir, runs, name) else { continue };
            match folder.kind(file).map_err(failed("look at", &path))? {
                None => {}
                Some(FileType::RegularFile) => {
                    let was = content(folder, file).map_err(failed("read", &path))?;
                    if !self.manifest.lists(name, was) {
                        let is_known = self.manifest.names().any(|listed| listed == name);
                        return Err(if is_known {
                            SiteError::Changed { path }
                        } else {
                            SiteError::Taken { path }
                        });
                    }
                    found.insert(name.clone(), was);
                }
                Some(_) => return Err(SiteError::Taken { path }),
            }
        }
        Ok(found)
    }

    /// The content of the files of the earlier site that the new one does not have, and that nobody has
    /// changed.
    fn removable(&self, runs: Option<&Dir>) -> Result<BTreeMap<String, Content>, SiteError> {
        let mut found = BTreeMap::new();
        let is_new = |name: &String| self.staged.iter().any(|(new, _)| new == name);
        for name in self.manifest.names().filter(|name| !is_new(name)) {
            let path = self.dir.path().join(name);
            let Some((folder, file)) = within(&self.dir, runs, name) else { continue };
            if folder.kind(file).map_err(failed("look at", &path))? == Some(FileType::RegularFile) {
                let was = content(folder, file).map_err(failed("read", &path))?;
                if self.manifest.lists(name, was) {
                    found.insert(name.clone(), was);
                }
            }
        }
        Ok(found)
    }

    /// Gives a new file its name, which nothing has, or a file of this content.
    fn put(
        &self,
        runs: &Dir,
        number: &str,
        name: &str,
        was: Option<Content>,
    ) -> Result<(), SiteError> {
        let path = self.dir.path().join(name);
        let Some((folder, file)) = within(&self.dir, Some(runs), name) else { return Ok(()) };
        let io = || failed("replace", &path);
        let Some(was) = was else {
            return match self.hidden.rename_new(number, folder, file) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    Err(SiteError::Taken { path })
                }
                put => put.map_err(io()),
            };
        };
        let out = format!("{TAKEN_OUT}{number}");
        self.hidden.rename_new(number, &self.hidden, &out).map_err(io())?;
        match self.hidden.exchange(&out, folder, file) {
            // A file system that cannot: the look of before must do.
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                return self.hidden.rename_over(&out, folder, file).map_err(io());
            }
            exchanged => exchanged.map_err(io())?,
        }
        let is_same = self.hidden.kind(&out).is_ok_and(|kind| kind == Some(FileType::RegularFile))
            && content(&self.hidden, &out).is_ok_and(|found| found == was);
        if !is_same {
            self.hidden.exchange(&out, folder, file).map_err(io())?;
            let _ = self.hidden.remove_file(&out);
            return Err(SiteError::Changed { path });
        }
        self.hidden.remove_file(&out).map_err(io())
    }

    /// Removes a file if it still has this content; returns whether it is gone.
    fn remove(&self, runs: &Dir, name: &str, was: Content) -> Result<bool, SiteError> {
        let path = self.dir.path().join(name);
        let Some((folder, file)) = within(&self.dir, Some(runs), name) else { return Ok(false) };
        let out = format!("{TAKEN_OUT}{}", name.replace('/', "-"));
        let io = || failed("remove", &path);
        match folder.rename_new(file, &self.hidden, &out) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            taken => taken.map_err(io())?,
        }
        let is_same = self.hidden.kind(&out).is_ok_and(|kind| kind == Some(FileType::RegularFile))
            && content(&self.hidden, &out).is_ok_and(|found| found == was);
        if is_same {
            self.hidden.remove_file(&out).map_err(io())?;
        } else {
            self.hidden.rename_new(&out, folder, file).map_err(io())?;
        }
        Ok(is_same)
    }

    fn put_manifest(&self, manifest: &Manifest) -> Result<(), SiteError> {
        let path = self.dir.path().join(SITE_MARKER);
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        self.write(SITE_MARKER, &text, SITE_MARKER)?;
        let put = || {
            // Some file systems find out about a full disk only here.
            self.dir.sync_all()?;
            self.hidden.rename_over(SITE_MARKER, &self.dir, SITE_MARKER)?;
            self.dir.sync()
        };
        put().map_err(failed("replace", &path))
    }

    /// The names that are none of the site.
    fn left(&self, runs: &Dir, manifest: &Manifest) -> Result<Vec<String>, SiteError> {
        let list = |dir: &Dir| dir.names().map_err(failed("list", dir.path()));
        let own = [SITE_MARKER, RUNS_FOLDER];
        let hidden = self.hidden.path().file_name().unwrap_or_default().to_string_lossy();
        let beside = list(&self.dir)?.into_iter();
        let beside = beside.filter(|name| !own.contains(&name.as_str()) && *name != hidden);
        let in_runs = list(runs)?.into_iter().map(|name| format!("{RUNS_FOLDER}/{name}"));
        Ok(beside.chain(in_runs).filter(|name| !manifest.files.contains_key(name)).collect())
    }
}

/// The folder of a file of the site and its name there; `None` if its folder is not there.
fn within<'a>(dir: &'a Dir, runs: Option<&'a Dir>, name: &'a str) -> Option<(&'a Dir, &'a str)> {
    match name.strip_prefix(RUNS_FOLDER).and_then(|name| name.strip_prefix('/')) {
        Some(file) => Some((runs?, file)),
        None => Some((dir, name)),
    }
}

fn content(dir: &Dir, name: &str) -> std::io::Result<Content> {
    match dir.read(name, BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Ok(Content::TOO_LARGE),
        content => Ok(Content::of(&content?)),
    }
}

/// A lock against a second writer, or `None` if there is one. A file system without locks has no lock.
fn lock(dir: &Dir) -> Option<Option<File>> {
    let file = dir.lock_file().ok()?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Some(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => None,
        Err(_) => Some(None),
    }
}

/// Removes what killed calls left in their hidden directories. A thing that left its place and is no
/// file of the site stays.
fn sweep(dir: &Dir, manifest: &Manifest) -> std::io::Result<()> {
    for name in dir.names()?.iter().filter(|name| name.starts_with(HIDDEN)) {
        if dir.kind(name)? != Some(FileType::Directory) {
            continue;
        }
        let hidden = dir.sub(name)?;
        for name in hidden.names()? {
            let is_number = name.parse::<usize>().is_ok() || name == SITE_MARKER;
            let is_listed = || {
                name.starts_with(TAKEN_OUT)
                    && content(&hidden, &name).is_ok_and(|found| manifest.lists_content(found))
            };
            if is_number || is_listed() {
                hidden.remove_file(&name)?;
            }
        }
        let _ = remove_hidden(dir, &hidden);
    }
    Ok(())
}

/// Removes a hidden directory if it is empty.
fn remove_hidden(dir: &Dir, hidden: &Dir) -> std::io::Result<()> {
    let name = hidden.path().file_name().unwrap_or_default().to_string_lossy();
    dir.remove_dir(&name, hidden.thing()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change by somebody between the look and the replacement is not lost.
    #[test]
    fn a_file_that_changes_at_the_last_moment_stays() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(RUNS_FOLDER)).unwrap();
        let file = dir.path().join("index.html");
        let mut place = SitePlace::of(dir.path()).unwrap();
        place.stage("index.html", b"new").unwrap();
        let runs = place.runs_folder().unwrap().unwrap();
        let was = Content::of(b"old");
        fs::write(&file, "mine").unwrap();
        let error = place.put(&runs, "0", "index.html", None).unwrap_err();
        assert!(matches!(error, SiteError::Taken { .. }), "{error}");
        let error = place.put(&runs, "0", "index.html", Some(was)).unwrap_err();
        assert!(matches!(error, SiteError::Changed { .. }), "{error}");
        assert!(!place.remove(&runs, "index.html", was).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        drop(place);
        assert_eq!(Dir::open(dir.path()).unwrap().names().unwrap(), ["index.html", RUNS_FOLDER]);
    }

    #[test]
    fn a_second_writer_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let first = SitePlace::of(dir.path()).unwrap();
        assert!(SitePlace::of(dir.path()).is_err_and(|error| error.is_usage()));
        drop(first);
        assert!(SitePlace::of(dir.path()).is_ok());
    }
}
