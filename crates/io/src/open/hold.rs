//! A real target that has passed every check and is held, before it has an engine and buffers.
//!
//! A call with several targets holds all of them before it changes the first.

use device::host::clock::MonotonicClock;
use device::rest::RestSwitch;
use target::purge::{self, PurgeOption};
use target::{IoError, Limits};

use crate::engine::medium::{Medium, MediumKind};
use crate::options::{EngineChoice, OpenOptions};
use crate::ownership::Ownership;
use crate::real::RealTarget;

/// A file or block device that is held: exclusively if it may be written to. It is released when
/// this and every target opened from it are dropped.
#[derive(Debug)]
pub(super) struct RealHold {
    medium: Medium,
    /// Whether it was named by the generic character device of an NVMe namespace, which asks for
    /// passthrough.
    is_generic: bool,
}

impl RealHold {
    pub(super) fn new(medium: Medium, is_generic: bool) -> Self {
        Self { medium, is_generic }
    }

    /// Gives the target an engine and buffers; arguments and errors as of [`super::Hold::open`].
    pub(super) fn open(&self, options: &OpenOptions) -> Result<RealTarget, IoError> {
        let name = &self.medium.identity.name;
        options.check(name)?;
        let engine = self.engine(options.engine)?;
        let block_bytes = self.medium.limits.logical_block_bytes;
        if self.medium.kind == MediumKind::Block && options.transfer_bytes_max < block_bytes {
            return Err(IoError::Usage(format!(
                "a transfer size of {} bytes is less than a block of {name} ({block_bytes} bytes)",
                options.transfer_bytes_max
            )));
        }
        RealTarget::assemble(self.medium(options)?, &OpenOptions { engine, ..options.clone() })
    }

    /// Arguments and errors as of [`super::Hold::check`].
    pub(super) fn check(&self, options: &OpenOptions) -> Result<(), IoError> {
        if let Some(method) = options.purge {
            purge::choose(&self.purge_options(), Some(method), &self.medium.identity.name)?;
        }
        if self.engine(options.engine)?.is_exact() {
            let transfer_bytes_max = self.medium.limits.logical_block_bytes.max(4096);
            self.open(&OpenOptions { queue_depth: 1, transfer_bytes_max, ..options.clone() })?;
        }
        Ok(())
    }

    fn purge_options(&self) -> Vec<PurgeOption> {
        self.medium.purge_options()
    }

    fn engine(&self, asked: EngineChoice) -> Result<EngineChoice, IoError> {
        if !self.is_generic {
            return Ok(asked);
        }
        asked.past_the_block_layer().ok_or_else(|| {
            IoError::Usage(format!(
                "{} is for commands past the block layer, which the engine {asked} does not send; name \
                 the block device, or drop --engine",
                self.medium.identity.spec
            ))
        })
    }

    fn medium(&self, options: &OpenOptions) -> Result<Medium, IoError> {
        let medium = self.medium.again()?;
        let writable = medium.writable && options.write;
        let rest = match &*medium.ownership {
            Ownership::Device(claim) if writable => RestSwitch::new(&medium.file, claim.report()),
            _ => None,
        };
        let limits = Limits {
            queue_depth_max: options.queue_depth,
            transfer_bytes_max: options.transfer_bytes_max,
            deallocate: medium.limits.deallocate && writable,
            rest: rest.is_some(),
            ..medium.limits
        };
        let (purge, clock) = (options.purge, MonotonicClock::start());
        Ok(Medium { limits, writable, purge, clock, rest, ..medium })
    }
}
