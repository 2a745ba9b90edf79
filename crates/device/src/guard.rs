//! Protection of a device that somebody needs.
//!
//! [`inspect`] reports all that is known about a device without side effects: it never opens for
//! writing. [`claim`] is the gate for a run: it refuses with the most explanatory reason first,
//! then holds the device exclusively for as long as the [`Claim`] lives. The order of the checks:
//!
//! | code | reason |
//! | --- | --- |
//! | `not-a-block-device` | the path leads to something else; nothing is ever created |
//! | `read-only` | the device does not take writes |
//! | `mounted`, `swap`, `held` | in use: itself, a partition of it, or a device built on it |
//! | `needs-erase`, `wrong-serial` | `--erase` is missing or names another device |
//! | `busy` | the exclusive claim failed although no user is visible |
//! | `shared-controller` | another namespace is in use and not kept apart |
//! | `signature` | a partition table, file system or RAID member is there |
//! | `identity-changed` | later: the node, size, serial or name is not what was claimed |
//!
//! A table of the kernel that cannot be read refuses, too: [`TargetError::Unsupported`] for a whole
//! table, the code `unreadable` where it is about single devices.
//!
//! Reading order: this file and [`file`] (the same for regular files); `controller` (users of the
//! other namespaces of a drive); then [`crate::describe`]: `usage` (users of the device) asks
//! `sharing` (devices that share bytes with it) and `kernel` (the kernel's tables); [`signature`]
//! and `contents` recognise its contents.

mod controller;
#[cfg(test)]
mod each_check;
pub mod file;
mod same;

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, OFlags};
use rustix::io::Errno;
use target::TargetError;
use target::health::HealthProbe as _;

use crate::describe::kernel::Tables;
use crate::describe::report::{DeviceReport, current_identity, report};
use crate::describe::sharing::{Member, Thing, members};
use crate::describe::signature::{self, Signature};
use crate::describe::usage::reasons;
use crate::health::DriveProbe;
use crate::host::clock::MonotonicClock;
use crate::host::ioctl;
use crate::host::patience::patiently;
use crate::host::shell::quoted;
use crate::host::sysfs::{Device, DeviceNumber, System};

pub use controller::check_beside;
pub use same::check_apart;

/// The user's consent.
#[derive(Clone, Copy, Debug)]
pub struct Consent<'a> {
    /// Whether the run writes; without, in-use devices only cause warnings.
    pub write: bool,
    /// The words given with `--erase`.
    pub erase: &'a [String],
    /// Whether `--erase-signatures` was given.
    pub erase_signatures: bool,
    /// Whether to check only for a refusal: the device is opened for reading.
    pub dry_run: bool,
}

/// A device held for a run. The exclusive hold is on [`Claim::take_file`]'s descriptor.
#[derive(Debug)]
pub struct Claim {
    report: DeviceReport,
    file: Option<File>,
    /// Exclusive holds on devices that the kernel does not hold for us: devices behind a loop
    /// device.
    _below: Vec<File>,
    warnings: Vec<String>,
}

/// All that is known about the block device at `path`, and every reason not to write to it. Opens
/// the device for reading at most.
///
/// # Errors
/// [`TargetError::Usage`] if there is nothing at `path`; [`TargetError::Refused`] with code
/// `not-a-block-device`; [`TargetError::Device`] if sysfs does not know the device.
pub fn inspect(path: &Path) -> Result<DeviceReport, TargetError> {
    let system = System::live();
    let (node, device) = resolve(&system, path)?;
    let tables = Tables::read(&system);
    let mut found = report(&system, &tables, &device, node);
    found.signatures = probe(&found).ok();
    found.host_written_bytes = host_written_bytes(&found);
    Ok(found)
}

/// Checks the device at `path` and, if there is no objection, holds it exclusively, opened for
/// direct I/O.
///
/// # Errors
/// [`TargetError::Refused`] with a code of the table above; [`TargetError::Usage`] if there is nothing
/// at `path`; [`TargetError::Device`] if the system fails.
pub fn claim(path: &Path, consent: Consent<'_>) -> Result<Claim, TargetError> {
    let system = System::live();
    let (node, device) = resolve(&system, path)?;
    let tables = Tables::read(&system);
    if consent.write {
        tables.require_whole()?;
    }
    let report = report(&system, &tables, &device, node);
    if report.capacity_bytes == 0 {
        return Err(TargetError::Usage(format!(
            "{} has no medium (0 bytes); expected a device with a size",
            report.node.display()
        )));
    }
    if consent.write {
        claim_for_writing(&system, &tables, report, consent)
    } else {
        claim_for_reading(report)
    }
}

