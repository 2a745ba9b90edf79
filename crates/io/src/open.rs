//! The one way in to real targets: checks, opens, chooses the engine and says why.
//!
//! [`open_file`] and [`open_block`] refuse every target whose use could destroy something, and
//! return the others as a [`RealTarget`]. Its engine is chosen once: `io_uring` if the kernel
//! allows it, else blocking calls; [`target::Identity::engine`] gives the reason.

mod block;
mod direct;
mod file;
mod hold;

use std::path::Path;

use device::guard;
use target::{IoError, TargetSpec};

use crate::options::OpenOptions;
use crate::real::RealTarget;

pub use file::{FileFound, look_at_file};
pub use guard::check_apart;
pub use hold::Hold;

/// Opens a regular file as a target; `size_bytes` and `keep` as in [`target::TargetSpec::File`].
///
/// A file that does not exist is created with all its blocks allocated. It is removed when the
/// target is dropped unless `keep` is set and it has passed
/// [`target::capability::Guarded::confirm_identity`]. An existing file keeps size and content until
/// [`target::capability::Guarded::confirm_identity`] or the purge. A caller that writes calls the
/// former first, once nothing can refuse the run any more.
///
/// # Errors
/// [`IoError::Refused`] if an existing file would be overwritten and no word in
/// [`OpenOptions::erase`] names it; [`IoError::Usage`] for a path that cannot be a file target or a
/// missing size; [`IoError::Device`] if the system fails, for instance for lack of space.
pub fn open_file(
    path: &Path,
    size_bytes: Option<u64>,
    keep: bool,
    options: &OpenOptions,
) -> Result<RealTarget, IoError> {
    hold_file(path, size_bytes, keep, options)?.open(options)
}

/// Opens a target of any kind up to the engine and its buffers, or returns `None` if it is of a
/// kind that needs no hold.
///
/// # Errors
/// The errors of [`open_file`] and [`open_block`].
pub fn hold(spec: &TargetSpec, options: &OpenOptions) -> Result<Option<Hold>, IoError> {
    match spec {
        TargetSpec::Sim { .. } | TargetSpec::Null { .. } => Ok(None),
        TargetSpec::File { path, size_bytes, keep } => {
            hold_file(path, *size_bytes, *keep, options).map(Some)
        }
        TargetSpec::Block { path } => hold_block(path, options).map(Some),
    }
}

fn hold_file(
    path: &Path,
    size_bytes: Option<u64>,
    keep: bool,
    options: &OpenOptions,
) -> Result<Hold, IoError> {
    options.check(&path.display().to_string())?;
    Ok(Hold::new(file::open(path, size_bytes, keep, options)?, false))
}

/// Opens a block device as a target, after every check of [`device::guard`], and holds it exclusively
/// until the target is dropped.
///
/// A run that only reads may share the device; that is then one of [`RealTarget::warnings`]. The generic
/// character device of an NVMe namespace stands for its block device with [`crate::EngineChoice::Passthrough`].
///
/// # Errors
/// [`IoError::Refused`] with one of the codes of [`device::guard`]; [`IoError::Usage`] if there is
/// nothing at `path`; [`IoError::Device`] if the system fails.
pub fn open_block(path: &Path, options: &OpenOptions) -> Result<RealTarget, IoError> {
    hold_block(path, options)?.open(options)
}

fn hold_block(path: &Path, options: &OpenOptions) -> Result<Hold, IoError> {
    options.check(&path.display().to_string())?;
    let is_generic = guard::is_generic_node(path);
    Ok(Hold::new(block::open(path, options)?, is_generic))
}

/// Finds out whether a target would be opened with these options, and changes nothing: for a run
/// that writes, the target is opened for reading only and no file is created. Targets that are
/// neither files nor block devices would always be opened.
///
/// # Errors
/// The errors of [`open_file`] and [`open_block`] that come before the engine.
pub fn rehearse(spec: &TargetSpec, options: &OpenOptions) -> Result<(), IoError> {
    options.check(&spec.to_string())?;
    match spec {
        TargetSpec::Sim { .. } | TargetSpec::Null { .. } => Ok(()),
        _ if !options.write => hold(spec, options).map(drop),
        TargetSpec::File { path, size_bytes, .. } => file::rehearse(path, *size_bytes, options),
        TargetSpec::Block { path } => block::rehearse(path, options),
    }
}

/// Whether a word given with `--erase` names this target.
#[must_use]
pub fn is_named_by(spec: &TargetSpec, word: &str) -> bool {
    match spec {
        TargetSpec::Sim { .. } | TargetSpec::Null { .. } => false,
        TargetSpec::File { path, .. } => file::is_named_by(path, word),
        TargetSpec::Block { path } => guard::confirmations(path).iter().any(|w| w == word.trim()),
    }
}
