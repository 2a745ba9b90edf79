//! Read-ahead: pages that a sequential reader will want next come to DRAM before it asks.
//!
//! Phenomenon: a host that reads in LBA order, one command at a time, gets nearly the rate of the link, although each
//! command alone would wait for tR. Source: rated latencies of single reads, random against sequential, in us: 110
//! against 36 (Intel S4600), 85 against 10 (P4500), 85 against 15 (PM983). Windows are not in print: values of the
//! model are assumed. Rules: a read that begins where one of the latest reads ended continues its stream, and the
//! pages behind it are read as far as the window reaches, again whenever half of that is used up; a stream is
//! forgotten when so many others have been read from since as are followed. Simplifications: every stream has an even
//! share of the buffer; a page leaves DRAM when the reader has passed it; streams backwards or with a stride are not
//! seen. Tests: `tests/mechanisms/read_ahead.rs`, `Device::check`.
//!
//! A *fetch* is one operation of a die; pages know the last fetch that they need.

use std::ops::Range;

use base::facts::Sourced;

use crate::firmware::sequences::{Continuation, Sequences};
use crate::ftl::NO_PAGE;
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::host::Command;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};
use crate::ring::Ring;

/// Physical pages in a row that belong to one unit: the unit and how many.
pub type Run = (u32, u32);

/// Largest buffer.
const BUFFER_BYTES_MAX: u64 = 1 << 34;

section! {
    /// Streams that are read ahead of the host.
    pub struct ReadAheadSection {
        /// Streams followed at a time.
        pub streams: Sourced<u32> [1, 64],
        /// Data read ahead of a stream, at most.
        pub window_bytes: Sourced<u64> [PAGE_BYTES, 1 << 30],
        /// DRAM for all streams, of which each has an even share.
        pub buffer_bytes: Sourced<u64>,
    }
}

/// Streams to follow and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadAheadPlan {
    /// Streams followed at a time.
    pub streams: u32,
    /// Pages read ahead of each, at most.
    pub window_pages: u32,
}

impl Section for ReadAheadSection {
    type Plan = ReadAheadPlan;
    type State = ReadAhead;

    fn resolve(&self, basis: &Basis<'_>) -> Result<ReadAheadPlan, ModelError> {
        let (streams, buffer_bytes) = (u64::from(self.streams.value), self.buffer_bytes.value);
        let key = "read_ahead.buffer_bytes";
        basis.check.within(key, buffer_bytes, streams * PAGE_BYTES, BUFFER_BYTES_MAX)?;
        let window_pages = self.window_bytes.value.min(buffer_bytes / streams) / PAGE_BYTES;
        Ok(ReadAheadPlan { streams: self.streams.value, window_pages: window_pages as u32 })
    }

    fn begin(plan: ReadAheadPlan, _: &Geometry, _: usize) -> ReadAhead {
        ReadAhead::new(plan)
    }
}

impl ReadAheadPlan {
    /// Memory that following streams takes, at most.
    pub fn memory_bytes(self) -> u64 {
        let page_bytes = size_of::<u64>() + size_of::<Fetch>();
        u64::from(self.streams) * u64::from(self.window_pages) * page_bytes as u64
    }
}

/// An operation that brings pages to DRAM.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Fetch {
    /// Unit over the whole drive.
    pub unit: u32,
    /// Physical pages wanted of it.
    pub pages: u32,
    /// A logical page that the fetch before this one brings the first part of, or [`NO_PAGE`].
    shared_page: u64,
    has_ended: bool,
}

/// The number of no fetch: the page was not read ahead, or has been written since.
const NOT_FETCHED: u64 = u64::MAX;

/// A reader in LBA order.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Stream {
    /// The first page that has a fetch.
    first_page: u64,
    /// The last fetch that each page needs.
    fetches: Ring<u64>,
}

impl Stream {
    fn end_page(&self) -> u64 {
        self.first_page + self.fetches.len() as u64
    }

    /// The reader has passed all pages before this one; the number of those that had a fetch.
    fn pass(&mut self, page: u64) -> usize {
        let before = page.saturating_sub(self.first_page) as usize;
        let passed = self.fetches.discard(before);
        self.first_page += passed as u64;
        if self.fetches.is_empty() {
            self.first_page = page;
        }
        passed
    }

    /// Another reader takes the place of this one; the number of pages that had a fetch.
    fn begin(&mut self) -> usize {
        self.first_page = 0;
        self.fetches.discard(usize::MAX)
    }

