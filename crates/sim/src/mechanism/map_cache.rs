//! The part of the map that a drive with little DRAM has at hand.
//!
//! Phenomenon: the map lies in NAND as segments of a page each; what DRAM holds of it is looked up there, another
//! segment is read first, and one that was changed is written when it has to leave. A host memory buffer is a second
//! level, behind the bus. So locality decides about speed, and random writes cost more than their own pages. A drive
//! may write its map to the pSLC cache, where programs are faster and most segments are written again before they are
//! folded: `SanDisk`'s nCache also holds the mapping table (`AnandTech` 7006). Source:
//! DFTL (Gupta, Kim and Urgaonkar 2009), NVMe host memory buffer, FMMU (a map cache that misses costs up to 57%).
//! Simplifications: least recently used leaves first, from DRAM to the buffer and from there to NAND; the places of
//! the segments are always known; a segment is there from the moment at which its read begins; writes do not wait for
//! it, as their data is in the write buffer; a move by garbage collection changes entries without asking for their
//! segment (the superblock says which pages it holds), and so does a deallocation. Tests:
//! `tests/mechanisms/map_cache.rs`.

use std::ops::Range;

use base::facts::Sourced;

use crate::geometry::{Divisor, Geometry};
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{Check, HOUR_NS, ModelError, section};
use crate::ring::Ring;

section! {
    /// The part of the map that a drive has at hand; the rest is in NAND, in pages of `map.unit_bytes`.
    pub struct MapCacheSection {
        /// DRAM for it, in a drive of full size.
        pub bytes: Sourced<u64>,
        /// Bytes of an entry.
        pub entry_bytes: Sourced<u32> [4, 1_024],
        /// Memory of the host for what DRAM does not hold; absent: none.
        pub hmb_bytes: Option<Sourced<u64>>,
        /// Time for a look into the memory of the host; goes with `hmb_bytes`.
        pub hmb_latency_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Whether the map is written to the pSLC cache while that has room; absent: it is not.
        pub in_pslc: Option<Sourced<bool>>,
    }
}

/// Sizes of the cache of one drive, in segments of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MapCacheShape {
    /// Logical pages in a segment.
    pub segment_pages: u32,
    /// Segments in DRAM.
    pub dram_segments: u32,
    /// Segments in the host's memory; 0: none.
    pub host_segments: u32,
    /// Time for a look into the host's memory.
    pub host_latency_ns: u64,
    /// Whether segments are written to the pSLC cache while that has room.
    pub in_pslc: bool,
}

impl MapCacheSection {
    /// Entries in a page of the map.
    pub(crate) fn segment_pages(&self, page_bytes: u32) -> u32 {
        (page_bytes / self.entry_bytes.value.max(1)).max(1)
    }

    /// Bytes and latency of the host's memory.
    fn host_memory(&self, check: &Check<'_>, page_bytes: u64) -> Result<(u64, u64), ModelError> {
        match (&self.hmb_bytes, &self.hmb_latency_ns) {
            (None, None) => Ok((0, 0)),
            (Some(bytes), None) => {
                let rule = "it goes with map_cache.hmb_latency_ns";
                check.fail("map_cache.hmb_bytes", bytes.value, rule)
            }
            (None, Some(latency)) => {
                let rule = "it goes with map_cache.hmb_bytes";
                check.fail("map_cache.hmb_latency_ns", latency.value, rule)
            }
            (Some(bytes), Some(latency)) => {
                check.within("map_cache.hmb_bytes", bytes.value, page_bytes, 1 << 40)?;
                Ok((bytes.value, latency.value))
            }
        }
    }
}

impl Section for MapCacheSection {
    type Plan = MapCacheShape;
    type State = MapCache;

