//! The drive with zones: places of commands, orders to zones, the frontiers of many zones in one stream.
//!
//! The frontier of a zone is at hand, as that of the stream of the host, for as long as pages enter it.

use base::{Op, OpKind};

use super::Device;
use crate::ftl::StreamId;
use crate::host::{Command, ZoneAction};
use crate::mechanism::zones::{ZoneError, ZoneState, Zones};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The zones, or `None` if the drive has none.
    pub fn zones(&self) -> Option<&Zones> {
        self.mechanisms.zones.as_ref()
    }

    /// Sends a write to the end of the zone in which it begins, wherever that is; returns its place. The completion
    /// tells whether it was accepted.
    pub fn append(&mut self, op: &Op) -> u64 {
        let page_bits = self.page_bits();
        let place = self
            .zones()
            .map_or(op.offset, |zones| zones.append_place(op.offset >> page_bits) << page_bits);
        self.submit(&Op { offset: place, ..*op });
        place
    }

    /// Sends an order to a zone; it ends as other commands do.
    ///
    /// # Panics
    /// When the tag is not below the queue depth: a bug in the caller.
    pub fn manage_zone(&mut self, tag: u32, action: ZoneAction, zone: u32) {
        let begun = self.mechanisms.zones.as_mut().map_or(Err(ZoneError::Unsupported), |zones| {
            zones.begin(action, zone).map(|()| zones.content(zone).start)
        });
        let command = |first_page| Command {
            kind: OpKind::Deallocate,
            zone_action: Some(action),
            first_page,
            submitted_ns: self.now_ns,
            ..Command::NONE
        };
        match begun.map(command) {
            Ok(command) => self.send(tag, command),
            Err(reason) => self.commands.refuse(tag, reason.errno(), self.now_ns),
        }
    }

    /// Retires a zone: read only or offline. False where the drive has no such zone, or one with commands under way.
    pub fn retire_zone(&mut self, zone: u32, is_offline: bool) -> bool {
        let is_idle = self.commands.outstanding() == 0;
        let state = if is_offline { ZoneState::Offline } else { ZoneState::ReadOnly };
        match &mut self.mechanisms.zones {
            Some(zones) if is_idle && (zone as usize) < zones.all().len() => {
                zones.retire(zone, state);
                true
            }
            _ => false,
        }
    }

    /// [`Device::submit`] of a drive with zones.
    #[cold]
    #[inline(never)]
    pub(super) fn submit_to_zone(&mut self, op: &Op) {
        let mut command = Command::new(op, self.page_bits(), self.now_ns);
        let Some(zones) = &mut self.mechanisms.zones else { return };
        let places = match op.kind {
            OpKind::Flush => Ok(0..0),
            OpKind::Deallocate => Err(ZoneError::Unsupported),
            _ if op.len == 0 || !command.is_whole_pages() => Err(ZoneError::OutOfRange),
            OpKind::Read => zones.read(&command.touched()),
            OpKind::Write => zones.write(&command.touched()),
        };
        match places {
            Ok(places) => {
                (command.first_page, command.pages) =
                    (places.start, (places.end - places.start) as u32);
                self.send(op.tag, command);
            }
            Err(reason) => self.commands.refuse(op.tag, reason.errno(), self.now_ns),
        }
    }

    /// The controller has taken up an order to a zone.
    pub(super) fn on_zone_action(&mut self, tag: u32, action: ZoneAction) {
        if matches!(action, ZoneAction::Open | ZoneAction::Close) {
            return self.complete(tag);
        }
        let zone = self.zone_of_command(tag);
        if self.mechanisms.zones.as_mut().is_some_and(|zones| zones.may_change(zone, tag)) {
            self.change_zone(tag);
        }
    }

    /// The zone of a command. A full zone ends where the next begins, so an order names the first page of its zone.
    fn zone_of_command(&self, tag: u32) -> u32 {
        let page = self.commands[tag].first_page;
        self.zones().map_or(0, |zones| zones.zone_of_mapped(page))
    }

    /// Finishes or resets a zone to which no write is under way.
    fn change_zone(&mut self, tag: u32) {
        let zone = self.zone_of_command(tag);
        if self.commands[tag].zone_action == Some(ZoneAction::Reset) {
            return self.empty_zone(tag, zone);
        }
        let Some(zones) = &self.mechanisms.zones else { return };
        let rest = zones.rest(zone);
        if rest.is_empty() {
            return self.zone_finished(tag, zone);
        }
        let command = &mut self.commands[tag];
        (command.first_page, command.pages) = (rest.start, (rest.end - rest.start) as u32);
        self.arrive(tag);
    }

    fn zone_finished(&mut self, tag: u32, zone: u32) {
        if let Some(zones) = &mut self.mechanisms.zones {
            zones.finished(zone);
        }
        self.complete(tag);
    }

    /// Moves pages of a write, or of the padding of a finish, into the buffer until it is full; true if all pages are in
    /// it, which ends the command.
    #[cold]
    #[inline(never)]
    pub(super) fn admit_to_zone(&mut self, tag: u32) -> bool {
        let zone = self.zone_of_command(tag);
        let is_padding = self.commands[tag].zone_action.is_some();
        let mut left = self.commands[tag].not_admitted();
        self.exchange_frontier(zone);
        while !left.is_empty() {
            let room_pages = self.room_in_zone(zone);
            if room_pages == 0 {
                break;
            }
            let pages = super::admission::take_pages(&mut left, room_pages);
            let count = pages.end - pages.start;
            if is_padding {
                pages.for_each(|_| self.pad(StreamId::Host));
            } else {
                self.count_written(tag, &pages);
                self.place_pages(StreamId::Host, pages);
            }
            if let Some(zones) = &mut self.mechanisms.zones {
                zones.zone_mut(zone).placed_pages += count;
                if zones.is_filled(zone) {
                    self.complete_open_units(&[StreamId::Host]);
                }
            }
        }
        self.exchange_frontier(zone);
        if !left.is_empty() {
            self.commands[tag].set_admitted_before(left.start);
            return false;
        }
        if is_padding {
            self.zone_finished(tag, zone);
            return true;
        }
        self.end_write(tag);
        let waiting = self.mechanisms.zones.as_mut().and_then(|zones| zones.write_ended(zone));
        if let Some(waiting) = waiting {
            self.change_zone(waiting);
        }
        true
    }

    /// Takes the frontier of a zone to hand, or puts it back.
    fn exchange_frontier(&mut self, zone: u32) {
        if let Some(zones) = &mut self.mechanisms.zones {
            self.ftl.exchange(StreamId::Host, &mut zones.zone_mut(zone).stream);
        }
    }

    /// Number of pages with room in the buffer and in the open unit of the zone at hand.
    fn room_in_zone(&mut self, zone: u32) -> u32 {
        let Some(buffer_room) = self.buffer.room() else { return 0 };
        if !self.ftl.stream_has_room(StreamId::Host) {
            if !self.ftl.open_superblock(StreamId::Host) {
                return 0;
            }
            let superblock = self.ftl.stream(StreamId::Host).superblock;
            if let Some(zones) = &mut self.mechanisms.zones {
                zones.zone_mut(zone).superblocks.push(superblock);
            }
        }
        buffer_room.get().min(self.ftl.stream(StreamId::Host).unit_room_pages)
    }

    /// Forgets the content of a zone and erases its superblocks, each die after the programs before it.
    fn empty_zone(&mut self, tag: u32, zone: u32) {
        self.exchange_frontier(zone);
        self.complete_open_units(&[StreamId::Host]);
        self.exchange_frontier(zone);
        let Some(zones) = &mut self.mechanisms.zones else { return };
        let content = zones.content(zone);
        let superblocks = std::mem::take(&mut zones.zone_mut(zone).superblocks);
        zones.erase(&superblocks, tag);
        for page in content {
            self.unmap(page);
        }
        if superblocks.is_empty() {
            return self.zone_emptied(tag);
        }
        let dies = self.geometry().superblock_dies();
        let pages = u64::from(self.geometry().superblock_data_pages());
        for superblock in superblocks {
            self.probe.victim(superblock);
            self.ftl.become_victim(superblock);
            self.collector.reclaim(pages);
            self.collector.erase(superblock, dies);
            self.erase_on_its_dies(superblock);
        }
    }

    fn zone_emptied(&mut self, tag: u32) {
        let zone = self.zone_of_command(tag);
        if let Some(zones) = &mut self.mechanisms.zones {
            zones.emptied(zone);
        }
        self.complete(tag);
    }

    /// All dies have erased a superblock of a zone.
    pub(super) fn zone_erased(&mut self, superblock: u32) {
        let units = self.geometry().superblock_units;
        self.programmed.remove(superblock * units..(superblock + 1) * units);
        let ended = self.mechanisms.zones.as_mut().and_then(|zones| zones.erased(superblock));
        if let Some(tag) = ended {
            self.zone_emptied(tag);
        }
    }
}
