//! Read disturb: every read of a block adds errors to its other pages.
//!
//! Phenomenon: the pass voltage on the other word lines of a block adds errors with each read. Firmware counts the
//! reads and moves the data of a block before the errors are too many (read reclaim). Source: Chun et al., STRAW
//! (ASPLOS 2026): a block of TLC survives 54,560 reads of one neighbour page and 518,420 distributed reads.
//! Simplifications: each sense counts as one read, wherever it is in the block; reads of the patrol and of the pSLC
//! cache do not count, so that a drive without host reads reclaims nothing; a superblock moves as a whole, and only
//! when it is closed. Test: `tests/device/aging.rs`.

use crate::geometry::Geometry;

/// Reads of every block since its data was written, and the superblocks with too many of them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct ReadCounts {
    /// Dies of a superblock.
    dies: u32,
    /// Reads of a block after which its superblock moves, or `None` if it stays.
    reclaim_reads: Option<u32>,
    /// By superblock and place of the die in it.
    reads: Vec<u32>,
    /// Superblocks with a block at the limit, in the order in which they reached it.
    due: Vec<u32>,
}

impl ReadCounts {
    pub(super) fn new(geometry: &Geometry, reclaim_reads: Option<u32>) -> Self {
        let blocks = geometry.superblocks as usize * geometry.superblock_dies() as usize;
        Self {
            dies: geometry.superblock_dies(),
            reclaim_reads,
            reads: vec![0; blocks],
            due: Vec::new(),
        }
    }

    fn index(&self, superblock: u32, die: u32) -> usize {
        superblock as usize * self.dies as usize + die as usize
    }

    /// Reads of the blocks of a die in a superblock; 0 for superblocks of the map, which have no counts.
    pub(super) fn of(&self, superblock: u32, die: u32) -> u32 {
        self.reads.get(self.index(superblock, die)).copied().unwrap_or(0)
    }

    /// Adds senses of the blocks of a die in a superblock.
    pub(super) fn add(&mut self, superblock: u32, die: u32, senses: u64) {
        let index = self.index(superblock, die);
        let Some(reads) = self.reads.get_mut(index) else { return };
        *reads = reads.saturating_add(senses as u32);
        if self.reclaim_reads.is_some_and(|limit| *reads >= limit)
            && !self.due.contains(&superblock)
        {
            self.due.push(superblock);
        }
    }

    /// Adds reads of every block; the first program of a block sets its count back to 0.
    pub(super) fn add_everywhere(&mut self, count: u32) {
        for reads in &mut self.reads {
            *reads = reads.saturating_add(count);
        }
    }

    /// Handles the first program of the blocks of a die in a superblock.
    pub(super) fn begin(&mut self, superblock: u32, die: u32) {
        let index = self.index(superblock, die);
        self.reads[index] = 0;
    }

    /// Handles an erase of the blocks of a die in a superblock.
    pub(super) fn erased(&mut self, superblock: u32) {
        self.due.retain(|&due| due != superblock);
    }

    /// Superblocks that must move.
    pub(super) fn due(&self) -> &[u32] {
        &self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_superblock_is_due_when_one_of_its_blocks_reaches_the_limit() {
        let mut counts = ReadCounts::new(&Geometry::small(), Some(3));
        counts.add(2, 0, 2);
        counts.add(2, 1, 2);
        assert!(counts.due().is_empty());
        counts.add(2, 1, 1);
        counts.add(2, 1, 1);
        assert_eq!((counts.due(), counts.of(2, 1)), ([2].as_slice(), 4));
        counts.erased(2);
        counts.begin(2, 1);
        assert_eq!((counts.due(), counts.of(2, 0), counts.of(2, 1)), ([].as_slice(), 2, 0));
    }
}
