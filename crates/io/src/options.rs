//! Options for opening a real target.

use target::{PurgeMethod, TargetError};

mod engine_choice;

pub use engine_choice::{EngineChoice, Polling};

/// The deepest queue an engine can be asked for: the limit of an `io_uring`.
pub const QUEUE_DEPTH_MAX: u32 = 32_768;

/// Options for opening a real target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Most commands outstanding at a time, 1 to [`QUEUE_DEPTH_MAX`].
    pub queue_depth: u32,
    /// The longest single read or write. Two buffers of this size are kept for each command.
    pub transfer_bytes_max: u32,
    /// Whether the run writes, deallocates or purges.
    pub write: bool,
    /// Whether the user promises that nothing is written: a run with [`OpenOptions::write`] is
    /// refused.
    pub read_only: bool,
    /// Targets that the user allows to erase (`--erase`): serials of devices, paths of files, paths
    /// of the files behind loop devices. One of them must name the target.
    pub erase: Vec<String>,
    /// Whether the user agrees to lose recognised contents: file systems, databases, ...
    /// (`--erase-signatures`).
    pub erase_signatures: bool,
    /// The engine to use.
    pub engine: EngineChoice,
    /// Seed of the data written.
    pub seed: u64,
    /// Whether writes hold data of [`base::verifiable`] with [`OpenOptions::seed`].
    pub verifiable: bool,
    /// The purge method (`--purge`), or `None` for the best one that the target offers.
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
    /// Refuses a run that writes if the user wants none; `name` is that of the target, of whatever
    /// kind.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with code `read-only`.
    pub fn check_read_only(&self, name: &str) -> Result<(), TargetError> {
        if !(self.write && self.read_only) {
            return Ok(());
        }
        Err(TargetError::Refused {
            code: "read-only",
            message: format!(
                "this test writes to {name} and --read-only was given; drop --read-only or \
                 choose a test that only reads"
            ),
        })
    }

    /// Refuses sizes and depths that no engine has, and every run that
    /// [`OpenOptions::check_read_only`] refuses.
    pub(crate) fn check(&self, name: &str) -> Result<(), TargetError> {
        self.check_read_only(name)?;
        if self.queue_depth == 0 || self.queue_depth > QUEUE_DEPTH_MAX {
            return Err(TargetError::Usage(format!(
                "queue depth {} is out of range; expected 1 to {QUEUE_DEPTH_MAX}",
                self.queue_depth
            )));
        }
        if self.transfer_bytes_max < 512 || i32::try_from(self.transfer_bytes_max).is_err() {
            return Err(TargetError::Usage(format!(
                "a transfer size of {} bytes is out of range; expected 512 bytes to 1 GiB",
                self.transfer_bytes_max
            )));
        }
        Ok(())
    }
}