    /// Whether some of these pages are among those that were fetched.
    #[inline]
    fn touches(&self, pages: &Range<u64>) -> bool {
        self.first_page < pages.end && pages.start < self.end_page()
    }

    /// The place of a page among those that were fetched.
    fn index(&self, page: u64) -> Option<usize> {
        page.checked_sub(self.first_page).map(|index| index as usize)
    }
}

/// The streams of a drive, and what was read ahead of them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ReadAhead {
    plan: ReadAheadPlan,
    sequences: Sequences,
    streams: Vec<Stream>,
    /// Pages that have a fetch, of all streams.
    pages: usize,
    /// From the oldest that is under way on.
    fetches: Ring<Fetch>,
    first_fetch: u64,
    /// Fetches with the commands that wait for them.
    waiting: Vec<(u64, u32)>,
}

/// Pages to fetch for a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refill {
    stream: usize,
    /// Logical pages, in the order of the stream.
    pub pages: Range<u64>,
}

impl ReadAhead {
    /// No stream yet.
    pub fn new(plan: ReadAheadPlan) -> Self {
        Self {
            plan,
            sequences: Sequences::new(plan.streams),
            streams: vec![Stream::default(); plan.streams as usize],
            pages: 0,
            fetches: Ring::default(),
            first_fetch: 0,
            waiting: Vec::new(),
        }
    }

    /// A read has been taken up by a drive of so many pages: what to fetch now, or `None` if it continues no stream,
    /// enough has been read ahead, or the buffer may not take what is under way and more.
    pub fn follow(&mut self, read: &Command, logical_pages: u64) -> Option<Refill> {
        let bytes = read.span_bytes(PAGE_BYTES);
        let index = match self.sequences.follow(&bytes) {
            Continuation::Continues(index) => index,
            Continuation::Begins(index) => {
                self.pages -= self.streams[index].begin();
                return None;
            }
        };
        let stream = &mut self.streams[index];
        self.pages -= stream.pass(bytes.end / PAGE_BYTES);
        let end = (stream.first_page + u64::from(self.plan.window_pages)).min(logical_pages);
        let pages = stream.end_page()..end;
        let window_pages = self.plan.window_pages as usize;
        let count = pages.end.saturating_sub(pages.start) as usize;
        let is_due = count > 0 && 2 * count >= window_pages;
        let has_room = self.fetches.len() + count <= self.streams.len() * window_pages;
        (is_due && has_room).then_some(Refill { stream: index, pages })
    }

    /// The number of the next fetch.
    pub fn next_fetch(&self) -> u64 {
        self.first_fetch + self.fetches.len() as u64
    }

    /// The next page of a refill lies in these runs, or in none where it is in DRAM or holds nothing. Runs of one unit
    /// that follow each other are one fetch, as far as the fetches of this refill begin at `first_fetch`.
    pub fn fetch(&mut self, refill: &Refill, page: u64, runs: [Option<Run>; 2], first_fetch: u64) {
        let mut needed = NOT_FETCHED;
        for (unit, pages) in runs.into_iter().flatten() {
            let shared_page = if needed == NOT_FETCHED { NO_PAGE } else { page };
            needed = self.add((unit, pages), shared_page, first_fetch);
        }
        self.streams[refill.stream].fetches.push_back(needed);
        self.pages += 1;
    }

    /// Adds a fetch of a run, or the run to the last fetch; the number of the fetch.
    #[inline]
    fn add(&mut self, (unit, pages): Run, shared_page: u64, first_fetch: u64) -> u64 {
        let next = self.next_fetch();
        match self.fetches.back_mut() {
            Some(last) if next > first_fetch && last.unit == unit => {
                last.pages += pages;
                next - 1
            }
            _ => {
                self.fetches.push_back(Fetch { unit, pages, shared_page, has_ended: false });
                next
            }
        }
    }

    /// The next pages of a refill, so many, all lie in one unit, or all in none.
    #[inline]
    pub fn fetch_alike(&mut self, refill: &Refill, run: (Option<u32>, u32), first_fetch: u64) {
        let (unit, pages) = run;
        if pages == 0 {
            return;
        }
        self.pages += pages as usize;
        let needed = unit.map_or(NOT_FETCHED, |unit| self.add((unit, pages), NO_PAGE, first_fetch));
        let fetches = &mut self.streams[refill.stream].fetches;
        match pages {
            1 => fetches.push_back(needed),
            _ => fetches.push_copies(needed, pages as usize),
        }
    }

