//! The one way in to real targets: checks, opens, chooses the engine and says why.
//!
//! [`open_file`] and [`open_block`] refuse whatever could destroy something; what passes comes out
//! as a [`RealTarget`]. The engine is chosen here, once: `io_uring` where the kernel allows it,
//! else blocking calls, and the reason stands in [`Identity::engine`].

mod block;
mod direct;
mod engine_choice;
mod file;
mod hold;
mod same;

use std::path::Path;
use std::sync::Arc;

use base::{Completion, Nanos, Op};

use crate::TargetSpec;
use crate::buffer::BufferPool;
use crate::engine::medium::Medium;
use crate::engine::sync::SyncEngine;
use crate::engine::uring::{NvmeCommands, Refused, UringEngine};
use crate::error::IoError;
use crate::guard;
use crate::health::HealthProbe;
use crate::identity::Identity;
use crate::purge::{PurgeOption, Waiter};
use crate::target::{Limits, PurgeMethod, Rest, Target};

pub use engine_choice::{EngineChoice, Polling};
pub(crate) use file::Fit;
pub use file::{FileFound, look_at_file};
pub use hold::Hold;
pub use same::check_apart;

/// The deepest queue an engine can be asked for: the limit of an `io_uring`.
pub const QUEUE_DEPTH_MAX: u32 = 32_768;

/// Why blocking calls are better than a ring for one command at a time where the kernel cannot send it without waiting.
const HANDED_OVER: &str = "the kernel would hand each to another thread of io_uring";

/// How a real target is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Most commands outstanding at a time, 1 to [`QUEUE_DEPTH_MAX`].
    pub queue_depth: u32,
    /// The longest single read or write. Two buffers of this size are kept for each command.
    pub transfer_bytes_max: u32,
    /// The run writes, deallocates or purges.
    pub write: bool,
    /// The user's promise that nothing is written: a run with [`OpenOptions::write`] is refused.
    pub read_only: bool,
    /// What the user gives away (`--erase`): serials of devices, paths of files, paths of the files
    /// behind loop devices. One of them must name the target.
    pub erase: Vec<String>,
    /// The user agrees to lose what is recognised: file systems, databases, ... (`--erase-signatures`).
    pub erase_signatures: bool,
    /// Which engine to use.
    pub engine: EngineChoice,
    /// Seed of the data written.
    pub seed: u64,
    /// Writes hold data of [`crate::verifiable`] with [`OpenOptions::seed`].
    pub verifiable: bool,
    /// How to purge (`--purge`); the best way that the target offers where not set.
    pub purge: Option<PurgeMethod>,
}

impl Default for OpenOptions {
    /// Reading only, queue depth 32, transfers to 128 KiB.
    fn default() -> Self {
        Self {
            queue_depth: 32,
            transfer_bytes_max: 128 << 10,
            write: false,
            read_only: false,
            erase: Vec::new(),
            erase_signatures: false,
            engine: EngineChoice::Auto,
            seed: 0,
            verifiable: false,
            purge: None,
        }
    }
}

impl OpenOptions {
    /// Refuses a run that writes where the user wants none; `name` is that of the target, of whatever kind.
    ///
    /// # Errors
    /// [`IoError::Refused`] with code `read-only`.
    pub fn check_read_only(&self, name: &str) -> Result<(), IoError> {
        if !(self.write && self.read_only) {
            return Ok(());
        }
        Err(IoError::Refused {
            code: "read-only",
            message: format!(
                "this test writes to {name} and --read-only was given; drop --read-only or \
                 choose a test that only reads"
            ),
        })
    }

    fn check(&self, name: &str) -> Result<(), IoError> {
        self.check_read_only(name)?;
        if self.queue_depth == 0 || self.queue_depth > QUEUE_DEPTH_MAX {
            return Err(IoError::Usage(format!(
                "queue depth {} is out of range; expected 1 to {QUEUE_DEPTH_MAX}",
                self.queue_depth
            )));
        }
        if self.transfer_bytes_max < 512 || i32::try_from(self.transfer_bytes_max).is_err() {
            return Err(IoError::Usage(format!(
                "a transfer size of {} bytes is out of range; expected 512 bytes to 1 GiB",
                self.transfer_bytes_max
            )));
        }
        Ok(())
    }
}

