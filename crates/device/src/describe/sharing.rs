//! All devices and files that share bytes with a target: writing to one is writing to all.
//!
//! The search goes from a disk to its partitions and back, down to the devices below (slaves, the
//! file or device behind a loop device, and so on to the end) and sideways to other paths to the
//! same drive. It keeps byte ranges, so that neighbours on the same disk or in the same image do
//! not count. It does not follow devices built *on* one of them: such a device is a reason to
//! refuse by itself.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::kernel::Tables;
use super::loops::{Behind, LoopDevice};
use super::thing::{FileId, Region};
use crate::host::sysfs::{Device, System};

/// A device or file that holds bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    Device(Device),
    File { id: FileId, path: PathBuf },
}

/// The way in which a thing shares bytes with the target; the device is the one that leads to it.
#[derive(Clone, Debug)]
pub(crate) enum Relation {
    /// It is the target.
    Target,
    /// A partition of the device, or the disk of the partition: its name says so.
    Partition,
    /// The device is built on it.
    Slave(Device),
    /// The loop device shows it.
    Backing(Device),
    /// The same drive as the device, over another cable or controller.
    OtherPath(Device),
    /// The same file as the one at this path, in an overlay or a layer of one.
    Layer(PathBuf),
}

/// One of the things that share bytes with the target.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) thing: Thing,
    /// Its bytes that are also the target's.
    pub(crate) region: Region,
    pub(crate) relation: Relation,
}

impl Member {
    /// Its name, and its relation to the target.
    pub(crate) fn name(&self) -> String {
        let (name, kind) = match &self.thing {
            Thing::Device(device) => (device.node(), "device"),
            Thing::File { path, .. } => (path.clone(), "file"),
        };
        let name = name.display();
        match &self.relation {
            Relation::Target | Relation::Partition => name.to_string(),
            Relation::Slave(of) => format!("{name} (a part of {})", of.node().display()),
            Relation::Backing(of) => {
                format!("{name} (the backing {kind} of {})", of.node().display())
            }
            Relation::OtherPath(to) => {
                format!("{name} (another path to {})", to.node().display())
            }
            Relation::Layer(of) => {
                format!("{name} (the same file in an overlay as {})", of.display())
            }
        }
    }

    /// Whether the kernel keeps others away from it as soon as the target is claimed.
    pub(crate) fn is_claimed_with_the_target(&self) -> bool {
        matches!(self.relation, Relation::Target | Relation::Partition | Relation::Slave(_))
    }

    /// Whether both are the same device, or the same file by any of its names.
    pub(crate) fn is_same_thing(&self, other: &Self) -> bool {
        match (&self.thing, &other.thing) {
            (Thing::File { id, .. }, Thing::File { id: other, .. }) => id == other,
            (one, other) => one == other,
        }
    }

    fn covers(&self, other: &Self) -> bool {
        self.is_same_thing(other) && self.region.contains(other.region)
    }
}

/// All things that share bytes with `target`, itself first and the nearest next.
pub(crate) fn members(system: &System, tables: &Tables, target: Thing) -> Vec<Member> {
    let mut members =
        vec![Member { thing: target, region: Region::WHOLE, relation: Relation::Target }];
    let mut next = 0;
    while let Some(member) = members.get(next) {
        for found in neighbours(system, tables, member) {
            if !members.iter().any(|known| known.covers(&found)) {
                members.push(found);
            }
        }
        next += 1;
    }
    members
}

fn neighbours(system: &System, tables: &Tables, member: &Member) -> Vec<Member> {
    let device = match &member.thing {
        Thing::Device(device) => device,
        Thing::File { path, .. } => return in_overlays(tables, path, member.region),
    };
    let mut found = partitions(device, member.region);
    if let Some(disk) = device.parent() {
        let region = member.region.below(window(device));
        found.push(Member { thing: Thing::Device(disk), region, relation: Relation::Partition });
    }
    found.extend(slaves(device));
    found.extend(tables.loop_device(device).and_then(|top| backing(system, top, member.region)));
    found.extend(other_paths(system, device, member.region));
    found
}

/// The byte range of a partition on its disk.
fn window(partition: &Device) -> Region {
    Region::of_len(partition.start_bytes(), partition.size_bytes())
}

fn partitions(disk: &Device, region: Region) -> Vec<Member> {
    let as_member = |partition: Device| {
        let region = region.seen_through(window(&partition))?;
        let thing = Thing::Device(partition);
        Some(Member { thing, region, relation: Relation::Partition })
    };
    disk.partitions().into_iter().filter_map(as_member).collect()
}

/// Only their driver knows the place of the bytes on them.
fn slaves(device: &Device) -> impl Iterator<Item = Member> {
    device.slaves().into_iter().map(|slave| Member {
        thing: Thing::Device(slave),
        region: Region::WHOLE,
        relation: Relation::Slave(device.clone()),
    })
}

fn backing(system: &System, top: &LoopDevice, region: Region) -> Option<Member> {
    let thing = match &top.behind {
        Behind::File(id) => Thing::File { id: *id, path: top.path.clone() },
        Behind::Device(number) => Thing::Device(system.by_number(*number)?),
        Behind::Named => return None,
    };
    let relation = Relation::Backing(top.device.clone());
    Some(Member { thing, region: region.below(top.window), relation })
}

/// The same file in overlays and their layers.
fn in_overlays(tables: &Tables, path: &Path, region: Region) -> Vec<Member> {
    let as_member = |other: PathBuf| {
        let found = fs::metadata(&other).ok().filter(Metadata::is_file)?;
        let thing = Thing::File { id: FileId::of(&found), path: other };
        Some(Member { thing, region, relation: Relation::Layer(path.to_owned()) })
    };
    tables.other_paths(path).into_iter().filter_map(as_member).collect()
}

/// Drives with the same world-wide name and size.
fn other_paths(system: &System, device: &Device, region: Region) -> Vec<Member> {
    let Some(wwid) = device.wwid() else { return Vec::new() };
    let same = |disk: &Device| {
        disk != device
            && disk.wwid().as_ref() == Some(&wwid)
            && disk.size_bytes() == device.size_bytes()
    };
    let found = system.disks().into_iter().filter(same);
    let relation = Relation::OtherPath(device.clone());
    let as_member =
        |disk| Member { thing: Thing::Device(disk), region, relation: relation.clone() };
    found.map(as_member).collect()
}
