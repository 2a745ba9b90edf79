//! Garbage collection while the host leaves time for it: in its gaps, and while it is away.
//!
//! Phenomenon: drives that clean behind the host's back start the next burst with erased space, and come
//! back from torture by being left alone. Source: reviews of 2012 (a Plextor M5S after 20 minutes of
//! torture is back above 90% of its clean write speed after 30 minutes of idle time, after 60 minutes above
//! 70%: AnandTech 6090); pblk lets collection use the whole drive after 5 s without host I/O. Both work
//! towards a level of writable space with the victims of the drive's own policy:
//!
//! - background: whenever no host command is outstanding, as fast as the drive can; it cannot use a gap
//!   that never comes, as under a constant queue;
//! - idle: after a time without host commands, at a limited rate, and only on victims that give enough. It
//!   stops when the host returns; what is being read is still moved.
//!
//! Simplification: a gap is the absence of commands, not of work on a die. Test: `tests/mechanisms/quiet_gc.rs`.

use crate::ftl::Ftl;
use crate::ftl::collector::Collector;
use crate::ftl::gc::VictimSelector;
use crate::ftl::pacing::Level;

/// Collection in the gaps of a busy host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundGc {
    /// Superblocks of writable space at which it has done enough.
    pub free_target: u32,
}

/// Collection while the host is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleGc {
    /// Time without a host command after which it begins.
    pub after_ns: u64,
    /// Superblocks of writable space at which it has done enough.
    pub free_target: u32,
    /// Time to wait for each unit's worth of pages moved.
    pub unit_interval_ns: u64,
    /// Valid pages of a victim worth collecting, at most.
    pub valid_pages_max: u32,
}

impl BackgroundGc {
    /// Whether a gap is to be used.
    #[must_use]
    pub fn wants(self, level: Level) -> bool {
        is_below(level, self.free_target)
    }
}

impl IdleGc {
    /// Whether the next unit is to be moved: the victim in hand has units left, or the next one would give
    /// enough.
    #[must_use]
    pub fn wants(self, level: Level, ftl: &Ftl, collector: &Collector) -> bool {
        let is_worthy = |valid_pages| valid_pages <= self.valid_pages_max;
        is_below(level, self.free_target)
            && (collector.has_unit()
                || VictimSelector::fewest_valid_pages(ftl).is_some_and(is_worthy))
    }
}

fn is_below(level: Level, free_target: u32) -> bool {
    level.writable_pages < u64::from(free_target) * u64::from(level.superblock_pages)
}
