//! Block devices as targets: devices that pass the guard, described for the engines.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use device::DeviceReport;
use device::guard::{self, Consent};
use device::host::clock::MonotonicClock;
use device::host::interrupts;
use device::host::shell::quoted;
use device::host::sysfs::System;
use target::Ages;
use target::IoError;
use target::Limits;
use target::TargetSpec;
use target::{Identity, TargetKind};

use super::described::{Described, bare_identity, confirmation, engine_limits};
use super::hold::RealHold;
use super::unopened::Unopened;
use crate::engine::medium::{Medium, MediumKind};
use crate::options::OpenOptions;
use crate::ownership::Ownership;

/// A block device by its path.
pub(super) struct BlockDevice {
    path: PathBuf,
}

impl BlockDevice {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    fn spec(&self) -> TargetSpec {
        TargetSpec::Block { path: self.path.clone() }
    }

    /// Opens it up to the engine.
    pub(super) fn hold(&self, options: &OpenOptions) -> Result<RealHold, IoError> {
        options.check(&self.path.display().to_string())?;
        let is_generic = guard::is_generic_node(&self.path);
        Ok(RealHold::new(open(&self.path, self.spec().to_string(), options)?, is_generic))
    }
}

impl Unopened for BlockDevice {
    fn describe(&self) -> Result<Described, IoError> {
        let device = guard::inspect(&self.path)?;
        let identity = Identity {
            name: device.describe(),
            serial: device.serial.clone(),
            firmware: device.firmware.clone(),
            details: labelled([
                ("wwid", device.wwid.clone()),
                (Identity::MODEL, device.model.clone()),
            ]),
            ..bare_identity(&self.spec(), device.capacity_bytes)
        };
        let limits = Limits {
            logical_block_bytes: device.logical_block_bytes,
            physical_block_bytes: device.physical_block_bytes,
            deallocate: device.deallocate,
            rest: device::rest::may_switch(&device),
            ..engine_limits()
        };
        let has_contents = device.signatures.as_ref().is_some_and(|found| !found.is_empty());
        let word = device.confirmations.first();
        Ok(Described {
            purge_options: device::purge::survey(&device),
            counts_nand_writes: device::health::counts_nand_writes(&device),
            obstacles: device.in_use.iter().cloned().map(IoError::from).collect(),
            needs: word.map(|word| confirmation(&quoted(word), has_contents)),
            ..Described::harmless(identity, limits)
        })
    }

    /// Every check of [`open`] for a run that writes, with the device open for reading only.
    fn dry_run(&self, options: &OpenOptions) -> Result<(), IoError> {
        let OpenOptions { erase, erase_signatures, .. } = options;
        let erase_signatures = *erase_signatures;
        let consent = Consent { write: true, erase, erase_signatures, dry_run: true };
        guard::claim(&self.path, consent).map(drop)
    }

    fn is_named_by(&self, word: &str) -> bool {
        guard::confirmations(&self.path).iter().any(|known| known == word.trim())
    }
}

fn open(path: &Path, spec: String, options: &OpenOptions) -> Result<Medium, IoError> {
    let mut claim = guard::claim(
        path,
        Consent {
            write: options.write,
            erase: &options.erase,
            erase_signatures: options.erase_signatures,
            dry_run: false,
        },
    )?;
    let file = claim.take_file().ok_or_else(|| IoError::Device {
        context: format!("{} was claimed without being opened", path.display()),
        source: io::ErrorKind::NotFound.into(),
    })?;
    let report = claim.report();
    Ok(Medium {
        file,
        kind: MediumKind::Block,
        capacity_bytes: report.capacity_bytes,
        granted_bytes: report.capacity_bytes,
        limits: limits(report, options),
        writable: options.write,
        purge: options.purge,
        identity: identity(report, spec),
        warnings: claim.warnings().to_vec(),
        clock: MonotonicClock::start(),
        rest: None,
        interrupt_processor: interrupts::processor(&System::live(), report.number),
        ownership: Arc::new(Ownership::Device(Box::new(claim))),
        first_words: Arc::default(),
    })
}

fn limits(report: &DeviceReport, options: &OpenOptions) -> Limits {
    Limits {
        logical_block_bytes: report.logical_block_bytes,
        physical_block_bytes: report.physical_block_bytes,
        transfer_bytes_max: options.transfer_bytes_max,
        queue_depth_max: options.queue_depth,
        deallocate: options.write && report.deallocate,
        rest: false,
        energy: false,
        compresses: false,
        ages: Ages::NOT_AT_ALL,
        placement_handles: 1,
    }
}

fn identity(report: &DeviceReport, spec: String) -> Identity {
    let node = report.node.display().to_string();
    Identity {
        kind: TargetKind::Block,
        name: report.model.clone().unwrap_or_else(|| node.clone()),
        spec,
        serial: report.serial.clone(),
        firmware: report.firmware.clone(),
        capacity_bytes: report.capacity_bytes,
        raw_bytes: None,
        log_bytes: None,
        engine: "O_DIRECT".to_owned(),
        facts: base::Facts::default(),
        details: details(report, node),
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
