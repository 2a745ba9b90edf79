//! `[housekeeping]`: patrol reads, refresh and map flush.

use crate::firmware::housekeeping::{MapFlush, RefreshPlan};
use crate::geometry::Geometry;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, section};
use crate::model::{ModelError, Sourced};
use base::Ratio;

const MS_NS: u64 = 1_000_000;
const MINUTE_NS: u64 = HOUR_NS / 60;
const CENTURY_NS: u64 = 100 * 365 * 24 * HOUR_NS;

section! {
    /// Work that a drive does for its own sake.
    pub struct HousekeepingModel {
        /// Time from one patrolled unit to the next; absent: no patrol.
        pub patrol_interval_ns: Option<Sourced<u64>> [MS_NS, HOUR_NS],
        /// Time after which data is written anew; absent: never.
        pub refresh_after_ns: Option<Sourced<u64>> [MINUTE_NS, CENTURY_NS],
        /// Valid pages of 4 KiB that refresh moves per second at most; goes with `refresh_after_ns`.
        pub refresh_pages_per_s: Option<Sourced<u64>> [1, 1_000_000_000],
        /// Time from one flush of the map to the next, in a drive of full size; absent: no flush.
        pub map_flush_period_ns: Option<Sourced<u64>> [MS_NS, HOUR_NS],
        /// Most bytes of the map in one flush, in a drive of full size; goes with `[map_cache]`; absent: all that changed.
        pub map_flush_bytes_max: Option<Sourced<u64>>,
    }
}

impl HousekeepingModel {
    /// Age and rate of refresh, or `None` if data stays.
    pub(in crate::model) fn refresh(
        &self,
        check: &CrossCheck<'_>,
        geometry: &Geometry,
    ) -> Result<Option<RefreshPlan>, ModelError> {
        let (after_key, rate_key) =
            ("housekeeping.refresh_after_ns", "housekeeping.refresh_pages_per_s");
        let (after_ns, pages_per_s) = match (&self.refresh_after_ns, &self.refresh_pages_per_s) {
            (Some(after), Some(rate)) => (after.value, rate.value),
            (None, None) => return Ok(None),
            (Some(after), None) => {
                return check.fail(after_key, after.value, &format!("it goes with {rate_key}"));
            }
            (None, Some(rate)) => {
                return check.fail(rate_key, rate.value, &format!("it goes with {after_key}"));
            }
        };
        let physical_per_s = pages_per_s * u64::from(geometry.page_granules);
        let unit_pages = u64::from(geometry.unit_pages);
        let unit_interval_ns = (unit_pages * 1_000_000_000).div_ceil(physical_per_s);
        Ok(Some(RefreshPlan { after_ns, unit_interval_ns }))
    }

    /// Period and size of flushes of the map, or `None` if the clock asks for none. A smaller drive has a smaller map,
    /// so its flushes are smaller and more frequent: the same share of programs is theirs. Units of the journal have
    /// one size.
    pub(in crate::model) fn map_flush(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
        geometry: &Geometry,
    ) -> Result<Option<MapFlush>, ModelError> {
        let (period_key, bytes_key) =
            ("housekeeping.map_flush_period_ns", "housekeeping.map_flush_bytes_max");
        let has_cache = check.model.map_cache.is_some();
        if let Some(bytes) = &self.map_flush_bytes_max {
            if self.map_flush_period_ns.is_none() || !has_cache {
                let rule = format!("it goes with {period_key} and [map_cache]");
                return check.fail(bytes_key, bytes.value, &rule);
            }
            check.within(bytes_key, bytes.value, geometry.page_bytes.into(), 1 << 40)?;
        }
        let Some(period) = &self.map_flush_period_ns else { return Ok(None) };
        if !has_cache && check.model.mapping.is_none() {
            return check.fail(period_key, period.value, "it goes with [map_cache] or [mapping]");
        }
        let period_ns = if has_cache { scale.of(period.value).max(1) } else { period.value };
        let bytes_max = self.map_flush_bytes_max.as_ref().map_or(u64::MAX, |bytes| bytes.value);
        let segments_max = scale.of(bytes_max) / u64::from(geometry.page_bytes);
        let segments_max = segments_max.clamp(1, geometry.map_pages.max(1).into()) as u32;
        Ok(Some(MapFlush { period_ns, segments_max }))
    }
}