/// Opens a regular file as a target; `size_bytes` and `keep` as in [`crate::TargetSpec::File`].
///
/// A file that does not exist is created with all its blocks allocated, and removed when the
/// target is dropped unless `keep` is set and it has passed [`Target::confirm_identity`]. One that exists keeps size and
/// content until [`Target::confirm_identity`] or the purge: whoever writes calls the former first, once nothing can
/// refuse the run any more.
///
/// # Errors
/// [`IoError::Refused`] where an existing file would be overwritten without
/// [`OpenOptions::erase`] naming it; [`IoError::Usage`] for a path that cannot be a file target or
/// a missing size; [`IoError::Device`] where the system fails, for instance for lack of space.
pub fn open_file(
    path: &Path,
    size_bytes: Option<u64>,
    keep: bool,
    options: &OpenOptions,
) -> Result<RealTarget, IoError> {
    hold_file(path, size_bytes, keep, options)?.open(options)
}

/// Opens a target of any kind up to the engine and its buffers; `None` if it is one that nobody need
/// hold.
///
/// # Errors
/// Those of [`open_file`] and [`open_block`].
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

/// Opens a block device as a target, after every check of [`crate::guard`], and holds it exclusively
/// until the target is dropped.
///
/// A run that only reads may share the device; that is then one of [`RealTarget::warnings`]. The generic
/// character device of an NVMe namespace stands for its block device with [`EngineChoice::Passthrough`].
///
/// # Errors
/// [`IoError::Refused`] with one of the codes of [`crate::guard`]; [`IoError::Usage`] where there
/// is nothing at `path`; [`IoError::Device`] where the system fails.
pub fn open_block(path: &Path, options: &OpenOptions) -> Result<RealTarget, IoError> {
    hold_block(path, options)?.open(options)
}

fn hold_block(path: &Path, options: &OpenOptions) -> Result<Hold, IoError> {
    options.check(&path.display().to_string())?;
    let is_generic = guard::is_generic_node(path);
    Ok(Hold::new(block::open(path, options)?, is_generic))
}

/// Finds out whether a target would be opened with these options, and changes nothing: a run that
/// writes opens it for reading only and creates no file. Other kinds than files and block devices always
/// would.
///
/// # Errors
/// Those of [`open_file`] and [`open_block`], as far as they come before the engine.
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

/// A file or block device, driven by the engine that was chosen when it was opened.
#[derive(Debug)]
pub struct RealTarget {
    engine: Engine,
    /// How it was opened, to open it once more for another thread.
    options: OpenOptions,
}

#[derive(Debug)]
enum Engine {
    Uring(Box<UringEngine>),
    Passthrough(Box<UringEngine<NvmeCommands>>),
    Sync(Box<SyncEngine>),
}

impl Engine {
    fn uring(medium: Medium, pool: BufferPool, polling: Polling) -> Result<Self, Refused> {
        Ok(Self::Uring(Box::new(UringEngine::new(medium, pool, polling)?)))
    }

    fn passthrough(medium: Medium, pool: BufferPool, polling: Polling) -> Result<Self, Refused> {
        Ok(Self::Passthrough(Box::new(UringEngine::passthrough(medium, pool, polling)?)))
    }
}

/// Calls the engine inside; a predictable branch, not a virtual call.
macro_rules! delegate {
    ($self:ident, $engine:ident => $call:expr) => {
        match &$self.engine {
            Engine::Uring($engine) => $call,
            Engine::Passthrough($engine) => $call,
            Engine::Sync($engine) => $call,
        }
    };
    (mut $self:ident, $engine:ident => $call:expr) => {
        match &mut $self.engine {
            Engine::Uring($engine) => $call,
            Engine::Passthrough($engine) => $call,
            Engine::Sync($engine) => $call,
        }
    };
}

impl RealTarget {
    fn assemble(medium: Medium, options: &OpenOptions) -> Result<Self, IoError> {
        let limits = &medium.limits;
        let mut pool = BufferPool::new(
            limits.queue_depth_max,
            limits.transfer_bytes_max,
            options.seed,
            medium.writable,
        )?;
        if options.verifiable {
            pool.make_verifiable(options.seed);
        }
        let is_single = limits.queue_depth_max == 1;
        let block_bytes = limits.logical_block_bytes as usize;
        let built = match options.engine {
            EngineChoice::Auto
                if is_single && medium.waits_for_each(pool.read_bytes(0, block_bytes)) =>
            {
                Err(Box::new((medium, pool, HANDED_OVER.to_owned())))
            }
            EngineChoice::Sync => Err(Box::new((medium, pool, "asked for".to_owned()))),
            EngineChoice::Auto => Engine::uring(medium, pool, Polling::default()),
            EngineChoice::Uring(polling) => Engine::uring(medium, pool, polling),
            EngineChoice::Passthrough(polling) => Engine::passthrough(medium, pool, polling),
        };
        let (mut medium, pool, reason) = match built {
            Ok(engine) => return Ok(Self::with(engine, options)),
            Err(refused) => *refused,
        };
        // Blocking calls take the place of a ring only where nothing else was asked for.
        if options.engine.is_exact() {
            let name = medium.identity.name;
            return Err(IoError::Unsupported(format!(
                "{name} cannot be driven as asked for (engine {}): {reason}",
                options.engine
            )));
        }
        let how = format!("sync, one command at a time ({reason})");
        medium.identity.engine = format!("{how}, {}", medium.identity.engine);
        Ok(Self::with(Engine::Sync(Box::new(SyncEngine::new(medium, pool))), options))
    }