    /// A smaller drive holds a smaller part at hand, so that as many lookups find theirs.
    fn resolve(&self, basis: &Basis<'_>) -> Result<MapCacheShape, ModelError> {
        let Basis { check, scale, geometry, .. } = basis;
        let page_bytes = u64::from(geometry.page_bytes);
        let bytes = self.bytes.value;
        check.within("map_cache.bytes", bytes, page_bytes, 1 << 40)?;
        for (section, is_there) in
            [("[mapping]", basis.has("mapping")), ("[compression]", basis.has("compression"))]
        {
            if is_there {
                let rule = format!("a drive with {section} has all of its map in DRAM");
                return check.fail("map_cache.bytes", bytes, &rule);
            }
        }
        let in_pslc = self.in_pslc.as_ref().is_some_and(|in_pslc| in_pslc.value);
        if in_pslc && !basis.has("pslc") {
            let rule = "it goes with a pSLC cache, [pslc]";
            return check.fail("map_cache.in_pslc", in_pslc, rule);
        }
        let segments = |bytes| (scale.of(bytes) / page_bytes).min(geometry.map_pages.into()) as u32;
        let (hmb_bytes, host_latency_ns) = self.host_memory(check, page_bytes)?;
        Ok(MapCacheShape {
            segment_pages: self.segment_pages(geometry.page_bytes),
            dram_segments: segments(bytes).max(1),
            host_segments: segments(hmb_bytes),
            host_latency_ns,
            in_pslc,
        })
    }

    fn begin(plan: MapCacheShape, geometry: &Geometry, _: usize) -> MapCache {
        MapCache::new(plan, geometry.map_pages)
    }
}

/// The place in which a segment was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In DRAM, or on its way out of it.
    Dram,
    /// In the host's memory.
    Host,
    /// Neither: it must be read from NAND, if it has been written there.
    Nand,
}

/// Counts of hits and misses so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lookups {
    /// Location in DRAM.
    pub dram: u64,
    /// Location in the host's memory.
    pub host: u64,
    /// Location in neither.
    pub nand: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Place {
    Nand,
    Dram,
    Host,
    /// In DRAM until it is written.
    Leaving,
}

/// A segment of the map, between its neighbours in the order of use.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Segment {
    newer: u32,
    older: u32,
    place: Place,
    is_changed: bool,
    /// It stands in the queue of those to be written.
    is_queued: bool,
    /// It is to be written although it stays.
    is_due: bool,
}

/// Segments in the order of their use: a ring that begins and ends at a segment that does not exist.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Level {
    place: Place,
    /// The number of the segment that does not exist.
    end: u32,
    count: u32,
    limit: u32,
}

/// The segments of the map at hand.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct MapCache {
    shape: MapCacheShape,
    by_segment: Divisor,
    segments: Vec<Segment>,
    dram: Level,
    host: Level,
    /// Changed segments that have left or are flushed, oldest first.
    leaving: Ring<u32>,
    /// The segment at which the next flush begins.
    next_flushed: u32,
    /// Commands whose entries come from the host's memory, each with the moment when they are there.
    fetches: Ring<(u64, u32)>,
    lookups: Lookups,
}

impl MapCache {
    /// Bytes of memory for each segment of the map.
    pub const SEGMENT_BYTES: u64 = (size_of::<Segment>() + size_of::<u32>()) as u64;

    /// A cache that holds nothing yet of a map of so many segments.
    pub fn new(shape: MapCacheShape, segments: u32) -> Self {
        let level = |place, end, limit| Level { place, end, count: 0, limit };
        let alone = |number| Segment {
            newer: number,
            older: number,
            place: Place::Nand,
            is_changed: false,
            is_queued: false,
            is_due: false,
        };
        Self {
            shape,
            by_segment: Divisor::new(shape.segment_pages),
            segments: (0..segments + 2).map(alone).collect(),
            dram: level(Place::Dram, segments, shape.dram_segments),
            host: level(Place::Host, segments + 1, shape.host_segments),
            leaving: Ring::with_capacity(segments as usize),
            next_flushed: 0,
            fetches: Ring::default(),
            lookups: Lookups::default(),
        }
    }

    /// Counts of hits and misses so far.
    pub fn lookups(&self) -> Lookups {
        self.lookups
    }

    /// Whether segments are written to the pSLC cache while that has room.
    pub fn is_in_pslc(&self) -> bool {
        self.shape.in_pslc
    }

    /// The segments with the entries of some pages.
    pub fn segments_of(&self, pages: &Range<u64>) -> Range<u32> {
        let last = self.by_segment.divide(pages.end.max(1) - 1);
        self.by_segment.divide(pages.start)..last + 1
    }

