//! The drive with pages of different sizes: placing and reading compressed pages.

use super::Device;
use crate::ftl::{NO_PAGE, StreamId};
use crate::mechanism::read_ahead::Run;
use crate::mechanism::read_cache::ReadCache;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Places a logical page of this number of granules. There is room for the largest page.
    pub(super) fn place_granules(&mut self, id: StreamId, logical: u64, granules: u32) {
        self.ftl.begin_page(id, logical, granules);
        for granule in 0..granules {
            let physical = self.ftl.append(id, logical);
            if granule == 0 {
                self.probe.placed(id, logical, physical);
            } else {
                self.probe.extended(id, logical, physical);
            }
            self.placed_in(id, physical);
        }
    }

    /// Moves the pages with granules in a unit of a victim, and records the mark at which they are
    /// durable. A page that extends beyond the unit moves as a whole.
    #[cold]
    #[inline(never)]
    pub(super) fn move_granules(&mut self, unit: u32, valid: u64, wanted: StreamId, victim: usize) {
        let mut pages = valid;
        while pages != 0 {
            let first = self.geometry().first_page_of(unit);
            let physical = first + u64::from(pages.trailing_zeros());
            pages &= pages - 1;
            // The host may have written the page since it was read; its first granule takes the others along.
            let Some(logical) = self.ftl.owner(physical) else { continue };
            StreamId::MOVED.into_iter().for_each(|stream| self.close_short_run(stream));
            let stream = self.stream_with_room(wanted);
            let granules = self.ftl.size(logical);
            self.totals.gc_moved_pages += u64::from(granules);
            self.place_granules(stream, logical, granules);
            let is_open = !self.ftl.is_unit_complete(stream);
            self.collector.moved(victim, stream, self.programs.behind_last(stream, is_open));
        }
    }

    /// Pads the open unit if a page may not extend beyond its end: before parity and at the end of
    /// a superblock.
    pub(super) fn close_short_run(&mut self, id: StreamId) {
        if !self.ftl.stream_has_room(id) || self.ftl.fits_page(id) {
            return;
        }
        for _ in 0..self.ftl.stream(id).unit_room_pages {
            self.pad(id);
        }
    }

    /// The granules of a page to read from NAND: none if it is unmapped or in DRAM.
    pub(super) fn runs_in_nand(&mut self, logical: u64) -> [Option<Run>; 2] {
        let first = self.ftl.l2p.get(logical);
        if first == NO_PAGE {
            return [None; 2];
        }
        let size = self.ftl.size(logical);
        let unit = self.ftl.unit_of(first);
        let next = self.geometry().first_page_of(unit) + u64::from(self.geometry().unit_pages);
        let here = size.min((next - first) as u32);
        let runs = [(unit, here), (unit + 1, size - here)].map(|run| {
            Some(run).filter(|&(unit, pages)| pages > 0 && self.programmed.contains(unit))
        });
        let is_cached = |cache: &mut ReadCache| runs != [None; 2] && cache.hit(logical);
        if self.mechanisms.read_cache.as_mut().is_some_and(is_cached) { [None; 2] } else { runs }
    }

    /// Reads the pages of a command, one operation per unit.
    pub(super) fn read_granules(&mut self, tag: u32) {
        let mut last: Option<Run> = None;
        let readers = self.readers_of(tag);
        for logical in self.commands[tag].touched() {
            if self.is_read_ahead(tag, logical, &readers) {
                continue;
            }
            for (unit, pages) in self.runs_in_nand(logical).into_iter().flatten() {
                last = match last {
                    Some((same, before)) if same == unit => Some((unit, before + pages)),
                    Some(other) => {
                        self.read_unit(tag, other, None);
                        Some((unit, pages))
                    }
                    None => Some((unit, pages)),
                };
            }
        }
        if let Some(last) = last {
            self.read_unit(tag, last, None);
        }
    }
}
