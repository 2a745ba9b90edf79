//! Observers inside a drive, for tests and tools. They see everything and change nothing.
//!
//! A [`Device`](crate::Device) is compiled for its probe; [`Silent`] costs nothing.

use std::ops::Range;

use crate::ftl::StreamId;
use crate::ftl::table::PageTable;

/// An observer, called at every change in the order of the changes.
pub trait Probe {
    /// A logical page has a new place without a program yet.
    fn placed(&mut self, stream: StreamId, logical: u64, physical: u64) {
        let _ = (stream, logical, physical);
    }

    /// The logical page placed last takes one physical page more (on drives that compress).
    fn extended(&mut self, stream: StreamId, logical: u64, physical: u64) {
        let _ = (stream, logical, physical);
    }

    /// A page was given up to complete a unit.
    fn padded(&mut self, stream: StreamId, physical: u64) {
        let _ = (stream, physical);
    }

    /// A logical page was deallocated.
    fn unmapped(&mut self, logical: u64) {
        let _ = logical;
    }

    /// A unit is in NAND.
    fn programmed(&mut self, unit: u32) {
        let _ = unit;
    }

    /// The pages unmapped since the last call are one deallocation.
    fn deallocated(&mut self) {}

    /// A unit of the journal is being written: the entries before a position that no earlier unit
    /// contains.
    fn journal(&mut self, unit: u32, covered: u64) {
        let _ = (unit, covered);
    }

    /// A segment of a checkpoint is being written: these logical pages of the present map.
    fn segment(&mut self, unit: u32, pages: Range<u64>, map: &PageTable) {
        let _ = (unit, pages, map);
    }

    /// The unit that commits a checkpoint is being written.
    fn commit(&mut self, unit: u32) {
        let _ = unit;
    }

    /// A unit of journal or checkpoint is in NAND.
    fn map_programmed(&mut self, unit: u32) {
        let _ = unit;
    }

    /// A die has erased its blocks of a superblock, of the FTL or of the map.
    fn die_erased(&mut self, superblock: u32, die: u32) {
        let _ = (superblock, die);
    }

    /// A superblock of the pSLC cache is closed early for folding.
    fn cache_closed(&mut self, superblock: u32) {
        let _ = superblock;
    }

    /// Garbage collection begins a superblock.
    fn victim(&mut self, superblock: u32) {
        let _ = superblock;
    }

    /// A superblock is erased on all dies.
    fn erased(&mut self, superblock: u32) {
        let _ = superblock;
    }
}

/// A probe that ignores every call.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Silent;

impl Probe for Silent {}