    /// Looks a segment up, to change an entry in it or not, and says where it was; it is in DRAM from now on.
    pub fn look_up(&mut self, number: u32, changes: bool) -> Location {
        let found = self.take(number);
        match found {
            Location::Dram => self.lookups.dram += 1,
            Location::Host => self.lookups.host += 1,
            Location::Nand => self.lookups.nand += 1,
        }
        self.segments[number as usize].is_changed |= changes;
        if let Some(oldest) = self.put(number, Place::Dram)
            && let Some(oldest) = self.put(oldest, Place::Host)
        {
            self.leave(oldest);
        }
        found
    }

    /// Lets all segments leave, those of the host's memory first.
    pub fn empty(&mut self) {
        for end in [self.host.end, self.dram.end] {
            while self.segments[end as usize].newer != end {
                let oldest = self.segments[end as usize].newer;
                self.take(oldest);
                self.leave(oldest);
            }
        }
    }

    /// Queues changed segments that stay at hand, at most so many, from where the last call ended; true if others may
    /// have changed too.
    pub fn flush(&mut self, most: u32) -> bool {
        let mut flushed = 0;
        for _ in 0..self.dram.end {
            if flushed == most {
                return true;
            }
            let number = self.next_flushed;
            self.next_flushed = (number + 1) % self.dram.end;
            let segment = &mut self.segments[number as usize];
            if segment.is_changed && segment.place != Place::Leaving && !segment.is_due {
                segment.is_due = true;
                flushed += 1;
                self.queue(number);
            }
        }
        false
    }

    /// The next changed segment to write, or `None` if none has left or is flushed.
    pub fn take_leaving(&mut self) -> Option<u32> {
        self.forget_found();
        let number = self.leaving.pop_front()?;
        let segment = &mut self.segments[number as usize];
        if segment.place == Place::Leaving {
            segment.place = Place::Nand;
        }
        (segment.is_changed, segment.is_queued, segment.is_due) = (false, false, false);
        Some(number)
    }

    /// Removes from the head of the queue segments that another command has found before they were written.
    fn forget_found(&mut self) {
        while let Some(number) = self.leaving.front() {
            let segment = &mut self.segments[number as usize];
            if segment.place == Place::Leaving || segment.is_due {
                break;
            }
            segment.is_queued = false;
            self.leaving.pop_front();
        }
    }

    /// Whether changed segments must be written.
    #[inline]
    pub fn is_any_leaving(&mut self) -> bool {
        self.forget_found();
        !self.leaving.is_empty()
    }

    /// A command waits for entries from the host's memory.
    pub fn fetch(&mut self, tag: u32, now_ns: u64) {
        self.fetches.push_back((now_ns + self.shape.host_latency_ns, tag));
    }

    /// Arrival of the next entries from the host's memory, or `None` if nobody waits for any.
    pub fn next_fetch_ns(&self) -> Option<u64> {
        self.fetches.front().map(|(fetched_ns, _)| fetched_ns)
    }

    /// Takes the next command whose entries have come from the host's memory.
    pub fn take_fetched(&mut self, now_ns: u64) -> Option<u32> {
        let (_, tag) = self.fetches.front().filter(|(fetched_ns, _)| *fetched_ns <= now_ns)?;
        self.fetches.pop_front();
        Some(tag)
    }

    /// Takes a segment from its place.
    fn take(&mut self, number: u32) -> Location {
        let Segment { newer, older, place, .. } = self.segments[number as usize];
        let (found, level) = match place {
            Place::Nand => return Location::Nand,
            Place::Leaving => return Location::Dram,
            Place::Dram => (Location::Dram, &mut self.dram),
            Place::Host => (Location::Host, &mut self.host),
        };
        level.count -= 1;
        self.segments[newer as usize].older = older;
        self.segments[older as usize].newer = newer;
        found
    }

    /// Puts a segment, which has no place, first into a level; returns the last one where that is one too many.
    fn put(&mut self, number: u32, place: Place) -> Option<u32> {
        let level = if place == Place::Dram { &mut self.dram } else { &mut self.host };
        if level.limit == 0 {
            return Some(number);
        }
        level.count += 1;
        let (end, is_too_many) = (level.end, level.count > level.limit);
        let first = self.segments[end as usize].older;
        self.segments[end as usize].older = number;
        self.segments[first as usize].newer = number;
        let segment = &mut self.segments[number as usize];
        (segment.newer, segment.older, segment.place) = (end, first, place);
        if !is_too_many {
            return None;
        }
        let last = self.segments[end as usize].newer;
        self.take(last);
        Some(last)
    }