    /// A fetch that is under way.
    pub fn under_way(&self, number: u64) -> Option<Fetch> {
        let index = number.checked_sub(self.first_fetch)?;
        self.fetches.get(index as usize).filter(|fetch| !fetch.has_ended)
    }

    /// From the first to the last stream that some of these pages were read ahead of; empty if none were.
    #[inline]
    pub fn streams_of(&self, pages: &Range<u64>) -> Range<usize> {
        if self.pages == 0 { 0..0 } else { self.touched_streams(pages) }
    }

    fn touched_streams(&self, pages: &Range<u64>) -> Range<usize> {
        let touches = |stream: &Stream| stream.touches(pages);
        let Some(first) = self.streams.iter().position(touches) else { return 0..0 };
        first..self.streams.iter().rposition(touches).map_or(first, |last| last + 1)
    }

    /// The fetches that a page still waits for, or `None` if it has not been read ahead of these streams.
    pub fn awaited(&self, page: u64, streams: &Range<usize>) -> Option<[Option<u64>; 2]> {
        let of = |stream: &Stream| stream.fetches.get(stream.index(page)?);
        let needed = self.streams[streams.clone()]
            .iter()
            .filter_map(of)
            .find(|&fetch| fetch != NOT_FETCHED)?;
        let index = needed.checked_sub(self.first_fetch);
        let fetch = index.and_then(|index| self.fetches.get(index as usize));
        let is_shared = fetch.is_some_and(|fetch| fetch.shared_page == page);
        let under_way = |number: &u64| self.under_way(*number).is_some();
        let before = needed.checked_sub(1).filter(|_| is_shared);
        Some([before.filter(under_way), Some(needed).filter(under_way)])
    }

    /// A command waits for a fetch; false where it did before.
    pub fn wait(&mut self, tag: u32, number: u64) -> bool {
        let waits = self.waiting.contains(&(number, tag));
        if !waits {
            self.waiting.push((number, tag));
        }
        !waits
    }

    /// A fetch has ended.
    pub fn end(&mut self, number: u64) {
        let index = (number - self.first_fetch) as usize;
        if let Some(fetch) = self.fetches.get_mut(index) {
            fetch.has_ended = true;
        }
        while self.fetches.front().is_some_and(|fetch| fetch.has_ended) {
            self.fetches.pop_front();
            self.first_fetch += 1;
        }
    }

    /// Takes a command that waits for a fetch.
    pub fn take_waiting(&mut self, number: u64) -> Option<u32> {
        let index = self.waiting.iter().position(|&(awaited, _)| awaited == number)?;
        Some(self.waiting.remove(index).1)
    }

    /// Whether some page was read ahead of a stream that goes on.
    #[inline]
    pub fn holds_pages(&self) -> bool {
        self.pages > 0
    }

    /// Pages have been written or deallocated.
    pub fn forget(&mut self, pages: &Range<u64>) {
        for stream in self.streams.iter_mut().filter(|stream| stream.touches(pages)) {
            for page in pages.start.max(stream.first_page)..pages.end.min(stream.end_page()) {
                let fetch = stream.index(page).and_then(|index| stream.fetches.get_mut(index));
                if let Some(fetch) = fetch {
                    *fetch = NOT_FETCHED;
                }
            }
        }
    }

    /// Forgets all streams and what was read ahead of them; no command may wait for it.
    pub fn forget_all(&mut self) {
        self.sequences = Sequences::new(self.plan.streams);
        self.streams.iter_mut().for_each(|stream| _ = stream.begin());
        self.pages = 0;
    }