/// Makes sure that the file at `path`, which is `resolved` without links, may be replaced by a
/// result: nobody uses it as swap space or behind a loop device.
///
/// # Errors
/// [`TargetError::Refused`] with the code of the use, or `other-namespace` if `path` leads into another
/// mount namespace.
pub fn check_replaceable(path: &Path, resolved: &Path) -> Result<(), TargetError> {
    file::require_same(path, resolved)?;
    let found = fs::metadata(resolved)
        .map_err(|error| device_error(format!("cannot examine {}", resolved.display()), error))?;
    file::require_unused(resolved, &found)
}

fn claim_for_writing(
    system: &System,
    tables: &Tables,
    mut report: DeviceReport,
    consent: Consent<'_>,
) -> Result<Claim, TargetError> {
    if report.read_only {
        return Err(refused(
            "read-only",
            format!("{} does not accept writes; choose another device", report.node.display()),
        ));
    }
    if let Some(reason) = report.in_use.first() {
        return Err(reason.clone().into());
    }
    if consent.erase.is_empty() {
        // A user who is asked for a confirmation sees which drive it is.
        report.host_written_bytes = host_written_bytes(&report);
    }
    require_erase(&report, consent.erase)?;
    let file = open_exclusively(&report, !consent.dry_run)?;
    require_backing(&report, &file)?;
    let below = hold_below(system, tables, &report)?;
    let warnings = controller::check(system, &file, &report)?.into_iter().collect();
    let marks = probe(&report).map_err(|source| {
        device_error(format!("cannot look for signatures on {}", report.node.display()), source)
    })?;
    if !marks.is_empty() && !consent.erase_signatures {
        return Err(signatures_found(&report.node.display().to_string(), &marks));
    }
    report.signatures = Some(marks);
    let claim = Claim { report, file: None, _below: below, warnings };
    claim.recheck(&file)?;
    // Somebody may have come between the first look and the hold.
    claim.require_unused()?;
    Ok(Claim { file: Some(file), ..claim })
}

/// Reading is harmless, but the figures of a shared device are not its own.
fn claim_for_reading(report: DeviceReport) -> Result<Claim, TargetError> {
    let mut warnings: Vec<String> = report
        .in_use
        .iter()
        .map(|reason| {
            format!("the device is in use, which disturbs the figures: {}", reason.message)
        })
        .collect();
    let exclusive =
        if report.in_use.is_empty() { open_exclusively(&report, false).ok() } else { None };
    if exclusive.is_none() && report.in_use.is_empty() {
        warnings.push(format!(
            "{} could not be held exclusively; others may disturb the figures",
            report.node.display()
        ));
    }
    let file = match exclusive {
        Some(file) => file,
        None => open_node(&report, OFlags::DIRECT, false).map_err(|e| cannot_open(&report, e))?,
    };
    Ok(Claim { report, file: Some(file), _below: Vec::new(), warnings })
}

impl Claim {
    /// The report on the device.
    pub fn report(&self) -> &DeviceReport {
        &self.report
    }

    /// The warnings for the reader of a result.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The open device, or `None` if it was already taken. The exclusive hold ends when it closes.
    pub fn take_file(&mut self) -> Option<File> {
        self.file.take()
    }

