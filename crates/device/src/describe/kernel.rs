//! The kernel's tables of the use of devices and files, read once: mounts of every namespace that
//! we may look into, swap spaces, locks, loop devices.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::loops::{Behind, LoopDevice};
use super::tables::{Mount, parse_locks, parse_mountinfo, parse_swaps};
use super::thing::{FileId, Region};
use crate::host::sysfs::{Device, DeviceNumber, System};

/// The kernel's tables.
pub struct Tables {
    mounts: Vec<Mount>,
    swaps: Vec<Swap>,
    locks: Vec<FileId>,
    pub(crate) loops: Vec<LoopDevice>,
}

/// One active swap space.
struct Swap {
    path: PathBuf,
    /// The things behind the path, in our own or another mount namespace.
    behind: Vec<Behind>,
}

impl Tables {
    /// A container sees only its own mounts, so all permitted namespaces are read.
    pub fn read(system: &System) -> Self {
        let processes = one_process_of_each_namespace(system);
        let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        let table = |process: &PathBuf| parse_mountinfo(&read(process.join("mountinfo")));
        let roots: Vec<_> = processes.iter().map(|process| process.join("root")).collect();
        let swaps = parse_swaps(&read(system.proc.join("swaps")));
        Self {
            mounts: processes.iter().flat_map(table).collect(),
            swaps: swaps.into_iter().map(|path| Swap::new(path, &roots)).collect(),
            locks: parse_locks(&read(system.proc.join("locks"))),
            loops: LoopDevice::all(system),
        }
    }

    /// The mount that holds a file with this `st_dev`, or `None` if no table lists it.
    pub fn mount_of(&self, number: DeviceNumber) -> Option<&Mount> {
        self.mounts.iter().find(|mount| mount.number == number)
    }

    /// Mount points of a device, sorted.
    pub(crate) fn mount_points(&self, device: &Device) -> Vec<&str> {
        self.points_of(|mount| {
            mount.number == device.number || source(mount) == Some(Behind::Device(device.number))
        })
    }

    /// Mount points of a file that is mounted without a loop device between (erofs, FUSE), sorted.
    pub(crate) fn mount_points_of_file(&self, file: FileId) -> Vec<&str> {
        self.points_of(|mount| match source(mount) {
            Some(Behind::File(found)) => self.is_same(found, file),
            _ => false,
        })
    }

    fn points_of(&self, is_it: impl Fn(&Mount) -> bool) -> Vec<&str> {
        let found = self.mounts.iter().filter(|mount| is_it(mount));
        let mut points: Vec<_> = found.map(|mount| mount.at.as_str()).collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    pub(crate) fn is_swap(&self, device: &Device) -> bool {
        let number = Behind::Device(device.number);
        let is_it = |swap: &Swap| swap.path == device.node() || swap.behind.contains(&number);
        self.swaps.iter().any(is_it)
    }

    pub(crate) fn is_swap_file(&self, file: FileId) -> bool {
        self.swaps.iter().flat_map(|swap| &swap.behind).any(|behind| self.is_file(behind, file))
    }

    /// Whether a program has locked a part of the file.
    pub(crate) fn is_locked(&self, file: FileId) -> bool {
        self.locks.iter().any(|found| self.is_same(*found, file))
    }

    /// The loop device for `device`, or `None` if it is another kind of device.
    pub(crate) fn loop_device(&self, device: &Device) -> Option<&LoopDevice> {
        self.loops.iter().find(|found| found.device == *device)
    }

    /// Loop devices that show some of these bytes of a block device.
    pub(crate) fn loops_on_device(&self, device: &Device, region: Region) -> Vec<&LoopDevice> {
        self.loops_on(region, |top| match &top.behind {
            Behind::Device(number) => *number == device.number,
            Behind::Named => top.path == device.node(),
            Behind::File(_) => false,
        })
    }

    /// Loop devices that show some of these bytes of a file, which also has this `path`.
    pub(crate) fn loops_on_file(
        &self,
        file: FileId,
        path: &Path,
        region: Region,
    ) -> Vec<&LoopDevice> {
        self.loops_on(region, |top| match &top.behind {
            Behind::Named => top.path == path,
            behind => self.is_file(behind, file),
        })
    }

    fn loops_on(&self, region: Region, is_on: impl Fn(&LoopDevice) -> bool) -> Vec<&LoopDevice> {
        let found = self.loops.iter();
        found.filter(|top| top.window.overlaps(region) && is_on(top)).collect()
    }

    fn is_file(&self, behind: &Behind, file: FileId) -> bool {
        matches!(behind, Behind::File(found) if self.is_same(*found, file))
    }

    /// An overlay shows a file of one of its layers with the inode of that layer, but on a file system of
    /// its own.
    fn is_same(&self, one: FileId, other: FileId) -> bool {
        let overlaid = |file: FileId| self.may_be_overlay(file.on);
        one.inode == other.inode && (one.on == other.on || overlaid(one) || overlaid(other))
    }

    /// If the layers are on several file systems, files of an overlay have anonymous numbers that
    /// no table lists.
    fn may_be_overlay(&self, number: DeviceNumber) -> bool {
        let is_overlay = |mount: &Mount| mount.file_system == "overlay";
        number.major == 0
            && self.mounts.iter().any(is_overlay)
            && self.mount_of(number).is_none_or(is_overlay)
    }
}

impl Swap {
    /// The kernel prints the path as its owner sees it.
    fn new(path: PathBuf, roots: &[PathBuf]) -> Self {
        let elsewhere = |root: &PathBuf| Behind::path(&root.join(path.strip_prefix("/").ok()?));
        let behind = Behind::path(&path).into_iter();
        let behind = behind.chain(roots.iter().filter_map(elsewhere)).collect();
        Self { path, behind }
    }
}

fn source(mount: &Mount) -> Option<Behind> {
    mount.source.is_absolute().then(|| Behind::path(&mount.source)).flatten()
}

/// Our own directory in /proc first, then one of a process in each other mount namespace.
fn one_process_of_each_namespace(system: &System) -> Vec<PathBuf> {
    let namespace = |process: &Path| fs::read_link(process.join("ns/mnt")).ok();
    let own = system.proc.join("self");
    let entries = fs::read_dir(&system.proc).into_iter().flatten().flatten();
    let is_process = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.parse::<u32>().is_ok())
    };
    let processes = entries.map(|entry| entry.path()).filter(is_process);
    let mut others: BTreeMap<_, _> =
        processes.filter_map(|process| Some((namespace(&process)?, process))).collect();
    if let Some(ours) = namespace(&own) {
        others.remove(&ours);
    }
    [own].into_iter().chain(others.into_values()).collect()
}
