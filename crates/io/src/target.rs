//! The contract between a workload and whatever takes its I/O.
//!
//! A test drives a [`Target`] and cannot tell which one: a block device through io_uring, a file, a
//! simulated drive in virtual time, or the null target. Everything beyond moving data (flush,
//! deallocate, purge, identity, telemetry) is a capability: a method with an honest default.

use std::str::FromStr;
use std::sync::Arc;

use base::{Completion, Nanos, Op, TelemetryRow};

use crate::error::IoError;
use crate::health::HealthProbe;
use crate::identity::Identity;
use crate::purge::{PurgeOption, Waiter};

/// What a target can take and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Offsets and lengths must be multiples of this.
    pub logical_block_bytes: u32,
    /// Writes that are not multiples of this may cost a read-modify-write inside the target.
    pub physical_block_bytes: u32,
    /// The longest single command.
    pub transfer_bytes_max: u32,
    /// Most commands outstanding at a time.
    pub queue_depth_max: u32,
    /// True where [`base::OpKind::Deallocate`] does something.
    pub deallocate: bool,
    /// True where [`Target::set_rest`] does something.
    pub rest: bool,
    /// True where the target's own telemetry counts the energy it draws.
    pub energy: bool,
    /// True where the controller is known to compress what it stores.
    pub compresses: bool,
}

/// What link and drive may do while there is nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Whatever they did before the run.
    AsFound,
    /// Go to sleep, by the host's wish or the drive's.
    Allowed,
    /// Stay awake.
    Denied,
}

/// How a target was brought to its fresh state; the word is recorded in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeMethod {
    /// NVMe Format NVM that deletes the encryption key.
    NvmeFormatCrypto,
    /// NVMe Format NVM that erases user data.
    NvmeFormat,
    /// NVMe Sanitize that erases all blocks.
    NvmeSanitizeBlock,
    /// NVMe Sanitize that deletes the encryption key.
    NvmeSanitizeCrypto,
    /// ATA SECURITY ERASE UNIT.
    AtaSecurityErase,
    /// Every block was deallocated (BLKDISCARD, punched hole).
    Deallocate,
    /// Every block was written once. No fresh state, but at least the same one each time.
    Overwrite,
    /// A simulated drive was built anew.
    FreshSimulatedDrive,
    /// Nothing to purge (null target).
    None,
}

impl PurgeMethod {
    /// The methods for real targets, the best first.
    pub const REAL: [Self; 7] = [
        Self::NvmeFormatCrypto,
        Self::NvmeFormat,
        Self::NvmeSanitizeBlock,
        Self::NvmeSanitizeCrypto,
        Self::AtaSecurityErase,
        Self::Deallocate,
        Self::Overwrite,
    ];

    /// The word used on the command line and in result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NvmeFormatCrypto => "nvme-format-crypto",
            Self::NvmeFormat => "nvme-format",
            Self::NvmeSanitizeBlock => "nvme-sanitize-block",
            Self::NvmeSanitizeCrypto => "nvme-sanitize-crypto",
            Self::AtaSecurityErase => "ata-security-erase",
            Self::Deallocate => "deallocate",
            Self::Overwrite => "overwrite",
            Self::FreshSimulatedDrive => "fresh-simulated-drive",
            Self::None => "none",
        }
    }
}

impl FromStr for PurgeMethod {
    type Err = IoError;

    fn from_str(text: &str) -> Result<Self, IoError> {
        Self::REAL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let names = Self::REAL.map(Self::name).join(", ");
            IoError::Usage(format!("there is no purge method `{text}`; known are {names}"))
        })
    }
}

/// Anything that takes I/O. Static dispatch in the hot loop; not object safe on purpose.
pub trait Target: Send {
    /// Size of the LBA space in bytes.
    fn capacity_bytes(&self) -> u64;

    /// Block sizes, queue limits and capabilities.
    fn limits(&self) -> Limits;

    /// Who this is, for the result file.
    fn identity(&self) -> Identity;

    /// The target's clock: wall time since it was opened, or virtual time.
    fn now(&self) -> Nanos;

    /// Hands over commands; never blocks. The caller keeps at most
    /// [`Limits::queue_depth_max`] commands outstanding and never reuses the tag of one of them.
    fn submit(&mut self, ops: &[Op]);