    /// Makes sure that nobody else uses the claimed device now, nor a thing that shares bytes with it.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with the code of the use; [`TargetError::Unsupported`] if a table of the
    /// kernel cannot be read; [`TargetError::Device`] if the device is gone.
    pub fn require_unused(&self) -> Result<(), TargetError> {
        let system = System::live();
        let tables = Tables::read(&system);
        tables.require_whole()?;
        let device = system.by_number(self.report.number).ok_or_else(|| {
            let gone = format!("/sys/dev/block no longer lists {}", self.report.node.display());
            device_error(gone, io::Error::from(Errno::NODEV))
        })?;
        reasons(&system, &tables, &device)
            .into_iter()
            .next()
            .map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Makes sure that node, number, size, serial and world-wide name are still those claimed.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with code `identity-changed` if they are not.
    pub fn recheck(&self, file: &File) -> Result<(), TargetError> {
        let changed = |what: &str, was: String, is: String| {
            let node = self.report.node.display();
            refused(
                "identity-changed",
                format!(
                    "the {what} of {node} was {was} when it was claimed and is {is} now; nothing \
                     more is written: check the cabling and `ssdlab list`, then run again"
                ),
            )
        };
        let open = file.metadata().ok().map(|found| DeviceNumber::from_raw(found.rdev()));
        for number in [open, DeviceNumber::of_block_node(&self.report.node)] {
            if number != Some(self.report.number) {
                let is = number.map_or("nothing".to_owned(), |number| number.to_string());
                return Err(changed("device number", self.report.number.to_string(), is));
            }
        }
        let size_bytes = ioctl::block_size_bytes(file.as_fd()).unwrap_or(0);
        if size_bytes != self.report.capacity_bytes {
            let was = self.report.capacity_bytes.to_string();
            return Err(changed("size in bytes", was, size_bytes.to_string()));
        }
        let (serial, wwid) = current_identity(&System::live(), self.report.number);
        let text = |word: &Option<String>| word.clone().unwrap_or("unknown".to_owned());
        if serial != self.report.serial {
            return Err(changed("serial", text(&self.report.serial), text(&serial)));
        }
        // All namespaces of a controller have its serial.
        if wwid != self.report.wwid {
            return Err(changed("world-wide name", text(&self.report.wwid), text(&wwid)));
        }
        Ok(())
    }
}

/// Whether `path` leads to the generic character device of an NVMe namespace, `/dev/ng0n1`. All
/// checks, holds and reports concern its block device; only the I/O goes through that node.
pub fn is_generic_node(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|node| namespace_behind(&System::live(), &node).is_some())
}

/// The block device of the namespace whose generic character device `node` is.
fn namespace_behind(system: &System, node: &Path) -> Option<Device> {
    system.namespace_of_generic(DeviceNumber::of_char_node(node)?)
}

/// Follows all symbolic links to the node and finds the device in sysfs.
fn resolve(system: &System, path: &Path) -> Result<(PathBuf, Device), TargetError> {
    let node = fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => TargetError::Usage(format!(
            "there is no {}; expected an existing block device (see `ssdlab list`)",
            path.display()
        )),
        _ => device_error(format!("cannot resolve {}", path.display()), error),
    })?;
    file::require_same(path, &node)?;
    let node = namespace_behind(system, &node).map_or(node, |namespace| namespace.node());
    let number = DeviceNumber::of_block_node(&node)
        .ok_or_else(|| not_a_block_device(system, path, &node))?;
    let device = system.by_number(number).ok_or_else(|| {
        let unreadable = Tables::read(system).require_whole().err();
        unreadable.unwrap_or_else(|| {
            device_error(
                format!("{} ({number}) is not in /sys/dev/block", node.display()),
                io::ErrorKind::NotFound.into(),
            )
        })
    })?;
    Ok((node, device))
}

fn not_a_block_device(system: &System, path: &Path, node: &Path) -> TargetError {
    let kind = fs::metadata(node).map(|found| found.file_type());
    let hint = match &kind {
        Ok(kind) if kind.is_file() => {
            format!("for a file as target write file:{}", path.display())
        }
        Ok(kind) if kind.is_char_device() => char_device_hint(system, node),
        _ => "expected a block device (see `ssdlab list`)".to_owned(),
    };
    refused("not-a-block-device", format!("{} is not a block device; {hint}", path.display()))
}

/// `/dev/nvme0` is the controller of the block device `/dev/nvme0n1`.
fn char_device_hint(system: &System, node: &Path) -> String {
    let start = format!("{}n", node.file_name().unwrap_or_default().to_string_lossy());
    let sibling = system.disks().into_iter().find(|disk| disk.name.starts_with(&start));
    sibling.map_or("expected a block device (see `ssdlab list`)".to_owned(), |disk| {
        format!("its block device is {}", disk.node().display())
    })
}

/// The block device that `path` leads to, or `None` if it leads to none.
pub(crate) fn device_at(path: &Path) -> Option<Device> {
    resolve(&System::live(), path).ok().map(|(_, device)| device)
}

