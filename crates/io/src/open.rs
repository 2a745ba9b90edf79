//! The only entry to targets, in three steps: inspect, hold, open.
//!
//! [`inspect`] changes nothing. [`Inspected::hold`] refuses every target whose use could destroy
//! something, and its result is opened for one run after the other. Files and block devices become a
//! [`RealTarget`], whose engine is chosen once: `io_uring` if the kernel allows it, else blocking
//! calls; [`target::Identity::engine`] gives the reason.
//!
//! Each step matches the kind of target once. Files and block devices have a file each.

mod block;
mod direct;
mod file;
mod inspected;
mod placement;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::OnceLock;

use device::guard;
use device::host::clock::MonotonicClock;
use target::null::NullTarget;
use target::{Backing, TargetError, TargetSpec};

use self::inspected::{bare_identity, engine_limits};
use crate::engine::medium::Medium;
use crate::engine::sim::{self, SimTarget};
use crate::options::OpenOptions;
use crate::real::RealTarget;

pub use device::guard::{check_apart, check_beside};
pub use inspected::Inspected;

/// Inspects a target, with the objections to opening it with these options, and changes nothing: for a
/// run that writes, the target is opened for reading only and no file is created.
///
/// # Errors
/// If there can be no such target.
pub fn inspect(spec: &TargetSpec, options: &OpenOptions) -> Result<Inspected, TargetError> {
    let allowed = options.check(&spec.to_string());
    let (mut inspected, dry_run) = match spec {
        TargetSpec::Sim { name, settings } => {
            let (identity, limits) = sim::describe(&spec.to_string(), name, settings)?;
            let inspected = Inspected {
                memory_bytes: sim::memory_bytes(name, settings)?,
                counts_nand_writes: true,
                ..Inspected::harmless(spec, identity, limits)
            };
            (inspected, allowed)
        }
        TargetSpec::File { path, size_bytes, .. } => (
            file::inspect(spec, path, *size_bytes)?,
            allowed.and_then(|()| file::dry_run(spec, path, *size_bytes, options)),
        ),
        TargetSpec::Block { path } => (
            block::inspect(spec, path)?,
            allowed.and_then(|()| block::dry_run(spec, path, options)),
        ),
        TargetSpec::Null { size_bytes } => {
            let identity = bare_identity(spec, *size_bytes);
            (Inspected::harmless(spec, identity, engine_limits()), allowed)
        }
    };
    inspected.object(dry_run.err(), options);
    Ok(inspected)
}

/// Whether a word given with `--erase` names this target.
pub fn is_named_by(spec: &TargetSpec, word: &str) -> bool {
    match spec.backing() {
        Backing::Nothing => false,
        Backing::File(path) => file::is_named_by(path, word),
        Backing::Device(path) => {
            guard::confirmations(path).iter().any(|known| known == word.trim())
        }
    }
}

impl Inspected {
    /// Opens an existing target up to the engine and its buffers, and makes sure that the requested
    /// engine and purge are possible, as far as they are not the defaults.
    ///
    /// # Errors
    /// The errors of [`open_file`] and [`open_block`].
    pub fn hold(self, options: &OpenOptions) -> Result<Held, TargetError> {
        let medium = match &self.spec {
            TargetSpec::File { path, size_bytes, keep } if !self.is_new => {
                OnceLock::from(file::hold(&self.spec, path, *size_bytes, *keep, options)?)
            }
            TargetSpec::Block { path } => OnceLock::from(block::hold(&self.spec, path, options)?),
            TargetSpec::Sim { .. } | TargetSpec::File { .. } | TargetSpec::Null { .. } => {
                OnceLock::new()
            }
        };
        if let Some(medium) = medium.get() {
            RealTarget::check(medium, options)?;
        }
        Ok(Held { inspected: self, medium })
    }
}

/// A target that has passed every check, before it has an engine and buffers. What exists outside this
/// program is held until this and every target opened from it are dropped.
#[derive(Debug)]
pub struct Held {
    /// The target as it was inspected.
    pub inspected: Inspected,
    /// The open file or device; empty for a file that its first run creates.
    medium: OnceLock<Medium>,
}

