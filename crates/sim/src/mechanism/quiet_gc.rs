//! Garbage collection without pressure from the host: in its gaps, and while it is away.
//!
//! Phenomenon: drives that collect in the background start the next burst with erased space, and
//! recover from torture at rest. Source: reviews of 2012 (a Plextor M5S after 20 minutes of torture
//! is back above 90% of its clean write speed after 30 minutes of idle time, after 60 minutes above
//! 70%: AnandTech 6090); pblk lets collection use the whole drive after 5 s without host I/O. Both
//! work towards a level of writable space with the victims of the drive's own policy:
//!
//! - background: whenever no host command is outstanding, as fast as the drive can; a constant
//!   queue leaves no gap;
//! - idle: after a time without host commands, at a limited rate, and only on victims that give
//!   enough. It stops when the host returns; pages already read still move.
//!
//! Simplification: a gap is the absence of commands, not of work on a die. Test:
//! `tests/mechanisms/quiet_gc.rs`.

use base::facts::Sourced;

use crate::ftl::Ftl;
use crate::ftl::collector::Collector;
use crate::ftl::gc::VictimSelector;
use crate::ftl::pacing::Level;
use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{HOUR_NS, ModelError, section};

section! {
    /// Collection in the gaps of a busy host.
    pub struct BackgroundGcSection {
        /// Superblocks of writable space at which it stops.
        pub free_target: Sourced<u32>,
    }
}

section! {
    /// Collection while the host is away.
    pub struct IdleGcSection {
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

/// Collection in the gaps of a busy host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BackgroundGc {
    /// Superblocks of writable space at which it stops.
    pub free_target: u32,
}

/// Collection while the host is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IdleGc {
    /// Time without a host command after which it begins.
    pub after_ns: u64,
    /// Superblocks of writable space at which it stops.
    pub free_target: u32,
    /// Interval between units.
    pub unit_interval_ns: u64,
    /// Most valid pages of a victim that justify its collection.
    pub valid_pages_max: u32,
}

/// A target must lie above the level of the host's own collection and within the spare space.
fn check_target(basis: &Basis<'_>, key: &str, value: u32) -> Result<(), ModelError> {
    let min = basis.number("gc.free_high").unwrap_or(0) + 1;
    let max = basis.geometry.spare_superblocks() / u64::from(basis.geometry.reclaim_groups);
    if (min..=max).contains(&u64::from(value)) {
        return Ok(());
    }
    let rule = format!(
        "it must be above gc.free_high and within the {max} spare superblocks: between {min} and {max}"
    );
    basis.check.fail(key, value, &rule)
}

impl Section for BackgroundGcSection {
    type Plan = BackgroundGc;
    type State = BackgroundGc;

    fn resolve(&self, basis: &Basis<'_>) -> Result<BackgroundGc, ModelError> {
        check_target(basis, "background_gc.free_target", self.free_target.value)?;
        Ok(BackgroundGc { free_target: self.free_target.value })
    }

    fn begin(plan: BackgroundGc, _: &Geometry, _: usize) -> BackgroundGc {
        plan
    }
}

impl Section for IdleGcSection {
    type Plan = IdleGc;
    type State = IdleGc;

    fn resolve(&self, basis: &Basis<'_>) -> Result<IdleGc, ModelError> {
        check_target(basis, "idle_gc.free_target", self.free_target.value)?;
        let percent = u64::from(self.valid_percent_max.value);
        let superblock_pages = u64::from(basis.geometry.superblock_data_pages());
        Ok(IdleGc {
            after_ns: self.after_ns.value,
            free_target: self.free_target.value,
            unit_interval_ns: basis.geometry.unit_interval_ns(self.pages_per_s.value),
            valid_pages_max: (superblock_pages * percent / 100) as u32,
        })
    }

    fn begin(plan: IdleGc, _: &Geometry, _: usize) -> IdleGc {
        plan
    }
}

impl BackgroundGc {
    /// Whether collection should use a gap.
    pub fn wants(self, level: Level) -> bool {
        is_below(level, self.free_target)
    }
}

impl IdleGc {
    /// Whether the next unit should move: the current victim has units left, or the next one of the group would
    /// give enough.
    pub fn wants(self, level: Level, ftl: &Ftl, (collector, group): (&Collector, u32)) -> bool {
        let is_worthy = |valid_pages| valid_pages <= self.valid_pages_max;
        is_below(level, self.free_target)
            && (collector.has_unit()
                || VictimSelector::fewest_valid_pages(ftl, group).is_some_and(is_worthy))
    }
}

fn is_below(level: Level, free_target: u32) -> bool {
    level.writable_pages < u64::from(free_target) * u64::from(level.superblock_pages)
}
