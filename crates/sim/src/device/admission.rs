//! From the link into the write buffer: the pages that may enter, and their places.

use std::ops::Range;

use base::Data;

use super::Device;
use super::timers::Timer;
use crate::ftl::StreamId;
use crate::ftl::pacing::HostRate;
use crate::mechanism::pslc::PslcCache;
use crate::mechanism::read_ahead::ReadAhead;
use crate::mechanism::throttle::Bucket;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The data of a write has arrived.
    #[inline(always)]
    pub(super) fn arrive(&mut self, tag: u32) {
        if self.buffer.is_awaited() {
            // Others wait already, and for something else than this.
            return self.buffer.wait(tag);
        }
        if self.admit(tag) {
            self.collect();
        } else {
            self.buffer.wait(tag);
            self.pump();
        }
    }

    /// Admits waiting writes and runs garbage collection, as far as both are possible now.
    #[inline]
    pub(super) fn pump(&mut self) {
        self.write_segments();
        if self.buffer.is_awaited() {
            self.pump_waiting();
        } else {
            self.collect();
        }
    }

    #[inline(never)]
    fn pump_waiting(&mut self) {
        loop {
            while let Some(tag) = self.buffer.next() {
                if !self.admit_waiting(tag) {
                    break;
                }
                self.buffer.admitted();
            }
            // It may have waited for nothing but the debt of the host.
            if !self.collect() || !self.buffer.is_awaited() {
                return;
            }
        }
    }

    /// [`Device::admit`] for writes that had to wait, compiled separately from that for other
    /// writes.
    #[inline(never)]
    fn admit_waiting(&mut self, tag: u32) -> bool {
        self.admit(tag)
    }

    /// Moves pages of a write into the buffer until it is full or the host has to wait; true if all
    /// pages are in it, which ends the write.
    #[inline(always)]
    fn admit(&mut self, tag: u32) -> bool {
        if self.mechanisms.zones.is_some() {
            return self.admit_to_zone(tag);
        }
        let mut left = self.commands[tag].not_admitted();
        loop {
            let Some((stream, room_pages)) = self.room_for(tag) else {
                self.commands[tag].set_admitted_before(left.start);
                return false;
            };
            let pages = take_pages(&mut left, room_pages);
            let host_pages = self.count_written(tag, &pages);
            self.take_from_buckets(stream, host_pages);
            if self.geometry().page_granules > 1 {
                self.place_compressed(stream, pages.start, self.commands[tag].data);
            } else {
                self.place_pages(stream, pages.clone());
            }
            if self.mechanisms.map_cache.is_some() {
                self.change_entries(&pages);
            }
            if left.is_empty() {
                self.end_write(tag);
                return true;
            }
        }
    }

    /// Number of pages with room in the buffer and a place in a stream, as far as the end of its unit; none where
    /// the host has to wait.
    #[inline]
    pub(super) fn room_pages(&mut self, stream: StreamId) -> u32 {
        let Some(buffer_room) = self.buffer.room() else { return 0 };
        if !self.ftl.stream_has_room(stream) && !self.open_for_host(stream) {
            return 0;
        }
        buffer_room.get().min(self.ftl.stream(stream).unit_room_pages)
    }

    /// The stream of a command, and the number of its pages with room there, or `None` if the host has to wait: for
    /// the buffer, a cap on writes, the map or work that goes before them.
    #[inline(never)]
    fn room_for(&mut self, tag: u32) -> Option<(StreamId, u32)> {
        if !self.write_segments() {
            return None;
        }
        let page_granules = self.geometry().page_granules;
        let buffer_room_pages = self.buffer.room_pages();
        if buffer_room_pages < page_granules
            || self.reclaim_groups.is_none() && self.is_host_held_back()
            || !self.have_buckets_page()
            || !self.budget_is_open()
        {
            return None;
        }
        if page_granules > 1 {
            StreamId::BUFFERED.into_iter().for_each(|stream| self.close_short_run(stream));
        }
        let bytes = self.commands[tag].bytes;
        let stream = match &self.mechanisms.pslc {
            Some(cache) => cache.stream_for(bytes, &self.ftl)?,
            None => self.stream_of_write(tag),
        };
        if !self.is_open_past_cache(stream) {
            return None;
        }
        let room_pages = if self.reclaim_groups.is_some() {
            self.room_in_any_group(stream)
        } else {
            self.room_pages(stream)
        };
        let one_by_one = page_granules > 1
            || self.mechanisms.throttle.is_some()
            || self.write_rate.is_some()
            || self.mechanisms.pslc.as_ref().is_some_and(PslcCache::limits_direct_writes);
        let room_pages = if one_by_one { room_pages.min(1) } else { room_pages };
        (room_pages > 0).then_some((stream, room_pages))
    }

    /// The stream of a write's placement handle.
    fn stream_of_write(&self, tag: u32) -> StreamId {
        let placement = self.config.options.placement;
        placement.map_or(StreamId::Host, |all| all.stream_of_write(self.commands[tag].placement))
    }

    /// Whether the cap and the rate of a drive admit one more host page; if not, a timer is set for that time.
    fn have_buckets_page(&mut self) -> bool {
        let now_ns = self.now_ns;
        let opens_ns = |bucket: &Bucket| bucket.opens_ns(now_ns);
        let cap_ns = self.mechanisms.throttle.as_ref().map_or(0, opens_ns);
        let rate_ns = self.write_rate_now().as_deref().map_or(0, opens_ns);
        let opens_ns = cap_ns.max(rate_ns);
        if opens_ns > now_ns {
            self.timers.set(Timer::Throttle, opens_ns);
        }
        opens_ns <= now_ns
    }

    /// Whether the controller takes one more host page for a stream; if not, a timer is set for that time.
    fn is_open_past_cache(&mut self, stream: StreamId) -> bool {
        let now_ns = self.now_ns;
        let opens_ns =
            self.mechanisms.pslc.as_ref().map_or(0, |cache| cache.opens_ns(stream, now_ns));
        if opens_ns > now_ns {
            self.timers.set(Timer::Throttle, opens_ns);
        }
        opens_ns <= now_ns
    }

    /// The rate that the drive keeps, `None` while collection costs it nothing.
    fn write_rate_now(&mut self) -> Option<&mut Bucket> {
        let is_kept = self.write_rate.is_some() && self.costs_collection();
        self.write_rate.as_mut().filter(|_| is_kept).map(HostRate::bucket)
    }

    /// Counts host pages that enter the buffer.
    #[inline]
    fn take_from_buckets(&mut self, stream: StreamId, host_pages: u32) {
        let now_ns = self.now_ns;
        if let Some(cache) = &mut self.mechanisms.pslc {
            cache.note_placed(stream, now_ns, host_pages);
        }
        if let Some(bucket) = &mut self.mechanisms.throttle {
            bucket.take(now_ns, host_pages);
        }
        if let Some(bucket) = self.write_rate_now() {
            bucket.take(now_ns, host_pages);
        }
    }

    #[cold]
    #[inline(never)]
    fn open_for_host(&mut self, stream: StreamId) -> bool {
        if stream == StreamId::Pslc {
            return self.open_cache();
        }
        let free_superblocks = self.free_superblocks();
        let is_open = self.pacing.host_may_open(free_superblocks)
            && self.ftl.open_superblock(stream)
            || self.ftl.turn_to_room(stream);
        if is_open && self.mechanisms.performance_mode.is_some() {
            self.host_opened();
        }
        is_open
    }

    /// Counts pages of a write; returns how many pages of 4 KiB the host has written in them.
    #[inline]
    pub(super) fn count_written(&mut self, tag: u32, pages: &Range<u64>) -> u32 {
        let each = self.geometry().host_pages();
        let all = (pages.end - pages.start) as u32 * each;
        let written = if each > 1 { self.commands[tag].host_pages_of(pages, each) } else { all };
        self.totals.host_pages += u64::from(written);
        if each > 1 {
            self.rewritten_pages += u64::from(all - written);
        }
        written
    }

    /// All pages of a write are in the buffer.
    #[inline]
    pub(super) fn end_write(&mut self, tag: u32) {
        if let Some(queues) = &mut self.queues
            && let Some(next) = queues.leave_slot()
        {
            self.decode_queued(next);
        }
        let holds_pages = self.mechanisms.read_ahead.as_ref().is_some_and(ReadAhead::holds_pages);
        if holds_pages || self.mechanisms.read_cache.is_some() {
            self.uncache(tag);
        }
        self.acknowledge(tag);
    }

    /// Places pages that fit into the open unit of a stream.
    #[inline(always)]
    pub(super) fn place_pages(&mut self, stream: StreamId, pages: Range<u64>) {
        let count = (pages.end - pages.start) as u32;
        let mut physical = 0;
        for logical in pages {
            physical = self.ftl.place(stream, logical);
            self.probe.placed(stream, logical, physical);
        }
        self.buffered(stream, physical, count);
    }

    #[inline(never)]
    fn place_compressed(&mut self, stream: StreamId, logical: u64, data: Data) {
        let whole = self.geometry().page_granules;
        let compressor = self.mechanisms.compression.as_mut();
        let granules = compressor.map_or(whole, |compressor| compressor.granules(data));
        self.totals.saved_pages += u64::from(whole - granules);
        self.place_granules(stream, logical, granules);
    }

    /// Pages up to this one are in the buffer; programs their unit when it is full.
    #[inline]
    pub(super) fn buffered(&mut self, stream: StreamId, physical: u64, pages: u32) {
        self.buffer.add(pages);
        if self.ftl.is_unit_complete(stream) {
            self.program_buffered(stream, self.ftl.unit_of(physical));
        }
    }

    #[inline(never)]
    fn program_buffered(&mut self, stream: StreamId, unit: u32) {
        self.program(unit, stream);
        let superblock_units = self.geometry().superblock_units;
        if self.reclaim_groups.is_some() {
            return self.in_group_of(unit / superblock_units, |device| {
                device.note_host_unit();
                device.owe_for_unit();
            });
        }
        self.note_host_unit();
        if stream == StreamId::Pslc || self.mechanisms.zones.is_some() {
            // The content of the cache is paid for when it is folded; zones never are.
            return;
        }
        self.owe_for_unit();
    }

    /// Valid pages have to move in return for a unit that takes new room.
    #[inline]
    pub(super) fn owe_for_unit(&mut self) {
        let level = self.level();
        let unit_pages = self.geometry().unit_pages;
        let owed_pages = if self.policies.pace.is_some() {
            self.own_owed_pages(level, unit_pages)
        } else {
            self.pacing.owed_pages(level, unit_pages)
        };
        let due_pages = self.due_pages(owed_pages);
        self.collector.owe(due_pages);
        if let Some(early) = self.config.options.early {
            self.allow_early(early);
        }
    }
}

/// The next pages of the rest of a write, as many as have room.
#[inline]
pub(super) fn take_pages(left: &mut Range<u64>, room_pages: u32) -> Range<u64> {
    let first = left.start;
    left.start += u64::from(room_pages).min(left.end - left.start);
    first..left.start
}
