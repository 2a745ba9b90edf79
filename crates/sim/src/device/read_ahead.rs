//! The drive at work for sequential readers: fetching pages ahead of them; see [`ReadAhead`].

use std::ops::Range;

use super::Device;
use crate::mechanism::read_ahead::{ReadAhead, Refill};
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The streams that some pages of a command were read ahead of; empty if none were.
    #[inline(always)]
    pub(super) fn readers_of(&self, tag: u32) -> Range<usize> {
        let touched = self.commands[tag].touched();
        self.mechanisms.read_ahead.as_ref().map_or(0..0, |ahead| ahead.streams_of(&touched))
    }

    /// Whether a page was read ahead of these streams or is being so; a command that needs it waits for what is under
    /// way.
    #[inline(always)]
    pub(super) fn is_read_ahead(&mut self, tag: u32, logical: u64, readers: &Range<usize>) -> bool {
        !readers.is_empty() && self.awaits_fetch(tag, logical, readers)
    }

    fn awaits_fetch(&mut self, tag: u32, logical: u64, readers: &Range<usize>) -> bool {
        let ahead = self.mechanisms.read_ahead.as_ref();
        let Some(awaited) = ahead.and_then(|ahead| ahead.awaited(logical, readers)) else {
            return false;
        };
        awaited.into_iter().flatten().for_each(|fetch| self.wait_for_fetch(tag, fetch));
        true
    }

    /// A command waits for a fetch, which is from now on a read for the host like others.
    fn wait_for_fetch(&mut self, tag: u32, number: u64) {
        let Some(ahead) = &mut self.mechanisms.read_ahead else { return };
        if !ahead.wait(tag, number) {
            return;
        }
        self.commands[tag].reads_pending += 1;
        if let Some(fetch) = ahead.under_way(number) {
            let die = self.die_of_unit(fetch.unit);
            self.nand.hasten(die, number, self.now_ns);
        }
    }

    /// The host has read: fetches what its stream will want.
    pub(super) fn read_on(&mut self, tag: u32) {
        let logical_pages = self.geometry().logical_pages;
        let Some(ahead) = &mut self.mechanisms.read_ahead else { return };
        if let Some(refill) = ahead.follow(&self.commands[tag], logical_pages) {
            self.refill(&refill);
        }
    }

    fn refill(&mut self, refill: &Refill) {
        let next_fetch =
            |ahead: &Option<ReadAhead>| ahead.as_ref().map_or(0, ReadAhead::next_fetch);
        let first_fetch = next_fetch(&self.mechanisms.read_ahead);
        if self.geometry().page_granules > 1 {
            for page in refill.pages.clone() {
                let runs = self.runs_in_nand(page);
                if let Some(ahead) = &mut self.mechanisms.read_ahead {
                    ahead.fetch(refill, page, runs, first_fetch);
                }
            }
        } else {
            self.refill_alike(refill, first_fetch);
        }
        for number in first_fetch..next_fetch(&self.mechanisms.read_ahead) {
            let ahead = self.mechanisms.read_ahead.as_ref();
            let Some(fetch) = ahead.and_then(|ahead| ahead.under_way(number)) else { return };
            let die = self.die_of_unit(fetch.unit);
            let op = DieOp::ReadAhead { fetch: number, unit: fetch.unit, pages: fetch.pages };
            self.nand.enqueue(die, op, self.now_ns);
        }
    }

    /// Begins the fetches of a refill where each page lies in one unit: as many pages at once as lie in the same one.
    fn refill_alike(&mut self, refill: &Refill, first_fetch: u64) {
        let (mut alike, mut pages) = (None, 0);
        for page in refill.pages.clone() {
            let unit = self.unit_in_nand(page);
            if unit != alike
                && let Some(ahead) = &mut self.mechanisms.read_ahead
            {
                ahead.fetch_alike(refill, (alike, pages), first_fetch);
                (alike, pages) = (unit, 0);
            }
            pages += 1;
        }
        if let Some(ahead) = &mut self.mechanisms.read_ahead {
            ahead.fetch_alike(refill, (alike, pages), first_fetch);
        }
    }

    /// A fetch has come to DRAM.
    pub(super) fn fetched(&mut self, number: u64) {
        if let Some(ahead) = &mut self.mechanisms.read_ahead {
            ahead.end(number);
        }
        while let Some(tag) =
            self.mechanisms.read_ahead.as_mut().and_then(|ahead| ahead.take_waiting(number))
        {
            self.read_ended(tag);
        }
    }
}
