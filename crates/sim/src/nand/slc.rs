//! Blocks written with one bit per cell.
//!
//! Phenomenon: with one bit per cell, programs and reads of a page take a fraction of the time.
//! Source: the pSLC caches of the drives of 2012 and 2013 (see [`crate::mechanism::pslc`]).
//! Simplification: a block keeps its mode from its first program to its erase; wear is that of its
//! other mode. Test: `tests/mechanisms/pslc.rs`.

/// Times of a block with one bit per cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SlcTiming {
    /// Array to register.
    pub read_ns: u64,
    /// Register to array, all planes at once.
    pub program_ns: u64,
    /// Erase.
    pub erase_ns: u64,
}

/// The superblocks with one bit per cell.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct SlcMode {
    timing: SlcTiming,
    is_slc: Vec<bool>,
}

impl SlcMode {
    pub(super) fn new(timing: SlcTiming, superblocks: u32) -> Self {
        Self { timing, is_slc: vec![false; superblocks as usize] }
    }

    pub(super) fn set(&mut self, superblock: u32, is_slc: bool) {
        self.is_slc[superblock as usize] = is_slc;
    }

    /// The times of a superblock with one bit per cell; `None` for the others.
    #[inline]
    pub(super) fn timing(&self, superblock: u32) -> Option<SlcTiming> {
        let is_slc = self.is_slc.get(superblock as usize).is_some_and(|&is_slc| is_slc);
        is_slc.then_some(self.timing)
    }
}
