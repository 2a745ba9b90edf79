//! A drive for other crates: [`Device`] without a probe, compiled once, in this crate.

use base::{Completion, Nanos, Op, TelemetryRow};

use crate::device::Device;
use crate::ftl::Ftl;
use crate::ftl::policies::Policies;
use crate::host::ZoneAction;
use crate::mechanism::power::{OperationCounts, StateTimes};
use crate::mechanism::zones::Zones;
use crate::model::Config;
use crate::nand::aging::past::Past;

/// A simulated drive; see [`Device`], whose functions these are.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Drive(Device);

impl Drive {
    /// A fresh drive: nothing mapped, time 0.
    pub fn new(config: Config) -> Self {
        Self(Device::new(config))
    }

    /// As [`Device::with_ftl`].
    pub fn with_ftl(config: Config, ftl: Ftl) -> Self {
        Self(Device::with_ftl(config, ftl))
    }

    /// The resolved model.
    pub fn config(&self) -> &Config {
        self.0.config()
    }

    /// As [`Device::is_idle`].
    pub fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    /// Present maps, counts and streams.
    pub fn ftl(&self) -> &Ftl {
        self.0.ftl()
    }

    /// The drive's clock.
    pub fn now(&self) -> Nanos {
        self.0.now()
    }

    /// As [`Device::policies_mut`].
    pub fn policies_mut(&mut self) -> &mut Policies {
        self.0.policies_mut()
    }

    /// As [`Device::submit`], for several commands one after the other.
    ///
    /// # Panics
    /// When a tag is not below the queue depth: a bug in the caller.
    pub fn submit(&mut self, ops: &[Op]) {
        ops.iter().for_each(|op| self.0.submit(op));
    }

    /// As [`Device::append`].
    pub fn append(&mut self, op: &Op) -> u64 {
        self.0.append(op)
    }

    /// As [`Device::manage_zone`].
    ///
    /// # Panics
    /// As there.
    pub fn manage_zone(&mut self, tag: u32, action: ZoneAction, zone: u32) {
        self.0.manage_zone(tag, action, zone);
    }

    /// As [`Device::zones`].
    pub fn zones(&self) -> Option<&Zones> {
        self.0.zones()
    }

    /// As [`Device::retire_zone`].
    pub fn retire_zone(&mut self, zone: u32, is_offline: bool) -> bool {
        self.0.retire_zone(zone, is_offline)
    }

    /// As [`Device::end_reclaim_unit`].
    pub fn end_reclaim_unit(&mut self, handle: u8) -> bool {
        self.0.end_reclaim_unit(handle)
    }

    /// As [`Device::cycle_power_of_zones`].
    pub fn cycle_power_of_zones(&mut self) -> Option<Nanos> {
        self.0.cycle_power_of_zones()
    }

    /// As [`Device::reap`].
    pub fn reap(&mut self, min: usize, out: &mut Vec<Completion>) {
        self.0.reap(min, out);
    }

    /// As [`Device::run_until`].
    pub fn run_until(&mut self, until: Nanos) {
        self.0.run_until(until);
    }

    /// As [`Device::run_until_end`].
    pub fn run_until_end(&mut self, until: Nanos) {
        self.0.run_until_end(until);
    }

    /// As [`Device::reset`].
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// As [`Device::deallocate`].
    pub fn deallocate(&mut self, first: u64, end: u64) {
        self.0.deallocate(first, end);
    }

    /// As [`Device::age`].
    pub fn age(&mut self, past: Past) {
        self.0.age(past);
    }

    /// As [`Device::next_event`].
    pub fn next_event(&self) -> Option<Nanos> {
        self.0.next_event()
    }

    /// As [`Device::wear`].
    pub fn wear(&mut self, cycles: u32) -> bool {
        self.0.wear(cycles)
    }

    /// As [`Device::set_ambient`].
    pub fn set_ambient(&mut self, ambient_mk: u64) -> bool {
        self.0.set_ambient(ambient_mk)
    }

    /// As [`Device::limit_cache`].
    pub fn limit_cache(&mut self, borrowed_superblocks_max: u32) -> bool {
        self.0.limit_cache(borrowed_superblocks_max)
    }

    /// As [`Device::allow_idle_states`].
    pub fn allow_idle_states(&mut self, allowed: bool) {
        self.0.allow_idle_states(allowed);
    }

    /// As [`Device::telemetry`].
    pub fn telemetry(&self) -> TelemetryRow {
        self.0.telemetry()
    }

    /// As [`Device::telemetry_start`].
    pub fn telemetry_start(&mut self, interval: Nanos) {
        self.0.telemetry_start(interval);
    }

    /// As [`Device::telemetry_stop_at`].
    pub fn telemetry_stop_at(&mut self, time: Nanos) {
        self.0.telemetry_stop_at(time);
    }

    /// As [`Device::telemetry_take`].
    pub fn telemetry_take(&mut self, out: &mut Vec<TelemetryRow>) {
        self.0.telemetry_take(out);
    }

    /// As [`Device::power_times`].
    pub fn power_times(&self) -> Option<StateTimes> {
        self.0.power_times()
    }

    /// As [`Device::operations`].
    pub fn operations(&self) -> OperationCounts {
        self.0.operations()
    }

    /// As [`Device::check`].
    ///
    /// # Errors
    /// As there.
    pub fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}
