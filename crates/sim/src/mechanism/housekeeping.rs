//! Work of the firmware for its own sake, by the clock, whether the host is there or not.

mod map_flush;
mod patrol;
mod refresh;

use base::facts::Sourced;

use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{HOUR_NS, ModelError, section};
pub use map_flush::MapFlush;
pub use patrol::Patrol;
pub use refresh::{Refresh, RefreshPlan};

const MS_NS: u64 = 1_000_000;
const MINUTE_NS: u64 = HOUR_NS / 60;
const CENTURY_NS: u64 = 100 * 365 * 24 * HOUR_NS;

section! {
    /// Work that a drive does for its own sake.
    pub struct HousekeepingSection {
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

/// Times and sizes of housekeeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HousekeepingPlan {
    /// Time from one patrolled unit to the next, or `None` if there is no patrol.
    pub patrol_interval_ns: Option<u64>,
    /// Age and rate of refresh, or `None` if data stays.
    pub refresh: Option<RefreshPlan>,
    /// Period and size of flushes of the map, or `None` if the clock asks for none.
    pub map_flush: Option<MapFlush>,
}

impl Section for HousekeepingSection {
    type Plan = HousekeepingPlan;
    type State = Housekeeping;

    fn resolve(&self, basis: &Basis<'_>) -> Result<HousekeepingPlan, ModelError> {
        Ok(HousekeepingPlan {
            patrol_interval_ns: self.patrol_interval_ns.as_ref().map(|interval| interval.value),
            refresh: self.refresh(basis)?,
            map_flush: self.map_flush(basis)?,
        })
    }

    fn begin(plan: HousekeepingPlan, geometry: &Geometry, _: usize) -> Housekeeping {
        Housekeeping::new(plan, geometry, 0)
    }
}

impl HousekeepingSection {
    /// Age and rate of refresh, or `None` if data stays.
    fn refresh(&self, basis: &Basis<'_>) -> Result<Option<RefreshPlan>, ModelError> {
        let Basis { check, geometry, .. } = basis;
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
    fn map_flush(&self, basis: &Basis<'_>) -> Result<Option<MapFlush>, ModelError> {
        let Basis { check, scale, geometry, .. } = basis;
        let (period_key, bytes_key) =
            ("housekeeping.map_flush_period_ns", "housekeeping.map_flush_bytes_max");
        let has_cache = basis.has("map_cache");
        if let Some(bytes) = &self.map_flush_bytes_max {
            if self.map_flush_period_ns.is_none() || !has_cache {
                let rule = format!("it goes with {period_key} and [map_cache]");
                return check.fail(bytes_key, bytes.value, &rule);
            }
            check.within(bytes_key, bytes.value, geometry.page_bytes.into(), 1 << 40)?;
        }
        let Some(period) = &self.map_flush_period_ns else { return Ok(None) };
        if !has_cache && !basis.has("mapping") {
            return check.fail(period_key, period.value, "it goes with [map_cache] or [mapping]");
        }
        let period_ns = if has_cache { scale.of(period.value).max(1) } else { period.value };
        let bytes_max = self.map_flush_bytes_max.as_ref().map_or(u64::MAX, |bytes| bytes.value);
        let segments_max = scale.of(bytes_max) / u64::from(geometry.page_bytes);
        let segments_max = segments_max.clamp(1, geometry.map_pages.max(1).into()) as u32;
        Ok(Some(MapFlush { period_ns, segments_max }))
    }
}

/// The housekeeping of a drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Housekeeping {
    /// The patrol, or `None` if there is none.
    pub patrol: Option<Patrol>,
    /// The refresh, or `None` if data stays.
    pub refresh: Option<Refresh>,
    /// Flushes of the map, or `None` if the clock asks for none.
    pub map_flush: Option<MapFlush>,
}

impl Housekeeping {
    /// The housekeeping of a drive that is new or has its power again at `now_ns`.
    pub fn new(plan: HousekeepingPlan, geometry: &Geometry, now_ns: u64) -> Self {
        let HousekeepingPlan { patrol_interval_ns, refresh, map_flush } = plan;
        Self {
            patrol: patrol_interval_ns.map(|interval_ns| Patrol::new(interval_ns, geometry.dies)),
            refresh: refresh.map(|plan| Refresh::new(plan, geometry.superblocks, now_ns)),
            map_flush,
        }
    }
}
