//! The readings of a drive: totals, series, power; and its shape.

use base::{Nanos, TelemetryRow};

use super::Device;
use crate::mechanism::power::{OperationCounts, Power, StateTimes};
use crate::probe::Probe;
use crate::telemetry;

impl<P: Probe> Device<P> {
    /// Running totals since the drive was new, with the levels of this moment, in pages of 4,096 bytes.
    pub fn telemetry(&self) -> TelemetryRow {
        self.telemetry_at(self.now_ns)
    }

    /// Running totals and levels at a moment from now to the next event.
    pub(super) fn telemetry_at(&self, time_ns: u64) -> TelemetryRow {
        let energy_nj = |power: &Power| power.energy_nj(time_ns, self.nand.operations());
        TelemetryRow {
            energy_nj: self.mechanisms.power.as_ref().map_or(0, energy_nj),
            temperature_mk: self.thermal_at(time_ns).map_or(0, |now| now.temperature_mk()),
            controller_busy_ns: self.controller.busy_ns(time_ns),
            ..telemetry::in_host_pages(self.physical_totals(), self.geometry())
        }
    }

    /// Totals in physical pages, except for the host's.
    pub(super) fn physical_totals(&self) -> TelemetryRow {
        TelemetryRow {
            free_superblocks: self.ftl.free.len() as u64,
            buffer_pages: self.buffer.pages().into(),
            pslc_pages: if self.mechanisms.pslc.is_some() { self.ftl.cached_pages() } else { 0 },
            die_busy_ns: self.nand.die_busy_ns,
            channel_busy_ns: self.nand.channel_busy_ns(),
            ..self.totals
        }
    }

    /// Starts a series of telemetry rows, one per `interval`, from now on.
    pub fn telemetry_start(&mut self, interval: Nanos) {
        let totals = self.telemetry();
        self.recorder.start(self.now_ns, interval.0, totals);
    }

    /// Ends the present series at `time`, now or later; the last row may be shorter.
    pub fn telemetry_stop_at(&mut self, time: Nanos) {
        self.recorder.stop_at(time.0.max(self.now_ns));
        self.record_until(self.now_ns);
    }

    /// Moves the rows whose interval has ended to `out`.
    pub fn telemetry_take(&mut self, out: &mut Vec<TelemetryRow>) {
        self.recorder.take(out);
    }

    /// Time in each power state so far; `None` if the model has none.
    pub fn power_times(&self) -> Option<StateTimes> {
        self.mechanisms.power.as_ref().map(|power| power.times(self.now_ns))
    }

    /// The operations that the NAND has begun since the drive was new.
    pub fn operations(&self) -> OperationCounts {
        self.nand.operations()
    }

    /// Bits of an offset within a page.
    #[inline(always)]
    pub(super) fn page_bits(&self) -> u32 {
        self.geometry().page_bytes.trailing_zeros()
    }

    /// As [`crate::geometry::Geometry::die_of_unit`], which divides: the drive waits for this with every operation.
    #[inline]
    pub(super) fn die_of_unit(&self, unit: u32) -> u32 {
        if self.geometry().die_groups > 1 {
            return self.geometry().die_of_unit(unit);
        }
        unit - self.by_dies.divide(unit.into()) * self.geometry().dies
    }
}
