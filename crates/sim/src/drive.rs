//! A drive in the form that is compiled for the options of its model.

use base::{Completion, Nanos, Op, TelemetryRow};

use crate::device::Device;
use crate::ftl::Ftl;
use crate::model::Config;
use crate::nand::aging::past::Past;
use crate::power::{OperationCounts, StateTimes};
use crate::probe::Silent;

/// A simulated drive, without options or with them; see [`Device`], whose functions these are.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum Drive {
    /// A drive without options, whose code does not check for any.
    Plain(Device<Silent, false>),
    /// A drive with any options.
    Any(Device),
}

macro_rules! of_either {
    ($drive:expr, $device:ident => $what:expr) => {
        match $drive {
            Drive::Plain($device) => $what,
            Drive::Any($device) => $what,
        }
    };
}

impl Drive {
    /// A fresh drive: nothing mapped, time 0.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let ftl = Ftl::new(config.geometry);
        Self::with_ftl(config, ftl)
    }

    /// As [`Device::with_ftl`].
    #[must_use]
    pub fn with_ftl(config: Config, ftl: Ftl) -> Self {
        if config.has_options() {
            Self::Any(Device::assemble(config, ftl, Silent))
        } else {
            Self::Plain(Device::assemble(config, ftl, Silent))
        }
    }

    /// The resolved model.
    #[must_use]
    pub fn config(&self) -> &Config {
        of_either!(self, device => device.config())
    }

    /// As [`Device::is_idle`].
    #[must_use]
    pub fn is_idle(&self) -> bool {
        of_either!(self, device => device.is_idle())
    }

    /// Present maps, counts and streams.
    #[must_use]
    pub fn ftl(&self) -> &Ftl {
        of_either!(self, device => device.ftl())
    }

    /// The drive's clock.
    #[must_use]
    pub fn now(&self) -> Nanos {
        of_either!(self, device => device.now())
    }

    /// As [`Device::submit`], for several commands one after the other.
    ///
    /// # Panics
    /// When a tag is not below the queue depth: a bug in the caller.
    pub fn submit(&mut self, ops: &[Op]) {
        of_either!(self, device => ops.iter().for_each(|op| device.submit(op)));
    }

    /// As [`Device::reap`].
    pub fn reap(&mut self, min: usize, out: &mut Vec<Completion>) {
        of_either!(self, device => device.reap(min, out));
    }

    /// As [`Device::run_until`].
    pub fn run_until(&mut self, until: Nanos) {
        of_either!(self, device => device.run_until(until));
    }

    /// As [`Device::reset`].
    pub fn reset(&mut self) {
        of_either!(self, device => device.reset());
    }

    /// As [`Device::deallocate`].
    pub fn deallocate(&mut self, first: u64, end: u64) {
        of_either!(self, device => device.deallocate(first, end));
    }

    /// As [`Device::age`].
    pub fn age(&mut self, past: Past) {
        of_either!(self, device => device.age(past));
    }

    /// As [`Device::next_event`].
    #[must_use]
    pub fn next_event(&self) -> Option<Nanos> {
        of_either!(self, device => device.next_event())
    }

    /// As [`Device::wear`].
    pub fn wear(&mut self, cycles: u32) -> bool {
        of_either!(self, device => device.wear(cycles))
    }

    /// As [`Device::set_ambient`].
    pub fn set_ambient(&mut self, ambient_mk: u64) -> bool {
        of_either!(self, device => device.set_ambient(ambient_mk))
    }

    /// As [`Device::limit_cache`].
    pub fn limit_cache(&mut self, borrowed_superblocks_max: u32) -> bool {
        of_either!(self, device => device.limit_cache(borrowed_superblocks_max))
    }

    /// As [`Device::allow_rest`].
    pub fn allow_rest(&mut self, allowed: bool) {
        of_either!(self, device => device.allow_rest(allowed));
    }

    /// As [`Device::telemetry`].
    #[must_use]
    pub fn telemetry(&self) -> TelemetryRow {
        of_either!(self, device => device.telemetry())
    }

    /// As [`Device::telemetry_start`].
    pub fn telemetry_start(&mut self, interval: Nanos) {
        of_either!(self, device => device.telemetry_start(interval));
    }

    /// As [`Device::telemetry_stop_at`].
    pub fn telemetry_stop_at(&mut self, time: Nanos) {
        of_either!(self, device => device.telemetry_stop_at(time));
    }

    /// As [`Device::telemetry_take`].
    pub fn telemetry_take(&mut self, out: &mut Vec<TelemetryRow>) {
        of_either!(self, device => device.telemetry_take(out));
    }

    /// As [`Device::power_times`].
    #[must_use]
    pub fn power_times(&self) -> Option<StateTimes> {
        of_either!(self, device => device.power_times())
    }

    /// As [`Device::operations`].
    #[must_use]
    pub fn operations(&self) -> OperationCounts {
        of_either!(self, device => device.operations())
    }

    /// As [`Device::check`].
    ///
    /// # Errors
    /// As there.
    pub fn check(&self) -> Result<(), String> {
        of_either!(self, device => device.check())
    }
}
