//! Changes to run directories that have ended: the words of the user, and removal.

use std::fs;
use std::io::ErrorKind;

use rustix::fs::FileType;

use super::alive::Hold;
use super::checksum::rewritten;
use super::dir::{Dir, hidden, remove};
use super::own::{OWN, is_own};
use super::{RUN_FILE, RunDir, StoreError, replace_files};
use crate::schema::{About, RunStatus};

impl RunDir {
    /// Replaces the words of the user in `run.json`; everything else, and its protection against
    /// damage, stays.
    ///
    /// # Errors
    /// [`StoreError::InProgress`], or the error of the file system.
    pub fn set_about(&mut self, about: About) -> Result<(), StoreError> {
        let _held = self.held()?;
        self.run.about = about;
        let bytes = rewritten(&self.run, self.checksums.as_ref());
        replace_files(&self.path, &[(RUN_FILE, &bytes)])
    }

    /// Removes the directory: the one that was read, and only if its name in the library is no link.
    /// It first loses its name, so that a removal that is cut off leaves no run behind.
    ///
    /// # Errors
    /// [`StoreError::InProgress`], [`StoreError::IsLink`] or [`StoreError::Replaced`] if its name leads
    /// elsewhere, [`StoreError::OtherFiles`] if it holds anything but the files of a run, or the error of
    /// the file system.
    pub fn remove(self) -> Result<(), StoreError> {
        self.remove_after(|| {})
    }

    /// As [`RunDir::remove`]; `meanwhile` is what others do between the look and the removal.
    fn remove_after(self, meanwhile: impl FnOnce()) -> Result<(), StoreError> {
        self.check_ended()?;
        let (library, dir) = self.place()?;
        let _held = Hold::of(&dir);
        self.check_content(&dir)?;
        meanwhile();
        let failed = || StoreError::io("remove", &self.path);
        let name = self.name();
        let hidden = hidden("removed", &name);
        library.rename_new(&name, &library, &hidden).map_err(failed())?;
        let moved = match library.sub(&hidden).and_then(|dir| Ok((dir.thing()?, dir))) {
            Ok((thing, dir)) if thing == self.thing => self.check_content(&dir).map(|()| dir),
            _ => Err(StoreError::Replaced { path: self.path.clone() }),
        };
        match moved {
            Ok(dir) => remove(&library, &dir).and_then(|()| library.sync()).map_err(failed()),
            Err(error) => {
                // It is not the thing that was read, or has more in it by now.
                library.rename_new(&hidden, &library, &name).map_err(failed())?;
                Err(error)
            }
        }
    }

    /// Makes sure that nothing but the files of an ended run would be lost.
    ///
    /// # Errors
    /// As for [`RunDir::remove`].
    pub fn check_removable(&self) -> Result<(), StoreError> {
        self.check_ended()?;
        self.check_content(&self.place()?.1)
    }