    /// Every page that was read ahead or is being so.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.streams.iter().flat_map(|stream| {
            let pages = (0..).zip(stream.first_page..stream.end_page());
            let is_fetched = |index| stream.fetches.get(index) != Some(NOT_FETCHED);
            pages.filter(move |&(index, _)| is_fetched(index)).map(|(_, page)| page)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Data, Op, OpKind};

    /// A read of pages.
    fn read(page: u64, pages: u64) -> Command {
        let (offset, len) = (page * PAGE_BYTES, (pages * PAGE_BYTES) as u32);
        let data = Data::Incompressible;
        Command::new(
            &Op { kind: OpKind::Read, data, fua: false, placement: 0, len, tag: 0, offset },
            PAGE_BYTES.ilog2(),
            0,
        )
    }

    fn ahead(streams: u32) -> ReadAhead {
        ReadAhead::new(ReadAheadPlan { streams, window_pages: 8 })
    }

    /// Pages fetched after a read, all of unit 5.
    fn refill(ahead: &mut ReadAhead, page: u64) -> Option<Range<u64>> {
        let refill = ahead.follow(&read(page, 1), 100)?;
        let first_fetch = ahead.next_fetch();
        for page in refill.pages.clone() {
            ahead.fetch(&refill, page, [Some((5, 1)), None], first_fetch);
        }
        Some(refill.pages)
    }

    #[test]
    fn a_stream_is_read_ahead_again_when_half_of_the_window_is_used_up() {
        let mut ahead = ahead(2);
        assert_eq!(refill(&mut ahead, 10), None, "nobody knows yet");
        assert_eq!(refill(&mut ahead, 11), Some(12..20));
        assert_eq!((12..15).find_map(|page| refill(&mut ahead, page)), None);
        assert_eq!(refill(&mut ahead, 15), Some(20..24));
        assert_eq!(refill(&mut ahead, 15), None, "it does not go back");
        assert_eq!(ahead.pages().collect::<Vec<_>>(), (16..24).collect::<Vec<_>>());
        assert_eq!((refill(&mut ahead, 93), refill(&mut ahead, 94)), (None, Some(95..100)));
    }

    #[test]
    fn the_stream_that_was_read_from_least_recently_is_forgotten() {
        let mut ahead = ahead(2);
        (10..12).chain(50..52).for_each(|page| _ = refill(&mut ahead, page));
        assert_eq!(ahead.pages().count(), 16);
        assert_eq!(refill(&mut ahead, 90), None);
        assert_eq!(ahead.pages().collect::<Vec<_>>(), (52..60).collect::<Vec<_>>());
    }

    #[test]
    fn what_does_not_come_takes_the_room_of_more() {
        let mut ahead = ahead(1);
        ahead.follow(&read(0, 1), 100);
        let refill = ahead.follow(&read(1, 1), 100).expect("a stream");
        (2..10).for_each(|page| ahead.fetch(&refill, page, [Some((page as u32, 1)), None], 0));
        (2..9).for_each(|page| assert!(ahead.follow(&read(page, 1), 100).is_none()));
        (0..7).for_each(|number| ahead.end(number));
        assert_eq!(ahead.follow(&read(9, 1), 100).map(|refill| refill.pages), None);
        ahead.end(7);
        assert_eq!(ahead.follow(&read(10, 1), 100).map(|refill| refill.pages), Some(11..19));
    }

    #[test]
    fn a_page_waits_for_the_fetches_that_bring_its_parts() {
        let mut ahead = ahead(1);
        ahead.follow(&read(0, 1), 100);
        let refill = ahead.follow(&read(1, 1), 100).expect("a stream");
        ahead.fetch(&refill, 2, [Some((7, 2)), None], 0);
        ahead.fetch(&refill, 3, [Some((7, 1)), Some((8, 1))], 0);
        ahead.fetch(&refill, 4, [None; 2], 0);
        ahead.fetch(&refill, 5, [Some((8, 2)), None], 0);
        let pages = [0, 1].map(|number| ahead.under_way(number).expect("it is"));
        assert_eq!(pages.map(|fetch| (fetch.unit, fetch.pages)), [(7, 3), (8, 3)]);
        assert_eq!(ahead.awaited(2, &(0..1)), Some([None, Some(0)]));
        assert_eq!(ahead.awaited(3, &(0..1)), Some([Some(0), Some(1)]));
        assert_eq!((ahead.awaited(4, &(0..1)), ahead.awaited(6, &(0..1))), (None, None));
        assert!(ahead.wait(9, 1) && !ahead.wait(9, 1));
        ahead.end(1);
        assert_eq!((ahead.take_waiting(1), ahead.take_waiting(1)), (Some(9), None));
        assert_eq!(ahead.awaited(3, &(0..1)), Some([Some(0), None]));
        assert_eq!(ahead.awaited(5, &(0..1)), Some([None, None]));
        ahead.end(0);
        assert_eq!(ahead.awaited(3, &(0..1)), Some([None, None]));
        ahead.forget(&(3..4));
        assert_eq!(ahead.awaited(3, &(0..1)), None);
    }
}