/// The words by which `--erase` names the device at `path`; empty if there is no device.
pub fn confirmations(path: &Path) -> Vec<String> {
    let system = System::live();
    let found = resolve(&system, path);
    found.map_or_else(
        |_| Vec::new(),
        |(node, device)| report(&system, &Tables::read(&system), &device, node).confirmations,
    )
}

/// The confirmation is bound to the device, not to a name that another device may get at the next
/// boot.
fn require_erase(report: &DeviceReport, erase: &[String]) -> Result<(), TargetError> {
    let node = report.node.display();
    let Some(expected) = report.confirmations.first() else {
        return Err(refused("wrong-serial", format!("{node} has no identity to confirm")));
    };
    if report.backing_file.as_ref().is_some_and(|file| !file.exists()) {
        return Err(nameless_backing(report));
    }
    if erase.is_empty() {
        return Err(refused(
            "needs-erase",
            format!(
                "all data on {} would be lost; give --erase {} if that is wanted",
                report.describe(),
                quoted(expected)
            ),
        ));
    }
    let names = |word: &String| report.confirmations.iter().any(|accepted| accepted == word.trim());
    if erase.iter().any(names) {
        return Ok(());
    }
    let words = erase.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" --erase ");
    let message = format!(
        "--erase {words} does not name {}; expected {}",
        report.describe(),
        quoted(expected)
    );
    Err(refused("wrong-serial", message))
}

/// The path that confirms a loop device must lead to the file behind it, and not to another one
/// that has taken its name since.
fn require_backing(report: &DeviceReport, device: &File) -> Result<(), TargetError> {
    let Some(path) = &report.backing_file else { return Ok(()) };
    let named = fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let behind = ioctl::loop_status(device.as_fd()).ok().map(|status| (status.on, status.inode));
    if named.is_some() && named == behind {
        return Ok(());
    }
    Err(nameless_backing(report))
}

fn nameless_backing(report: &DeviceReport) -> TargetError {
    let (node, file) = (report.node.display(), report.backing_file.clone().unwrap_or_default());
    refused(
        "wrong-serial",
        format!(
            "the file behind {node} was {} and has no name now that --erase could give (deleted, \
             replaced, or not visible from here); detach it: losetup -d {node}",
            file.display()
        ),
    )
}

/// The refusal of a device or file with recognised contents.
fn signatures_found(name: &str, marks: &[Signature]) -> TargetError {
    let list: Vec<_> = marks.iter().map(ToString::to_string).collect();
    refused(
        "signature",
        format!(
            "{name} carries: {}; give --erase-signatures as well if all of it may be lost",
            list.join(", ")
        ),
    )
}

/// Holds all other devices and files that have these bytes: the kernel would let others use them, or
/// somebody uses them where no table shows it.
fn hold_below(
    system: &System,
    tables: &Tables,
    report: &DeviceReport,
) -> Result<Vec<File>, TargetError> {
    let device = system.by_number(report.number).ok_or_else(|| {
        let node = report.node.display();
        refused("identity-changed", format!("{node} is gone: /sys/dev/block lists it no more"))
    })?;
    hold_others(&members(system, tables, Thing::Device(device)))
}

/// Holds every one of the members but the first, which is the target.
fn hold_others(members: &[Member]) -> Result<Vec<File>, TargetError> {
    let mut held = Vec::new();
    for (index, member) in members.iter().enumerate().skip(1) {
        // It may be there once more, with other bytes.
        if !members[..index].iter().any(|known| known.is_same_thing(member)) {
            held.extend(hold(member)?);
        }
    }
    Ok(held)
}

fn hold(member: &Member) -> Result<Option<File>, TargetError> {
    let name = member.name();
    let device = match &member.thing {
        Thing::Device(device) => device,
        Thing::File { id, path } => return file::hold_backing(path, *id, &name).map(Some),
    };
    let open = |flags: OFlags| {
        let flags = (flags | OFlags::NOFOLLOW).bits() as i32;
        File::options().read(true).custom_flags(flags).open(device.node())
    };
    if member.is_claimed_with_the_target() {
        // The kernel holds it; a lock shows that somebody else works on it all the same. Runs on
        // two of its partitions are possible, so it is shared.
        let Ok(file) = open(OFlags::empty()) else { return Ok(None) };
        lock(&file, FlockOperation::NonBlockingLockShared, &name)?;
        return Ok(Some(file));
    }
    let file =
        patiently(|| open(OFlags::EXCL)).map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::BUSY) => busy(&name, "the kernel refuses an exclusive claim"),
            _ => device_error(format!("cannot open {name}"), error),
        })?;
    lock(&file, FlockOperation::NonBlockingLockExclusive, &name)?;
    Ok(Some(file))
}

