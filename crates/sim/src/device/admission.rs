//! From the link into the write buffer: which pages may enter, and where they get their place.

use base::Data;

use super::Device;
use crate::ftl::StreamId;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The data of a write is there.
    #[inline]
    pub(super) fn wait_for_admission(&mut self, tag: u32) {
        self.admission.push_back(tag);
        // Where others wait already, they wait for something else than this.
        if self.admission.len() == 1 {
            self.pump();
        }
    }

    /// Moves waiting writes into the buffer until it is full or the host has to wait.
    #[inline(always)]
    pub(super) fn admit(&mut self) {
        while let Some(tag) = self.admission.front() {
            let len_bytes = self.commands[tag as usize].bytes;
            let Some((stream, room_pages)) = self.admissible(len_bytes) else { return };
            self.admit_pages(tag, stream, room_pages);
        }
    }

    /// The stream in which pages of a host's command have a place in NAND, and how many of them have room in the
    /// buffer, as far as the end of the unit, where there is more to decide.
    #[inline]
    fn admissible(&mut self, len_bytes: u32) -> Option<(StreamId, u32)> {
        let page_granules = self.geometry().page_granules;
        let buffer_room_pages = self.config.buffer_pages.saturating_sub(self.buffer_pages);
        if buffer_room_pages < page_granules
            || self.collector.owed_pages > u64::from(self.gc_pages_max)
            || !self.bucket_has_page()
        {
            return None;
        }
        if page_granules > 1 {
            StreamId::BUFFERED.into_iter().for_each(|stream| self.close_short_run(stream));
        }
        let stream = self.admission_stream(len_bytes)?;
        if !self.ftl.stream_has_room(stream) && !self.open_for_host(stream) {
            return None;
        }
        if page_granules > 1 || self.config.throttle.is_some() {
            return Some((stream, 1));
        }
        Some((stream, buffer_room_pages.min(self.ftl.stream(stream).unit_room_pages)))
    }

    #[inline(never)]
    fn open_for_host(&mut self, stream: StreamId) -> bool {
        if stream == StreamId::Pslc {
            return self.open_cache();
        }
        let free_superblocks = self.free_superblocks();
        let is_open =
            self.pacing.host_may_open(free_superblocks) && self.ftl.open_superblock(stream);
        if is_open && self.config.performance_mode.is_some() {
            self.host_opened();
        }
        is_open
    }

    /// Moves up to so many pages of a write into the buffer; it ends where they are all of it.
    #[inline]
    fn admit_pages(&mut self, tag: u32, stream: StreamId, room_pages: u32) {
        let command = &mut self.commands[tag as usize];
        let first = command.first_page + command.admitted_pages;
        let count = room_pages.min(command.pages - command.admitted_pages);
        command.admitted_pages += count;
        let (is_whole, fua) = (command.admitted_pages == command.pages, command.fua);
        let data = command.data;
        self.totals.host_pages += u64::from(count);
        if self.geometry().page_granules > 1 {
            self.place_compressed(stream, first, data);
        } else {
            self.place_pages(stream, first, count);
        }
        self.take_from_bucket();
        if !is_whole {
            return;
        }
        self.admission.pop_front();
        self.uncache(tag);
        if fua {
            self.flush(tag);
        } else {
            self.complete(tag);
        }
    }

    /// Places pages that fit into the open unit of a stream.
    #[inline]
    fn place_pages(&mut self, stream: StreamId, first: u32, count: u32) {
        let mut physical = 0;
        for logical in first..first + count {
            physical = self.ftl.place(stream, logical);
            self.probe.placed(stream, logical, physical);
        }
        self.buffered(stream, physical, count);
    }

    #[inline(never)]
    fn place_compressed(&mut self, stream: StreamId, logical: u32, data: Data) {
        let granules = self.compressor.granules(data);
        self.totals.saved_pages += u64::from(self.geometry().page_granules - granules);
        self.place_granules(stream, logical, granules);
    }

    /// Pages up to this one are in the buffer; programs their unit when it is full.
    #[inline]
    pub(super) fn buffered(&mut self, stream: StreamId, physical: u32, pages: u32) {
        self.buffer_pages += pages;
        if self.ftl.is_unit_complete(stream) {
            self.program_buffered(stream, self.ftl.unit_of(physical));
        }
    }

    #[inline(never)]
    fn program_buffered(&mut self, stream: StreamId, unit: u32) {
        self.program(unit, stream);
        if stream == StreamId::Pslc {
            // What the cache holds is paid for when it is folded.
            return;
        }
        let level = self.level();
        let unit_pages = self.geometry().unit_pages;
        self.collector.owed_pages += self.pacing.owed_pages(level, unit_pages);
    }
}
