//! Block devices as targets: devices that pass the guard, described for the engines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use device::DeviceReport;
use device::guard::{self, Consent};
use device::host::clock::MonotonicClock;
use device::host::interrupts;
use device::host::shell::quoted;
use device::host::sysfs::System;
use device::rest;
use device::zones;
use target::{Identity, Limits, TargetError, TargetSpec, ZoneLimits};

use super::inspected::{Inspected, bare_identity, confirmation, engine_limits};
use super::placement::Placement;
use crate::engine::medium::{Medium, MediumKind};
use crate::options::OpenOptions;
use crate::ownership::Ownership;

/// The device at this path with the obstacles to a run on it.
pub(super) fn inspect(spec: &TargetSpec, path: &Path) -> Result<Inspected, TargetError> {
    let device = guard::inspect(path)?;
    let is_generic = guard::is_generic_node(path);
    let placement = Placement::of(File::open(&device.node).ok().as_ref(), &device, is_generic);
    let identity = Identity {
        name: device.describe(),
        serial: device.serial.clone(),
        firmware: device.firmware.clone(),
        details: labelled([
            ("wwid", device.wwid.clone()),
            (Identity::MODEL, device.model.clone()),
            (Identity::PLACEMENT, placement.words.clone()),
        ]),
        ..bare_identity(spec, device.capacity_bytes)
    };
    let zones = zones_of(&device, || File::open(&device.node));
    let limits = Limits {
        logical_block_bytes: device.logical_block_bytes,
        physical_block_bytes: device.physical_block_bytes,
        deallocate: device.deallocate,
        rest: rest::may_switch(&device),
        placement_handles: placement.handles(),
        zones: zones.as_ref().map_or(None, |zones| *zones),
        ..engine_limits()
    };
    let permission = guard::require_permission(&device).err();
    let has_contents = device.signatures.as_ref().is_some_and(|found| !found.is_empty());
    let word = device.confirmations.first();
    let disordered = require_order(&device, is_generic).err().into_iter();
    let in_use = device.in_use.iter().cloned().map(TargetError::from);
    Ok(Inspected {
        purge_options: device::purge::survey(&device),
        counts_nand_writes: device::health::counts_nand_writes(&device),
        obstacles: disordered.chain(zones.err()).chain(in_use).chain(permission).collect(),
        needs: word.map(|word| confirmation(&quoted(word), has_contents)),
        ..Inspected::harmless(spec, identity, limits)
    })
}

/// The zones of a device, or `None` if it has none.
///
/// # Errors
/// The reason why no test can use them.
fn zones_of(
    device: &DeviceReport,
    open: impl FnOnce() -> io::Result<File>,
) -> Result<Option<ZoneLimits>, TargetError> {
    if !device.zoned {
        return Ok(None);
    }
    let file = open().map_err(|source| TargetError::Device {
        context: format!("cannot open {}", device.node.display()),
        source,
    })?;
    zones::limits(&file, device).map(Some)
}

/// Makes sure that writes into a zone stay in their order; past the block layer they are appends, which have none.
fn require_order(device: &DeviceReport, is_generic: bool) -> Result<(), TargetError> {
    if device.zoned && !is_generic { zones::require_order(device) } else { Ok(()) }
}

/// Every check of [`hold`], with the device open for reading only.
pub(super) fn dry_run(
    spec: &TargetSpec,
    path: &Path,
    options: &OpenOptions,
) -> Result<(), TargetError> {
    if options.write {
        return guard::claim(path, consent(options, true)).map(drop);
    }
    hold(spec, path, options).map(drop)
}

fn consent(options: &OpenOptions, dry_run: bool) -> Consent<'_> {
    let OpenOptions { write, erase, erase_signatures, .. } = options;
    Consent { write: *write, erase, erase_signatures: *erase_signatures, dry_run }
}

/// Opens the device after every check of [`device::guard`], up to the engine.
pub(super) fn hold(
    spec: &TargetSpec,
    path: &Path,
    options: &OpenOptions,
) -> Result<Medium, TargetError> {
    options.check(&path.display().to_string())?;
    let is_generic = guard::is_generic_node(path);
    let mut claim = guard::claim(path, consent(options, false))?;
    let file = claim.take_file().ok_or_else(|| TargetError::Device {
        context: format!("{} was claimed without being opened", path.display()),
        source: io::ErrorKind::NotFound.into(),
    })?;
    let report = claim.report();
    if options.write {
        require_order(report, is_generic)?;
    }
    let zones = zones_of(report, || file.try_clone())?;
    let mut identity = identity(spec, report);
    let autonomous_power = rest::autonomous_power(&file, report).map(|is_on| is_on.to_string());
    let placement = Placement::of(Some(&file), report, is_generic);
    identity.details.extend(labelled([
        ("nvme_autonomous_power", autonomous_power),
        // A condition of the run, where writes can name any.
        (Identity::PLACEMENT, placement.words.clone().filter(|_| placement.handles() > 1)),
    ]));
    Ok(Medium {
        file,
        kind: MediumKind::Block,
        is_generic,
        capacity_bytes: report.capacity_bytes,
        granted_bytes: report.capacity_bytes,
        limits: Limits {
            logical_block_bytes: report.logical_block_bytes,
            physical_block_bytes: report.physical_block_bytes,
            transfer_bytes_max: options.transfer_bytes_max,
            queue_depth_max: options.queue_depth,
            deallocate: options.write && report.deallocate,
            placement_handles: placement.handles(),
            zones,
            ..Limits::BARE
        },
        placements: placement.identifiers,
        writable: options.write,
        purge: options.purge,
        identity,
        warnings: claim.warnings().to_vec(),
        clock: MonotonicClock::start(),
        rest: None,
        interrupt_processor: interrupts::processor(&System::live(), report.number),
        ownership: Arc::new(Ownership::Device(Box::new(claim))),
        first_words: Arc::default(),
    })
}

fn identity(spec: &TargetSpec, report: &DeviceReport) -> Identity {
    let node = report.node.display().to_string();
    Identity {
        name: report.model.clone().unwrap_or_else(|| node.clone()),
        serial: report.serial.clone(),
        firmware: report.firmware.clone(),
        engine: "O_DIRECT".to_owned(),
        details: details(report, node),
        ..bare_identity(spec, report.capacity_bytes)
    }
}

fn details(report: &DeviceReport, node: String) -> BTreeMap<String, String> {
    let settings = report.settings.iter().map(|(label, value)| (*label, Some(value.clone())));
    let known = [
        ("node", Some(node)),
        ("wwid", report.wwid.clone()),
        ("scheduler", report.scheduler.clone()),
        ("rotational", report.rotational.map(|flag| flag.to_string())),
        ("partition_of", report.partition_of.clone()),
    ];
    labelled(known.into_iter().chain(settings))
}

/// The known values by their labels.
fn labelled<'a>(
    values: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> BTreeMap<String, String> {
    let known = values.into_iter().filter_map(|(label, value)| Some((label.to_owned(), value?)));
    known.collect()
}
