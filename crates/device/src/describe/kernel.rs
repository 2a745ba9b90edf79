//! The kernel's tables of the use of devices and files, read once: mounts of every namespace that
//! we may look into, swap spaces, locks, loop devices.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use target::{Refusal, TargetError};

use super::loops::{Behind, LoopDevice};
use super::overlay::Overlay;
use super::tables::{Mount, parse_locks, parse_mountinfo, parse_swaps};
use super::thing::{FileId, Region};
use crate::host::sysfs::{Device, DeviceNumber, System};

/// Code of a refusal because nobody can tell whether the thing is in use.
pub(crate) const UNREADABLE: &str = "unreadable";

/// The kernel's tables.
pub struct Tables {
    mounts: Vec<Mount>,
    overlays: Vec<Overlay>,
    swaps: Vec<Swap>,
    locks: Vec<FileId>,
    /// Files with locks, also those that this process has taken on the whole file.
    all_locks: Vec<FileId>,
    pub(crate) loops: Vec<LoopDevice>,
    gaps: Vec<Gap>,
}

/// A table that cannot be read, so that nobody knows which things are in use.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    table: PathBuf,
    reason: String,
}

/// One active swap space.
struct Swap {
    path: PathBuf,
    /// The things behind the path, in our own or another mount namespace.
    behind: Vec<Behind>,
}

impl Gap {
    fn new(table: &Path, reason: &impl ToString) -> Self {
        Self { table: table.to_owned(), reason: reason.to_string() }
    }

    /// The refusal of everything that the table could name.
    pub(crate) fn refusal(&self) -> Refusal {
        Refusal { code: UNREADABLE, message: self.message() }
    }

    fn message(&self) -> String {
        format!(
            "cannot read {} ({}), which tells what is in use, so that nothing counts as free; give ssdlab the \
             /proc and /sys of the kernel",
            self.table.display(),
            self.reason
        )
    }
}

impl Tables {
    /// A container sees only its own mounts, so all permitted namespaces are read.
    pub fn read(system: &System) -> Self {
        let mut gaps = Vec::new();
        let mut read = |path: PathBuf| {
            let text = system.proc_table(&path);
            text.unwrap_or_else(|error| {
                gaps.push(Gap::new(&path, &error));
                String::new()
            })
        };
        let (swaps, locks) = (system.proc.join("swaps"), system.proc.join("locks"));
        let swaps = if has_no_swap(&swaps) { String::new() } else { read(swaps) };
        let own = fs::read_link(system.proc.join("self")).unwrap_or_default();
        let locks = read(locks);
        let all_locks = parse_locks(&locks, "");
        let locks = parse_locks(&locks, &own.to_string_lossy());
        gaps.extend(gaps_in_sysfs(system));
        let (mut roots, mut mounts, mut overlays) = (Vec::new(), Vec::new(), Vec::new());
        for namespace in namespaces(system) {
            let (process, found) = match namespace.mounts(system) {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(gap) => {
                    gaps.push(gap);
                    continue;
                }
            };
            let is_own = roots.is_empty();
            if is_own {
                gaps.extend(covered(system, &found));
            }
            let root = if is_own { PathBuf::from("/") } else { process.join("root") };
            overlays.extend(found.iter().filter_map(|mount| Overlay::new(mount, &root)));
            roots.push(process.join("root"));
            mounts.extend(found);
        }
        let swaps = parse_swaps(&swaps).into_iter().map(|path| Swap::new(path, &roots)).collect();
        let mut loops = LoopDevice::all(system);
        for top in &mut loops {
            let others = other_paths(&overlays, &top.path);
            top.also = others.iter().filter_map(|path| Behind::path(path)).collect();
        }
        Self { mounts, overlays, swaps, locks, all_locks, loops, gaps }
    }

    /// Tables that could not be read.
    pub(crate) fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Makes sure that all tables could be read.
    ///
    /// # Errors
    /// [`TargetError::Unsupported`] with the name of the first one that could not be.
    pub(crate) fn require_whole(&self) -> Result<(), TargetError> {
        self.gaps.first().map_or(Ok(()), |gap| Err(TargetError::Unsupported(gap.message())))
    }

