//! The drive with policies of one's own; see [`crate::ftl::policies`].

use base::{Op, OpKind};

use super::Device;
use crate::ftl::gc::VictimSelector;
use crate::ftl::pacing::{Level, own};
use crate::ftl::policies::Policies;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The policies of one's own, to change them or to take a fault. They outlast [`Device::reset`]; a saved state has
    /// none.
    pub fn policies_mut(&mut self) -> &mut Policies {
        &mut self.policies
    }

    /// The victim in a group by a choice of one's own, or `None` if none would give room.
    pub(super) fn own_victim(&mut self, group: u32) -> Option<u32> {
        let emptiest = VictimSelector::emptiest(&self.ftl, group)?;
        let ftl = &self.ftl;
        let victim =
            self.policies.answer(|policies| Some(policies.victims.as_mut()?.select(ftl, group)));
        victim.or(Some(emptiest))
    }

    /// The placement handle of a command by a choice of streams. Drives without handles have no streams to choose.
    #[cold]
    #[inline(never)]
    pub(super) fn own_placement_of(&mut self, op: &Op) -> u8 {
        let logical_pages = self.geometry().logical_pages;
        let pages = op.offset >> self.page_bits()
            ..op.offset.saturating_add(u64::from(op.len)).div_ceil(1 << self.page_bits());
        let Some(placement) = self.config.options.placement.filter(|_| op.kind == OpKind::Write)
        else {
            return op.placement;
        };
        let written = (pages.start, pages.end - pages.start);
        let stream = self.policies.answer(|policies| {
            let streams = policies.streams.as_mut()?;
            Some(streams.stream_of_write(written, (logical_pages, placement.handles)))
        });
        stream.unwrap_or(0)
    }

    /// Valid pages to move in return for those that the host has written, by a pace of one's own.
    #[cold]
    #[inline(never)]
    pub(super) fn own_owed_pages(&mut self, level: Level, host_pages: u32) -> u64 {
        let owed_pages = self.policies.answer(|policies| {
            Some(own::owed_pages(policies.pace.as_deref_mut()?, level, host_pages))
        });
        owed_pages.unwrap_or_else(|| self.pacing.owed_pages(level, host_pages))
    }
}