    /// The library, and the directory by its name there, which is the one that was read.
    fn place(&self) -> Result<(Dir, Dir), StoreError> {
        let path = &self.path;
        let failed = || StoreError::io("remove", path);
        let library = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let library = Dir::open(library.unwrap_or(".".as_ref())).map_err(failed())?;
        let name = self.name();
        if library.kind(&name).map_err(failed())? == Some(FileType::Symlink) {
            return Err(StoreError::IsLink { path: path.clone() });
        }
        let dir = match library.sub(&name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StoreError::Replaced { path: path.clone() });
            }
            dir => dir.map_err(failed())?,
        };
        if dir.thing().map_err(failed())? != self.thing {
            return Err(StoreError::Replaced { path: path.clone() });
        }
        Ok((library, dir))
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn check_content(&self, dir: &Dir) -> Result<(), StoreError> {
        let failed = || StoreError::io("read", &self.path);
        for name in dir.names().map_err(failed())? {
            let is_file = dir.kind(&name).map_err(failed())? == Some(FileType::RegularFile);
            if !(is_file && is_own(&name)) {
                return Err(StoreError::OtherFiles { path: self.path.clone(), name });
            }
        }
        Ok(())
    }

    /// Bytes of its files.
    pub fn size_bytes(&self) -> u64 {
        let size = |name: &&str| fs::metadata(self.path.join(name)).map_or(0, |file| file.len());
        OWN.iter().map(size).sum()
    }

    /// The lock of the writer, unless a living one has it.
    fn held(&self) -> Result<Hold, StoreError> {
        self.check_ended()?;
        let dir = Dir::open(&self.path).map_err(StoreError::io("open", &self.path))?;
        Ok(Hold::of(&dir))
    }

    fn check_ended(&self) -> Result<(), StoreError> {
        match self.run.status {
            RunStatus::Running => Err(StoreError::InProgress { path: self.path.clone() }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::store::RunWriter;

    fn ended(library: &Path, name: &str) -> PathBuf {
        let example = include_str!("../../tests/compat/v2/run.json");
        let mut run: crate::schema::Run = serde_json::from_str(example).unwrap();
        name.clone_into(&mut run.run_id);
        (run.phases, run.status) = (Vec::new(), RunStatus::Complete);
        RunWriter::create(library, &run).unwrap().path().to_owned()
    }

    fn names(dir: &Path) -> Vec<String> {
        Dir::open(dir).unwrap().names().unwrap()
    }

    #[test]
    fn a_run_behind_a_link_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (mine, theirs) = (dir.path().join("mine"), dir.path().join("theirs"));
        let run = ended(&theirs, "run-1");
        fs::create_dir(&mine).unwrap();
        std::os::unix::fs::symlink(&run, mine.join("run-1")).unwrap();
        let linked = RunDir::open(&mine.join("run-1")).unwrap();
        let refused = |result| matches!(result, Err(StoreError::IsLink { .. }));
        assert!(refused(linked.check_removable()) && refused(linked.remove()));
        assert_eq!((names(&mine), names(&run).len()), (vec!["run-1".to_owned()], 3));
        // A library behind a link is the user's word for the library.
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&theirs, &link).unwrap();
        RunDir::open(&link.join("run-1")).unwrap().remove().unwrap();
        assert!(names(&theirs).is_empty());
    }

    /// Others put something in the place of the run, between the look and the removal.
    #[test]
    fn what_took_the_place_of_a_run_stays() {
        type Meanwhile = fn(&Path, &Path);
        let swaps: [(&str, Meanwhile); 4] = [
            ("a link", |run, aside| {
                fs::rename(run, aside).unwrap();
                std::os::unix::fs::symlink(aside, run).unwrap();
            }),
            ("another run", |run, aside| {
                fs::rename(run, aside).unwrap();
                ended(run.parent().unwrap(), "run-1");
            }),
            ("a file", |run, aside| {
                fs::rename(run, aside).unwrap();
                fs::write(run, "mine").unwrap();
            }),
            ("a photograph in it", |run, _| fs::write(run.join("photo.raw"), "mine").unwrap()),
        ];
        for (what, swap) in swaps {
            let dir = tempfile::tempdir().unwrap();
            let (library, aside) = (dir.path().join("library"), dir.path().join("aside"));
            let run = ended(&library, "run-1");
            let mut after = Vec::new();
            let removed = RunDir::open(&run).unwrap().remove_after(|| {
                swap(&run, &aside);
                after = [names(&library), names(dir.path())].concat();
            });
            assert!(removed.is_err_and(|error| error.is_refused()), "{what}");
            assert_eq!([names(&library), names(dir.path())].concat(), after, "{what}");
            let kept = if aside.exists() { &aside } else { &run };
            assert!(kept.join(RUN_FILE).is_file(), "{what}");
        }
    }

    #[test]
    fn the_remains_of_a_kill_are_files_of_the_run() {
        let library = tempfile::tempdir().unwrap();
        let run = ended(library.path(), "run-1");
        fs::write(run.join(".series.parquet.tmp"), "half").unwrap();
        RunDir::open(&run).unwrap().remove().unwrap();
        assert!(names(library.path()).is_empty());
    }
}
