//! The drive during days without power.

use base::Nanos;

use crate::device::Device;
use crate::events::NEVER;
use crate::ftl::StreamId;
use crate::mechanism::map_cache::MapCache;
use crate::mechanism::read_ahead::ReadAhead;
use crate::mechanism::read_cache::ReadCache;
use crate::nand::aging::past::Past;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Gives the drive a past at once: time without power, after an orderly shutdown, and cycles and reads of all
    /// blocks in addition to their own. No command may be outstanding. The shutdown takes time: it programs the content
    /// of the buffer and the changed segments of the map. Without power, the clock of the drive stands. Afterwards the
    /// caches are empty, and the drive has the temperature of its surroundings.
    pub fn age(&mut self, past: Past) {
        self.empty_caches();
        self.write_all_segments();
        self.complete_open_units(&StreamId::BUFFERED);
        let programs = self.programs.mark(&StreamId::BUFFERED);
        while !self.programs.reached(programs) && self.work_on() {}
        self.cool_down();
        self.nand.age(past);
    }

    /// Wears every block by more cycles; false if the model has neither `[nand.retry]` nor `[nand.wear]`.
    pub fn wear(&mut self, cycles: u32) -> bool {
        self.nand.add_past(Past { cycles, ..Past::default() })
    }

    /// Forgets what was read, and lets every changed segment of the map leave its cache.
    fn empty_caches(&mut self) {
        self.mechanisms.read_cache.as_mut().map(ReadCache::clear);
        self.mechanisms.read_ahead.as_mut().map(ReadAhead::forget_all);
        self.mechanisms.map_cache.as_mut().map(MapCache::empty);
    }

    /// Writes the changed segments of the map, as soon as there is room for each.
    fn write_all_segments(&mut self) {
        while !self.write_segments() && self.work_on() {}
    }

    /// Runs up to the next end of an operation; false if none is in progress.
    fn work_on(&mut self) -> bool {
        let next_ns = self.next_work_ns();
        if next_ns == NEVER {
            return false;
        }
        self.run_until(Nanos(next_ns));
        true
    }
}
