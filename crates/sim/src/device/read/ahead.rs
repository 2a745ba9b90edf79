//! The drive at work for sequential readers: fetching pages ahead of them; see [`ReadAhead`].

use crate::device::Device;
use crate::firmware::read_ahead::{ReadAhead, Refill};
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe, const OPTIONS: bool> Device<P, OPTIONS> {
    /// Whether a page was read ahead or is being so; a command that needs it waits for what is under way.
    pub(in crate::device) fn is_read_ahead(&mut self, tag: u32, logical: u64) -> bool {
        let Some(awaited) = self.read_ahead.as_ref().and_then(|ahead| ahead.awaited(logical))
        else {
            return false;
        };
        awaited.into_iter().flatten().for_each(|fetch| self.wait_for_fetch(tag, fetch));
        true
    }

    /// A command waits for a fetch, which is from now on a read for the host like others.
    fn wait_for_fetch(&mut self, tag: u32, number: u64) {
        let Some(ahead) = &mut self.read_ahead else { return };
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
    pub(in crate::device) fn read_on(&mut self, tag: u32) {
        let logical_pages = self.geometry().logical_pages;
        let Some(ahead) = &mut self.read_ahead else { return };
        if let Some(refill) = ahead.follow(&self.commands[tag], logical_pages) {
            self.refill(&refill);
        }
    }

    fn refill(&mut self, refill: &Refill) {
        let next_fetch =
            |ahead: &Option<ReadAhead>| ahead.as_ref().map_or(0, ReadAhead::next_fetch);
        let first_fetch = next_fetch(&self.read_ahead);
        for page in refill.pages.clone() {
            let runs = self.runs_in_nand(page);
            if let Some(ahead) = &mut self.read_ahead {
                ahead.fetch(refill, page, runs, first_fetch);
            }
        }
        for number in first_fetch..next_fetch(&self.read_ahead) {
            let ahead = self.read_ahead.as_ref();
            let Some(fetch) = ahead.and_then(|ahead| ahead.under_way(number)) else { return };
            let die = self.die_of_unit(fetch.unit);
            let op = DieOp::ReadAhead { fetch: number, unit: fetch.unit, pages: fetch.pages };
            self.nand.enqueue(die, op, self.now_ns);
        }
    }

    /// A fetch has come to DRAM.
    pub(in crate::device) fn fetched(&mut self, number: u64) {
        if let Some(ahead) = &mut self.read_ahead {
            ahead.end(number);
        }
        while let Some(tag) = self.read_ahead.as_mut().and_then(|ahead| ahead.take_waiting(number))
        {
            self.read_ended(tag);
        }
    }
}
