//! Files and block devices as targets: an open medium, and the engine that was chosen for it.

use std::sync::Arc;

use base::{Completion, Nanos, Op};
use target::UseProbe;
use target::health::HealthProbe;
use target::purge;
use target::{
    Clock as _, Identity, Limits, PurgeMethod, PurgeOption, Rest, Target, TargetError, Waiter,
    ZoneOrder,
};

use crate::buffer::BufferPool;
use crate::engine::medium::{Medium, MediumKind};
use crate::engine::queue::Queue;
use crate::engine::sync::SyncEngine;
use crate::engine::uring::{NvmeCommands, Refused, UringEngine};
use crate::options::{EngineChoice, OpenOptions, Polling};

/// The reason for blocking calls if the kernel cannot send a single command without waiting.
const HANDED_OVER: &str = "the kernel would hand each to another thread of io_uring";

/// A file or block device, driven by the engine that was chosen when it was opened.
#[derive(Debug)]
pub struct RealTarget {
    // Declared before the medium: fields drop in order, and a ring must go before its file.
    engine: Engine,
    medium: Medium,
    /// The options it was opened with, to open it once more for another thread.
    options: OpenOptions,
}

#[derive(Debug)]
enum Engine {
    Uring(Box<UringEngine>),
    Passthrough(Box<UringEngine<NvmeCommands>>),
    Sync(Box<SyncEngine>),
}

/// Calls the engine inside; a predictable branch, not a virtual call.
macro_rules! on_engine {
    ($self:ident, $engine:ident => $call:expr) => {
        match &mut $self.engine {
            Engine::Uring($engine) => $call,
            Engine::Passthrough($engine) => $call,
            Engine::Sync($engine) => $call,
        }
    };
}

impl Engine {
    /// The engine for `choice`. Blocking calls take the place of a ring only if no exact engine was
    /// requested.
    fn choose(
        choice: EngineChoice,
        medium: &mut Medium,
        mut pool: BufferPool,
    ) -> Result<Self, TargetError> {
        let Limits { queue_depth_max, logical_block_bytes, .. } = medium.limits;
        let mut waits_for_each = || {
            let block = pool.read_bytes(0, logical_block_bytes as usize);
            queue_depth_max == 1 && medium.waits_for_each(block)
        };
        let refused = match choice {
            EngineChoice::Sync => Box::new((pool, "asked for".to_owned())),
            EngineChoice::Auto if waits_for_each() => Box::new((pool, HANDED_OVER.to_owned())),
            _ => match Self::ring(choice, medium, pool) {
                Ok(engine) => return Ok(engine),
                Err(refused) => refused,
            },
        };
        let (pool, reason) = *refused;
        if choice.is_exact() {
            let name = &medium.identity.name;
            return Err(TargetError::Unsupported(format!(
                "{name} cannot be driven as asked for (engine {choice}): {reason}"
            )));
        }
        let how = format!("sync, one command at a time ({reason})");
        medium.identity.engine = format!("{how}, {}", medium.identity.engine);
        Ok(Self::Sync(Box::new(SyncEngine::new(queue_depth_max, pool))))
    }

    fn ring(choice: EngineChoice, medium: &mut Medium, pool: BufferPool) -> Result<Self, Refused> {
        Ok(match choice {
            EngineChoice::Passthrough(polling) => {
                Self::Passthrough(Box::new(UringEngine::passthrough(medium, pool, polling)?))
            }
            EngineChoice::Uring(polling) => {
                Self::Uring(Box::new(UringEngine::new(medium, pool, polling)?))
            }
            EngineChoice::Auto | EngineChoice::Sync => {
                Self::Uring(Box::new(UringEngine::new(medium, pool, Polling::default())?))
            }
        })
    }
}

impl RealTarget {
    /// A target on a held medium, with an engine and buffers for a run with these options.
    ///
    /// # Errors
    /// [`TargetError::Usage`] for sizes and depths out of range, [`TargetError::Unsupported`] for an engine that
    /// cannot drive it.
    pub(crate) fn open(held: &Medium, options: &OpenOptions) -> Result<Self, TargetError> {
        let name = &held.identity.name;
        options.check(name)?;
        let engine = held.engine(options.engine)?;
        let block_bytes = held.limits.logical_block_bytes;
        if held.kind == MediumKind::Block && options.transfer_bytes_max < block_bytes {
            return Err(TargetError::Usage(format!(
                "a transfer size of {} bytes is less than a block of {name} ({block_bytes} bytes)",
                options.transfer_bytes_max
            )));
        }
        Self::assemble(held.for_run(options)?, &OpenOptions { engine, ..options.clone() })
    }

