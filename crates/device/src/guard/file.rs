//! Protection of a regular file that somebody needs: whether it is used, locked, or holds data.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};
use target::{Refusal, TargetError};

use super::{check_replaceable, device_error, hold_others, signatures_found};
use crate::describe::contents::{HEAD_BYTES, is_text};
use crate::describe::kernel::{Tables, UNREADABLE};
use crate::describe::reading::Bounded;
use crate::describe::sharing::{Thing, members};
use crate::describe::signature::{Signature, probe};
use crate::describe::thing::FileId;
use crate::describe::usage::{reasons_for_file, swap_refusal};
use crate::host::ioctl;
use crate::host::patience::patiently;
use crate::host::sysfs::System;

/// Every reason not to write to the file at `path`, under any of its names: used as swap space,
/// mounted, behind a loop device, or locked by a program.
pub fn uses(path: &Path, found: &Metadata) -> Vec<Refusal> {
    let system = System::live();
    reasons_for_file(&system, &Tables::read(&system), FileId::of(found), path)
}

/// Makes sure that nobody uses the file at `path`.
///
/// # Errors
/// [`TargetError::Refused`] with the code of the use; [`TargetError::Unsupported`] if a table of the kernel
/// cannot be read.
pub fn require_unused(path: &Path, found: &Metadata) -> Result<(), TargetError> {
    require_id_unused(path, FileId::of(found))
}

fn require_id_unused(path: &Path, id: FileId) -> Result<(), TargetError> {
    let system = System::live();
    let tables = Tables::read(&system);
    tables.require_whole()?;
    let reasons = reasons_for_file(&system, &tables, id, path);
    reasons.into_iter().next().map_or(Ok(()), |reason| Err(reason.into()))
}

/// Makes sure that the tables of the kernel can be read: others may begin to use a new file, too.
///
/// # Errors
/// [`TargetError::Unsupported`] with the name of a table that cannot be read.
pub fn require_tables() -> Result<(), TargetError> {
    Tables::read(&System::live()).require_whole()
}

/// A regular file of the user that this process alone uses, under any of its names, as long as the
/// descriptor and this live.
#[derive(Debug)]
pub struct FileClaim {
    path: PathBuf,
    id: FileId,
    /// Locks on the same file in overlays and their layers.
    _others: Vec<File>,
}

impl FileClaim {
    /// Locks an open file, which has this `path` without links, and makes sure that nobody else uses
    /// it.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with the code of the use, `busy` for a lock; [`TargetError::Unsupported`] if
    /// a table of the kernel cannot be read; [`TargetError::Device`] if the system fails.
    pub fn take(file: &File, path: &Path) -> Result<Self, TargetError> {
        lock(file, &path.display().to_string())?;
        let id = FileId::of(&metadata(file, path)?);
        let system = System::live();
        let thing = Thing::File { id, path: path.to_owned() };
        let others = hold_others(&members(&system, &Tables::read(&system), thing))?;
        let claim = Self { path: path.to_owned(), id, _others: others };
        claim.require_unused()?;
        Ok(claim)
    }

    /// Makes sure that nobody else has begun to use the file.
    ///
    /// # Errors
    /// The errors of [`FileClaim::take`].
    pub fn require_unused(&self) -> Result<(), TargetError> {
        require_id_unused(&self.path, self.id)
    }
}

/// Opens a regular file of the user for reading and writing, or creates it, after every check that
/// a target of `file:` passes, except the confirmation: the content is meant to be changed.
///
/// # Errors
/// [`TargetError::Usage`] for a path that cannot be such a file; otherwise those of
/// [`FileClaim::take`].
pub fn open(path: &Path) -> Result<(File, FileClaim), TargetError> {
    let failed = |source| device_error(format!("cannot open {}", path.display()), source);
    let usage = |what: &str| TargetError::Usage(format!("{} {what}", path.display()));
    let nofollow = OFlags::NOFOLLOW.bits() as i32;
    let mut options = File::options();
    options.read(true).write(true).custom_flags(nofollow);
    let resolved = match fs::canonicalize(path) {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            let directory = fs::canonicalize(parent).map_err(failed)?;
            require_same(parent, &directory)?;
            let name = path.file_name().filter(|_| !path.is_symlink());
            let name = name.ok_or_else(|| usage("leads nowhere; give the path of a file"))?;
            let created = directory.join(name);
            require_ordinary(&created)?;
            require_tables()?;
            #[cfg(test)]
            super::each_check::meanwhile();
            let file = options.create_new(true).open(&created).map_err(failed)?;
            let claim = FileClaim::take(&file, &created)?;
            return Ok((file, claim));
        }
        Err(error) => return Err(failed(error)),
    };
    let found = fs::metadata(&resolved).map_err(failed)?;
    if !found.is_file() {
        return Err(usage("is no regular file; give the path of one, or of none"));
    }
    require_ordinary(&resolved)?;
    check_replaceable(path, &resolved)?;
    #[cfg(test)]
    super::each_check::meanwhile();
    let file = options.open(&resolved).map_err(failed)?;
    if FileId::of(&metadata(&file, &resolved)?) != FileId::of(&found) {
        return Err(TargetError::Refused {
            code: "identity-changed",
            message: format!(
                "{} was replaced while it was opened; stop whatever does that",
                path.display()
            ),
        });
    }
    let claim = FileClaim::take(&file, &resolved)?;
    Ok((file, claim))
}

