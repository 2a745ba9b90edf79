//! Refresh: data that has lain in its cells for long is written anew.
//!
//! Phenomenon: cells lose charge, and a drive that is switched on moves what is old, whether its host is there or not.
//! Source: Dell on data retention tasks of drives in operation; the 840 EVO, whose data of 6 to 8 weeks read at a
//! fifth of its rate before the fix (PC Perspective); JESD218 for the times that drives without power must keep data.
//! Simplifications: a superblock is as old as the latest program into it; it moves as a whole as the victims of
//! garbage collection do, at a limited rate and only while the drive has erased superblocks to spare; superblocks that
//! a stream still writes, and those of the pSLC cache, stay; time without power does not count. Test:
//! `tests/mechanisms/housekeeping.rs`.

use crate::ftl::{Ftl, SuperblockState};

/// The age from which data is old, and the rate at which it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RefreshPlan {
    /// Time after which a superblock is written anew.
    pub after_ns: u64,
    /// Time to wait for each unit's worth of pages moved.
    pub unit_interval_ns: u64,
}

/// The ages of superblocks.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Refresh {
    plan: RefreshPlan,
    /// Time of the last program in each superblock.
    written_ns: Vec<u64>,
}

impl Refresh {
    /// Superblocks that were all written at `now_ns`.
    pub fn new(plan: RefreshPlan, superblocks: u32, now_ns: u64) -> Self {
        Self { plan, written_ns: vec![now_ns; superblocks as usize] }
    }

    /// The age from which data is old, and the rate at which it moves.
    pub fn plan(&self) -> RefreshPlan {
        self.plan
    }

    /// A unit of a superblock has been programmed.
    pub fn written(&mut self, superblock: u32, now_ns: u64) {
        self.written_ns[superblock as usize] = now_ns;
    }

    /// The closed superblock that is to be written anew next, with the time from which on it is old.
    pub fn next(&self, ftl: &Ftl) -> Option<(u32, u64)> {
        let closed = (0..)
            .zip(&self.written_ns)
            .filter(|(superblock, _)| {
                ftl.states[*superblock as usize] == SuperblockState::Closed
                    && ftl.valid_pages[*superblock as usize] > 0
            })
            .map(|(superblock, &written_ns)| {
                (superblock, written_ns.saturating_add(self.plan.after_ns))
            });
        closed.min_by_key(|&(_, old_ns)| old_ns)
    }
}
