//! Placement handles whose superblock the host exchanges: I/O Management Send of flexible data placement.

use super::Device;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Ends the open superblock of a placement handle before it is full; the next write of the handle begins an erased
    /// one. The rest stays unused until the erase, and valid pages move in return as for one that was written. False if
    /// the handle has no open superblock.
    pub fn end_reclaim_unit(&mut self, handle: u8) -> bool {
        let placement = self.config.options.placement;
        let Some(placement) = placement.filter(|own| u32::from(handle) < own.handles) else {
            return false;
        };
        let stream = placement.stream_of_write(handle);
        let is_open = self.ftl.stream_room_pages(stream) > 0;
        self.complete_open_units(&[stream]);
        while self.ftl.turn_to_room(stream) {
            let units = self.ftl.stream(stream).room_pages / self.geometry().unit_pages;
            self.ftl.close(stream);
            (0..units).for_each(|_| self.owe_for_unit());
        }
        self.pump();
        is_open
    }
}
