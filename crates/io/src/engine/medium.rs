//! The common part of the engines for real targets: the open file or device, its fence, its clock.
//!
//! An engine asks [`Medium::admit`] before a command may touch anything, and [`target::Clock`] for the
//! time. Everything that is not the hot path (flush, deallocate, purge) lives here once.

use std::fs::File;
use std::io::IoSliceMut;
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};

use base::{Nanos, Op, OpKind, Status};
use device::health::DriveProbe;
use device::host::clock::MonotonicClock;
use device::host::ioctl;
use device::purge;
use device::rest::RestSwitch;
use device::zones;
use rustix::io::{Errno, ReadWriteFlags};
use target::Identity;
use target::TargetError;
use target::health::HealthProbe;
use target::limits::fence;
use target::{Clock as _, Limits, PurgeMethod, Rest, ZoneOrder};
use target::{PurgeOption, Waiter};

use crate::options::{EngineChoice, OpenOptions};
use crate::overwrite::overwrite;
use crate::ownership::Ownership;
use crate::space::{punch_hole, reserve};

/// Kind of the medium behind the descriptor; decides how a range is deallocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediumKind {
    File,
    Block,
}

/// An open file or block device that a test may use.
#[derive(Debug)]
pub(crate) struct Medium {
    pub(crate) file: File,
    pub(crate) kind: MediumKind,
    /// Whether it was named by the generic character device of an NVMe namespace, which asks for
    /// passthrough.
    pub(crate) is_generic: bool,
    pub(crate) capacity_bytes: u64,
    /// Position of the fence; no command reaches beyond.
    pub(crate) granted_bytes: u64,
    pub(crate) limits: Limits,
    /// The placement identifiers of the handles that a write may name; empty if there are none.
    pub(crate) placements: Arc<[u16]>,
    pub(crate) writable: bool,
    /// The purge method, or `None` for the best one.
    pub(crate) purge: Option<PurgeMethod>,
    pub(crate) identity: Identity,
    pub(crate) warnings: Vec<String>,
    pub(crate) clock: MonotonicClock,
    /// The switch of rest for link and drive, or `None` if nothing can be switched.
    pub(crate) rest: Option<RestSwitch>,
    /// The processor on which all interrupts of the drive arrive, or `None` if there is no single
    /// one.
    pub(crate) interrupt_processor: Option<usize>,
    /// The right to use the target, and the cleanup at the end.
    pub(crate) ownership: Arc<Ownership>,
    /// The drive's words for the first command that failed, in any thread.
    pub(crate) first_words: Arc<OnceLock<String>>,
}

impl Medium {
    /// The LBA fence: the errno a command must end with, without touching the device.
    #[inline]
    pub(crate) fn admit(&self, op: &Op) -> Result<(), Errno> {
        match op.kind {
            OpKind::Flush => return Ok(()),
            OpKind::Read if op.len <= self.limits.transfer_bytes_max => {}
            OpKind::Write if op.len <= self.limits.transfer_bytes_max && self.writable => {}
            OpKind::Deallocate if self.limits.deallocate && self.writable => {}
            _ => return Err(self.objection(op)),
        }
        fence(op.offset, u64::from(op.len), self.granted_bytes, self.limits.logical_block_bytes)
    }

    /// A second handle on the open file for another thread, with a queue of its own; dropping the last one
    /// releases the device.
    pub(crate) fn worker(&self, queue_depth: u32) -> Result<Self, TargetError> {
        Ok(Self {
            limits: Limits { queue_depth_max: queue_depth, ..self.limits },
            warnings: Vec::new(),
            first_words: Arc::clone(&self.first_words),
            ..self.again()?
        })
    }

    /// A second handle on the open file, as if newly opened.
    pub(crate) fn again(&self) -> Result<Self, TargetError> {
        let file = self.file.try_clone().map_err(|source| TargetError::Device {
            context: format!("cannot open {} once more", self.identity.name),
            source,
        })?;
        Ok(Self {
            file,
            // Switching is left to the target that is used on its own.
            rest: None,
            identity: self.identity.clone(),
            placements: Arc::clone(&self.placements),
            warnings: self.warnings.clone(),
            ownership: Arc::clone(&self.ownership),
            first_words: Arc::default(),
            ..*self
        })
    }

