//! The superblocks among which garbage collection chooses its next victim.

use crate::ftl::{Ftl, SuperblockState};

/// Pages that may be valid in a superblock.
pub(super) fn full_pages(ftl: &Ftl) -> u32 {
    ftl.geometry.superblock_data_pages() - ftl.geometry.gap_pages()
}

/// Superblocks among which a policy chooses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// Their reclaim group.
    pub group: u32,
    /// A bit for each stream that may have written them.
    pub streams: u32,
}

impl Scope {
    /// All superblocks of a group.
    pub(super) fn of_group(group: u32) -> Self {
        Self { group, streams: u32::MAX }
    }

    /// Whether a superblock of its group may be collected.
    pub(super) fn contains(self, ftl: &Ftl, superblock: u32) -> bool {
        ftl.states[superblock as usize] == SuperblockState::Closed
            && self.streams >> ftl.written_by[superblock as usize] as u32 & 1 == 1
    }
}

/// The superblocks that may be collected.
pub(super) fn closed(ftl: &Ftl, scope: Scope) -> impl Iterator<Item = u32> + '_ {
    let of_group = ftl.geometry.superblocks_of_group(scope.group);
    of_group.filter(move |&superblock| scope.contains(ftl, superblock))
}