    /// A segment has no place any more; it must be written where it was changed.
    fn leave(&mut self, number: u32) {
        let segment = &mut self.segments[number as usize];
        if !segment.is_changed {
            segment.place = Place::Nand;
            return;
        }
        segment.place = Place::Leaving;
        self.queue(number);
    }

    /// A changed segment joins the queue, unless it stands there.
    fn queue(&mut self, number: u32) {
        let segment = &mut self.segments[number as usize];
        if !segment.is_queued {
            segment.is_queued = true;
            self.leaving.push_back(number);
        }
    }

    /// Checks that both levels hold as many segments as they count, and no more than they may.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub fn check(&self) -> Result<(), String> {
        let segments = &self.segments[..self.dram.end as usize];
        for level in [self.dram, self.host] {
            let held = segments.iter().filter(|segment| segment.place == level.place).count();
            if held != level.count as usize || level.count > level.limit {
                let Level { place, count, limit, .. } = level;
                return Err(format!(
                    "{held} map segments in {place:?}, {count} of {limit} counted"
                ));
            }
        }
        let is_due = |segment: &Segment| segment.place == Place::Leaving || segment.is_due;
        let waiting = |segment: &&Segment| is_due(segment) && !segment.is_queued;
        match segments.iter().filter(waiting).count() {
            0 => Ok(()),
            lost => Err(format!("{lost} changed map segments will never be written")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Location::{Dram, Host, Nand};

    fn cache(dram_segments: u32, host_segments: u32) -> MapCache {
        let shape = MapCacheShape {
            segment_pages: 4,
            dram_segments,
            host_segments,
            host_latency_ns: 0,
            in_pslc: false,
        };
        MapCache::new(shape, 10)
    }

    #[test]
    fn the_least_recently_used_goes_down_a_level() {
        let mut cache = cache(2, 1);
        let mut look = |number| cache.look_up(number, false);
        assert_eq!([0, 1, 0, 2].map(&mut look), [Nand, Nand, Dram, Nand]);
        assert_eq!([1, 0, 3, 1].map(&mut look), [Host, Host, Nand, Host]);
        assert_eq!([2, 3].map(look), [Nand, Host]);
        assert_eq!(cache.lookups(), Lookups { dram: 1, host: 4, nand: 5 });
        cache.check().unwrap();
    }

    #[test]
    fn only_changed_segments_are_written_and_each_of_them_once() {
        let mut cache = cache(1, 0);
        cache.look_up(0, false);
        cache.look_up(1, true);
        assert_eq!(cache.take_leaving(), None, "segment 0 was only read");
        cache.look_up(2, false);
        // Location again before it was written, it still has to be when it leaves for good.
        assert_eq!(cache.look_up(1, false), Dram);
        assert!(!cache.is_any_leaving() && cache.take_leaving().is_none());
        cache.look_up(3, true);
        cache.look_up(4, true);
        assert_eq!([cache.take_leaving(), cache.take_leaving()], [Some(1), Some(3)]);
        assert_eq!((cache.take_leaving(), cache.look_up(1, false)), (None, Nand));
        cache.check().unwrap();
    }

    #[test]
    fn what_is_flushed_stays_at_hand_and_is_written_once() {
        let mut cache = cache(3, 0);
        for (number, changes) in [(4, true), (1, true), (2, false)] {
            cache.look_up(number, changes);
        }
        assert!(cache.flush(1) && cache.is_any_leaving());
        // It changes again before it is written, or leaves: one program is enough.
        assert_eq!(cache.look_up(1, true), Dram);
        assert_eq!([cache.take_leaving(), cache.take_leaving()], [Some(1), None]);
        assert!(!cache.flush(10), "there are no more than ten");
        assert_eq!([6, 7].map(|number| cache.look_up(number, false)), [Nand, Nand]);
        assert_eq!([cache.take_leaving(), cache.take_leaving()], [Some(4), None]);
        assert!(!cache.flush(10) && cache.take_leaving().is_none(), "nothing has changed since");
        assert_eq!(cache.look_up(1, false), Dram);
        cache.check().unwrap();
    }

    #[test]
    fn pages_name_their_segments() {
        let cache = cache(1, 0);
        assert_eq!(
            [0..1, 3..5, 4..8, 7..17].map(|pages| cache.segments_of(&pages)),
            [0..1, 0..2, 1..2, 1..5]
        );
    }
}
