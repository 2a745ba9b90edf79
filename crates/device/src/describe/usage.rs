//! Other users of a device or file: mounts, swap, devices built on top. Reads tables only.

use std::fs;
use std::path::Path;

use target::Refusal;

use super::kernel::{Gap, Tables, UNREADABLE};
use super::loops::{Behind, LoopDevice};
use super::sharing::{Member, Thing, members};
use super::thing::{FileId, Region};
use crate::host::shell::{quoted, quoted_path};
use crate::host::sysfs::{Device, System};

/// Most layers of a stack of devices that are described; real stacks have three or four.
const LAYERS_MAX: u32 = 16;

/// Every reason not to write to `device`, the most explanatory first.
pub(crate) fn reasons(system: &System, tables: &Tables, device: &Device) -> Vec<Refusal> {
    reasons_of(system, tables, &members(system, tables, Thing::Device(device.clone())))
}

/// Every reason not to write to the file at `path`.
pub(crate) fn reasons_for_file(
    system: &System,
    tables: &Tables,
    id: FileId,
    path: &Path,
) -> Vec<Refusal> {
    let file = Thing::File { id, path: path.to_path_buf() };
    reasons_of(system, tables, &members(system, tables, file))
}

fn reasons_of(system: &System, tables: &Tables, members: &[Member]) -> Vec<Refusal> {
    let mut reasons: Vec<_> = tables.gaps().iter().map(Gap::refusal).collect();
    reasons.extend(members.iter().filter_map(|member| mounted(tables, member)));
    reasons.extend(members.iter().filter_map(|member| swapped(tables, member)));
    for member in members {
        reasons.extend(held(system, tables, member, members));
    }
    reasons.extend(members.iter().filter_map(|member| locked(tables, member)));
    reasons.extend(members.iter().filter_map(|member| unknown(tables, member, members)));
    reasons
}

/// A thing that shares bytes with the target, and nobody can tell which.
fn unknown(tables: &Tables, member: &Member, members: &[Member]) -> Option<Refusal> {
    let top = match &member.thing {
        Thing::Device(device) => {
            let top = tables.loop_device(device)?;
            let is_known = match &top.behind {
                Behind::Named => false,
                Behind::File(_) => true,
                Behind::Device(number) => members.iter().any(
                    |member| matches!(&member.thing, Thing::Device(it) if it.number == *number),
                ),
            };
            Some(top).filter(|_| !is_known)
        }
        Thing::File { path, .. } => {
            let len_bytes = fs::metadata(path).map_or(0, |found| found.len());
            let mut unknown = tables.loops.iter().filter(|top| top.behind == Behind::Named);
            unknown.find(|top| top.fits(len_bytes))
        }
    }?;
    let node = quoted_path(&top.device.node());
    let message = format!(
        "{} may be in use: nobody can tell which file is behind {node}, attached as {}; run ssdlab as root where \
         its node is, or detach it: losetup -d {node}",
        member.name(),
        top.path.display()
    );
    Some(Refusal { code: UNREADABLE, message })
}

fn mounted(tables: &Tables, member: &Member) -> Option<Refusal> {
    let points = match &member.thing {
        Thing::Device(device) => tables.mount_points(device),
        Thing::File { id, .. } => tables.mount_points_of_file(*id),
    };
    let first = points.first()?;
    let advice = if points.contains(&"/") {
        "it holds the running system; choose another drive".to_owned()
    } else {
        format!("unmount it first: umount {}", quoted(first))
    };
    let message = format!("{} is mounted at {}; {advice}", member.name(), points.join(", "));
    Some(Refusal { code: "mounted", message })
}

fn swapped(tables: &Tables, member: &Member) -> Option<Refusal> {
    let (is_swap, at) = match &member.thing {
        Thing::Device(device) => (tables.is_swap(device), device.node()),
        Thing::File { id, path } => (tables.is_swap_file(*id), path.clone()),
    };
    is_swap.then(|| swap_refusal(&member.name(), &at))
}

/// The refusal of swap space; `name` is its name, `at` is for `swapoff`.
pub(crate) fn swap_refusal(name: &str, at: &Path) -> Refusal {
    let at = quoted_path(at);
    let message = format!("{name} is in use as swap space; switch it off first: swapoff {at}");
    Refusal { code: "swap", message }
}

/// Databases and virtual machines lock parts of their files.
fn locked(tables: &Tables, member: &Member) -> Option<Refusal> {
    let Thing::File { id, .. } = &member.thing else { return None };
    let message = format!(
        "{} is locked by another program, such as a database or a virtual machine; end it first",
        member.name()
    );
    tables.is_locked(*id).then_some(Refusal { code: "busy", message })
}

fn held(system: &System, tables: &Tables, member: &Member, members: &[Member]) -> Vec<Refusal> {
    let device = match &member.thing {
        Thing::Device(device) => device,
        Thing::File { id, path } => {
            let loops = tables.loops_on_file(*id, path, member.region);
            return held_by_loops(tables, member, &loops, members);
        }
    };
    let name = member.name();
    let mut reasons = Vec::new();
    for holder in
        device.holders().into_iter().filter(|holder| is_other_use(holder, device, members))
    {
        let stack = describe_stack(tables, &holder, LAYERS_MAX);
        reasons.push(refusal(format!("{name} is part of {stack}; take that apart first")));
    }
    let loops = tables.loops_on_device(device, member.region);
    reasons.extend(held_by_loops(tables, member, &loops, members));
    if let Some(volume) = btrfs_member(system, device) {
        reasons.push(refusal(format!(
            "{name} is a member of the mounted btrfs volume {volume}; unmount it first"
        )));
    }
    reasons
}

