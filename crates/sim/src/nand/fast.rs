//! Superblocks with fast programs, for the "performance mode".

/// The superblocks with fast programs, and their program time.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct FastSuperblocks {
    program_ns: u64,
    is_fast: Vec<bool>,
    count: u32,
}

impl FastSuperblocks {
    /// None of this number of superblocks.
    pub fn new(program_ns: u64, superblocks: u32) -> Self {
        Self { program_ns, is_fast: vec![false; superblocks as usize], count: 0 }
    }

    /// Superblocks programmed fast since their last erase.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether a superblock is fast; superblocks of the map never are.
    #[inline]
    pub fn contains(&self, superblock: u32) -> bool {
        self.is_fast.get(superblock as usize).is_some_and(|&is_fast| is_fast)
    }

    /// Makes an erased superblock fast.
    pub fn insert(&mut self, superblock: u32) {
        self.count += u32::from(!self.contains(superblock));
        self.is_fast[superblock as usize] = true;
    }

    /// Records the erase of a superblock.
    pub fn erased(&mut self, superblock: u32) {
        self.count -= u32::from(self.contains(superblock));
        if let Some(is_fast) = self.is_fast.get_mut(superblock as usize) {
            *is_fast = false;
        }
    }

    /// Program time of a superblock's units, or `None` for the usual one.
    #[inline]
    pub fn program_ns(&self, superblock: u32) -> Option<u64> {
        self.contains(superblock).then_some(self.program_ns)
    }
}
