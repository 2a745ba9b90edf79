//! `[performance_mode]`: fast writes into a drive that is less than half full.

use crate::firmware::performance_mode::PerformanceMode;
use crate::geometry::Geometry;
use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};

section! {
    /// Fast writes into a drive that is less than half full.
    pub struct PerformanceModeModel {
        /// tPROG in the mode.
        pub program_ns: Sourced<u64>,
        /// Share of the LBA space without normal data that fast data may hold, in percent.
        pub fill_percent: Sourced<u32> [1, 90],
        /// Rate of the reorganisation after that, in pages of 4 KiB per second.
        pub reorganise_pages_per_s: Sourced<u64> [1, 1_000_000_000],
        /// Share of that rate that goes before the host's writes, in percent, or `None` if all of it does.
        pub reorganise_priority_percent: Option<Sourced<u32>> [0, 100],
    }
}

impl PerformanceModeModel {
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        geometry: &Geometry,
    ) -> Result<PerformanceMode, ModelError> {
        let normal_ns = check.model.nand.program_ns.value;
        let pages_per_s = self.reorganise_pages_per_s.value;
        let fill_percent = self.fill_percent.value;
        check.within("performance_mode.program_ns", self.program_ns.value, 1, normal_ns)?;
        let priority_percent =
            self.reorganise_priority_percent.as_ref().map_or(100, |share| share.value);
        Ok(PerformanceMode {
            program_ns: self.program_ns.value,
            fill_percent,
            unit_interval_ns: geometry.unit_interval_ns(pages_per_s),
            priority_percent,
        })
    }
}
