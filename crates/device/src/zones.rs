//! The zones of a zoned block device: the kernel's report of them, and orders to them.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::io::Errno;
use target::{TargetError, ZoneLimits, ZoneOrder};

use crate::describe::DeviceReport;
use crate::host::ioctl::{self, Zone};
use crate::host::sysfs::System;

/// A sector, whatever the block size.
const SECTOR_BYTES: u64 = 512;
/// The only kind of zone that a test can use: written in order.
const SEQUENTIAL_REQUIRED: u8 = 2;
/// States of zones that take no writes.
const READ_ONLY: u8 = 0xd;
const OFFLINE: u8 = 0xf;
/// The scheduler that keeps the order of writes into a zone.
const ORDERING: &str = "mq-deadline";

/// The zones of an open device.
///
/// # Errors
/// [`TargetError::Unsupported`] if they differ, or if one takes no writes; [`TargetError::Device`] if the kernel does
/// not report them.
pub fn limits(file: &File, report: &DeviceReport) -> Result<ZoneLimits, TargetError> {
    let name = report.describe();
    let zones = all(file).map_err(|errno| TargetError::Device {
        context: format!("cannot read the zones of {name}"),
        source: errno.into(),
    })?;
    let unsuitable = |why: &str| {
        TargetError::Unsupported(format!(
            "{name} has zones that the test `zones` cannot use: {why}"
        ))
    };
    let first = zones.first().ok_or_else(|| unsuitable("the kernel lists none"))?;
    if zones.iter().any(|zone| zone.kind != SEQUENTIAL_REQUIRED) {
        return Err(unsuitable("some may be written in any order"));
    }
    if zones.iter().any(|zone| [READ_ONLY, OFFLINE].contains(&zone.state)) {
        return Err(unsuitable("some are read only or offline"));
    }
    let size = |zone: &Zone| (zone.sectors, zone.capacity_sectors);
    if zones.iter().any(|zone| size(zone) != size(first)) {
        return Err(unsuitable("not all have one size"));
    }
    let count = zones.len() as u32;
    let number = |queue: &PathBuf, attribute| -> Option<u32> {
        fs::read_to_string(queue.join(attribute)).ok()?.trim().parse().ok()
    };
    let of_queue = |queue| ["max_open_zones", "max_active_zones"].map(|name| number(&queue, name));
    // 0 stands for no limit.
    let open_max =
        queues(report).into_iter().flat_map(of_queue).flatten().filter(|&zones| zones > 0).min();
    Ok(ZoneLimits {
        zones: count,
        size_bytes: first.sectors * SECTOR_BYTES,
        capacity_bytes: first.capacity_sectors * SECTOR_BYTES,
        open_max: open_max.map_or(count, |zones| zones.min(count)),
    })
}

/// Makes sure that writes reach a zone in the order in which they are sent.
///
/// # Errors
/// [`TargetError::Unsupported`] with the command that sees to it.
pub fn require_order(report: &DeviceReport) -> Result<(), TargetError> {
    let disorderly = |queue: &PathBuf| {
        let schedulers = fs::read_to_string(queue.join("scheduler")).unwrap_or_default();
        !schedulers.contains(&format!("[{ORDERING}]"))
    };
    match queues(report).into_iter().find(disorderly) {
        None => Ok(()),
        Some(queue) => Err(TargetError::Unsupported(format!(
            "the scheduler of {} does not keep the order of writes into a zone; write {ORDERING} into {}/scheduler, or \
             name its generic device /dev/ng..., which takes every write as a zone append",
            report.describe(),
            queue.display()
        ))),
    }
}

/// The directories of the queues; a disk above several paths has no limits and no scheduler of its own.
fn queues(report: &DeviceReport) -> Vec<PathBuf> {
    System::live().by_number(report.number).map_or(Vec::new(), |device| device.queues())
}

/// Gives an order to the zones of a range, and waits for its end.
///
/// # Errors
/// The errno of the kernel or of the drive.
pub fn order(
    file: &File,
    order: ZoneOrder,
    offset_bytes: u64,
    len_bytes: u64,
) -> Result<(), Errno> {
    let range = [offset_bytes / SECTOR_BYTES, len_bytes / SECTOR_BYTES];
    match order {
        ZoneOrder::Finish => ioctl::finish_zones(file.as_fd(), range),
        ZoneOrder::Reset => ioctl::reset_zones(file.as_fd(), range),
    }
}

fn all(file: &File) -> Result<Vec<Zone>, Errno> {
    let mut zones: Vec<Zone> = Vec::new();
    loop {
        let next = zones.last().map_or(0, |zone| zone.start + zone.sectors);
        let more = ioctl::report_zones(file.as_fd(), next)?;
        if more.is_empty() {
            return Ok(zones);
        }
        zones.extend(more);
    }
}
