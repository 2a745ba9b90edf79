//! The drive at work on the map that it does not hold: what is read and written of it, and who waits.
//!
//! The segments of the map are pages behind those of the host: they are placed, moved and found like data, in the
//! host's stream or in the pSLC cache. See [`MapCache`].

use std::ops::Range;

use base::OpKind;

use super::Device;
use super::timers::Timer;
use crate::ftl::StreamId;
use crate::mechanism::map_cache::{Location, MapCache};
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The segments of the map at hand, where the drive does not hold all of it.
    pub fn map_cache(&self) -> Option<&MapCache> {
        self.mechanisms.map_cache.as_ref()
    }

    /// A command must know where its pages lie: it goes on when all of their entries are there.
    #[inline(never)]
    pub(super) fn find_pages(&mut self, tag: u32) {
        let is_in_host = self.look_up_segments(&self.commands[tag].touched(), Some(tag));
        if is_in_host && let Some(cache) = &mut self.mechanisms.map_cache {
            self.commands[tag].reads_pending += 1;
            cache.fetch(tag, self.now_ns);
            self.await_fetch();
        }
        self.write_segments();
        if self.commands[tag].reads_pending == 0 {
            self.have_map(tag);
        }
    }

    /// Looks up the segments of some pages, for a command or because their entries change, and reads those that are in
    /// NAND; true where one was in the host's memory.
    fn look_up_segments(&mut self, pages: &Range<u64>, tag: Option<u32>) -> bool {
        let segments = self.mechanisms.map_cache.as_ref().map(|cache| cache.segments_of(pages));
        let mut is_in_host = false;
        for segment in segments.into_iter().flatten() {
            let Some(cache) = &mut self.mechanisms.map_cache else { break };
            match cache.look_up(segment, tag.is_none()) {
                Location::Dram => {}
                Location::Host => is_in_host = true,
                Location::Nand => self.read_segment(segment, tag),
            }
        }
        is_in_host
    }

    /// Reads a segment, if it has been written; a command waits for it, or nobody.
    fn read_segment(&mut self, segment: u32, tag: Option<u32>) {
        let logical = self.geometry().logical_pages + u64::from(segment);
        let Some(unit) = self.unit_in_nand(logical) else { return };
        let op = match tag {
            Some(tag) => {
                self.commands[tag].reads_pending += 1;
                DieOp::MapRead { tag, unit, transfers: self.geometry().host_pages() }
            }
            None => DieOp::MapLoad { unit },
        };
        self.nand.enqueue(self.die_of_unit(unit), op, self.now_ns);
    }

    /// A part of what a command must know of the map is there.
    pub(super) fn have_segment(&mut self, tag: u32) {
        self.commands[tag].reads_pending -= 1;
        if self.commands[tag].reads_pending == 0 {
            self.have_map(tag);
        }
    }

    /// A command knows where its pages lie.
    fn have_map(&mut self, tag: u32) {
        if self.commands[tag].kind == OpKind::Write {
            self.read_before_write(tag);
        } else {
            self.read(tag);
        }
    }

    /// Looks at the clock when the next entry comes from the host's memory.
    fn await_fetch(&mut self) {
        let next_ns = self.mechanisms.map_cache.as_ref().and_then(MapCache::next_fetch_ns);
        if let Some(next_ns) = next_ns {
            self.timers.set(Timer::MapFetch, next_ns);
        }
    }

    /// Entries have come from the host's memory.
    pub(super) fn on_fetch_timer(&mut self) {
        let now_ns = self.now_ns;
        while let Some(tag) =
            self.mechanisms.map_cache.as_mut().and_then(|cache| cache.take_fetched(now_ns))
        {
            self.have_segment(tag);
        }
        self.await_fetch();
    }

    /// Pages of the host have a new place: their entries change.
    #[inline(never)]
    pub(super) fn change_entries(&mut self, pages: &Range<u64>) {
        self.look_up_segments(pages, None);
        self.note_map_change();
        self.write_segments();
    }

    /// Writes changed segments that have left the cache or are flushed, as far as there is room; true where none is left. The host
    /// waits for them, as they wait for what it waits for.
    #[inline]
    pub(super) fn write_segments(&mut self) -> bool {
        self.mechanisms.map_cache.is_none() || self.write_leaving_segments()
    }

    #[inline(never)]
    fn write_leaving_segments(&mut self) -> bool {
        while self.mechanisms.map_cache.as_mut().is_some_and(MapCache::is_any_leaving) {
            let stream = self.segment_stream();
            let room_pages = match &self.reclaim_groups {
                Some(_) => self.room_in_any_group(stream),
                None if self.collector.owes_much() => 0,
                None => self.room_pages(stream),
            };
            if room_pages == 0 {
                return false;
            }
            let Some(segment) = self.mechanisms.map_cache.as_mut().and_then(MapCache::take_leaving)
            else {
                break;
            };
            let logical = self.geometry().logical_pages + u64::from(segment);
            let physical = self.ftl.place(stream, logical);
            self.probe.placed(stream, logical, physical);
            self.totals.metadata_pages += 1;
            self.buffered(stream, physical, 1);
        }
        true
    }

    /// The stream for the next segment: that of the host, unless the map is written to the cache and it has room.
    fn segment_stream(&self) -> StreamId {
        let is_in_pslc = self.mechanisms.map_cache.as_ref().is_some_and(MapCache::is_in_pslc);
        match &self.mechanisms.pslc {
            Some(cache) if is_in_pslc && cache.has_room(&self.ftl) => StreamId::Pslc,
            _ => StreamId::Host,
        }
    }
}
