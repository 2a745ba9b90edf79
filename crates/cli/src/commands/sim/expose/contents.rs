//! The contents of an exposed drive: whether there is room for them.

use std::path::Path;

use ::target::{TargetError, TargetSpec};
use base::Bytes;
use device::guard::{self, file::FileClaim};
use device::host::memory;
use expose::Contents;
use expose::contents::ContentsError;
use expose::plan::Shape;

use super::ExposeArgs;

/// The contents, for which there is room, with the claim on their file.
pub(super) fn open(
    args: &ExposeArgs,
    spec: &TargetSpec,
    shape: Shape,
    maps_bytes: u64,
) -> Result<(Contents, Option<FileClaim>), TargetError> {
    let most = args.contents_max.map_or(shape.capacity_bytes, |most| most.0);
    let most = most.min(shape.capacity_bytes);
    memory::check(&spec.to_string(), maps_bytes)?;
    let free_bytes = match &args.contents {
        Some(path) => free_bytes(path)?,
        None => memory::available_bytes().map(|bytes| bytes.saturating_sub(maps_bytes)),
    };
    if let Some(free_bytes) = free_bytes.filter(|&free_bytes| free_bytes < most) {
        let place = if args.contents.is_some() { "the file system" } else { "memory" };
        return Err(TargetError::Unsupported(format!(
            "{spec} may hold {} of data, and {} are free in {place}; permit less with --contents-max, expose a part of \
             the drive with the key `scale=1/64` in the target, or name a file elsewhere with --contents",
            Bytes(most).rounded(),
            Bytes(free_bytes).rounded()
        )));
    }
    let (contents, claim) = match &args.contents {
        Some(path) => {
            let (file, claim) = guard::file::open(path)?;
            (Contents::in_file(file, path, shape, most), Some(claim))
        }
        None => (Contents::in_memory(shape, most), None),
    };
    let contents = contents.map_err(|error| match error {
        ContentsError::File { path, source } => {
            TargetError::Device { context: format!("the contents file {}", path.display()), source }
        }
        ContentsError::Memory(source) => {
            TargetError::Device { context: "the contents in memory".to_owned(), source }
        }
        other => TargetError::Usage(other.to_string()),
    })?;
    Ok((contents, claim))
}

/// Bytes that a contents file may still take, with those that it has; `None` if its folder is unknown.
fn free_bytes(path: &Path) -> Result<Option<u64>, TargetError> {
    use std::os::unix::fs::MetadataExt;
    const BLOCK_BYTES: u64 = 512;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let context = || format!("the folder of the contents file {}", path.display());
    let space = rustix::fs::statvfs(folder)
        .map_err(|errno| TargetError::Device { context: context(), source: errno.into() })?;
    let held_bytes = path.metadata().map_or(0, |found| found.blocks() * BLOCK_BYTES);
    Ok(Some(space.f_bavail.saturating_mul(space.f_frsize).saturating_add(held_bytes)))
}
