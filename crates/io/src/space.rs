//! The size and the blocks of a file target, and the objections of a file system to them.

use std::fs::File;
use std::io;
use std::path::Path;

use base::Bytes;
use device::guard;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use target::TargetError;

/// Sizes of file targets are multiples of this.
pub(crate) const SIZE_STEP_BYTES: u64 = 4096;

/// The changes that make an existing file the requested target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    /// Bytes of the target.
    pub(crate) capacity_bytes: u64,
    /// Whether the user named the size, so that the file gets exactly that.
    pub(crate) resize: bool,
}

impl Fit {
    /// Cuts or extends the file and reserves its blocks.
    pub(crate) fn apply(self, file: &File, path: &Path) -> Result<(), TargetError> {
        let Self { capacity_bytes, resize } = self;
        let len_bytes = file
            .metadata()
            .map_err(|source| failed(format!("cannot examine {}", path.display()), source))?
            .len();
        if !resize && len_bytes < capacity_bytes {
            // Somebody has truncated it since it was opened; do not hide that.
            return Ok(());
        }
        if resize && len_bytes != capacity_bytes {
            resize_file(file, path, capacity_bytes)?;
        }
        allocate(file, path, capacity_bytes).map(|_| ())
    }
}

/// Tried on the blocks that the file has already, which changes neither its size nor its content.
/// The answer also reveals a swap file that no path from here names.
pub(crate) fn can_reserve(file: &File, path: &Path, len_bytes: u64) -> Result<bool, TargetError> {
    if len_bytes == 0 {
        return Ok(true);
    }
    match reserve(file, len_bytes.min(SIZE_STEP_BYTES)) {
        Err(Errno::TXTBSY) => Err(guard::file::swap_file(path)),
        answer => Ok(answer != Err(Errno::OPNOTSUPP)),
    }
}

/// The warning that the blocks of a file are not reserved.
pub(crate) fn unreserved(path: &Path) -> String {
    format!(
        "the file system of {} cannot reserve space; the run may end early if it fills up",
        path.display()
    )
}

/// Reserves all blocks. If the file system cannot, only sets the length and returns a warning.
pub(crate) fn allocate(
    file: &File,
    path: &Path,
    size_bytes: u64,
) -> Result<Vec<String>, TargetError> {
    match reserve(file, size_bytes) {
        Ok(()) => Ok(Vec::new()),
        Err(Errno::OPNOTSUPP) => {
            resize_file(file, path, size_bytes)?;
            Ok(vec![unreserved(path)])
        }
        Err(errno) => {
            let tried = format!("reserve {} for {}", Bytes(size_bytes).rounded(), path.display());
            Err(change_error(&tried, path, errno.into()))
        }
    }
}

fn resize_file(file: &File, path: &Path, size_bytes: u64) -> Result<(), TargetError> {
    let error = |source| change_error(&format!("resize {}", path.display()), path, source);
    file.set_len(size_bytes).map_err(error)
}

/// The error if a file cannot be changed, with the remedy.
fn change_error(tried: &str, path: &Path, source: io::Error) -> TargetError {
    let help = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space or use a smaller ?size=".to_owned()
        }
        // The kernel's answer for an active swap file, or for a running program.
        io::ErrorKind::ExecutableFileBusy => format!(
            "; it is in use as swap space or as a program (swapoff {} for swap); choose another file",
            path.display()
        ),
        _ => String::new(),
    };
    failed(format!("cannot {tried}{help}"), source)
}

fn failed(context: String, source: io::Error) -> TargetError {
    TargetError::Device { context, source }
}

/// Gives the blocks of a range back to the file system.
pub(crate) fn punch_hole(file: &File, offset_bytes: u64, len_bytes: u64) -> Result<(), Errno> {
    let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(file, mode, offset_bytes, len_bytes)
}

/// Allocates all blocks of a file, so that writes never fail for lack of space.
pub(crate) fn reserve(file: &File, len_bytes: u64) -> Result<(), Errno> {
    rustix::fs::fallocate(file, FallocateFlags::empty(), 0, len_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_what_went_wrong() {
        let words =
            |errno: Errno| change_error("resize a", Path::new("a"), errno.into()).to_string();
        assert_eq!(words(Errno::NOSPC), "cannot resize a; free some space or use a smaller ?size=");
        assert_eq!(
            words(Errno::TXTBSY),
            "cannot resize a; it is in use as swap space or as a program (swapoff a for swap); \
             choose another file"
        );
        assert_eq!(words(Errno::IO), "cannot resize a");
    }
}
