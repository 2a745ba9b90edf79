//! Two targets of one call must not be the same thing under two names: one run would overwrite the
//! data of the other.
//!
//! A thing is known by its identity, not by a path: a file by its inode, a block device by its
//! number, a drive with two ports by serial number and world-wide name. A loop device is the file
//! behind it. A partition, and a device of the device mapper or md, is only a part of the device
//! below: two of them may differ, one and the whole do not.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use target::{Backing, TargetError, TargetSpec};

use super::device_at;
use crate::describe::report::current_identity;
use crate::host::ioctl;
use crate::host::sysfs::{Device, DeviceNumber, System};

/// Most layers of a stack of devices that are followed; real stacks have three or four.
const LAYERS_MAX: u32 = 16;

/// A mark of identity.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mark {
    /// A file, by device and inode.
    File(u64, u64),
    /// A file that is still to be created, by its path.
    NewFile(PathBuf),
    /// A block device.
    Device(DeviceNumber),
    /// A drive, by serial number and world-wide name.
    Drive(String, String),
}

/// A target as a thing.
#[derive(Debug, Default)]
struct Thing {
    /// A target with one of these marks is the same thing.
    is: Vec<Mark>,
    /// A target with one of these marks as its own holds the thing.
    within: Vec<Mark>,
}

/// Refuses targets of one call that are the same thing. A target that cannot be found is left to be
/// refused when it is opened.
///
/// # Errors
/// [`TargetError::Refused`] with code `same-target`.
pub fn check_apart(specs: &[TargetSpec]) -> Result<(), TargetError> {
    let things: Vec<_> = specs.iter().map(|spec| (spec, Thing::of(spec))).collect();
    for (index, (spec, thing)) in things.iter().enumerate() {
        let other = things[..index].iter().find(|(_, earlier)| earlier.overlaps(thing));
        if let Some((other, _)) = other {
            return Err(TargetError::Refused {
                code: "same-target",
                message: format!(
                    "{other} and {spec} are the same thing, or one is a part of the other: a run on one \
                     would overwrite the other; name it once"
                ),
            });
        }
    }
    Ok(())
}

impl Thing {
    fn of(spec: &TargetSpec) -> Self {
        let system = System::live();
        match spec.backing() {
            Backing::Nothing => Self::default(),
            Backing::File(path) => Self { is: of_file(path), within: Vec::new() },
            Backing::Device(path) => {
                device_at(path).map_or_else(Self::default, |found| Self::device(&system, &found, 0))
            }
        }
    }

    fn device(system: &System, device: &Device, layer: u32) -> Self {
        let mut thing = Self { is: vec![Mark::Device(device.number)], within: Vec::new() };
        if let (Some(serial), Some(wwid)) = current_identity(system, device.number) {
            thing.is.push(Mark::Drive(serial, wwid));
        }
        if layer > LAYERS_MAX {
            return thing;
        }
        let parent = device.parent();
        if parent.is_none() {
            thing.is.extend(behind_loop(system, device, layer));
        }
        for below in device.slaves().iter().chain(&parent) {
            let below = Self::device(system, below, layer + 1);
            thing.within.extend(below.is.into_iter().chain(below.within));
        }
        thing
    }

    fn overlaps(&self, other: &Self) -> bool {
        let has = |marks: &[Mark], mark: &Mark| marks.contains(mark);
        self.is.iter().any(|mark| has(&other.is, mark) || has(&other.within, mark))
            || other.is.iter().any(|mark| has(&self.within, mark))
    }
}

fn of_file(path: &Path) -> Vec<Mark> {
    match fs::metadata(path) {
        Ok(found) => vec![Mark::File(found.dev(), found.ino())],
        Err(_) => new_path(path).map(Mark::NewFile).into_iter().collect(),
    }
}

/// The path at which a file would be created, with all symbolic links resolved, or `None` if it
/// cannot be.
fn new_path(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?;
    Some(parent.join(path.file_name()?))
}

