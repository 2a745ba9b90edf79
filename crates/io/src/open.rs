//! The only entry to targets: it describes, checks, holds and opens them.
//!
//! [`describe`] changes nothing. [`hold`] refuses every target whose use could destroy something,
//! and its result is opened for one run after the other. Files and block devices become a
//! [`RealTarget`], whose engine is chosen once: `io_uring` if the kernel allows it, else blocking
//! calls; [`target::Identity::engine`] gives the reason.
//!
//! The kinds of targets are listed here, and nowhere else; each has its own file.

mod block;
mod described;
mod direct;
mod file;
mod hold;
mod null;
mod simulated;
#[cfg(test)]
mod tests;
mod unopened;

use std::path::Path;

use device::host::clock::MonotonicClock;
use target::null::NullTarget;
use target::{IoError, TargetSpec, Testable};

use self::block::BlockDevice;
use self::file::RegularFile;
use self::hold::RealHold;
use self::null::Null;
use self::simulated::Simulated;
use self::unopened::Unopened;
use crate::engine::sim::SimTarget;
use crate::options::OpenOptions;
use crate::real::RealTarget;

pub use described::Described;
pub use device::guard::check_apart;
pub use file::{FileFound, look_at_file};

/// The target of a string.
fn unopened(spec: &TargetSpec) -> Box<dyn Unopened + '_> {
    match spec {
        TargetSpec::Sim { name, settings } => Box::new(Simulated::new(spec, name, settings)),
        TargetSpec::File { path, size_bytes, keep } => {
            Box::new(RegularFile::new(path, *size_bytes, *keep))
        }
        TargetSpec::Block { path } => Box::new(BlockDevice::new(path)),
        TargetSpec::Null { size_bytes } => Box::new(Null::new(*size_bytes)),
    }
}

/// A target that has passed every check, before it has an engine and buffers. An existing target is
/// held until this and every target opened from it are dropped.
pub struct Hold(Held);

enum Held {
    Sim(Simulated),
    Real(Box<RealHold>),
    Null(Null),
}

/// Opens a target up to the engine and its buffers.
///
/// # Errors
/// The errors of [`open_file`] and [`open_block`].
pub fn hold(spec: &TargetSpec, options: &OpenOptions) -> Result<Hold, IoError> {
    Ok(Hold(match spec {
        TargetSpec::Sim { name, settings } => Held::Sim(Simulated::new(spec, name, settings)),
        TargetSpec::File { path, size_bytes, keep } => {
            Held::Real(Box::new(RegularFile::new(path, *size_bytes, *keep).hold(options)?))
        }
        TargetSpec::Block { path } => Held::Real(Box::new(BlockDevice::new(path).hold(options)?)),
        TargetSpec::Null { size_bytes } => Held::Null(Null::new(*size_bytes)),
    }))
}

impl Hold {
    /// Makes sure that the requested engine and purge are possible, as far as they are not the
    /// defaults.
    ///
    /// # Errors
    /// [`IoError::Unsupported`] if they are not; [`IoError::Usage`] for an engine that the target
    /// does not allow.
    pub fn check(&self, options: &OpenOptions) -> Result<(), IoError> {
        match &self.0 {
            Held::Real(held) => held.check(options),
            Held::Sim(_) | Held::Null(_) => Ok(()),
        }
    }

    /// Opens the target for one run. The right to write and the confirmation are settled: `options`
    /// only decides on queue depth, transfer size, engine, data and purge, and on
    /// [`OpenOptions::write`] if it asks for less.
    ///
    /// # Errors
    /// [`IoError::Usage`] for a transfer size or queue depth out of range; [`IoError::Unsupported`]
    /// if the requested engine cannot drive the target, or it does not fit into the memory.
    pub fn open(&self, options: &OpenOptions) -> Result<Opened, IoError> {
        Ok(match &self.0 {
            Held::Sim(held) => Opened::Sim(Box::new(held.open()?)),
            Held::Real(held) => Opened::Real(Box::new(held.open(options)?)),
            Held::Null(held) => Opened::Null(held.open()),
        })
    }
}

/// An open target of any kind. The kinds stay separate so that the hot loop is compiled for each.
#[derive(Debug)]
pub enum Opened {
    /// A simulated drive.
    Sim(Box<SimTarget>),
    /// A file or block device.
    Real(Box<RealTarget>),
    /// The null target.
    Null(NullTarget<MonotonicClock>),
}

/// Code for a target of any kind.
pub trait Visitor {
    /// The result of a visit.
    type Output;
    /// Visits the target.
    fn visit<T: Testable>(self, target: &mut T) -> Self::Output;
}

impl Opened {
    /// Passes the target to the visitor, compiled for its kind.
    pub fn visit<V: Visitor>(&mut self, visitor: V) -> V::Output {
        match self {
            Self::Sim(target) => visitor.visit(target.as_mut()),
            Self::Real(target) => visitor.visit(target.as_mut()),
            Self::Null(target) => visitor.visit(target),
        }
    }

    /// The file or block device, or `None` if it is neither.
    #[must_use]
    pub fn real(self) -> Option<RealTarget> {
        match self {
            Self::Real(target) => Some(*target),
            Self::Sim(_) | Self::Null(_) => None,
        }
    }

    /// Facts about the opening for the reader of a result.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Real(target) => target.warnings().to_vec(),
            Self::Sim(_) | Self::Null(_) => Vec::new(),
        }
    }
}

/// Describes a target with the objections to opening it with these options, and changes nothing.
///
/// # Errors
/// If there can be no such target.
pub fn describe(spec: &TargetSpec, options: &OpenOptions) -> Result<Described, IoError> {
    let mut described = unopened(spec).describe()?;
    described.object(dry_run(spec, options).err(), options);
    Ok(described)
}

/// Whether a word given with `--erase` names this target.
#[must_use]
pub fn is_named_by(spec: &TargetSpec, word: &str) -> bool {
    unopened(spec).is_named_by(word)
}

/// Finds out whether a target would be opened with these options, and changes nothing: for a run
/// that writes, the target is opened for reading only and no file is created.
fn dry_run(spec: &TargetSpec, options: &OpenOptions) -> Result<(), IoError> {
    options.check(&spec.to_string())?;
    if options.write {
        return unopened(spec).dry_run(options);
    }
    hold(spec, options).map(drop)
}

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
    RegularFile::new(path, size_bytes, keep).hold(options)?.open(options)
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
    BlockDevice::new(path).hold(options)?.open(options)
}