    /// Makes sure that the requested engine and purge are possible, as far as they are not the defaults.
    ///
    /// # Errors
    /// [`TargetError::Unsupported`] if they are not; [`TargetError::Usage`] for an engine that the target
    /// does not allow.
    pub(crate) fn check(held: &Medium, options: &OpenOptions) -> Result<(), TargetError> {
        if let Some(method) = options.purge {
            purge::choose(&held.purge_options(), Some(method), &held.identity.name)?;
        }
        if held.engine(options.engine)?.is_exact() {
            let transfer_bytes_max = held.limits.logical_block_bytes.max(4096);
            Self::open(
                held,
                &OpenOptions { queue_depth: 1, transfer_bytes_max, ..options.clone() },
            )?;
        }
        Ok(())
    }

    /// The medium with buffers and an engine.
    fn assemble(mut medium: Medium, options: &OpenOptions) -> Result<Self, TargetError> {
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
        let engine = Engine::choose(options.engine, &mut medium, pool)?;
        Ok(Self { engine, medium, options: options.clone() })
    }

    /// A target of its own on the same open file or device, with buffers and a queue of its own.
    fn worker(&self, index: u64, queue_depth: u32) -> Result<Self, TargetError> {
        let seed = self.options.seed.wrapping_add(index + 1);
        let options = OpenOptions { queue_depth, seed, ..self.options.clone() };
        Self::assemble(self.medium.worker(queue_depth)?, &options)
    }

    /// Whether `io_uring` drives the target, and not blocking calls.
    pub fn uses_uring(&self) -> bool {
        !matches!(self.engine, Engine::Sync(_))
    }

    /// Warnings about how this target was opened, for the reader of a result.
    pub fn warnings(&self) -> &[String] {
        &self.medium.warnings
    }
}

impl Target for RealTarget {
    fn capacity_bytes(&self) -> u64 {
        self.medium.capacity_bytes
    }

    fn limits(&self) -> Limits {
        self.medium.limits
    }

    fn identity(&self) -> Identity {
        self.medium.identity.clone()
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.medium.clock.now()
    }

    #[inline]
    fn submit(&mut self, ops: &[Op]) {
        on_engine!(self, engine => engine.submit(&self.medium, ops));
    }

    #[inline]
    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        on_engine!(self, engine => engine.reap(&self.medium, min, out))
    }

    #[inline]
    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        on_engine!(self, engine => engine.reap_until(&self.medium, t, out))
    }

    fn idle_until(&mut self, t: Nanos) {
        self.medium.clock.sleep_until(t);
    }

    fn workers(&mut self, queue_depths: &[u32]) -> Result<Vec<Self>, TargetError> {
        (0..).zip(queue_depths).map(|(index, &depth)| self.worker(index, depth)).collect()
    }

    fn interrupt_processor(&self) -> Option<usize> {
        self.medium.interrupt_processor
    }

    /// Makes sure that the target is still what the user agreed to erase: same device number or
    /// inode, size and serial. The first call gives an existing file its size.
    fn confirm_identity(&self) -> Result<(), TargetError> {
        self.medium.ownership.recheck(&self.medium.file, self.medium.capacity_bytes)
    }

    fn use_probe(&self) -> Option<Arc<dyn UseProbe>> {
        let ownership = Arc::clone(&self.medium.ownership);
        self.medium.writable.then_some(ownership as Arc<dyn UseProbe>)
    }

    fn confine(&mut self, span_bytes: u64) {
        self.medium.confine(span_bytes);
    }

    fn purge(&mut self, waiter: &dyn Waiter) -> Result<PurgeMethod, TargetError> {
        self.medium.purge(waiter)
    }

    fn purge_options(&self) -> Vec<PurgeOption> {
        self.medium.purge_options()
    }

    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), TargetError> {
        self.medium.deallocate(offset_bytes, len_bytes)
    }

    fn manage_zone(&mut self, zone: u32, order: ZoneOrder) -> Result<Nanos, TargetError> {
        self.medium.manage_zone(zone, order)
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        self.medium.flush()
    }

    fn set_rest(&mut self, rest: Rest) -> Result<String, TargetError> {
        self.medium.set_rest(rest)
    }

    fn failure_words(&self) -> Option<String> {
        self.medium.first_words.get().cloned()
    }

    fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        self.medium.health_probe()
    }

    fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]> {
        on_engine!(self, engine => engine.read_bytes(tag, len_bytes))
    }
}