    /// A second handle for a run with these options, which may ask for less than the first.
    pub(crate) fn for_run(&self, options: &OpenOptions) -> Result<Self, TargetError> {
        let medium = self.again()?;
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
        Ok(Self { limits, writable, purge, clock, rest, ..medium })
    }

    /// The engine for commands of the requested kind.
    ///
    /// # Errors
    /// [`TargetError::Usage`] for an engine that sends no commands past the block layer to a generic device.
    pub(crate) fn engine(&self, asked: EngineChoice) -> Result<EngineChoice, TargetError> {
        if !self.is_generic {
            return Ok(asked);
        }
        asked.past_the_block_layer().ok_or_else(|| {
            TargetError::Usage(format!(
                "{} is for commands past the block layer, which the engine {asked} does not send; name \
                 the block device, or drop --engine",
                self.identity.spec
            ))
        })
    }

    /// Whether the kernel cannot send a command without waiting for its end (no `RWF_NOWAIT`), as
    /// for a zram device: `io_uring` hands each command to a thread of its own. `block` is memory
    /// for a read of the first block.
    pub(crate) fn waits_for_each(&self, block: &mut [u8]) -> bool {
        let pieces = &mut [IoSliceMut::new(block)];
        let sent = rustix::io::preadv2(&self.file, pieces, 0, ReadWriteFlags::NOWAIT);
        sent == Err(Errno::OPNOTSUPP)
    }

    /// Moves the fence inwards. A span of zones is the data that they hold.
    pub(crate) fn confine(&mut self, span_bytes: u64) {
        let end_bytes = self.limits.zones.map_or(span_bytes, |zones| {
            (span_bytes / zones.capacity_bytes).saturating_mul(zones.size_bytes)
        });
        self.granted_bytes = self.granted_bytes.min(end_bytes);
    }

    /// Allows or denies link and drive to rest.
    pub(crate) fn set_rest(&mut self, rest: Rest) -> Result<String, TargetError> {
        match &mut self.rest {
            Some(switch) => switch.set(rest),
            None => Err(TargetError::Unsupported(format!(
                "{} has no link power management and no power states that can be switched here",
                self.identity.name
            ))),
        }
    }

    /// The outcome of a command that failed; keeps the drive's words for the first one.
    #[cold]
    pub(crate) fn failed_with(&self, errno: Errno, words: Option<String>) -> Status {
        if let Some(words) = words {
            let _ = self.first_words.set(words);
        }
        Status::Failed { errno: errno.raw_os_error() }
    }

    #[cold]
    fn objection(&self, op: &Op) -> Errno {
        match op.kind {
            OpKind::Write | OpKind::Deallocate if !self.writable => Errno::ROFS,
            OpKind::Deallocate => Errno::OPNOTSUPP,
            _ => Errno::INVAL,
        }
    }

    /// Deallocates a range at once, waiting for its end.
    pub(crate) fn discard(&self, offset_bytes: u64, len_bytes: u64) -> Result<(), Errno> {
        match self.kind {
            MediumKind::Block => ioctl::block_discard(self.file.as_fd(), offset_bytes, len_bytes),
            MediumKind::File => punch_hole(&self.file, offset_bytes, len_bytes),
        }
    }

    pub(crate) fn flush_now(&self) -> Result<(), Errno> {
        rustix::fs::fdatasync(&self.file)
    }

    pub(crate) fn flush(&self) -> Result<(), TargetError> {
        self.flush_now().map_err(|errno| self.failed("flush", errno))
    }

    pub(crate) fn deallocate(&self, offset_bytes: u64, len_bytes: u64) -> Result<(), TargetError> {
        self.require_deallocate("deallocate a range")?;
        fence(offset_bytes, len_bytes, self.granted_bytes, self.limits.logical_block_bytes)
            .map_err(|_| {
                TargetError::Usage(format!(
                    "cannot deallocate {len_bytes} bytes at {offset_bytes} of {}: expected multiples \
                     of {} bytes inside the {} bytes granted",
                    self.identity.name, self.limits.logical_block_bytes, self.granted_bytes
                ))
            })?;
        self.discard(offset_bytes, len_bytes).map_err(|errno| self.failed("deallocate", errno))
    }

