//! Block devices as the kernel describes them in sysfs.
//!
//! All reading goes through a [`System`] that knows where the kernel's trees are, so that tests can
//! build the tree of a machine they do not have.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A device number, as in `major:minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Number of the driver.
    pub major: u32,
    /// Number of the device of that driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// The number in a `dev_t` as stat reports it.
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// Reads `8:1`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The number of the block device at `path`; `None` for anything else.
    pub(crate) fn of_block_node(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        found.file_type().is_block_device().then(|| Self::from_raw(found.rdev()))
    }

    /// The number of the character device at `path`; `None` for anything else.
    pub(crate) fn of_char_node(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        found.file_type().is_char_device().then(|| Self::from_raw(found.rdev()))
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Namespace 1 of controller 0 is the block device `nvme0n1` and the generic character device `ng0n1`.
const NAMESPACE_PREFIX: &str = "nvme";
const GENERIC_PREFIX: &str = "ng";

/// Mount points of the kernel's trees.
#[derive(Clone, Debug)]
pub struct System {
    pub(crate) sys: PathBuf,
    pub(crate) proc: PathBuf,
    pub(crate) udev: PathBuf,
    /// Whether the trees must be the kernel's own: a directory that somebody mounted over one of
    /// them is no table.
    pub(crate) is_live: bool,
}

/// File systems of the kernel, by the type that `statfs` gives them.
const PROC_MAGIC: u64 = 0x9fa0;
const SYSFS_MAGIC: u64 = 0x6265_6572;

impl System {
    /// This machine.
    pub fn live() -> Self {
        let udev = "/run/udev/data".into();
        Self { sys: "/sys".into(), proc: "/proc".into(), udev, is_live: true }
    }

    /// The text of a table below `/proc`. Mount points may hold any bytes.
    ///
    /// # Errors
    /// If it cannot be read, or something else is mounted in its place.
    pub(crate) fn proc_table(&self, path: &Path) -> io::Result<String> {
        let mut file = File::open(path)?;
        self.require_kernels(&file, PROC_MAGIC)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Makes sure that a directory of sysfs can be read.
    ///
    /// # Errors
    /// If it cannot be, or something else is mounted in its place.
    pub(crate) fn require_sys_dir(&self, path: &Path) -> io::Result<()> {
        self.require_kernels(&File::open(path)?, SYSFS_MAGIC)?;
        fs::read_dir(path).map(drop)
    }

    fn require_kernels(&self, file: &File, magic: u64) -> io::Result<()> {
        // The type has 32 bits; some platforms extend its sign.
        let found = rustix::fs::fstatfs(file)?.f_type as u64 & 0xffff_ffff;
        if found == magic || !self.is_live {
            return Ok(());
        }
        Err(io::Error::other("something else is mounted in its place"))
    }

    /// The names of whole devices that sysfs lists and does not describe. A path to a namespace with several
    /// (`nvme1c1n1`) has no number and no node: the kernel hides it, and all use is of the namespace.
    pub(crate) fn undescribed_disks(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.sys.join("block")).into_iter().flatten().flatten();
        let links = entries.map(|entry| entry.path());
        let is_hidden = |link: &PathBuf| {
            fs::read_to_string(link.join("hidden")).is_ok_and(|it| it.trim() == "1")
        };
        let unknown = links.filter(|link| Device::at(link).is_none() && !is_hidden(link));
        // A device may have gone since the list was read.
        unknown.filter(|link| link.symlink_metadata().is_ok()).collect()
    }

    /// The device with this number, or `None` if sysfs does not know it.
    pub fn by_number(&self, number: DeviceNumber) -> Option<Device> {
        let link = self.sys.join("dev/block").join(number.to_string());
        Device::at(&fs::canonicalize(link).ok()?)
    }

    /// The namespace of the generic NVMe character device with this number; `None` for any other.
    pub(crate) fn namespace_of_generic(&self, number: DeviceNumber) -> Option<Device> {
        let link = self.sys.join("dev/char").join(number.to_string());
        let dir = fs::canonicalize(link).ok()?;
        let rest = dir.file_name()?.to_str()?.strip_prefix(GENERIC_PREFIX)?;
        Device::at(&dir.parent()?.join(format!("{NAMESPACE_PREFIX}{rest}")))
    }

    /// Every whole device, by name.
    pub(crate) fn disks(&self) -> Vec<Device> {
        devices_in(&self.sys.join("block"))
    }

    /// A property of a device found by udev: the value of `E:key=`.
    pub(crate) fn udev_property(&self, number: DeviceNumber, key: &str) -> Option<String> {
        let text = fs::read_to_string(self.udev.join(format!("b{number}"))).ok()?;
        let start = format!("E:{key}=");
        text.lines().find_map(|line| line.strip_prefix(&start)).and_then(non_empty)
    }
}

/// One block device: a whole disk or a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    dir: PathBuf,
    pub(crate) name: String,
    pub(crate) number: DeviceNumber,
}

