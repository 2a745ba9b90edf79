//! Who else uses a device: mounts, swap, devices built on top. Reads tables only.

use std::fs;
use std::path::{Path, PathBuf};

use super::Refusal;
use super::tables::{Mount, parse_mountinfo, parse_swaps};
use crate::shell::quoted_path;
use crate::sysfs::{Device, DeviceNumber, System};

/// How deep a stack of devices is followed; real ones have three or four layers.
const LAYERS_MAX: u32 = 16;

/// The kernel's tables, read once.
pub(crate) struct Tables {
    mounts: Vec<Mount>,
    swaps: Vec<PathBuf>,
}

impl Tables {
    /// Our own mounts and, where we may look, those of the first process: a container sees only
    /// its own.
    pub(crate) fn read(system: &System) -> Self {
        let read = |name: &str| fs::read_to_string(system.proc.join(name)).unwrap_or_default();
        let mut mounts = parse_mountinfo(&read("self/mountinfo"));
        mounts.extend(parse_mountinfo(&read("1/mountinfo")));
        Self { mounts, swaps: parse_swaps(&read("swaps")) }
    }

    /// The mount that a file with this `st_dev` lives on.
    pub(crate) fn mount_of(&self, number: DeviceNumber) -> Option<&Mount> {
        self.mounts.iter().find(|mount| mount.number == number)
    }

    fn mount_points(&self, device: &Device) -> Vec<&str> {
        let is_source = |mount: &Mount| {
            mount.source.is_absolute()
                && DeviceNumber::of_block_node(&mount.source) == Some(device.number)
        };
        let mut points: Vec<_> = self
            .mounts
            .iter()
            .filter(|mount| mount.number == device.number || is_source(mount))
            .map(|mount| mount.at.as_str())
            .collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    fn is_swap(&self, device: &Device) -> bool {
        self.swaps.iter().any(|path| {
            path == &device.node() || DeviceNumber::of_block_node(path) == Some(device.number)
        })
    }
}

/// Every reason not to write to `device`, the most explanatory first.
pub(crate) fn reasons(system: &System, tables: &Tables, device: &Device) -> Vec<Refusal> {
    let family = device.family();
    let mut reasons = Vec::new();
    reasons.extend(family.iter().filter_map(|member| mounted(tables, member)));
    reasons.extend(family.iter().filter_map(|member| swapped(tables, member)));
    for member in &family {
        reasons.extend(held(system, tables, member));
    }
    reasons
}

fn mounted(tables: &Tables, device: &Device) -> Option<Refusal> {
    let points = tables.mount_points(device);
    let first = points.first()?;
    let node = device.node();
    let node = node.display();
    let advice = if points.contains(&"/") {
        "it holds the running system; choose another drive".to_owned()
    } else {
        format!("unmount it first: umount {first}")
    };
    let message = format!("{node} is mounted at {}; {advice}", points.join(", "));
    Some(Refusal { code: "mounted", message })
}

fn swapped(tables: &Tables, device: &Device) -> Option<Refusal> {
    let node = device.node();
    let node = node.display();
    let message = format!("{node} is in use as swap space; switch it off first: swapoff {node}");
    tables.is_swap(device).then_some(Refusal { code: "swap", message })
}

fn held(system: &System, tables: &Tables, device: &Device) -> Vec<Refusal> {
    let node = device.node();
    let node = node.display();
    let refusal = |message| Refusal { code: "held", message };
    let mut reasons = Vec::new();
    for holder in device.holders() {
        let stack = describe_stack(system, tables, &holder, LAYERS_MAX);
        reasons.push(refusal(format!("{node} is part of {stack}; take that apart first")));
    }
    for top in loops_on(system, &node.to_string(), Some(device.number)) {
        let stack = describe_stack(system, tables, &top, LAYERS_MAX);
        let top = top.node();
        reasons.push(refusal(format!(
            "{node} is the backing device of {stack}; detach it first: losetup -d {}",
            quoted_path(&top)
        )));
    }
    if let Some(volume) = btrfs_member(system, device) {
        reasons.push(refusal(format!(
            "{node} is a member of the mounted btrfs volume {volume}; unmount it first"
        )));
    }
    reasons
}

/// `/dev/dm-0 (LVM volume vg-root), mounted at /`, and what is on top of that in turn.
fn describe_stack(system: &System, tables: &Tables, device: &Device, layers: u32) -> String {
    let mut text = device.node().display().to_string();
    text.extend(kind(device).map(|kind| format!(" ({kind})")));
    let points = tables.mount_points(device);
    if !points.is_empty() {
        text.push_str(&format!(", mounted at {}", points.join(", ")));
    }
    if tables.is_swap(device) {
        text.push_str(", in use as swap space");
    }
    let mut above = device.holders();
    above.extend(loops_on(system, &device.node().to_string_lossy(), Some(device.number)));
    if layers > 0 {
        for holder in above {
            let upper = describe_stack(system, tables, &holder, layers - 1);
            text.push_str(&format!(", under {upper}"));
        }
    }
    text
}

fn kind(device: &Device) -> Option<String> {
    if let Some(level) = device.text("md/level") {
        return Some(format!("md {level}"));
    }
    let name = device.text("dm/name")?;
    let uuid = device.text("dm/uuid").unwrap_or_default();
    let kind = match uuid.split('-').next() {
        Some("LVM") => "LVM volume",
        Some("CRYPT") => "encrypted volume",
        Some("mpath") => "multipath device",
        _ => "device-mapper volume",
    };
    Some(format!("{kind} {name}"))
}

/// Loop devices whose backing is the file `path` or the block device with `number`. The kernel
/// takes no exclusive claim for them, so nothing else would stop a write below them.
pub(crate) fn loops_on(system: &System, path: &str, number: Option<DeviceNumber>) -> Vec<Device> {
    let is_on = |device: &Device| {
        device.backing_file().is_some_and(|file| {
            let same_node = number.is_some() && DeviceNumber::of_block_node(&file) == number;
            file == Path::new(path) || same_node
        })
    };
    system.disks().into_iter().filter(is_on).collect()
}

/// The identifier of the btrfs volume that has this device; only mounted ones are listed.
fn btrfs_member(system: &System, device: &Device) -> Option<String> {
    let volumes = fs::read_dir(system.sys.join("fs/btrfs")).ok()?;
    volumes
        .flatten()
        .find(|volume| volume.path().join("devices").join(&device.name).exists())
        .map(|volume| volume.file_name().to_string_lossy().into_owned())
}
