//! The file or device behind each loop device.
//!
//! The kernel takes no exclusive claim for a loop device, so nothing else would stop a write below
//! a mounted one. Its name of the file dates from the attachment and is that of the mount namespace
//! that attached it. So the driver is asked for device and inode if we may open the node.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::thing::{FileId, Region};
use crate::host::ioctl::{LoopStatus, loop_status};
use crate::host::sysfs::{Device, DeviceNumber, System};

/// The file or device behind a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    File(FileId),
    Device(DeviceNumber),
    /// The driver does not answer, and the name leads nowhere.
    Named,
}

impl Behind {
    /// The thing at `path`, or `None` if it leads nowhere.
    pub(crate) fn path(path: &Path) -> Option<Self> {
        let number = DeviceNumber::of_block_node(path).map(Self::Device);
        number.or_else(|| Some(Self::File(FileId::of(&fs::metadata(path).ok()?))))
    }

    fn status(status: &LoopStatus) -> Self {
        if status.device_number != 0 {
            return Self::Device(DeviceNumber::from_raw(status.device_number));
        }
        Self::File(FileId { on: DeviceNumber::from_raw(status.on), inode: status.inode })
    }
}

/// One loop device in use.
#[derive(Clone, Debug)]
pub(crate) struct LoopDevice {
    pub(crate) device: Device,
    /// The kernel's name for the file or device behind it.
    pub(crate) path: PathBuf,
    pub(crate) behind: Behind,
    /// The same file in the layers of an overlay.
    pub(crate) also: Vec<Behind>,
    /// The part of that file or device that it shows.
    pub(crate) window: Region,
}

impl LoopDevice {
    /// Every loop device with a file or device behind it.
    pub(crate) fn all(system: &System) -> Vec<Self> {
        system.disks().into_iter().filter_map(Self::new).collect()
    }

    /// Whether it may show a file of this length, as far as its own size tells: its size was that
    /// of the file when it was attached, in sectors.
    pub(crate) fn fits(&self, len_bytes: u64) -> bool {
        let end = self.window.start.saturating_add(self.device.size_bytes());
        (end..end.saturating_add(512)).contains(&len_bytes)
            || self.window.end < u64::MAX && end <= len_bytes
    }

    /// The loop device, or `None` if it is another device or has nothing behind it.
    pub(crate) fn new(device: Device) -> Option<Self> {
        let path = device.backing_file()?;
        let status = ask(&device).as_ref().map(Behind::status);
        let behind = status.or_else(|| Behind::path(&path)).unwrap_or(Behind::Named);
        let attribute = |name: &str| device.number_of(name).filter(|&bytes| bytes > 0);
        let start = attribute("loop/offset").unwrap_or(0);
        let window = Region::of_len(start, attribute("loop/sizelimit").unwrap_or(u64::MAX));
        Some(Self { device, path, behind, also: Vec::new(), window })
    }
}

/// The answer of the driver, or `None` if its node is not at hand or may not be opened.
fn ask(device: &Device) -> Option<LoopStatus> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let node = File::options().read(true).custom_flags(flags.bits() as i32).open(device.node());
    let node = node.ok()?;
    let number = DeviceNumber::from_raw(node.metadata().ok()?.rdev());
    if number != device.number {
        return None;
    }
    loop_status(node.as_fd()).ok()
}