/// A mistyped device name must not become a file in the memory behind /dev.
fn require_ordinary(resolved: &Path) -> Result<(), TargetError> {
    let is_below = |root: &&str| resolved.starts_with(root);
    if resolved.starts_with("/dev/shm") || !["/dev", "/proc", "/sys"].iter().any(is_below) {
        return Ok(());
    }
    Err(TargetError::Usage(format!(
        "{} would be a file among devices; give a path outside /dev, /proc and /sys",
        resolved.display()
    )))
}

/// Locks the file behind a loop device, or in a layer of an overlay.
pub(super) fn hold_backing(path: &Path, id: FileId, name: &str) -> Result<File, TargetError> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = file.ok().filter(|it| it.metadata().is_ok_and(|found| FileId::of(&found) == id));
    let Some(file) = file else {
        return Err(TargetError::Refused {
            code: UNREADABLE,
            message: format!(
                "{name} cannot be opened under that name, so that nobody can tell whether others use it; run ssdlab \
                 where it has a name, or detach the loop device"
            ),
        });
    };
    let held_by_us = || {
        !ioctl::is_range_locked(file.as_fd()) && Tables::read(&System::live()).is_locked_by_us(id)
    };
    match lock(&file, name) {
        // Another target of this call, such as a second partition, holds it.
        Err(_) if held_by_us() => Ok(file),
        locked => locked.map(|()| file),
    }
}

/// Takes a lock that other runs and careful programs respect, and looks for locks on parts of the
/// file, which may be those of processes that no table shows here.
fn lock(file: &File, name: &str) -> Result<(), TargetError> {
    let exclusive = FlockOperation::NonBlockingLockExclusive;
    let taken = patiently(|| rustix::fs::flock(file, exclusive).map_err(io::Error::from));
    // File systems without locks (some network mounts) are used without one.
    let is_taken = taken.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
    if is_taken || ioctl::is_range_locked(file.as_fd()) {
        return Err(TargetError::Refused {
            code: "busy",
            message: format!(
                "{name} is locked by another program, perhaps another run; wait for it or choose another file"
            ),
        });
    }
    Ok(())
}

fn metadata(file: &File, path: &Path) -> Result<Metadata, TargetError> {
    file.metadata()
        .map_err(|source| device_error(format!("cannot examine {}", path.display()), source))
}

/// Makes sure that a file holds no recognised contents, or that they may be lost.
///
/// # Errors
/// [`TargetError::Refused`] with code `signature`; [`TargetError::Device`] if the file cannot be read.
pub fn require_no_contents(
    file: &File,
    path: &Path,
    erase_signatures: bool,
) -> Result<(), TargetError> {
    if erase_signatures {
        return Ok(());
    }
    let name = path.display().to_string();
    let context = || format!("cannot look for signatures in {name}");
    let marks =
        signatures(file).map_err(|source| TargetError::Device { context: context(), source })?;
    if marks.is_empty() { Ok(()) } else { Err(signatures_found(&name, &marks)) }
}

/// The refusal of a swap file that no path from here names.
pub fn swap_file(path: &Path) -> TargetError {
    swap_refusal(&path.display().to_string(), path).into()
}

/// The recognised contents of a file.
///
/// # Errors
/// If it cannot be read.
pub fn signatures(file: &File) -> io::Result<Vec<Signature>> {
    let size_bytes = file.metadata()?.len();
    let mut found = probe(file, size_bytes, 512)?;
    let head = Bounded { device: file, size_bytes }.head::<{ HEAD_BYTES }>()?;
    if found.is_empty() && is_text(&head) {
        found.push(Signature { what: "text", offset_bytes: 0, partition: None });
    }
    Ok(found)
}

/// Makes sure that the path as typed and the one with all links resolved lead to the same thing. Links
/// below /proc lead into other mount namespaces, where the same path is another file.
///
/// # Errors
/// [`TargetError::Refused`] with code `other-namespace` if they do not.
pub fn require_same(typed: &Path, resolved: &Path) -> Result<(), TargetError> {
    let id = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    if id(typed) == id(resolved) {
        return Ok(());
    }
    Err(TargetError::Refused {
        code: "other-namespace",
        message: format!(
            "{} leads to something that is not {} here, perhaps in another mount namespace; run \
             ssdlab there, or name it by a path of this one",
            typed.display(),
            resolved.display()
        ),
    })
}
