//! A list of the block devices and their properties. Reads sysfs and the kernel's tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base::Bytes;
use target::Refusal;

use crate::describe::kernel::Tables;
use crate::describe::signature::Signature;
use crate::describe::usage::reasons;
use crate::host::sysfs::{Device, DeviceNumber, System};

/// The command protocol of a drive beyond reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// NVMe admin commands.
    Nvme,
    /// ATA commands, through the kernel's SCSI layer.
    Ata,
    /// No protocol that ssdlab supports (USB, SCSI, virtio, loop, device mapper, ...).
    Other,
}

/// All that is known about one block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// The node with all symbolic links resolved, e.g. `/dev/nvme0n1`.
    pub node: PathBuf,
    /// The kernel's name, e.g. `nvme0n1`.
    pub name: String,
    /// The device number.
    pub number: DeviceNumber,
    /// Size in bytes.
    pub capacity_bytes: u64,
    /// Offsets and lengths must be multiples of this.
    pub logical_block_bytes: u32,
    /// Smaller writes may cost a read-modify-write.
    pub physical_block_bytes: u32,
    /// Model, as the vendor writes it.
    pub model: Option<String>,
    /// Serial number; for a loop device the canonical path of the file behind it; for a partition
    /// that of the disk with `-partN` appended.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// World-wide name (EUI, NGUID, NAA), or `None` if the device has none.
    pub wwid: Option<String>,
    /// Whether the disk turns, or `None` if the kernel does not say.
    pub rotational: Option<bool>,
    /// The I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Whether the device refuses writes.
    pub read_only: bool,
    /// Whether the device takes BLKDISCARD.
    pub deallocate: bool,
    /// Whether it has zones, which are written in order.
    pub zoned: bool,
    /// The command protocol of the drive.
    pub protocol: Protocol,
    /// Settings of the queue and the link that may matter for figures, label to value.
    pub settings: BTreeMap<&'static str, String>,
    /// The disk of a partition, or `None` if this is none.
    pub partition_of: Option<String>,
    /// The file behind a loop device, or `None` if this is none.
    pub backing_file: Option<PathBuf>,
    /// Words that `--erase` accepts; messages ask for the first.
    pub confirmations: Vec<String>,
    /// The reasons why it must not be written to now, the most explanatory first.
    pub in_use: Vec<Refusal>,
    /// File systems, partition tables and RAID marks, or `None` if the caller did not ask or reading was not
    /// permitted.
    pub signatures: Option<Vec<Signature>>,
    /// Bytes written by the host since the drive was made, or `None` if the caller did not ask or the drive
    /// does not report them.
    pub host_written_bytes: Option<u64>,
}

impl DeviceReport {
    /// The device in a few words: node, model, serial, firmware, size, and the amount written to
    /// it.
    pub fn describe(&self) -> String {
        let mut words = vec![];
        words.extend(self.model.clone());
        words.extend(self.serial.as_ref().map(|serial| format!("serial {serial}")));
        words.extend(self.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
        words.push(Bytes(self.capacity_bytes).to_string());
        let terabytes = |bytes: u64| format!("{:.1} TB written so far", bytes as f64 / 1e12);
        words.extend(self.host_written_bytes.map(terabytes));
        format!("{} ({})", self.node.display(), words.join(", "))
    }
}

/// All whole devices with a size, by name. Partitions are part of their disks. Only loop devices
/// are opened, to ask for the file behind them, so [`DeviceReport::signatures`] stays `None`;
/// [`crate::guard::inspect`] reads the signatures.
pub fn list() -> Vec<DeviceReport> {
    list_in(&System::live())
}

pub(crate) fn list_in(system: &System) -> Vec<DeviceReport> {
    let tables = Tables::read(system);
    system
        .disks()
        .into_iter()
        .map(|disk| report(system, &tables, &disk, disk.node()))
        .filter(|report| report.capacity_bytes > 0)
        .collect()
}

/// The report on `device` from sysfs; `node` is its node.
pub(crate) fn report(
    system: &System,
    tables: &Tables,
    device: &Device,
    node: PathBuf,
) -> DeviceReport {
    let disk = device.disk();
    let serial = serial(system, device);
    let wwid = disk.wwid().map(|wwid| with_partition(device, wwid));
    let block = |attribute: &str| disk.number_of(attribute).and_then(|n| u32::try_from(n).ok());
    let logical_block_bytes = block("queue/logical_block_size").unwrap_or(512);
    DeviceReport {
        name: device.name.clone(),
        number: device.number,
        capacity_bytes: device.size_bytes(),
        logical_block_bytes,
        physical_block_bytes: block("queue/physical_block_size").unwrap_or(logical_block_bytes),
        model: model(&disk),
        firmware: firmware(&disk),
        rotational: disk.number_of("queue/rotational").map(|flag| flag != 0),
        scheduler: disk.text("queue/scheduler").map(|list| chosen(&list)),
        read_only: [device, &disk].iter().any(|d| d.number_of("ro").is_some_and(|flag| flag != 0)),
        deallocate: disk.number_of("queue/discard_max_bytes").is_some_and(|bytes| bytes > 0),
        zoned: disk.text("queue/zoned").is_some_and(|model| model != "none"),
        protocol: protocol(&disk),
        settings: settings(system, device, &disk),
        partition_of: device.parent().map(|parent| parent.name),
        backing_file: device.backing_file(),
        confirmations: confirmations(&node, serial.as_ref(), wwid.as_ref()),
        in_use: reasons(system, tables, device),
        signatures: None,
        host_written_bytes: None,
        serial,
        wwid,
        node,
    }
}

/// As in sysfs, where the kernel documents them (`Documentation/ABI/stable/sysfs-block`).
fn settings(system: &System, device: &Device, disk: &Device) -> BTreeMap<&'static str, String> {
    const ATTRIBUTES: [(&str, &str); 9] = [
        ("write_cache", "queue/write_cache"),
        ("nr_requests", "queue/nr_requests"),
        ("max_sectors_kb", "queue/max_sectors_kb"),
        ("nomerges", "queue/nomerges"),
        ("wbt_lat_usec", "queue/wbt_lat_usec"),
        ("io_poll", "queue/io_poll"),
        ("numa_node", "device/numa_node"),
        ("ncq_depth", "device/queue_depth"),
        ("pcie_link_l1", "device/device/link/l1_aspm"),
    ];
    let is_on = |flag: String| (flag != "0").to_string();
    let others = [
        ("pcie_link", pcie_link(disk)),
        ("sata_link", disk.sata_speed()),
        ("sata_link_power", disk.sata_link_power(system)),
        ("autosuspend", autosuspend(disk)),
        ("loop_direct_io", disk.text("loop/dio").map(is_on)),
        ("partition_alignment_bytes", alignment_bytes(device)),
    ];
    ATTRIBUTES
        .into_iter()
        .map(|(label, attribute)| (label, disk.text(attribute)))
        .chain(others)
        .filter_map(|(label, value)| Some((label, value?)))
        .collect()
}

