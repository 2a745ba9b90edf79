//! Requests of a disk with zones.

use std::collections::BTreeSet;
use std::io;

use base::{Data, Op, OpKind, Status};
use sim::host::ZoneAction;
use sim::mechanism::zones::{Zone, ZoneError, ZoneState};
use sim::power_loss::Recovery;

use super::cut::PowerCut;
use super::simulated::{ExposedDrive, PowerCycle};
use super::{Disk, Job};
use crate::plan::Shape;
use crate::request::{Action, Fault, Request};

/// Gives an append the place at which its zone is written now. It has none of its own before it starts.
pub(super) fn place<T>(job: &mut Job<T>, drive: &ExposedDrive, shape: &Shape) {
    let Some(zones) = drive.zones() else { return };
    job.request.offset =
        zones.append_place(job.request.offset / shape.page_bytes) * shape.page_bytes;
    job.pages = job.request.pages_changed(shape);
}

/// The orders to zones of a request: each as a command without length at the begin of its zone.
pub(super) fn orders(
    drive: &ExposedDrive,
    request: &Request,
    action: ZoneAction,
    all: bool,
) -> Vec<Op> {
    let Some(zones) = drive.zones() else { return Vec::new() };
    let order = |offset| Op {
        kind: OpKind::Deallocate,
        data: Data::Incompressible,
        fua: false,
        placement: 0,
        len: 0,
        tag: 0,
        offset,
    };
    if !all {
        return vec![order(request.offset)];
    }
    let zone_bytes = zones.plan().size_pages * u64::from(drive.config().geometry.page_bytes);
    zones.concerned(action).map(|zone| order(u64::from(zone) * zone_bytes)).collect()
}

impl<T> Disk<T> {
    /// The reason behind a command that failed.
    pub(super) fn fault_of(&self, errno: i32) -> Fault {
        let reason = self.drive.zones().and_then(|_| ZoneError::of(errno));
        reason.map_or(Fault::Io, Fault::Zone)
    }

    /// Zones that have changed without an order of a host since the last call: in a cut of the power, or with another state
    /// of the disk.
    pub fn take_changed_zones(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.changed_zones)
    }

    /// The zones of this moment; none without zones.
    pub(super) fn zones_now(&self) -> Vec<Zone> {
        self.drive.zones().map_or(Vec::new(), |zones| zones.all().to_vec())
    }

    /// Notes the zones that have changed since. A zone that is only closed is none of them, as the specification has it.
    pub(super) fn note_changed_zones(&mut self, before: &[Zone]) {
        let after = self.zones_now();
        let has_changed = |(before, after): (&Zone, &Zone)| {
            let is_closed = before.state.is_open() && after.state == ZoneState::Closed;
            before.written_pages != after.written_pages || before.state != after.state && !is_closed
        };
        let both = before.iter().zip(&after);
        let changed = (0..).zip(both).filter(|(_, both)| has_changed(*both));
        self.changed_zones.extend(changed.map(|(number, _)| number));
    }

    /// Forgets the data of the zones among these bytes that an order has emptied.
    pub(super) fn empty_zones(&mut self, request: &Request, action: ZoneAction) -> io::Result<()> {
        let Some(zones) = self.drive.zones().filter(|_| action == ZoneAction::Reset) else {
            return Ok(());
        };
        let shape = *self.contents.shape();
        let (pages, size_pages) = (request.pages_changed(&shape), zones.plan().size_pages);
        let (first, end) = (pages.start / size_pages, pages.end / size_pages);
        for number in first..end {
            if zones.all()[number as usize].state == ZoneState::Empty {
                let pages = number * size_pages..(number + 1) * size_pages;
                let bytes = pages.start * shape.page_bytes..pages.end * shape.page_bytes;
                self.contents.forget(pages)?;
                self.faults.replaced(&shape, &bytes);
            }
        }
        Ok(())
    }
    /// Cuts the power of a drive with zones and restores it. Every request fails; the contents get what the zones have of
    /// those under way.
    pub(super) fn cut_power_of_zones(&mut self) -> Option<PowerCut> {
        // A command that a zone has refused has changed nothing.
        self.drive.reap(0, &mut self.ended);
        for end in std::mem::take(&mut self.ended) {
            if let Status::Failed { errno } = end.status {
                self.take(end.tag, Err(self.fault_of(errno)));
            }
        }
        let before = self.zones_now();
        let held_up_ns = self.drive.cycle_power_of_zones()?.0;
        self.note_changed_zones(&before);
        let cycle = PowerCycle {
            recovery: Recovery::default(),
            torn_programs: 0,
            torn_erases: 0,
            held_up_ns,
        };
        let jobs: Vec<_> =
            (0..self.jobs.len() as u32).filter_map(|tag| self.release(tag)).collect();
        let waiting = std::mem::take(&mut self.waiting);
        let mut cut = PowerCut::new(cycle, self.drive.now(), jobs.len() + waiting.len());
        jobs.iter().for_each(|job| self.follow_zones(job, &mut cut));
        jobs.into_iter().chain(waiting).for_each(|job| self.finish(job, Err(Fault::Io)));
        Some(cut)
    }

    /// Carries out what the zones have of a request that was under way at a cut.
    fn follow_zones(&mut self, job: &Job<T>, cut: &mut PowerCut) {
        if let Action::Zone { action, .. } = job.request.action {
            if self.empty_zones(&job.request, action).is_err() {
                self.break_page(job.pages.start, "unreadable", cut);
            }
            return;
        }
        let held = |page: u64| {
            let zones = self.drive.zones()?;
            let (number, size_pages) = (zones.zone_of(page), zones.plan().size_pages);
            let zone = zones.all().get(number as usize)?;
            Some(page - number * size_pages < zone.written_pages)
        };
        let pages: Vec<u64> =
            job.pages.clone().filter(|page| held(*page).unwrap_or(false)).collect();
        for page in pages {
            cut.pages_ahead += 1;
            if self.apply_to_page(page, job, true).is_err() {
                self.break_page(page, "unreadable", cut);
            }
        }
    }
}
