//! Hidden directories of a library: things that get their names when they are whole, and things that
//! have lost theirs and go.

use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::FileType;

use super::super::alive::Hold;
use super::super::own::is_own;
use super::Dir;

/// Beginning of the names of these directories, which no reader of a library looks at.
const PREFIX: &str = ".ssdlab-";
/// Age from which one without a lock has no living holder: its maker locks it at once.
const STALE: Duration = Duration::from_secs(60);

/// A hidden directory for files of a run in the making. It goes with its holder; after a kill,
/// [`sweep`] removes it.
#[derive(Debug)]
pub struct Staging {
    library: Dir,
    dir: Dir,
    _alive: Hold,
}

impl Staging {
    /// Creates one in a library, which is created too.
    ///
    /// # Errors
    /// That of the file system.
    pub fn new(library: &Path) -> Result<Self> {
        fs::create_dir_all(library)?;
        let made = tempfile::Builder::new().prefix(&format!("{PREFIX}new-")).tempdir_in(library)?;
        let name = made.keep().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let library = Dir::open(library)?;
        let dir = library.sub(&name)?;
        let _alive = Hold::of(&dir);
        Ok(Self { library, dir, _alive })
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Creates a directory in it; returns its path.
    ///
    /// # Errors
    /// That of the file system.
    pub fn make(&self, name: &str) -> Result<PathBuf> {
        Ok(self.dir.make(name)?.path().to_owned())
    }

    /// Gives the directory `name` in it a name in the library that is free; durable. Returns its path.
    ///
    /// # Errors
    /// That of the file system; [`std::io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn publish(&self, name: &str, run_id: &str) -> Result<PathBuf> {
        self.dir.sub(name)?.sync()?;
        self.dir.rename_new(name, &self.library, run_id)?;
        self.library.sync()?;
        Ok(self.library.path().join(run_id))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Files that cannot be removed now are swept later.
        let _ = remove(&self.library, &self.dir);
    }
}

/// Removes the hidden directories of a library that a killed program left behind. One that has
/// anything but files of runs is none of those, and stays.
pub fn sweep(library: &Path) {
    let Ok(library) = Dir::open(library) else { return };
    for name in library.names().unwrap_or_default() {
        if ["new-", "removed-"].iter().any(|word| name.starts_with(&format!("{PREFIX}{word}")))
            && let Ok(dir) = library.sub(&name)
            && is_stale(&dir)
            && Hold::alone(&dir).is_some()
        {
            let _ = remove(&library, &dir);
        }
    }
}

fn is_stale(dir: &Dir) -> bool {
    let changed = dir.lock_file().and_then(|file| file.metadata()?.modified());
    let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
    age.is_some_and(|age| age > STALE)
}

/// A hidden name, which only this process uses.
pub(in crate::store) fn hidden(use_of_it: &str, name: &str) -> String {
    format!("{PREFIX}{use_of_it}-{}-{name}", std::process::id())
}

/// Removes a directory with files of runs, its own or one level below.
pub(in crate::store) fn remove(parent: &Dir, dir: &Dir) -> Result<()> {
    for name in dir.names()? {
        match dir.kind(&name)? {
            Some(FileType::Directory) => remove_files(dir, &dir.sub(&name)?)?,
            _ if is_own(&name) => dir.remove_file(&name)?,
            _ => {}
        }
    }
    remove_files(parent, dir)
}

/// Removes a directory with files of a run; it stays if it has anything else.
fn remove_files(parent: &Dir, dir: &Dir) -> Result<()> {
    for name in dir.names()?.iter().filter(|name| is_own(name)) {
        dir.remove_file(name)?;
    }
    let name = dir.path().file_name().unwrap_or_default().to_string_lossy();
    parent.remove_dir(&name, dir.thing()?)
}