    /// A reader of the drive's health, or `None` for files and for drives that report none.
    pub(crate) fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        let Ownership::Device(claim) = &*self.ownership else { return None };
        let (protocol, name) = (claim.report().protocol, &self.identity.name);
        let probe = DriveProbe::new(&self.file, protocol, name, self.clock)?;
        Some(Arc::new(probe))
    }

    /// The methods to purge it, the best first.
    pub(crate) fn purge_options(&self) -> Vec<PurgeOption> {
        match &*self.ownership {
            Ownership::File(_) => purge::file_options(self.limits.deallocate),
            Ownership::Device(claim) => purge::device_options(&self.file, claim.report()),
        }
    }

    /// Purges with the requested method, else with the best one.
    pub(crate) fn purge(&self, waiter: &dyn Waiter) -> Result<PurgeMethod, TargetError> {
        self.require_writable("purge")?;
        self.ownership.recheck(&self.file, self.capacity_bytes)?;
        let method = target::purge::choose(&self.purge_options(), self.purge, &self.identity.name)?;
        match method {
            PurgeMethod::ZoneReset => {
                zones::order(&self.file, ZoneOrder::Reset, 0, self.capacity_bytes)
                    .map_err(|errno| self.failed("purge (reset all zones)", errno))?;
            }
            PurgeMethod::Deallocate => self.deallocate_all(waiter)?,
            PurgeMethod::Overwrite => {
                overwrite(&self.file, self.capacity_bytes, &self.identity.name, waiter)?;
            }
            _ => purge::tell_the_drive(method, &self.file, &self.identity.name, waiter)?,
        }
        // A drive that returns with another size does not suit the rest of the run.
        self.ownership.recheck(&self.file, self.capacity_bytes)?;
        Ok(method)
    }

    fn deallocate_all(&self, waiter: &dyn Waiter) -> Result<(), TargetError> {
        // Some drives take seconds for a gigabyte, and nobody can stop a call of the kernel.
        const PIECE_BYTES: u64 = 16 << 30;
        let capacity_bytes = self.capacity_bytes;
        for offset_bytes in (0..capacity_bytes).step_by(PIECE_BYTES as usize) {
            if waiter.wants_to_stop() {
                return Err(TargetError::Interrupted(format!(
                    "the deallocation of {} was stopped: its first {offset_bytes} of {capacity_bytes} bytes \
                     hold nothing, the others what they held before",
                    self.identity.name
                )));
            }
            self.discard(offset_bytes, PIECE_BYTES.min(capacity_bytes - offset_bytes))
                .map_err(|errno| self.failed("purge (deallocate all blocks)", errno))?;
        }
        if self.kind == MediumKind::File {
            // The space must stay ours, or a full file system would end the test half way.
            reserve(&self.file, self.capacity_bytes)
                .map_err(|errno| self.failed("reserve the space again after the purge", errno))?;
        }
        Ok(())
    }

    /// Gives an order to a zone, waits for its end and returns the time that it took.
    pub(crate) fn manage_zone(&self, zone: u32, order: ZoneOrder) -> Result<Nanos, TargetError> {
        let what = format!("{} zone {zone}", order.name());
        self.require_writable(&what)?;
        let size_bytes = self.limits.zones.map_or(0, |zones| zones.size_bytes);
        let offset_bytes = u64::from(zone) * size_bytes;
        let start = self.clock.now();
        fence(offset_bytes, size_bytes, self.granted_bytes, self.limits.logical_block_bytes)
            .and_then(|()| zones::order(&self.file, order, offset_bytes, size_bytes))
            .map_err(|errno| self.failed(&what, errno))?;
        Ok(Nanos(self.clock.now().0 - start.0))
    }

    fn require_writable(&self, what: &str) -> Result<(), TargetError> {
        if self.writable {
            return Ok(());
        }
        let name = &self.identity.name;
        Err(TargetError::Refused {
            code: "read-only",
            message: format!("cannot {what}: {name} was opened for reading only"),
        })
    }

    fn require_deallocate(&self, what: &str) -> Result<(), TargetError> {
        self.require_writable(what)?;
        let name = &self.identity.name;
        if !self.limits.deallocate {
            return Err(TargetError::Unsupported(format!(
                "cannot {what}: {name} does not support deallocate ({})",
                match self.kind {
                    MediumKind::Block => "BLKDISCARD: queue/discard_max_bytes is 0",
                    MediumKind::File => "the file system cannot punch holes",
                }
            )));
        }
        Ok(())
    }

    fn failed(&self, what: &str, errno: Errno) -> TargetError {
        TargetError::Device {
            context: format!("cannot {what} on {}", self.identity.name),
            source: errno.into(),
        }
    }
}
