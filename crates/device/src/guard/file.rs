//! Protection of a regular file that somebody needs: whether it is used, locked, or holds data.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use target::{IoError, Refusal};

use super::signatures_found;
use crate::describe::contents::{HEAD_BYTES, is_text};
use crate::describe::kernel::Tables;
use crate::describe::reading::Bounded;
use crate::describe::signature::{Signature, probe};
use crate::describe::thing::FileId;
use crate::describe::usage::{reasons_for_file, swap_refusal};
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
/// [`IoError::Refused`] with the code of the use.
pub fn require_unused(path: &Path, found: &Metadata) -> Result<(), IoError> {
    uses(path, found).into_iter().next().map_or(Ok(()), |reason| Err(reason.into()))
}

/// Makes sure that a file holds no recognised contents, or that they may be lost.
///
/// # Errors
/// [`IoError::Refused`] with code `signature`; [`IoError::Device`] if the file cannot be read.
pub fn require_no_contents(
    file: &File,
    path: &Path,
    erase_signatures: bool,
) -> Result<(), IoError> {
    if erase_signatures {
        return Ok(());
    }
    let name = path.display().to_string();
    let context = || format!("cannot look for signatures in {name}");
    let marks =
        signatures(file).map_err(|source| IoError::Device { context: context(), source })?;
    if marks.is_empty() { Ok(()) } else { Err(signatures_found(&name, &marks)) }
}

/// The refusal of a swap file that no path from here names.
pub fn swap_file(path: &Path) -> IoError {
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
/// [`IoError::Refused`] with code `other-namespace` if they do not.
pub fn require_same(typed: &Path, resolved: &Path) -> Result<(), IoError> {
    let id = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    if id(typed) == id(resolved) {
        return Ok(());
    }
    Err(IoError::Refused {
        code: "other-namespace",
        message: format!(
            "{} leads to something that is not {} here, perhaps in another mount namespace; run \
             ssdlab there, or name it by a path of this one",
            typed.display(),
            resolved.display()
        ),
    })
}
