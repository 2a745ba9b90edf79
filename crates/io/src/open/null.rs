//! The null target, on the clock of this machine.

use device::host::clock::MonotonicClock;
use target::null::NullTarget;
use target::{IoError, TargetSpec};

use super::described::{Described, bare_identity, engine_limits};
use super::unopened::Unopened;

/// A null target of a size.
pub(super) struct Null {
    size_bytes: u64,
}

impl Null {
    pub(super) fn new(size_bytes: u64) -> Self {
        Self { size_bytes }
    }

    /// Starts its clock.
    pub(super) fn open(&self) -> NullTarget<MonotonicClock> {
        NullTarget::new(self.size_bytes, MonotonicClock::start())
    }
}

impl Unopened for Null {
    fn describe(&self) -> Result<Described, IoError> {
        let spec = TargetSpec::Null { size_bytes: self.size_bytes };
        let identity = bare_identity(&spec, self.size_bytes);
        Ok(Described::harmless(identity, engine_limits()))
    }
}