/// The file or device behind a loop device; empty for any other device.
fn behind_loop(system: &System, device: &Device, layer: u32) -> Vec<Mark> {
    let Some(path) = device.backing_file() else { return Vec::new() };
    let node = File::open(device.node()).ok();
    let asked = node.and_then(|node| ioctl::loop_status(node.as_fd()).ok());
    // The recorded path may lead to another file by now, but is better than nothing.
    let Some(status) = asked else { return of_file(&path) };
    if status.device_number == 0 {
        return vec![Mark::File(status.on, status.inode)];
    }
    let below = system.by_number(DeviceNumber::from_raw(status.device_number));
    below.map_or_else(Vec::new, |below| Thing::device(system, &below, layer + 1).is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::machine::Machine;

    fn refused(targets: &[String]) -> bool {
        let specs: Vec<TargetSpec> = targets.iter().map(|text| text.parse().unwrap()).collect();
        match check_apart(&specs) {
            Err(TargetError::Refused { code, message }) => {
                assert!(
                    message.contains(&targets[0]) && message.contains(&targets[1]),
                    "{message}"
                );
                code == "same-target"
            }
            other => other.is_err(),
        }
    }

    #[test]
    fn a_file_is_known_under_every_name() {
        let dir = tempfile::tempdir().unwrap();
        let name = |name: &str| format!("file:{}?size=1MiB", dir.path().join(name).display());
        fs::write(dir.path().join("a"), "a").unwrap();
        fs::hard_link(dir.path().join("a"), dir.path().join("hard")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("soft")).unwrap();
        fs::write(dir.path().join("b"), "b").unwrap();
        for other in ["a", "hard", "soft", "../a", "./a"] {
            let other =
                other.replace("..", &format!("../{}", dir.path().file_name().unwrap().display()));
            assert!(refused(&[name("a"), name(&other)]), "{other}");
        }
        assert!(!refused(&[name("a"), name("b")]));
        std::os::unix::fs::symlink(".", dir.path().join("here")).unwrap();
        for other in ["new", "./new", "here/new"] {
            assert!(refused(&[name("new"), name(other)]), "{other}");
        }
        assert!(!refused(&[name("new"), name("newer")]));
    }

    #[test]
    fn a_part_overlaps_the_whole_and_no_other_part() {
        let machine = Machine::new();
        let disk = machine.device("sda", "250:0", &[]);
        let first = machine.device("sda/sda1", "250:1", &[("partition", "1")]);
        let second = machine.device("sda/sda2", "250:2", &[("partition", "2")]);
        let volume = machine.device("dm-0", "250:90", &[("dm/name", "volume")]);
        machine.holds("dm-0", "sda/sda1");
        let overlap = |one: &Device, other: &Device| {
            let thing = |device| Thing::device(&machine.system, device, 0);
            let answers = [thing(one).overlaps(&thing(other)), thing(other).overlaps(&thing(one))];
            assert_eq!(answers[0], answers[1], "{} and {}", one.name, other.name);
            answers[0]
        };
        assert!(overlap(&disk, &disk) && overlap(&disk, &first) && overlap(&disk, &second));
        assert!(overlap(&volume, &first) && overlap(&volume, &disk), "built on a part of it");
        assert!(!overlap(&first, &second) && !overlap(&volume, &second));
    }

    #[test]
    fn a_drive_with_two_ports_and_a_file_behind_two_loop_devices_are_known() {
        let machine = Machine::new();
        let names = |wwid| [("device/serial", "S1"), ("wwid", wwid)];
        let one = machine.device("sda", "250:0", &names("naa.5"));
        let port = machine.device("sdb", "250:16", &names("naa.5"));
        let other = machine.device("sdc", "250:32", &names("naa.6"));
        let image = machine.dir.path().join("image");
        fs::write(&image, "").unwrap();
        let backing = [("loop/backing_file", image.to_str().unwrap())];
        let [first, second] = [("loop91", "250:91"), ("loop92", "250:92")]
            .map(|(name, number)| machine.device(name, number, &backing));
        let thing = |device| Thing::device(&machine.system, device, 0);
        assert!(thing(&one).overlaps(&thing(&port)));
        assert!(!thing(&one).overlaps(&thing(&other)), "another namespace of the drive");
        assert!(thing(&first).overlaps(&thing(&second)));
        let file = Thing { is: of_file(&image), within: Vec::new() };
        assert!(thing(&first).overlaps(&file) && file.overlaps(&thing(&second)));
    }

    #[test]
    fn what_is_made_anew_for_each_run_may_be_named_twice() {
        let twice = |text: &str| vec![text.to_owned(); 2];
        assert!(!refused(&twice("sim:ideal")) && !refused(&twice("null:")));
    }
}