impl Device {
    /// The device described in this directory.
    pub(crate) fn at(dir: &Path) -> Option<Self> {
        let dir = fs::canonicalize(dir).ok()?;
        let number = DeviceNumber::parse(&fs::read_to_string(dir.join("dev")).ok()?)?;
        // The kernel writes `!` for a slash in a device name.
        let name = dir.file_name()?.to_str()?.replace('!', "/");
        Some(Self { dir, name, number })
    }

    /// Whether a directory is its description, a part of it, or holds it.
    pub(crate) fn is_described_in(&self, dir: &Path) -> bool {
        dir.starts_with(&self.dir) || self.dir.starts_with(dir)
    }

    /// Its node by the kernel's naming.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// A text attribute, trimmed, or `None` if it is missing or empty.
    pub fn text(&self, attribute: &str) -> Option<String> {
        non_empty(&String::from_utf8_lossy(&self.bytes(attribute)?))
    }

    /// A number attribute.
    pub(crate) fn number_of(&self, attribute: &str) -> Option<u64> {
        self.text(attribute)?.parse().ok()
    }

    /// Its size; sysfs counts in 512-byte sectors whatever the block size.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.number_of("size").unwrap_or(0).saturating_mul(512)
    }

    /// Start of a partition on its disk; 0 for a whole disk.
    pub(crate) fn start_bytes(&self) -> u64 {
        self.number_of("start").unwrap_or(0).saturating_mul(512)
    }

    /// The world-wide name of a whole disk (EUI, NGUID, NAA), or `None` if it has none.
    pub(crate) fn wwid(&self) -> Option<String> {
        self.text("wwid").or_else(|| self.text("device/wwid"))
    }

    /// An attribute as it is.
    pub(crate) fn bytes(&self, attribute: &str) -> Option<Vec<u8>> {
        fs::read(self.dir.join(attribute)).ok()
    }

    /// The whole disk this is a partition of; `None` for a whole disk.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.partition_number()?;
        Self::at(self.dir.parent()?)
    }

    /// The number of this partition.
    pub(crate) fn partition_number(&self) -> Option<u64> {
        self.number_of("partition")
    }

    pub(crate) fn partitions(&self) -> Vec<Self> {
        let mut found = devices_in(&self.dir);
        found.retain(|device| device.partition_number().is_some());
        found
    }

    /// Devices built directly on top of this one (device mapper, md).
    pub(crate) fn holders(&self) -> Vec<Self> {
        devices_in(&self.dir.join("holders"))
    }

    /// Devices that this one is built on (device mapper, md).
    pub(crate) fn slaves(&self) -> Vec<Self> {
        devices_in(&self.dir.join("slaves"))
    }

    /// Queues of the driver; 0 if it has none of its own.
    pub(crate) fn hardware_queues(&self) -> usize {
        fs::read_dir(self.dir.join("mq")).map_or(0, |queues| queues.flatten().count())
    }

    /// Numbers of the interrupts (MSI) of its controller.
    pub(crate) fn message_interrupts(&self) -> Vec<u32> {
        let lists = self.dir.ancestors().map(|dir| dir.join("msi_irqs"));
        let entries = lists.filter_map(|list| fs::read_dir(list).ok()).next();
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter_map(|name| name.to_str()?.parse().ok()).collect()
    }

    /// The disk that has the queue: itself, or the parent of a partition.
    pub fn disk(&self) -> Self {
        self.parent().unwrap_or_else(|| self.clone())
    }

    /// The speed of the SATA link, e.g. `6.0 Gbps`; libata keeps it beside the port.
    pub(crate) fn sata_speed(&self) -> Option<String> {
        let is_port = |dir: &&Path| {
            let name = dir.file_name().and_then(|name| name.to_str());
            let number = name.and_then(|name| name.strip_prefix("ata"));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let port = self.dir.ancestors().find(is_port)?;
        let links = fs::read_dir(port).ok()?.flatten().map(|entry| entry.path());
        let speed = |link: PathBuf| {
            let class = link.join("ata_link").join(link.file_name()?);
            non_empty(&fs::read_to_string(class.join("sata_spd")).ok()?)
        };
        links.filter(|link| link.join("ata_link").is_dir()).find_map(speed)
    }

    /// The link power management of its SATA port, e.g. `med_power_with_dipm`, or `None` if it has none.
    pub(crate) fn sata_link_power(&self, system: &System) -> Option<String> {
        let host = system.sys.join("class/scsi_host").join(self.scsi_host()?);
        non_empty(&fs::read_to_string(host.join("link_power_management_policy")).ok()?)
    }

    /// Whether the kernel may suspend the USB device (`auto`, `on`), or `None` if it is none.
    pub(crate) fn usb_power(&self) -> Option<String> {
        let device = self.dir.ancestors().find(|dir| dir.join("busnum").is_file())?;
        non_empty(&fs::read_to_string(device.join("power/control")).ok()?)
    }

    /// The SCSI host of the device, `host3`; of a SATA drive this is its port.
    pub(crate) fn scsi_host(&self) -> Option<String> {
        let names = self.dir.ancestors().filter_map(|dir| dir.file_name()?.to_str());
        let is_host = |name: &&str| {
            let number = name.strip_prefix("host");
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        names.into_iter().find(is_host).map(str::to_owned)
    }

    /// The directory of its connection to the machine: its own one, or that of a controller for an NVMe namespace that
    /// several controllers may have.
    pub(crate) fn connection(&self) -> PathBuf {
        self.controllers().into_iter().next().unwrap_or_else(|| self.dir.clone())
    }

    /// The controllers of an NVMe namespace that may have several: it stands beside links to them.
    fn controllers(&self) -> Vec<PathBuf> {
        let is_controller = |entry: &PathBuf| {
            let name = entry.file_name().and_then(|name| name.to_str());
            let number = name.and_then(|name| name.strip_prefix(NAMESPACE_PREFIX));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let entries = self.dir.parent().and_then(|parent| fs::read_dir(parent).ok());
        let entries = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut links: Vec<_> = entries.filter(is_controller).collect();
        links.sort();
        links.into_iter().filter_map(|link| fs::canonicalize(link).ok()).collect()
    }

    /// The directories of its queues: its own one, or for an NVMe namespace that several controllers may have those of
    /// the paths to it, `nvme0c1n2` of `nvme0n2`.
    pub(crate) fn queues(&self) -> Vec<PathBuf> {
        let path_of = |controller: PathBuf| {
            let (start, end) = self.name.rsplit_once('n')?;
            let paths = fs::read_dir(controller).ok()?.flatten();
            let is_path = |name: &str| {
                let number = name.strip_prefix(start).and_then(|rest| rest.strip_prefix('c'));
                number.and_then(|rest| rest.split_once('n')).is_some_and(|(_, rest)| rest == end)
            };
            let names =
                paths.filter_map(|path| path.file_name().into_string().ok().zip(Some(path.path())));
            names.into_iter().find(|(name, _)| is_path(name)).map(|(_, path)| path)
        };
        let paths: Vec<_> = self.controllers().into_iter().filter_map(path_of).collect();
        let dirs = if paths.is_empty() { vec![self.dir.clone()] } else { paths };
        dirs.into_iter().map(|dir| dir.join("queue")).collect()
    }

    /// The other disks of the same controller; meant for NVMe, where they are its namespaces.
    pub(crate) fn siblings(&self, system: &System) -> Vec<Self> {
        let controller = |disk: &Self| fs::canonicalize(disk.dir.join("device")).ok();
        let Some(own) = controller(self) else { return Vec::new() };
        let mut disks = system.disks();
        disks.retain(|disk| disk != self && controller(disk).as_ref() == Some(&own));
        disks
    }

    /// The generic character device of an NVMe namespace: its node and number. Since Linux 5.13; stands
    /// beside the namespace, hence belongs to the same controller or subsystem.
    pub(crate) fn generic(&self) -> Option<(PathBuf, DeviceNumber)> {
        let name = format!("{GENERIC_PREFIX}{}", self.name.strip_prefix(NAMESPACE_PREFIX)?);
        let number = fs::read_to_string(self.dir.parent()?.join(&name).join("dev")).ok()?;
        Some((Path::new("/dev").join(name), DeviceNumber::parse(&number)?))
    }

    /// The file behind a loop device.
    pub(crate) fn backing_file(&self) -> Option<PathBuf> {
        self.disk().text("loop/backing_file").map(PathBuf::from)
    }
}

fn non_empty(text: &str) -> Option<String> {
    // Vendors pad with spaces and zero bytes.
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn devices_in(dir: &Path) -> Vec<Device> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.filter_map(|entry| Device::at(&entry.path())).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}
