//! `[background_gc]` and `[idle_gc]`: collection without pressure from the host.

use crate::firmware::quiet_gc::{BackgroundGc, IdleGc};
use crate::geometry::Geometry;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, section};
use crate::model::{ModelError, Sourced};

section! {
    /// Collection in the gaps of a busy host.
    pub struct BackgroundGcModel {
        /// Superblocks of writable space at which it stops.
        pub free_target: Sourced<u32>,
    }
}

section! {
    /// Collection while the host is away.
    pub struct IdleGcModel {
        /// Time without a host command before it begins.
        pub after_ns: Sourced<u64> [1_000_000, HOUR_NS],
        /// Superblocks of writable space at which it stops.
        pub free_target: Sourced<u32>,
        /// Largest rate of moves, in valid pages of 4 KiB per second.
        pub pages_per_s: Sourced<u64> [1, 1_000_000_000],
        /// Largest share of valid pages in a victim: fuller superblocks would give little.
        pub valid_percent_max: Sourced<u32> [1, 99],
    }
}

/// A target must lie above the level of the host's own collection and within the spare space.
fn free_target(
    check: &CrossCheck<'_>,
    key: &str,
    value: u32,
    geometry: &Geometry,
) -> Result<(), ModelError> {
    let min = u64::from(check.model.gc.free_high.value) + 1;
    let max = geometry.spare_superblocks() / u64::from(geometry.cleaning_groups);
    if (min..=max).contains(&u64::from(value)) {
        return Ok(());
    }
    let rule = format!(
        "it must be above gc.free_high and within the {max} spare superblocks: between {min} and {max}"
    );
    check.fail(key, value, &rule)
}

impl BackgroundGcModel {
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        geometry: &Geometry,
    ) -> Result<BackgroundGc, ModelError> {
        free_target(check, "background_gc.free_target", self.free_target.value, geometry)?;
        Ok(BackgroundGc { free_target: self.free_target.value })
    }
}

impl IdleGcModel {
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        geometry: &Geometry,
    ) -> Result<IdleGc, ModelError> {
        let percent = u64::from(self.valid_percent_max.value);
        free_target(check, "idle_gc.free_target", self.free_target.value, geometry)?;
        Ok(IdleGc {
            after_ns: self.after_ns.value,
            free_target: self.free_target.value,
            unit_interval_ns: geometry.unit_interval_ns(self.pages_per_s.value),
            valid_pages_max: (u64::from(geometry.superblock_data_pages()) * percent / 100) as u32,
        })
    }
}
