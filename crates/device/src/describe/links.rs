//! Links and devices that several targets share: the traffic of one may slow down another.
//!
//! Source: the tree of devices in sysfs. The lowest directory that the ways to two drives have in common is the last
//! thing that they share: a controller, a port, a switch, a hub. Host bridges and virtual buses are none, because all
//! devices of a machine share them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use target::{Backing, TargetSpec};

use super::kernel::Tables;
use super::loops::{Behind, LoopDevice};
use crate::host::sysfs::{Device, DeviceNumber, System};

/// Most layers of a stack of devices that are followed; real stacks have three or four.
const LAYERS_MAX: u32 = 16;

/// A link or a device that several targets share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLink {
    /// Its name, e.g. `PCIe switch 0000:03:00.0`.
    pub name: String,
    /// The targets, as places in the list.
    pub targets: Vec<usize>,
}

/// The links that these targets share, the nearest one of each two.
pub fn shared(specs: &[TargetSpec]) -> Vec<SharedLink> {
    let system = System::live();
    let tables = Tables::read(&system);
    let search = Search { system: &system, tables: &tables };
    let ends: Vec<_> = specs.iter().map(|spec| search.of_target(spec)).collect();
    search.shared(&ends)
}

/// The end of the way to a target.
#[derive(Debug)]
enum End {
    Drive(Device),
    /// A file system without a drive of its own, by its device number and type.
    FileSystem(DeviceNumber, String),
}

struct Search<'a> {
    system: &'a System,
    tables: &'a Tables,
}

impl Search<'_> {
    /// The drives and file systems that hold the bytes of a target; none for a simulated one.
    fn of_target(&self, spec: &TargetSpec) -> Vec<End> {
        let on = |path: &Path| {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let found =
                fs::metadata(path).or_else(|_| fs::metadata(parent.unwrap_or(Path::new("."))));
            found.ok().map(|found| DeviceNumber::from_raw(found.dev()))
        };
        match spec.backing() {
            Backing::Nothing => Vec::new(),
            Backing::File(path) => on(path).map_or_else(Vec::new, |on| self.of_file_system(on, 0)),
            Backing::Device(path) => {
                self.at(path).map_or_else(Vec::new, |device| self.of_device(&device, 0))
            }
        }
    }

    /// The block device that a path leads to.
    fn at(&self, path: &Path) -> Option<Device> {
        let node = fs::canonicalize(path).ok()?;
        let block = DeviceNumber::of_block_node(&node);
        let generic = || self.system.namespace_of_generic(DeviceNumber::of_char_node(&node)?);
        block.map_or_else(generic, |number| self.system.by_number(number))
    }

    fn of_device(&self, device: &Device, layer: u32) -> Vec<End> {
        let (disk, layer) = (device.disk(), layer + 1);
        let slaves = disk.slaves();
        match LoopDevice::new(disk.clone()).map(|found| found.behind) {
            _ if layer > LAYERS_MAX => Vec::new(),
            Some(Behind::File(file)) => self.of_file_system(file.on, layer),
            Some(Behind::Device(number)) => self.of_number(number, layer),
            Some(Behind::Named) => Vec::new(),
            None if slaves.is_empty() => vec![End::Drive(disk)],
            None => slaves.iter().flat_map(|below| self.of_device(below, layer)).collect(),
        }
    }

    fn of_number(&self, number: DeviceNumber, layer: u32) -> Vec<End> {
        let device = self.system.by_number(number);
        device.map_or_else(Vec::new, |device| self.of_device(&device, layer))
    }

    /// Some file systems have a number of their own and name their device in the table of mounts only.
    fn of_file_system(&self, on: DeviceNumber, layer: u32) -> Vec<End> {
        let mount = self.tables.mount_of(on);
        let source = mount.and_then(|mount| DeviceNumber::of_block_node(&mount.source));
        let drives =
            [Some(on), source].into_iter().flatten().map(|number| self.of_number(number, layer));
        let drives = drives.into_iter().find(|drives| !drives.is_empty());
        let kind = || mount.map_or_else(|| "unknown".to_owned(), |mount| mount.file_system.clone());
        drives.unwrap_or_else(|| vec![End::FileSystem(on, kind())])
    }

    /// The links of each two of these targets, those of one name together.
    fn shared(&self, targets: &[Vec<End>]) -> Vec<SharedLink> {
        let mut links: Vec<SharedLink> = Vec::new();
        for (second, ends) in targets.iter().enumerate() {
            for (first, earlier) in targets[..second].iter().enumerate() {
                let pairs =
                    ends.iter().flat_map(|one| earlier.iter().map(move |other| (one, other)));
                for name in pairs.filter_map(|(one, other)| self.between(one, other)) {
                    add(&mut links, name, [first, second]);
                }
            }
        }
        links
    }

    /// The last thing on the ways to both ends.
    fn between(&self, one: &End, other: &End) -> Option<String> {
        match (one, other) {
            (End::Drive(one), End::Drive(other)) if one.number == other.number => {
                Some(format!("drive {}", one.node().display()))
            }
            (End::Drive(one), End::Drive(other)) => {
                self.fork(&one.connection(), &other.connection())
            }
            (End::FileSystem(one, kind), End::FileSystem(other, _)) if one == other => {
                Some(format!("file system ({kind})"))
            }
            _ => None,
        }
    }

    /// The name of the place where two ways of sysfs part.
    fn fork(&self, one: &Path, other: &Path) -> Option<String> {
        let root = fs::canonicalize(self.system.sys.join("devices")).ok()?;
        let common =
            one.components().zip(other.components()).take_while(|(one, other)| one == other);
        let common: PathBuf = common.map(|(name, _)| name).collect();
        let mut dirs = common.ancestors().take_while(|dir| dir.starts_with(&root) && **dir != root);
        dirs.find_map(name)
    }
}

