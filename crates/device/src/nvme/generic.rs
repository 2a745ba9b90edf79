//! The generic character device of a namespace (`/dev/ng0n1`), through which commands reach it past the
//! block layer.
//!
//! It is opened only for a block device that the guard has granted and holds: the character device
//! itself excludes no other user. ssdlab must do here the work of the block layer: check the format of
//! the namespace, and limit the length of a command.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::Bytes;
use rustix::fs::OFlags;

use super::Controller;
use crate::describe::{DeviceReport, Protocol};
use crate::host::ioctl;
use crate::host::sysfs::{Device, DeviceNumber, System};

/// Memory of a transfer may lie in pages anywhere, and each is a segment.
const PAGE_BYTES: u64 = 4096;
/// A command counts its blocks in 16 bits.
const BLOCKS_MAX: u64 = 1 << 16;

/// An open generic character device, checked to be that of the namespace that is held.
#[derive(Debug)]
pub struct GenericNode {
    /// The open node.
    pub file: File,
    /// Its path, `/dev/ng0n1`.
    pub path: PathBuf,
    /// Number of the namespace.
    pub namespace_id: u32,
    /// Size of a logical block.
    pub block_bytes: u32,
    /// The longest command that the driver takes; the kernel splits none.
    pub(crate) transfer_bytes_max: u64,
    /// The longest range that one command may deallocate.
    pub deallocate_bytes_max: u64,
}

impl GenericNode {
    /// The node of the namespace that is open as `block`, also for writing if `write`; or the
    /// reason why I/O cannot go through it.
    pub fn open(block: &File, report: &DeviceReport, write: bool) -> Result<Self, String> {
        let (device, path, number) = locate(&System::live(), report)?;
        let file = open_node(&path, number, write)?;
        let namespace_id = same_namespace(block, &file)?;
        let block_bytes = plain_block_bytes(block, namespace_id, report)?;
        let transfer_bytes_max = transfer_bytes_max(&device, block_bytes);
        let deallocate_bytes_max = device.number_of("queue/discard_max_bytes").unwrap_or(0);
        Ok(Self { file, path, namespace_id, block_bytes, transfer_bytes_max, deallocate_bytes_max })
    }

    /// The length at which transfers of `wanted_bytes` are split, a power of two of whole pages, or
    /// `None` if all fit into one command.
    pub fn split_bytes(&self, wanted_bytes: u32) -> Result<Option<u32>, String> {
        if u64::from(wanted_bytes) <= self.transfer_bytes_max {
            return Ok(None);
        }
        let split = u32::try_from(self.transfer_bytes_max).ok().and_then(u32::checked_ilog2);
        match split.map(|exponent| 1 << exponent) {
            Some(bytes) if u64::from(bytes) >= PAGE_BYTES => Ok(Some(bytes)),
            _ => Err(format!(
                "one command past the block layer carries only {} (queue/max_hw_sectors_kb, \
                 queue/max_segments)",
                Bytes(self.transfer_bytes_max)
            )),
        }
    }
}

/// The path of the character device of a namespace, or `None` if it has none.
pub fn path(report: &DeviceReport) -> Option<PathBuf> {
    locate(&System::live(), report).ok().map(|(_, path, _)| path)
}

/// The namespace in sysfs, and the node and number of its character device; or why there is none.
pub(crate) fn locate(
    system: &System,
    report: &DeviceReport,
) -> Result<(Device, PathBuf, DeviceNumber), String> {
    if report.protocol != Protocol::Nvme {
        return Err(
            "it is no NVMe namespace, and only those take commands past the block layer".into()
        );
    }
    if let Some(disk) = &report.partition_of {
        return Err(format!(
            "it is a partition, and commands past the block layer know only the whole namespace; name {disk}"
        ));
    }
    let device = system.by_number(report.number).ok_or("it has gone from sysfs")?;
    let (path, number) = device.generic().ok_or(
        "it has no generic character device (/dev/ngXnY): needs Linux 5.13, and a command set that the \
         kernel passes on",
    )?;
    Ok((device, path, number))
}

fn open_node(path: &Path, number: DeviceNumber, write: bool) -> Result<File, String> {
    let wrong = || format!("{} is not the character device {number}", path.display());
    // Checked before, because opening some other device may have an effect.
    if DeviceNumber::of_char_node(path) != Some(number) {
        return Err(wrong());
    }
    let file = File::options()
        .read(true)
        .write(write)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
        .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    let open = file.metadata().map(|found| DeviceNumber::from_raw(found.rdev()));
    if open.is_ok_and(|open| open == number) { Ok(file) } else { Err(wrong()) }
}

/// The number of the namespace behind both descriptors.
fn same_namespace(block: &File, generic: &File) -> Result<u32, String> {
    let id = |file: &File| {
        ioctl::nvme_namespace_id(file.as_fd())
            .map_err(|errno| format!("it does not tell its NVMe namespace: {errno}"))
    };
    let (of_block, of_generic) = (id(block)?, id(generic)?);
    if of_block == of_generic {
        return Ok(of_block);
    }
    Err(format!("its character device is that of namespace {of_generic}, not of {of_block}"))
}

/// The size of a block, where a block is all that there is: the block layer would bring buffers for
/// metadata.
fn plain_block_bytes(
    block: &File,
    namespace_id: u32,
    report: &DeviceReport,
) -> Result<u32, String> {
    let controller = Controller::new(block, &report.node.display().to_string());
    let namespace =
        controller.identify_namespace(namespace_id).map_err(|error| error.with_cause())?;
    if namespace.layout().metadata_bytes != 0 {
        return Err(format!(
            "it is formatted with {} bytes of metadata for each block, which are not handled here",
            namespace.layout().metadata_bytes
        ));
    }
    match namespace.layout().block_bytes {
        Some(bytes) if bytes == report.logical_block_bytes => Ok(bytes),
        bytes => Err(format!(
            "the controller says that a block has {bytes:?} bytes, the kernel {}",
            report.logical_block_bytes
        )),
    }
}

/// The longest transfer of one command: by the drive (MDTS, ZASL) and its driver, in pages that lie
/// anywhere, in blocks.
fn transfer_bytes_max(device: &Device, block_bytes: u32) -> u64 {
    let queue = |name: &str, unit: u64| {
        device.number_of(&format!("queue/{name}")).map_or(u64::MAX, |n| n.saturating_mul(unit))
    };
    let append_bytes = device.number_of("queue/zone_append_max_bytes").filter(|&bytes| bytes > 0);
    longest_transfer(
        queue("max_hw_sectors_kb", 1024).min(append_bytes.unwrap_or(u64::MAX)),
        queue("max_segments", PAGE_BYTES),
        block_bytes.into(),
    )
}

fn longest_transfer(hardware_bytes: u64, segments_bytes: u64, block_bytes: u64) -> u64 {
    let limit = hardware_bytes.min(segments_bytes).min(BLOCKS_MAX * block_bytes);
    limit - limit % block_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_whole_blocks_within_every_limit() {
        let mib = 1 << 20;
        assert_eq!(longest_transfer(mib, 127 * PAGE_BYTES, 512), 508 << 10);
        assert_eq!(longest_transfer(128 << 10, 127 * PAGE_BYTES, 4096), 128 << 10);
        assert_eq!(longest_transfer(u64::MAX, u64::MAX, 512), 32 * mib, "blocks count in 16 bits");
        assert_eq!(longest_transfer(130 << 10, u64::MAX, 4096), 128 << 10);
    }
}
