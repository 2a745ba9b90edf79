//! Reading: from the buffer, what is in DRAM, or NAND; for the host, or before a part of a page is written.
//!
//! Phenomenon: a drive maps pages of 4 KiB, or of 8 to 64 KiB where it saves DRAM (indirection units); a write that
//! covers a part of one needs the rest of it first, unless the page is in DRAM or holds nothing, and all of it is
//! written (read-modify-write). Source: Advanced Format, and reviews that measure 512-byte writes at a fraction of the
//! rate of 4 KiB ones; drives of large QLC with units of 16 KiB and more. Simplifications: the data crosses the link
//! first, then the whole old page is read, then the new one enters the buffer; parts of a page that come one after the
//! other are not gathered there. A read moves what it wants of a page, in pieces of 4 KiB. Tests: `tests/device/host.rs`,
//! `tests/mechanisms/map_unit.rs`.

use std::ops::Range;

use base::OpKind;

use super::Device;
use crate::ftl::NO_PAGE;
use crate::mechanism::read_ahead::ReadAhead;
use crate::mechanism::read_cache::ReadCache;
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The unit to read for a page; `None` if the page is unmapped or in DRAM.
    #[inline(always)]
    pub(super) fn unit_in_nand(&mut self, logical: u64) -> Option<u32> {
        let physical = self.ftl.l2p.get(logical);
        if physical == NO_PAGE {
            return None;
        }
        let unit = self.ftl.unit_of(physical);
        if !self.programmed.contains(unit) {
            return None;
        }
        if self.mechanisms.read_cache.is_some() && self.hits_cache(logical) {
            return None;
        }
        Some(unit)
    }

    #[inline(never)]
    fn hits_cache(&mut self, logical: u64) -> bool {
        self.mechanisms.read_cache.as_mut().is_some_and(|cache| cache.hit(logical))
    }

    /// Reads the pages that are neither unmapped nor in DRAM from NAND, one operation per unit.
    pub(super) fn read(&mut self, tag: u32) {
        if self.geometry().page_granules > 1 {
            self.read_granules(tag);
        } else {
            self.read_pages(tag);
        }
        if self.commands[tag].reads_pending == 0 {
            self.come_to_link(tag);
        }
        if self.mechanisms.read_ahead.is_some() {
            self.read_on(tag);
        }
    }

    fn read_pages(&mut self, tag: u32) {
        let mut run: Option<(u32, u32)> = None;
        let mut page = None;
        let readers = self.readers_of(tag);
        for logical in self.commands[tag].touched() {
            if self.is_read_ahead(tag, logical, &readers) {
                continue;
            }
            let Some(unit) = self.unit_in_nand(logical) else { continue };
            let transfers = self.transfers_of(tag, logical);
            run = match run {
                Some((same, before)) if same == unit => {
                    page = None;
                    Some((unit, before + transfers))
                }
                other => {
                    if let Some(other) = other {
                        self.read_unit(tag, other, page);
                    }
                    page = self.page_of_unit(logical);
                    Some((unit, transfers))
                }
            };
        }
        if let Some(last) = run {
            self.read_unit(tag, last, page);
        }
    }

    /// The place of a page in its unit, on a drive whose planes are independent; `None` on others.
    #[inline]
    fn page_of_unit(&self, logical: u64) -> Option<u16> {
        let is_wanted = self.config.options.nand_features.independent_planes.is_some();
        let physical = self.ftl.l2p.get(logical);
        is_wanted.then(|| (physical % u64::from(self.geometry().unit_pages)) as u16)
    }

    /// Transfers over the channel that a read needs of one of its pages.
    #[inline]
    fn transfers_of(&self, tag: u32, logical: u64) -> u32 {
        match self.geometry().host_pages() {
            1 => 1,
            each => self.commands[tag].host_pages_of(&(logical..logical + 1), each),
        }
    }

    /// Reads the pages that a write covers in part.
    #[cold]
    pub(super) fn read_before_write(&mut self, tag: u32) {
        let readers = self.readers_of(tag);
        for logical in self.commands[tag].partial().into_iter().flatten() {
            if self.is_read_ahead(tag, logical, &readers) {
                continue;
            }
            for (unit, pages) in self.runs_in_nand(logical).into_iter().flatten() {
                self.read_unit(tag, (unit, pages * self.geometry().host_pages()), None);
            }
        }
        if self.commands[tag].reads_pending == 0 {
            self.have_read(tag);
        }
    }

    /// Reads a part of a unit for a command: so many transfers over the channel, of one page or of
    /// several.
    pub(super) fn read_unit(&mut self, tag: u32, (unit, transfers): (u32, u32), page: Option<u16>) {
        self.commands[tag].reads_pending += 1;
        let die = self.die_of_unit(unit);
        self.nand.enqueue(die, DieOp::HostRead { tag, unit, transfers, page }, self.now_ns);
    }

    /// A read that a command waits for has ended.
    #[inline]
    pub(super) fn read_ended(&mut self, tag: u32) {
        self.commands[tag].reads_pending -= 1;
        if self.commands[tag].reads_pending == 0 {
            self.have_read(tag);
        }
    }

    /// All NAND reads of a command have ended.
    pub(super) fn have_read(&mut self, tag: u32) {
        if self.commands[tag].kind == OpKind::Write {
            return self.arrive(tag);
        }
        self.keep_read(tag);
        self.come_to_link(tag);
    }

    /// Logical pages in DRAM that was read, or will be there.
    pub(super) fn cached_pages(&self) -> impl Iterator<Item = u64> {
        let ahead = self.mechanisms.read_ahead.iter().flat_map(ReadAhead::pages);
        self.mechanisms.read_cache.iter().flat_map(ReadCache::pages).chain(ahead)
    }

    /// Caches the pages that were read, unless the host has overwritten them meanwhile.
    #[inline]
    fn keep_read(&mut self, tag: u32) {
        if self.mechanisms.read_cache.is_none() {
            return;
        }
        for logical in self.commands[tag].touched() {
            let physical = self.ftl.l2p.get(logical);
            let is_in_nand =
                physical != NO_PAGE && self.programmed.contains(self.ftl.unit_of(physical));
            if let Some(cache) = &mut self.mechanisms.read_cache
                && is_in_nand
            {
                cache.insert(logical);
            }
        }
    }

    /// Drops the pages that a write has made obsolete.
    #[cold]
    #[inline(never)]
    pub(super) fn uncache(&mut self, tag: u32) {
        let pages = self.commands[tag].touched();
        self.forget(&pages);
    }

    /// Forgets pages that were read.
    pub(super) fn forget(&mut self, pages: &Range<u64>) {
        if let Some(cache) = &mut self.mechanisms.read_cache {
            pages.clone().for_each(|logical| cache.remove(logical));
        }
        if let Some(ahead) = &mut self.mechanisms.read_ahead {
            ahead.forget(pages);
        }
    }
}