    /// The other paths of a file that lies in an overlay or in a layer of one; they may lead nowhere.
    pub(crate) fn other_paths(&self, path: &Path) -> Vec<PathBuf> {
        other_paths(&self.overlays, path)
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

    /// Whether this process alone has locked the file.
    pub(crate) fn is_locked_by_us(&self, file: FileId) -> bool {
        !self.is_locked(file) && self.all_locks.iter().any(|found| self.is_same(*found, file))
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
            behind => [behind].into_iter().chain(&top.also).any(|it| self.is_file(it, file)),
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

fn other_paths(overlays: &[Overlay], path: &Path) -> Vec<PathBuf> {
    let Ok(path) = fs::canonicalize(path) else { return Vec::new() };
    overlays.iter().flat_map(|overlay| overlay.other_paths(&path)).collect()
}

/// One mount namespace, by the directories of its processes in /proc.
struct Namespace {
    link: PathBuf,
    processes: Vec<PathBuf>,
    /// Whether it is our own, whose table must be there.
    is_own: bool,
}

impl Namespace {
    /// Its mounts with the process that showed them, or `None` if all of its processes have ended.
    fn mounts(&self, system: &System) -> Result<Option<(PathBuf, Vec<Mount>)>, Gap> {
        let mut unread = None;
        for process in &self.processes {
            let table = process.join("mountinfo");
            match system.proc_table(&table) {
                Ok(text) => {
                    let mounts = parse_mountinfo(&text);
                    if mounts.len() < text.lines().count() {
                        return Err(Gap::new(&table, &"a line of it is in an unknown form"));
                    }
                    return Ok(Some((process.clone(), mounts)));
                }
                // A process that has ended has no table.
                Err(error) if error.kind() == ErrorKind::NotFound && !self.is_own => {}
                Err(error) if self.is_own || self.is_of(process) => {
                    unread = Some(Gap::new(&table, &error));
                }
                Err(_) => {}
            }
        }
        unread.map_or(Ok(None), Err)
    }

    fn is_of(&self, process: &Path) -> bool {
        namespace(process).is_some_and(|link| link == self.link)
    }
}

fn namespace(process: &Path) -> Option<PathBuf> {
    fs::read_link(process.join("ns/mnt")).ok()
}

/// Our own namespace first, then each other one that we may look into.
fn namespaces(system: &System) -> Vec<Namespace> {
    let own = system.proc.join("self");
    let entries = fs::read_dir(&system.proc).into_iter().flatten().flatten();
    let is_process = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.parse::<u32>().is_ok())
    };
    let mut others: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for process in entries.map(|entry| entry.path()).filter(is_process) {
        if let Some(link) = namespace(&process) {
            others.entry(link).or_default().push(process);
        }
    }
    let link = namespace(&own).unwrap_or_default();
    others.remove(&link);
    let others =
        others.into_iter().map(|(link, processes)| Namespace { link, processes, is_own: false });
    [Namespace { link, processes: vec![own], is_own: true }].into_iter().chain(others).collect()
}

/// A kernel without swap has no table of it.
fn has_no_swap(table: &Path) -> bool {
    let is_missing = fs::symlink_metadata(table).is_err_and(|it| it.kind() == ErrorKind::NotFound);
    is_missing && rustix::system::sysinfo().totalswap == 0
}

/// Directories of sysfs that cannot be read.
fn gaps_in_sysfs(system: &System) -> Vec<Gap> {
    let dir = |name: &str| {
        let path = system.sys.join(name);
        system.require_sys_dir(&path).err().map(|error| (path, error))
    };
    let mut gaps: Vec<_> = ["block", "dev/block"].into_iter().filter_map(dir).collect();
    // It is there only with btrfs.
    gaps.extend(dir("fs/btrfs").filter(|(_, error)| error.kind() != ErrorKind::NotFound));
    let undescribed = system.undescribed_disks();
    let gaps = gaps.iter().map(|(path, error)| Gap::new(path, error));
    gaps.chain(undescribed.iter().map(|link| Gap::new(link, &"it leads nowhere"))).collect()
}

/// Places in the trees of the kernel that somebody has mounted something over.
fn covered(system: &System, mounts: &[Mount]) -> Vec<Gap> {
    let disks = system.disks();
    let describes = |at: &Path| {
        let is_in = |dir: &str| at.starts_with(system.sys.join(dir));
        ["block", "dev/block", "fs/btrfs"].into_iter().any(is_in)
            || at != system.sys && disks.iter().any(|disk| disk.is_described_in(at))
    };
    let over = mounts
        .iter()
        .map(|mount| Path::new(&mount.at))
        .filter(|at| at.starts_with(&system.sys) && describes(at));
    over.map(|at| Gap::new(at, &"something else is mounted in its place")).collect()
}