fn lock(file: &File, kind: FlockOperation, name: &str) -> Result<(), TargetError> {
    patiently(|| rustix::fs::flock(file, kind).map_err(io::Error::from))
        .map_err(|_| busy(name, "another process holds a lock on it"))
}

/// Opens with an exclusive claim and a lock that keeps udev from probing. A prober or the previous
/// run's ring may hold either for a moment, so it tries again.
fn open_exclusively(report: &DeviceReport, write: bool) -> Result<File, TargetError> {
    let flags = OFlags::EXCL | OFlags::DIRECT;
    let file = patiently(|| open_node(report, flags, write)).map_err(|error| {
        if Errno::from_io_error(&error) == Some(Errno::BUSY) {
            busy(&report.node.display().to_string(), "the kernel refuses an exclusive claim")
        } else {
            cannot_open(report, error)
        }
    })?;
    let name = report.node.display().to_string();
    lock(&file, FlockOperation::NonBlockingLockExclusive, &name)?;
    Ok(file)
}

fn busy(name: &str, what: &str) -> TargetError {
    refused(
        "busy",
        format!(
            "{name} is busy: {what}, though no mount, swap or holder is visible from here; look for \
             another run, another mount namespace, a RAID or volume manager"
        ),
    )
}

fn open_node(report: &DeviceReport, flags: OFlags, write: bool) -> io::Result<File> {
    File::options()
        .read(true)
        .write(write)
        .custom_flags((flags | OFlags::NOFOLLOW).bits() as i32)
        .open(&report.node)
}

/// Makes sure that the mode of the node lets this user write.
///
/// # Errors
/// [`TargetError::Device`] if not.
pub fn require_permission(report: &DeviceReport) -> Result<(), TargetError> {
    let answer = rustix::fs::access(&report.node, Access::READ_OK | Access::WRITE_OK);
    match answer {
        Err(Errno::ACCESS) => Err(cannot_open(report, Errno::ACCESS.into())),
        _ => Ok(()),
    }
}

fn cannot_open(report: &DeviceReport, source: io::Error) -> TargetError {
    let hint = if source.kind() == io::ErrorKind::PermissionDenied {
        "; raw devices need root, or the group that owns the node"
    } else {
        ""
    };
    device_error(format!("cannot open {}{hint}", report.node.display()), source)
}

/// Bytes ever written to the drive, if it reports them without being opened for writing.
fn host_written_bytes(report: &DeviceReport) -> Option<u64> {
    let node = open_node(report, OFlags::NONBLOCK, false).ok()?;
    let probe = DriveProbe::new(&node, report.protocol, &report.name, MonotonicClock::start())?;
    probe.read().ok()?.host_written_bytes
}

/// Looks for signatures through a reading descriptor of its own, page cache and all. The kernel knows
/// partitions whose table is gone.
fn probe(report: &DeviceReport) -> io::Result<Vec<Signature>> {
    let node = open_node(report, OFlags::empty(), false)?;
    let open = node.metadata()?;
    if !open.file_type().is_block_device() || DeviceNumber::from_raw(open.rdev()) != report.number {
        return Err(io::Error::other("the node changed while it was examined"));
    }
    let block_bytes = u64::from(report.logical_block_bytes);
    let mut found = signature::probe(&node, report.capacity_bytes, block_bytes)?;
    let device = System::live().by_number(report.number);
    for partition in device.iter().flat_map(Device::partitions) {
        found.extend(signature::probe_partition(&node, &partition, report)?);
    }
    Ok(found)
}

fn refused(code: &'static str, message: String) -> TargetError {
    TargetError::Refused { code, message }
}

fn device_error(context: String, source: io::Error) -> TargetError {
    TargetError::Device { context, source }
}
