//! Garbage collection without pressure from the host: in its gaps, and while it is away.
//!
//! Phenomenon: drives that clean in the background start the next burst with erased space, and
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

use crate::ftl::Ftl;
use crate::ftl::collector::Collector;
use crate::ftl::gc::VictimSelector;
use crate::ftl::pacing::Level;

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

impl BackgroundGc {
    /// Whether collection should use a gap.
    #[must_use]
    pub fn wants(self, level: Level) -> bool {
        is_below(level, self.free_target)
    }
}

impl IdleGc {
    /// Whether the next unit should move: the current victim has units left, or the next one of the group would
    /// give enough.
    #[must_use]
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