fn add(links: &mut Vec<SharedLink>, name: String, pair: [usize; 2]) {
    let known = links.iter().position(|link| link.name == name).unwrap_or_else(|| {
        links.push(SharedLink { name, targets: Vec::new() });
        links.len() - 1
    });
    let targets = &mut links[known].targets;
    targets.extend(pair);
    targets.sort_unstable();
    targets.dedup();
}

/// The name of a directory of sysfs as a link, or `None` if it is none.
fn name(dir: &Path) -> Option<String> {
    let name = dir.file_name()?.to_str()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_numbered = |prefix: &str| name.strip_prefix(prefix).is_some_and(is_number);
    let numbered = [
        ("nvme", "NVMe controller"),
        ("ata", "SATA port"),
        ("host", "SCSI host"),
        ("usb", "USB bus"),
    ];
    if let Some((_, kind)) = numbered.into_iter().find(|(prefix, _)| is_numbered(prefix)) {
        return Some(format!("{kind} {name}"));
    }
    if name.starts_with("expander-") {
        return Some(format!("SAS {name}"));
    }
    // A port of a hub, by the ports on the way to it: `2-1.4`.
    if let Some((bus, ports)) = name.split_once('-')
        && is_number(bus)
        && ports.split('.').all(is_number)
    {
        return Some(format!("USB hub {name}"));
    }
    let class = fs::read_to_string(dir.join("class")).ok()?;
    let is_at_root = || dir.parent()?.file_name()?.to_str().map(|name| name.starts_with("pci"));
    // PCI: base class and subclass.
    let kind = match class.trim().strip_prefix("0x")?.get(..4)? {
        "0604" if is_at_root() == Some(true) => "PCIe root port",
        "0604" => "PCIe switch",
        "0c03" => "USB controller",
        class if class.starts_with("01") => "HBA",
        _ => "PCI device",
    };
    Some(format!("{kind} {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::machine::Machine;

    const BRIDGE: &str = "0x060400";
    /// Bridge, root port, switch with two ports, and a root port of its own, each with a drive; then a SATA
    /// controller with two ports and a USB controller with two buses.
    const DRIVES: [(&str, &str); 8] = [
        (
            "pci0000:00/0000:00:1b.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/nvme/nvme0/nvme0n1",
            "250:0",
        ),
        (
            "pci0000:00/0000:00:1b.0/0000:01:00.0/0000:02:01.0/0000:04:00.0/nvme/nvme1/nvme1n1",
            "250:1",
        ),
        (
            "pci0000:00/0000:00:1b.0/0000:01:00.0/0000:02:01.0/0000:04:00.0/nvme/nvme1/nvme1n2",
            "250:2",
        ),
        ("pci0000:00/0000:00:1c.0/0000:05:00.0/nvme/nvme2/nvme2n1", "250:3"),
        ("pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda", "250:4"),
        ("pci0000:00/0000:00:17.0/ata2/host1/target1:0:0/1:0:0:0/block/sdb", "250:5"),
        (
            "pci0000:00/0000:00:14.0/usb2/2-1/2-1.1/2-1.1:1.0/host6/target6:0:0/6:0:0:0/block/sdc",
            "250:6",
        ),
        (
            "pci0000:00/0000:00:14.0/usb2/2-1/2-1.2/2-1.2:1.0/host7/target7:0:0/7:0:0:0/block/sdd",
            "250:7",
        ),
    ];

    fn machine() -> (Machine, Vec<Device>) {
        let machine = Machine::new();
        let drives = DRIVES.map(|(path, number)| machine.device(path, number, &[]));
        for (dir, class) in [
            ("0000:00:1b.0", BRIDGE),
            ("0000:00:1b.0/0000:01:00.0", BRIDGE),
            ("0000:00:1b.0/0000:01:00.0/0000:02:00.0", BRIDGE),
            ("0000:00:1b.0/0000:01:00.0/0000:02:01.0", BRIDGE),
            ("0000:00:1c.0", BRIDGE),
            ("0000:00:17.0", "0x010601"),
            ("0000:00:14.0", "0x0c0330"),
        ] {
            let dir = machine.system.sys.join("devices/pci0000:00").join(dir);
            fs::write(dir.join("class"), format!("{class}\n")).unwrap();
        }
        (machine, drives.to_vec())
    }

    /// The links between these devices of a machine.
    fn links(machine: &Machine, devices: &[Device]) -> Vec<(String, Vec<usize>)> {
        let tables = Tables::read(&machine.system);
        let search = Search { system: &machine.system, tables: &tables };
        let ends: Vec<_> = devices.iter().map(|device| search.of_device(device, 0)).collect();
        search.shared(&ends).into_iter().map(|link| (link.name, link.targets)).collect()
    }

    #[test]
    fn the_last_common_thing_on_the_way_is_named() {
        let (machine, drives) = machine();
        let between = |one: usize, other: usize| {
            let links = links(&machine, &[drives[one].clone(), drives[other].clone()]);
            links.into_iter().next().map(|(name, _)| name)
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(between(0, 1), named("PCIe switch 0000:01:00.0"));
        assert_eq!(between(1, 2), named("NVMe controller nvme1"));
        assert_eq!(between(0, 3), None, "a host bridge is no link");
        assert_eq!(between(4, 5), named("HBA 0000:00:17.0"));
        assert_eq!(between(6, 7), named("USB hub 2-1"));
        assert_eq!(between(3, 6), None);
    }

    #[test]
    fn a_link_of_several_targets_is_told_once() {
        let (machine, drives) = machine();
        let switch = ("PCIe switch 0000:01:00.0".to_owned(), vec![0, 2, 3]);
        let controller = ("NVMe controller nvme1".to_owned(), vec![2, 3]);
        let chosen = [0, 3, 1, 2].map(|index| drives[index].clone());
        assert_eq!(links(&machine, &chosen), [switch, controller]);
    }

    #[test]
    fn a_port_of_the_root_and_a_bus_may_be_shared_as_well() {
        let machine = Machine::new();
        let functions = ["0", "1"].map(|function| {
            let path = format!(
                "pci0000:00/0000:00:1b.0/0000:01:00.{function}/nvme/nvme{function}/nvme{function}n1"
            );
            machine.device(&path, &format!("250:{function}"), &[])
        });
        let port = machine.system.sys.join("devices/pci0000:00/0000:00:1b.0/class");
        fs::write(port, format!("{BRIDGE}\n")).unwrap();
        let named = |name: &str| vec![(name.to_owned(), vec![0, 1])];
        assert_eq!(links(&machine, &functions), named("PCIe root port 0000:00:1b.0"));
        let sticks = ["1", "2"].map(|port| {
            let path = format!(
                "pci0000:00/0000:00:14.0/usb2/2-{port}/2-{port}:1.0/host{port}/block/sd{port}"
            );
            machine.device(&path, &format!("251:{port}"), &[])
        });
        assert_eq!(links(&machine, &sticks), named("USB bus usb2"));
    }

    #[test]
    fn parts_and_files_of_one_drive_share_it() {
        let (machine, drives) = machine();
        let image = machine.dir.path().join("image");
        fs::write(&image, "").unwrap();
        let backing = [("loop/backing_file", image.to_str().unwrap())];
        let loops = ["91", "92"].map(|number| {
            machine.device(&format!("loop{number}"), &format!("250:{number}"), &backing)
        });
        let named = |name: &str| vec![(name.to_owned(), vec![0, 1])];
        assert_eq!(links(&machine, &loops), named("file system (unknown)"));
        let on = DeviceNumber::from_raw(fs::metadata(&image).unwrap().dev());
        machine.device("vda", &on.to_string(), &[]);
        assert_eq!(links(&machine, &loops), named("drive /dev/vda"));
        let path = format!("{}/sda1", DRIVES[4].0);
        let part = machine.device(&path, "250:93", &[("partition", "1")]);
        assert_eq!(links(&machine, &[drives[4].clone(), part]), named("drive /dev/sda"));
    }

    #[test]
    fn a_namespace_of_several_controllers_counts_as_that_of_the_first() {
        let (machine, drives) = machine();
        let at = |path: &str| machine.system.sys.join("devices").join(path);
        let path = "virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
        let namespace = machine.device(path, "250:94", &[]);
        let controller = at(DRIVES[1].0).parent().unwrap().to_owned();
        std::os::unix::fs::symlink(controller, at(path).with_file_name("nvme1")).unwrap();
        let links = links(&machine, &[drives[0].clone(), namespace]);
        assert_eq!(links, [("PCIe switch 0000:01:00.0".to_owned(), vec![0, 1])]);
    }

    #[test]
    fn targets_without_a_drive_share_nothing() {
        let specs = ["sim:ideal", "null:", "file:/nowhere/at/all?size=1MiB"];
        let specs = specs.map(|text| text.parse::<TargetSpec>().unwrap());
        assert_eq!(shared(&specs), []);
    }
}
