//! Observers of a drive's inner life, for tests and tools. They see everything and change nothing.
//!
//! A [`Device`](crate::Device) is compiled for its probe; [`Silent`] costs nothing.

use crate::ftl::StreamId;

/// Told of every change in the order in which it happens.
pub trait Probe {
    /// A logical page has a new place, which is not programmed yet.
    fn placed(&mut self, stream: StreamId, logical: u32, physical: u32) {
        let _ = (stream, logical, physical);
    }

    /// A page was given up to complete a unit.
    fn padded(&mut self, physical: u32) {
        let _ = physical;
    }

    /// A logical page was deallocated.
    fn unmapped(&mut self, logical: u32) {
        let _ = logical;
    }

    /// A unit is in NAND.
    fn programmed(&mut self, unit: u32) {
        let _ = unit;
    }

    /// Garbage collection begins with a superblock.
    fn victim(&mut self, superblock: u32) {
        let _ = superblock;
    }

    /// A superblock is erased on all dies.
    fn erased(&mut self, superblock: u32) {
        let _ = superblock;
    }
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Probe for Silent {}
