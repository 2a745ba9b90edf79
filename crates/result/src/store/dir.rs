//! A directory that is held open: what it contains is reached from there, and never through a link.
//! A path may lead elsewhere from one moment to the next; a directory held open remains the same.

mod staging;

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use base::file::require_regular;
use rustix::fs::{
    AtFlags, Dir as Listing, FileType, Mode, OFlags, RenameFlags, fstat, fsync, mkdirat, openat,
    renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

pub use staging::{Staging, sweep};
pub(super) use staging::{hidden, remove};

/// Device and inode: they identify a thing under any name.
pub type Thing = (u64, u64);

/// A directory, held open.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

impl Dir {
    /// Opens a directory that the user named, also one behind a link.
    ///
    /// # Errors
    /// That of the file system.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// The directory of this name in it, which is no link.
    ///
    /// # Errors
    /// That of the file system.
    pub fn sub(&self, name: &str) -> Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = openat(&self.fd, name, flags, Mode::empty())?;
        Ok(Self { fd, path: self.path.join(name) })
    }

    /// Creates a directory in it.
    ///
    /// # Errors
    /// That of the file system.
    pub fn make(&self, name: &str) -> Result<Self> {
        mkdirat(&self.fd, name, Mode::from_raw_mode(0o755))?;
        self.sub(name)
    }

    /// The path by which it was opened, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its identity.
    ///
    /// # Errors
    /// That of the file system.
    pub fn thing(&self) -> Result<Thing> {
        let found = fstat(&self.fd)?;
        Ok((found.st_dev, found.st_ino))
    }

    /// The kind of the thing of this name, which is not followed if it is a link; `None` if there is nothing.
    ///
    /// # Errors
    /// That of the file system.
    pub fn kind(&self, name: &str) -> Result<Option<FileType>> {
        match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// All names in it; one that is no UTF-8 with replacements.
    ///
    /// # Errors
    /// That of the file system.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Listing::read_from(&self.fd)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a regular file in it, also one behind a link; nothing is waited for.
    ///
    /// # Errors
    /// That of the file system, and of [`require_regular`].
    pub(super) fn file(&self, name: &str) -> Result<File> {
        self.file_with(name, OFlags::empty())
    }

    /// The content of a regular file in it that is no link.
    ///
    /// # Errors
    /// That of the file system, of [`require_regular`], or [`ErrorKind::FileTooLarge`].
    pub fn read(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>> {
        let file = self.file_with(name, OFlags::NOFOLLOW)?;
        let mut content = Vec::new();
        file.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
        if content.len() as u64 > bytes_max {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(content)
    }

    fn file_with(&self, name: &str, flags: OFlags) -> Result<File> {
        let is_link_followed = !flags.contains(OFlags::NOFOLLOW);
        let look = if is_link_followed { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        // The open of a device may have an effect.
        let found = statat(&self.fd, name, look)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(Error::new(ErrorKind::InvalidInput, "it is no regular file"));
        }
        let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.fd, name, flags, Mode::empty())?);
        require_regular(&file.metadata()?)?;
        Ok(file)
    }

    /// Creates a file in it.
    ///
    /// # Errors
    /// That of the file system.
    pub fn create(&self, name: &str) -> Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.fd, name, flags, Mode::from_raw_mode(0o666))?))
    }

    /// Gives a thing in it a name in `other` that is free.
    ///
    /// # Errors
    /// That of the file system; [`ErrorKind::AlreadyExists`] if the name is taken.
    pub fn rename_new(&self, name: &str, other: &Self, new_name: &str) -> Result<()> {
        match renameat_with(&self.fd, name, &other.fd, new_name, RenameFlags::NOREPLACE) {
            // A file system without this flag: a look must do.
            Err(Errno::INVAL | Errno::NOSYS) if other.kind(new_name)?.is_none() => {
                Ok(renameat(&self.fd, name, &other.fd, new_name)?)
            }
            Err(Errno::INVAL | Errno::NOSYS) => Err(ErrorKind::AlreadyExists.into()),
            renamed => Ok(renamed?),
        }
    }

    /// Exchanges two things, so that neither is lost.
    ///
    /// # Errors
    /// That of the file system; [`ErrorKind::Unsupported`] if it cannot.
    pub fn exchange(&self, name: &str, other: &Self, other_name: &str) -> Result<()> {
        match renameat_with(&self.fd, name, &other.fd, other_name, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS) => Err(ErrorKind::Unsupported.into()),
            exchanged => Ok(exchanged?),
        }
    }

    /// Gives a thing in it a name in `other`, in place of what has it.
    ///
    /// # Errors
    /// That of the file system.
    pub fn rename_over(&self, name: &str, other: &Self, other_name: &str) -> Result<()> {
        Ok(renameat(&self.fd, name, &other.fd, other_name)?)
    }

    /// Removes a name in it that is none of a directory; what a link leads to stays.
    ///
    /// # Errors
    /// That of the file system, unless there is no such name.
    pub fn remove_file(&self, name: &str) -> Result<()> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Removes an empty directory in it that is this thing.
    ///
    /// # Errors
    /// That of the file system; [`ErrorKind::NotFound`] if the name is that of another thing.
    pub fn remove_dir(&self, name: &str, thing: Thing) -> Result<()> {
        let found = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (found.st_dev, found.st_ino) != thing {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes its names durable.
    ///
    /// # Errors
    /// That of the file system.
    pub fn sync(&self) -> Result<()> {
        Ok(fsync(&self.fd)?)
    }

    /// Makes everything on its file system durable.
    ///
    /// # Errors
    /// That of the file system: some find out about a full disk only here.
    pub fn sync_all(&self) -> Result<()> {
        Ok(rustix::fs::syncfs(&self.fd)?)
    }

    /// A handle for locks on it.
    pub(crate) fn lock_file(&self) -> Result<File> {
        Ok(File::from(self.fd.try_clone()?))
    }
}