/// `8.0 GT/s PCIe x4 (of 16.0 GT/s PCIe x4)`: a slower link than possible is a finding by itself.
fn pcie_link(disk: &Device) -> Option<String> {
    let attribute = |name: &str| disk.text(&format!("device/device/{name}"));
    let link = |speed, width| Some(format!("{} x{}", attribute(speed)?, attribute(width)?));
    let now = link("current_link_speed", "current_link_width")?;
    let most = link("max_link_speed", "max_link_width");
    Some(most.map_or_else(|| now.clone(), |most| format!("{now} (of {most})")))
}

/// Whether the kernel may suspend the device while it is idle: `auto`, or `on` if it may not. For NVMe that is the PCIe
/// function, for USB the device on the bus.
fn autosuspend(disk: &Device) -> Option<String> {
    let own = ["device/device/power/control", "device/power/control"];
    disk.usb_power().or_else(|| own.iter().find_map(|attribute| disk.text(attribute)))
}

/// The largest power of two that divides the start of a partition, or `None` for a whole disk.
fn alignment_bytes(device: &Device) -> Option<String> {
    device.partition_number()?;
    let start = Some(device.start_bytes()).filter(|start| *start > 0)?;
    Some((1_u64 << start.trailing_zeros()).to_string())
}

/// NVMe namespaces are named after their controller; libata calls itself the vendor of its disks.
fn protocol(disk: &Device) -> Protocol {
    let is_nvme = disk.name.starts_with("nvme") && disk.name.contains('n');
    let is_ata =
        disk.name.starts_with("sd") && disk.text("device/vendor").as_deref() == Some("ATA");
    match (is_nvme, is_ata) {
        (true, _) => Protocol::Nvme,
        (_, true) => Protocol::Ata,
        _ => Protocol::Other,
    }
}

/// The serial and the world-wide name that the device with this number reports now.
pub(crate) fn current_identity(
    system: &System,
    number: DeviceNumber,
) -> (Option<String>, Option<String>) {
    let Some(device) = system.by_number(number) else { return (None, None) };
    let wwid = device.disk().wwid().map(|wwid| with_partition(&device, wwid));
    (serial(system, &device), wwid)
}

/// The serial that this device reports now.
pub(crate) fn serial_of(system: &System, device: &Device) -> Option<String> {
    serial(system, device)
}

/// A loop device is confirmed by the file behind it, since its node may stand for another file
/// tomorrow; a device without any identity of its own by its node; every other device by the text
/// on its label.
fn confirmations(node: &Path, serial: Option<&String>, wwid: Option<&String>) -> Vec<String> {
    let identity: Vec<String> = serial.into_iter().chain(wwid).cloned().collect();
    if identity.is_empty() { vec![node.display().to_string()] } else { identity }
}

fn serial(system: &System, device: &Device) -> Option<String> {
    if let Some(file) = device.backing_file() {
        let file = fs::canonicalize(&file).unwrap_or(file);
        return Some(with_partition(device, file.display().to_string()));
    }
    let disk = device.disk();
    disk.text("device/serial")
        .or_else(|| disk.text("serial"))
        .or_else(|| unit_serial(&disk))
        .or_else(|| system.udev_property(disk.number, "ID_SERIAL_SHORT"))
        .map(|serial| with_partition(device, serial))
}

/// SCSI and ATA: the unit serial number page, a four-byte header and then text.
fn unit_serial(disk: &Device) -> Option<String> {
    let page = disk.bytes("device/vpd_pg80")?;
    let text = String::from_utf8_lossy(page.get(4..)?).trim_matches(['\0', ' ', '\n']).to_owned();
    (!text.is_empty()).then_some(text)
}

fn with_partition(device: &Device, identity: String) -> String {
    match device.partition_number() {
        Some(number) => format!("{identity}-part{number}"),
        None => identity,
    }
}

fn model(disk: &Device) -> Option<String> {
    disk.text("device/model").or_else(|| disk.text("device/name"))
}

fn firmware(disk: &Device) -> Option<String> {
    ["device/firmware_rev", "device/rev", "device/fwrev"].iter().find_map(|name| disk.text(name))
}

/// `none [mq-deadline] kyber` has the chosen one in brackets.
fn chosen(list: &str) -> String {
    let inside = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(list, |(name, _)| name).to_owned()
}