impl Held {
    /// The processor on which the interrupts of the drive arrive, or `None` if that is no single one, or not known before
    /// the target is opened.
    pub fn interrupt_processor(&self) -> Option<usize> {
        self.medium.get()?.interrupt_processor
    }

    /// Opens the target for one run. The right to write and the confirmation are settled: `options`
    /// only decides on queue depth, transfer size, engine, data and purge, and on
    /// [`OpenOptions::write`] if it asks for less.
    ///
    /// # Errors
    /// [`TargetError::Usage`] for a transfer size or queue depth out of range; [`TargetError::Unsupported`]
    /// if the requested engine cannot drive the target, or it does not fit into the memory; those of
    /// [`open_file`] for a file that is created.
    pub fn open(&self, options: &OpenOptions) -> Result<Opened, TargetError> {
        let spec = &self.inspected.spec;
        let real = |medium: &Medium| Ok(Opened::Real(Box::new(RealTarget::open(medium, options)?)));
        match (spec, self.medium.get()) {
            (_, Some(medium)) => real(medium),
            (TargetSpec::Sim { name, settings }, None) => {
                let drive = SimTarget::open(&spec.to_string(), name, settings)?;
                Ok(Opened::Sim(Box::new(drive)))
            }
            (TargetSpec::Null { size_bytes }, None) => {
                Ok(Opened::Null(NullTarget::new(*size_bytes, MonotonicClock::start())))
            }
            (TargetSpec::File { path, size_bytes, keep }, None) => {
                let created = file::hold(spec, path, *size_bytes, *keep, options)?;
                let opened = real(&created)?;
                if *keep {
                    // The next run keeps this file, too; other files are made anew for each.
                    let _ = self.medium.set(created);
                }
                Ok(opened)
            }
            (TargetSpec::Block { path }, None) => real(&block::hold(spec, path, options)?),
        }
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

impl Opened {
    /// The file or block device, or `None` if it is neither.
    pub fn real(self) -> Option<RealTarget> {
        match self {
            Self::Real(target) => Some(*target),
            Self::Sim(_) | Self::Null(_) => None,
        }
    }

    /// Facts about the opening for the reader of a result.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Real(target) => target.warnings().to_vec(),
            Self::Sim(drive) => Vec::from_iter(drive.own_policies().map(|words| {
                format!(
                    "the drive follows functions of its caller ({words}), which no command repeats"
                )
            })),
            Self::Null(_) => Vec::new(),
        }
    }
}

/// Opens a regular file as a target; `size_bytes` and `keep` as in [`target::TargetSpec::File`].
///
/// A file that does not exist is created with all its blocks allocated. It is removed when the
/// target is dropped unless `keep` is set and it has passed
/// [`target::Target::confirm_identity`]. An existing file keeps size and content until
/// [`target::Target::confirm_identity`] or the purge. A caller that writes calls the
/// former first, once nothing can refuse the run any more.
///
/// # Errors
/// [`TargetError::Refused`] if an existing file would be overwritten and no word in
/// [`OpenOptions::erase`] names it; [`TargetError::Usage`] for a path that cannot be a file target or a
/// missing size; [`TargetError::Device`] if the system fails, for instance for lack of space.
pub fn open_file(
    path: &Path,
    size_bytes: Option<u64>,
    keep: bool,
    options: &OpenOptions,
) -> Result<RealTarget, TargetError> {
    let spec = TargetSpec::File { path: path.to_owned(), size_bytes, keep };
    RealTarget::open(&file::hold(&spec, path, size_bytes, keep, options)?, options)
}

/// Opens a block device as a target, after every check of [`device::guard`], and holds it exclusively
/// until the target is dropped.
///
/// A run that only reads may share the device; that is then one of [`RealTarget::warnings`]. The generic
/// character device of an NVMe namespace stands for its block device with [`crate::EngineChoice::Passthrough`].
///
/// # Errors
/// [`TargetError::Refused`] with one of the codes of [`device::guard`]; [`TargetError::Usage`] if there is
/// nothing at `path`; [`TargetError::Device`] if the system fails.
pub fn open_block(path: &Path, options: &OpenOptions) -> Result<RealTarget, TargetError> {
    let spec = TargetSpec::Block { path: path.to_owned() };
    RealTarget::open(&block::hold(&spec, path, options)?, options)
}
