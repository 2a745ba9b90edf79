//! A file that the user named for a result: it is complete, or the earlier file remains.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ::target::TargetError;
use anyhow::Context;
use device::guard;
use tempfile::{Builder, NamedTempFile};

use crate::inputs::Inputs;
use crate::stop;

#[cfg(test)]
mod each_check;

/// Mode of new files, as in other programs: the umask limits it.
const MODE: u32 = 0o666;

/// A file with a temporary name beside its final one; removed unless it gets that.
pub struct OutputFile {
    temporary: BufWriter<NamedTempFile>,
    target: PathBuf,
    /// The flag that named it.
    flag: &'static str,
}

impl OutputFile {
    /// Begins a file for the `path` that `flag` gave, which may be a link to one. It replaces none of the `inputs`.
    ///
    /// # Errors
    /// If the path leads to an input or to anything but a regular file, or the directory takes no
    /// file.
    pub fn create(path: &Path, flag: &'static str, inputs: &Inputs) -> anyhow::Result<Self> {
        let target = target(path, flag)?;
        inputs.require_other(path, flag)?;
        let temporary = begin(&target).with_context(|| cannot_write(path, flag))?;
        Ok(Self { temporary: BufWriter::with_capacity(1 << 20, temporary), target, flag })
    }

    /// Checks that a file could be written here, before hours of measurement.
    ///
    /// # Errors
    /// As [`OutputFile::create`].
    pub fn check(path: &Path, flag: &'static str, inputs: &Inputs) -> anyhow::Result<()> {
        Self::create(path, flag, inputs).map(drop)
    }

    /// From now on, a signal removes the incomplete file before it ends the program.
    ///
    /// # Errors
    /// The operating system's error about the signals.
    pub fn remove_when_stopped(&self) -> io::Result<()> {
        stop::remove_at_end(Some(self.temporary.get_ref().path()))
    }

    /// The place for the content.
    pub fn content(&mut self) -> &mut impl Write {
        &mut self.temporary
    }

    /// Adds to the content.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn write_all(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.temporary.write_all(bytes).with_context(|| cannot_write(&self.target, self.flag))
    }

    /// Its name, for messages.
    pub fn name(&self) -> String {
        self.target.display().to_string()
    }

    /// Gives the file its name, once every byte is on the disk.
    ///
    /// # Errors
    /// The error of the file system; the earlier file is then still there.
    pub fn put_in_place(self) -> anyhow::Result<()> {
        let Self { temporary, target, flag } = self;
        if let Ok(resolved) = fs::canonicalize(&target) {
            // Somebody may have begun to use the earlier file since the first look.
            guard::check_replaceable(&target, &resolved)?;
        }
        let put = || -> io::Result<()> {
            let file = temporary.into_inner()?;
            // Some file systems find out about a full disk only here.
            file.as_file().sync_all()?;
            stop::remove_at_end(None)?;
            file.persist(&target)?;
            File::open(directory(&target))?.sync_all()
        };
        put().with_context(|| cannot_write(&target, flag))
    }
}

fn cannot_write(path: &Path, flag: &str) -> String {
    format!("cannot write {}; give another place with {flag}", path.display())
}

fn begin(target: &Path) -> io::Result<NamedTempFile> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    Builder::new()
        .prefix(&format!(".{name}."))
        .suffix(".part")
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(directory(target))
}

/// The file behind a path. Devices and pipes are not replaced, and nothing is created among
/// devices.
fn target(path: &Path, flag: &str) -> anyhow::Result<PathBuf> {
    let refused = |what: &str| {
        let path = path.display();
        anyhow::Error::from(TargetError::Usage(format!(
            "{path} {what}: give the name of a file with {flag}; a file there is replaced"
        )))
    };
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {
            let target = fs::canonicalize(path)?;
            guard::check_replaceable(path, &target)?;
            Ok(target)
        }
        Ok(found) if found.is_dir() => Err(refused("is a directory")),
        Ok(_) => Err(refused("is a device or a pipe, and stays one")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.file_name().is_none() || path.is_symlink() {
                return Err(refused("leads nowhere"));
            }
            let directory =
                fs::canonicalize(directory(path)).with_context(|| cannot_write(path, flag))?;
            if directory.starts_with("/dev") && !directory.starts_with("/dev/shm") {
                return Err(refused("would stand among devices"));
            }
            Ok(path.to_owned())
        }
        Err(error) => Err(error).with_context(|| cannot_write(path, flag)),
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, text: &str) -> anyhow::Result<()> {
        let mut file = OutputFile::create(path, "-o", &Inputs::default())?;
        file.write_all(text.as_bytes())?;
        file.put_in_place()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = dir.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("real"), dir.path().join("link"));
        write(&file, "old").unwrap();
        symlink("real", &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(names(dir.path()), ["link", "real"]);
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("real");
        write(&path, "old").unwrap();
        let mut file = OutputFile::create(&path, "-o", &Inputs::default()).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(dir.path()), ["real"]);
    }

    #[test]
    fn two_writers_of_one_name_both_write_whole_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("same");
        let (mut first, mut second) = (
            OutputFile::create(&path, "-o", &Inputs::default()).unwrap(),
            OutputFile::create(&path, "-o", &Inputs::default()).unwrap(),
        );
        first.write_all(b"first").unwrap();
        second.write_all(b"second").unwrap();
        second.put_in_place().unwrap();
        first.put_in_place().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(names(dir.path()), ["same"]);
    }

    #[test]
    fn what_is_no_file_stays_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let nowhere = dir.path().join("nowhere");
        symlink("missing/file", &nowhere).unwrap();
        for path in [Path::new("/dev/null"), Path::new("/"), Path::new("/dev/ssdlab"), &nowhere] {
            let error = OutputFile::check(path, "-o", &Inputs::default()).unwrap_err();
            assert!(matches!(error.downcast_ref(), Some(TargetError::Usage(_))), "{error:?}");
        }
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let missing = dir.path().join("missing/file");
        let error =
            OutputFile::check(&missing, "--page", &Inputs::default()).unwrap_err().to_string();
        assert!(error.contains("cannot write ") && error.contains(" with --page"), "{error}");
    }
}