fn held_by_loops(
    tables: &Tables,
    member: &Member,
    loops: &[&LoopDevice],
    members: &[Member],
) -> Vec<Refusal> {
    let mut others: Vec<_> = loops.iter().filter(|top| !is_among(&top.device, members)).collect();
    others.sort_by_key(|top| !is_used(tables, &top.device));
    let kind = if matches!(member.thing, Thing::File { .. }) { "file" } else { "device" };
    let as_refusal = |top: &&LoopDevice| {
        let stack = describe_stack(tables, &top.device, LAYERS_MAX);
        refusal(format!(
            "{} is the backing {kind} of {stack}; detach it first: losetup -d {}",
            member.name(),
            quoted_path(&top.device.node())
        ))
    };
    others.into_iter().map(as_refusal).collect()
}

fn refusal(message: String) -> Refusal {
    Refusal { code: "held", message }
}

fn is_among(device: &Device, members: &[Member]) -> bool {
    members.iter().any(|member| matches!(&member.thing, Thing::Device(found) if found == device))
}

/// Whether `holder`, which is built on `below`, may have bytes in common with the target, and is not the
/// way that led from the target to `below`. A container of md has no bytes at all.
fn is_other_use(holder: &Device, below: &Device, members: &[Member]) -> bool {
    let is_kept_apart = || {
        let led_here = members.iter().filter_map(|member| match &member.thing {
            Thing::Device(device) => Some(device),
            Thing::File { .. } => None,
        });
        led_here
            .filter(|device| device.slaves().contains(below))
            .any(|device| are_kept_apart(device, holder, below))
    };
    holder.size_bytes() > 0 && !is_among(holder, members) && !is_kept_apart()
}

/// Whether the driver gives two devices on the same one different parts of it: LVM for its volumes,
/// and bcache for the devices it caches. A snapshot of LVM shares the hidden volume `-real` with
/// its origin.
fn are_kept_apart(one: &Device, other: &Device, below: &Device) -> bool {
    let is_lvm = |device: &Device| uuid(device).starts_with("LVM-");
    let is_bcache = |device: &Device| device.name.starts_with("bcache");
    let both = |is_it: &dyn Fn(&Device) -> bool| is_it(one) && is_it(other);
    both(&is_bcache) || (both(&is_lvm) && !uuid(below).ends_with("-real"))
}

fn uuid(device: &Device) -> String {
    device.text("dm/uuid").unwrap_or_default()
}

/// `/dev/dm-0 (LVM volume vg-root), mounted at /`, and what is on top of that in turn.
fn describe_stack(tables: &Tables, device: &Device, layers: u32) -> String {
    let mut text = device.node().display().to_string();
    text.extend(kind(device).map(|kind| format!(" ({kind})")));
    let points = tables.mount_points(device);
    if !points.is_empty() {
        text.push_str(&format!(", mounted at {}", points.join(", ")));
    }
    if tables.is_swap(device) {
        text.push_str(", in use as swap space");
    }
    if layers > 0 {
        for holder in above(tables, device) {
            let upper = describe_stack(tables, &holder, layers - 1);
            text.push_str(&format!(", under {upper}"));
        }
    }
    text
}

/// Partitions in use, holders and loop devices.
fn above(tables: &Tables, device: &Device) -> Vec<Device> {
    let partitions = device.partitions().into_iter();
    let used = partitions.filter(|partition| is_used(tables, partition));
    used.chain(built_on(tables, device)).collect()
}

fn built_on(tables: &Tables, device: &Device) -> Vec<Device> {
    let loops = tables.loops_on_device(device, Region::WHOLE).into_iter();
    [device.holders(), loops.map(|top| top.device.clone()).collect()].concat()
}

fn is_used(tables: &Tables, device: &Device) -> bool {
    let is_mounted = !tables.mount_points(device).is_empty();
    is_mounted || tables.is_swap(device) || !built_on(tables, device).is_empty()
}

fn kind(device: &Device) -> Option<String> {
    if let Some(level) = device.text("md/level") {
        return Some(format!("md {level}"));
    }
    let name = device.text("dm/name")?;
    let kind = match uuid(device).split('-').next() {
        Some("LVM") => "LVM volume",
        Some("CRYPT") => "encrypted volume",
        Some("mpath") => "multipath device",
        _ => "device-mapper volume",
    };
    Some(format!("{kind} {name}"))
}

/// The identifier of the btrfs volume that has this device; only mounted ones are listed.
fn btrfs_member(system: &System, device: &Device) -> Option<String> {
    let volumes = fs::read_dir(system.sys.join("fs/btrfs")).ok()?;
    volumes
        .flatten()
        .find(|volume| volume.path().join("devices").join(&device.name).exists())
        .map(|volume| volume.file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests;
