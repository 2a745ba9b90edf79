//! Requests of a disk with zones.

use std::io;

use base::{Data, Op, OpKind};
use sim::host::ZoneAction;
use sim::mechanism::zones::{ZoneError, ZoneState};

use super::simulated::ExposedDrive;
use super::{Disk, Job};
use crate::plan::Shape;
use crate::request::{Fault, Request};

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
}