    fn with(engine: Engine, options: &OpenOptions) -> Self {
        Self { engine, options: options.clone() }
    }

    /// A target of its own on the same open file or device, with buffers and a queue of its own.
    fn lane(&self, index: u64, queue_depth: u32) -> Result<Self, IoError> {
        let seed = self.options.seed.wrapping_add(index + 1);
        let options = OpenOptions { queue_depth, seed, ..self.options.clone() };
        Self::assemble(self.medium().lane(queue_depth)?, &options)
    }

    fn medium(&self) -> &Medium {
        delegate!(self, engine => engine.medium())
    }

    fn medium_mut(&mut self) -> &mut Medium {
        delegate!(mut self, engine => engine.medium_mut())
    }

    /// True where `io_uring` drives the target, false for blocking calls.
    #[must_use]
    pub fn uses_uring(&self) -> bool {
        !matches!(self.engine, Engine::Sync(_))
    }

    /// What the reader of a result should know about how this target was opened.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.medium().warnings
    }

    /// Makes sure that the target is still what the user agreed to erase: same device number or
    /// inode, size and serial. Call it before each destructive phase; a purge does so itself. The first
    /// call gives an existing file its size.
    ///
    /// # Errors
    /// [`IoError::Refused`] with code `identity-changed` where it is not; [`IoError::Device`] where
    /// there is no room for the file.
    pub fn recheck_identity(&self) -> Result<(), IoError> {
        let medium = self.medium();
        medium.ownership.recheck(&medium.file, medium.capacity_bytes)
    }

    /// The first `len_bytes` of what the last read with this tag returned; `None` while a command
    /// with the tag is outstanding, or where tag or length exceed the limits.
    pub fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]> {
        delegate!(mut self, engine => engine.read_bytes(tag, len_bytes))
    }
}

impl Target for RealTarget {
    fn capacity_bytes(&self) -> u64 {
        delegate!(self, engine => engine.capacity_bytes())
    }

    fn limits(&self) -> Limits {
        delegate!(self, engine => engine.limits())
    }

    fn identity(&self) -> Identity {
        delegate!(self, engine => engine.identity())
    }

    #[inline]
    fn now(&self) -> Nanos {
        delegate!(self, engine => engine.now())
    }

    #[inline]
    fn submit(&mut self, ops: &[Op]) {
        delegate!(mut self, engine => engine.submit(ops));
    }

    #[inline]
    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), IoError> {
        delegate!(mut self, engine => engine.reap(min, out))
    }

    #[inline]
    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), IoError> {
        delegate!(mut self, engine => engine.reap_until(t, out))
    }

    fn lanes(&mut self, queue_depths: &[u32]) -> Result<Vec<Self>, IoError> {
        (0..).zip(queue_depths).map(|(index, &depth)| self.lane(index, depth)).collect()
    }

    fn idle_until(&mut self, t: Nanos) {
        delegate!(mut self, engine => engine.idle_until(t));
    }

    fn confirm_identity(&self) -> Result<(), IoError> {
        self.recheck_identity()
    }

    fn purge(&mut self, waiter: &dyn Waiter) -> Result<PurgeMethod, IoError> {
        delegate!(mut self, engine => engine.purge(waiter))
    }

    fn confine(&mut self, span_bytes: u64) {
        self.medium_mut().confine(span_bytes);
    }

    fn set_rest(&mut self, rest: Rest) -> Result<String, IoError> {
        self.medium_mut().set_rest(rest)
    }

    fn failure_words(&self) -> Option<String> {
        self.medium().first_words.get().cloned()
    }

    fn interrupt_processor(&self) -> Option<usize> {
        self.medium().interrupt_processor
    }

    fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        self.medium().health_probe()
    }

    fn purge_options(&self) -> Vec<PurgeOption> {
        self.medium().purge_options()
    }

    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), IoError> {
        delegate!(mut self, engine => engine.deallocate(offset_bytes, len_bytes))
    }

    fn flush(&mut self) -> Result<(), IoError> {
        delegate!(mut self, engine => engine.flush())
    }
}