    /// Waits until at least `min` commands have ended (never more than are outstanding), letting
    /// time pass, and appends all that have ended to `out`.
    ///
    /// A signal may make it return with fewer; the caller loops.
    ///
    /// # Errors
    /// Only where the target as a whole is lost (device gone, ring broken); the failure of one
    /// command is a [`Completion`] with a failed status.
    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), IoError>;

    /// Lets time pass until something has ended, or until `t`, whichever comes first, and appends what has ended to
    /// `out`; a target in virtual time may go on until `t` at once. A real target is polled all the while, so that
    /// neither the time nor an end is noticed late.
    ///
    /// # Errors
    /// As [`Target::reap`].
    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), IoError> {
        loop {
            self.reap(0, out)?;
            if !out.is_empty() || self.now() >= t {
                return Ok(());
            }
            std::hint::spin_loop();
        }
    }

    /// Further handles on the same target with the same clock, one for each of `queue_depths`, each to be
    /// driven by a thread of its own. They go before the target itself does.
    ///
    /// # Errors
    /// [`IoError::Unsupported`] where only one thread can drive it; [`IoError::Device`] where the system
    /// has no more descriptors or memory.
    fn lanes(&mut self, _queue_depths: &[u32]) -> Result<Vec<Self>, IoError>
    where
        Self: Sized,
    {
        Err(IoError::Unsupported(format!(
            "{} is driven by one thread; drop --workers and --pin",
            self.identity().name
        )))
    }

    /// Lets time pass until `t` with nothing submitted; returns at once where `t` is past.
    fn idle_until(&mut self, t: Nanos);

    /// Makes sure that this still is the thing that was opened (same device, serial, size). Called
    /// before every destructive phase, so that a renumbered device stops the run.
    ///
    /// # Errors
    /// [`IoError::Refused`] where it is not.
    fn confirm_identity(&self) -> Result<(), IoError> {
        Ok(())
    }

    /// Brings the target to its fresh state (all blocks deallocated or the drive built anew).
    /// No command may be outstanding.
    ///
    /// # Errors
    /// Where the target cannot be purged; the message says which method was tried.
    /// [`IoError::Interrupted`] where the waiter wanted it to stop, and it has.
    fn purge(&mut self, waiter: &dyn Waiter) -> Result<PurgeMethod, IoError>;

    /// The ways to purge it, the best first, each with what stands in its way.
    fn purge_options(&self) -> Vec<PurgeOption> {
        Vec::new()
    }

    /// Deallocates a range of any length, waiting for its end.
    ///
    /// # Errors
    /// Where the target cannot deallocate ([`Limits::deallocate`]) or the device failed.
    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), IoError>;

    /// Makes every acknowledged write durable, waiting for its end.
    ///
    /// # Errors
    /// Where the device failed to flush.
    fn flush(&mut self) -> Result<(), IoError>;

    /// Switches what link and drive may do while there is nothing to do, and says in words what was switched.
    /// What was found is restored when the target is dropped.
    ///
    /// # Errors
    /// Where the target has nothing to switch ([`Limits::rest`]), or the switch failed.
    fn set_rest(&mut self, _rest: Rest) -> Result<String, IoError> {
        let name = self.identity().name;
        Err(IoError::Unsupported(format!(
            "{name} has no link power management and no power states that can be switched here"
        )))
    }

    /// From now on every command that reaches beyond the first `span_bytes` fails without touching
    /// the device; only a purge still means all of it.
    fn confine(&mut self, _span_bytes: u64) {}

    /// What the drive itself said of the first command that failed, in words; `None` where the errno is all
    /// there is.
    fn failure_words(&self) -> Option<String> {
        None
    }

    /// The processor on which all of the drive's interrupts arrive: where its only thread is best kept. `None`
    /// where there is no such one.
    fn interrupt_processor(&self) -> Option<usize> {
        None
    }

    /// Something that reads the health of the drive beside the I/O; `None` where it tells nothing.
    fn health_probe(&self) -> Option<Arc<dyn HealthProbe>> {
        None
    }

    /// Starts a new series of telemetry rows, one per `interval`, from now on.
    /// Targets without a view inside ignore it.
    fn telemetry_start(&mut self, _interval: Nanos) {}

    /// Lets the series of telemetry rows end at `t`, now or later; the row that this cuts is a shorter one.
    fn telemetry_stop_at(&mut self, _t: Nanos) {}

    /// Hands over the rows whose interval has ended since the last call.
    fn telemetry_take(&mut self, _out: &mut Vec<TelemetryRow>) {}
}
