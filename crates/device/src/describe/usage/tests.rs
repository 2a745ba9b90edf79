//! Machines that are not at hand, as trees of files: what is built on what, and who uses it.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use super::*;
use crate::host::machine::Machine;

const MIB: u64 = 1 << 20;

impl Machine {
    fn reasons(&self, device: &Device) -> Vec<Refusal> {
        reasons(&self.system, &Tables::read(&self.system), device)
    }

    pub(crate) fn codes(&self, device: &Device) -> Vec<&'static str> {
        self.reasons(device).iter().map(|reason| reason.code).collect()
    }

    fn file_reasons(&self, path: &Path) -> Vec<Refusal> {
        let id = FileId::of(&fs::metadata(path).unwrap());
        reasons_for_file(&self.system, &Tables::read(&self.system), id, path)
    }

    /// A file of 4 MiB beside the trees.
    fn image(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::File::create(&path).unwrap().set_len(4 * MIB).unwrap();
        path
    }

    fn loop_on(&self, number: u32, path: &Path, window: &[(&str, &str)]) -> Device {
        let backing = [("loop/backing_file", path.to_str().unwrap())];
        let name = format!("loop{number}");
        self.device(&name, &format!("250:{number}"), &[&backing, window].concat())
    }

    fn mount(&self, number: &str) {
        self.table("self/mountinfo", &format!("30 1 {number} / /home rw - xfs /dev/none rw\n"));
    }
}

fn volume(name: &'static str, uuid: &'static str) -> [(&'static str, &'static str); 2] {
    [("dm/name", name), ("dm/uuid", uuid)]
}

/// The kernel gives the paths of a namespace neither a number nor a node, and says so.
#[test]
fn a_hidden_path_of_a_namespace_leaves_no_gap_and_another_unknown_disk_does() {
    let machine = Machine::new();
    let path = machine.system.sys.join("devices/nvme1c1n1");
    fs::create_dir_all(&path).unwrap();
    symlink(&path, machine.system.sys.join("block/nvme1c1n1")).unwrap();
    assert_eq!(machine.system.undescribed_disks().len(), 1);
    fs::write(path.join("hidden"), "0\n").unwrap();
    assert_eq!(machine.system.undescribed_disks().len(), 1);
    fs::write(path.join("hidden"), "1\n").unwrap();
    assert!(machine.system.undescribed_disks().is_empty());
}

#[test]
fn what_a_device_is_built_on_must_be_free_to_the_end() {
    let machine = Machine::new();
    let disk = machine.device("sda", "250:0", &[]);
    machine.device("sda/sda1", "250:1", &[("partition", "1")]);
    machine.device("md0", "250:80", &[("md/level", "raid1")]);
    let top = machine.device("dm-0", "250:90", &volume("secret", "CRYPT-LUKS2-1"));
    machine.holds("md0", "sda/sda1");
    machine.holds("dm-0", "md0");
    assert!(machine.reasons(&top).is_empty(), "the way down is no use by somebody else");
    machine.mount("250:1");
    let reasons = machine.reasons(&top);
    assert_eq!(reasons[0].code, "mounted");
    assert!(
        reasons[0].message.starts_with("/dev/sda1 (a part of /dev/md0) is mounted at /home"),
        "{reasons:?}"
    );
    machine.mount(&disk.number.to_string());
    assert_eq!(machine.codes(&top), ["mounted"], "three layers down and up to the disk");
}

#[test]
fn another_mapping_of_the_same_disk_is_somebody_elses() {
    let machine = Machine::new();
    machine.device("sda", "250:0", &[]);
    let one = machine.device("dm-0", "250:90", &volume("one", ""));
    machine.device("dm-1", "250:91", &volume("two", ""));
    machine.holds("dm-0", "sda");
    machine.holds("dm-1", "sda");
    machine.mount("250:91");
    let reasons = machine.reasons(&one);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert_eq!(reasons[0].code, "held");
    let said = "/dev/sda (a part of /dev/dm-0) is part of /dev/dm-1 (device-mapper volume two), \
                mounted at /home";
    assert!(reasons[0].message.starts_with(said), "{reasons:?}");
}

#[test]
fn volumes_that_their_manager_keeps_apart_do_not_hold_each_other() {
    let machine = Machine::new();
    machine.device("sda", "250:0", &[]);
    let free = machine.device("dm-0", "250:90", &volume("vg-free", "LVM-1a"));
    machine.device("dm-1", "250:91", &volume("vg-root", "LVM-1b"));
    machine.holds("dm-0", "sda");
    machine.holds("dm-1", "sda");
    let cached = machine.device("bcache0", "250:92", &[]);
    machine.device("bcache1", "250:93", &[]);
    machine.device("sdb", "250:16", &[]);
    machine.holds("bcache0", "sdb");
    machine.holds("bcache1", "sdb");
    machine.mount("250:91");
    assert!(machine.reasons(&free).is_empty(), "{:?}", machine.reasons(&free));
    assert!(machine.reasons(&cached).is_empty(), "{:?}", machine.reasons(&cached));
}

#[test]
fn a_snapshot_and_its_origin_hold_each_other() {
    let machine = Machine::new();
    machine.device("dm-0", "250:90", &volume("vg-root-real", "LVM-1a-real"));
    let snapshot = machine.device("dm-1", "250:91", &volume("vg-snap", "LVM-1b"));
    machine.device("dm-2", "250:92", &volume("vg-root", "LVM-1a"));
    machine.holds("dm-1", "dm-0");
    machine.holds("dm-2", "dm-0");
    assert_eq!(machine.codes(&snapshot), ["held"]);
}

/// Intel's firmware RAID puts a container of no size beside each array.
#[test]
fn a_holder_without_bytes_holds_nothing() {
    let machine = Machine::new();
    machine.device("sda", "250:0", &[]);
    let array = machine.device("md126", "250:80", &[("md/level", "raid1")]);
    machine.device("md127", "250:81", &[("md/level", "container"), ("size", "0")]);
    machine.holds("md126", "sda");
    machine.holds("md127", "sda");
    assert!(machine.reasons(&array).is_empty(), "{:?}", machine.reasons(&array));
}

#[test]
fn another_path_to_the_same_drive_is_the_same_drive() {
    let machine = Machine::new();
    let wwid = ("wwid", "naa.5000c500");
    let one = machine.device("sda", "250:0", &[wwid]);
    let first = machine.device("sda/sda1", "250:1", &[("partition", "1"), ("size", "1024")]);
    let at = [("partition", "2"), ("start", "1024"), ("size", "1024")];
    let second = machine.device("sda/sda2", "250:2", &at);
    machine.device("sdb", "250:16", &[wwid]);
    machine.device("sdb/sdb1", "250:17", &[("partition", "1"), ("size", "1024")]);
    machine.device("sdc", "250:32", &[wwid, ("size", "4096")]);
    assert!(machine.reasons(&one).is_empty());
    machine.mount("250:17");
    assert_eq!(machine.codes(&one), ["mounted"]);
    assert_eq!(machine.codes(&first), ["mounted"], "the same bytes by another cable");
    assert!(machine.reasons(&second).is_empty(), "{:?}", machine.reasons(&second));
    machine.mount("250:16");
    assert!(machine.reasons(&one)[0].message.contains("/dev/sdb (another path to /dev/sda)"));
    machine.mount("250:32");
    assert!(machine.reasons(&one).is_empty(), "of another size, so another drive");
}

#[test]
fn a_second_loop_device_on_a_file_holds_the_first() {
    let machine = Machine::new();
    let image = machine.image("image");
    let link = machine.dir.path().join("link");
    fs::hard_link(&image, &link).unwrap();
    let one = machine.loop_on(9, &image, &[]);
    assert!(machine.reasons(&one).is_empty(), "alone");
    let two = machine.loop_on(10, &link, &[]);
    let part = [("loop/offset", "2097152"), ("loop/sizelimit", "1048576")];
    machine.loop_on(11, &image, &part);
    for device in [&one, &two] {
        assert_eq!(machine.codes(device), ["held", "held"], "{:?}", machine.reasons(device));
    }
    let message = &machine.reasons(&one)[0].message;
    let said = format!("{} (the backing file of /dev/loop9)", image.display());
    assert!(message.starts_with(&said), "{message}");
    assert!(message.ends_with("detach it first: losetup -d /dev/loop10"), "{message}");
}

#[test]
fn loop_devices_on_other_parts_of_a_file_are_free() {
    let machine = Machine::new();
    let image = machine.image("image");
    let part = |start: &'static str| [("loop/offset", start), ("loop/sizelimit", "1048576")];
    let one = machine.loop_on(9, &image, &part("0"));
    let two = machine.loop_on(10, &image, &part("1048576"));
    assert!(machine.reasons(&one).is_empty() && machine.reasons(&two).is_empty());
    machine.loop_on(11, &image, &part("1048064"));
    assert_eq!((machine.codes(&one), machine.codes(&two)), (vec!["held"], vec!["held"]));
}

#[test]
fn a_file_is_used_under_any_of_its_names() {
    let machine = Machine::new();
    let image = machine.image("image");
    let [link, soft] = ["link", "soft"].map(|name| machine.dir.path().join(name));
    fs::hard_link(&image, &link).unwrap();
    symlink(&image, &soft).unwrap();
    assert!(machine.file_reasons(&link).is_empty());
    machine.loop_on(9, &soft, &[]);
    machine.table("swaps", &format!("Filename Type\n{} file 1 0 -2\n", image.display()));
    let mount = format!("30 1 0:60 / /rom ro - erofs {} ro\n", image.display());
    machine.table("self/mountinfo", &mount);
    let found = fs::metadata(&image).unwrap();
    let number = crate::host::sysfs::DeviceNumber::from_raw(found.dev());
    let lock = format!(
        "1: POSIX ADVISORY WRITE 7 {:02x}:{:02x}:{} 0 EOF\n",
        number.major,
        number.minor,
        found.ino()
    );
    machine.table("locks", &lock);
    let reasons = machine.file_reasons(&link);
    let codes: Vec<_> = reasons.iter().map(|reason| reason.code).collect();
    assert_eq!(codes, ["mounted", "swap", "held", "busy"], "{reasons:?}");
    assert!(reasons.iter().all(|reason| reason.message.starts_with(link.to_str().unwrap())));
    assert!(machine.file_reasons(&machine.image("other")).is_empty());
}

#[test]
fn other_mount_namespaces_are_looked_into() {
    let machine = Machine::new();
    let disk = machine.device("sda", "250:0", &[]);
    let process = |pid: &str, namespace: &str| {
        let dir = machine.system.proc.join(pid);
        fs::create_dir_all(dir.join("ns")).unwrap();
        symlink(namespace, dir.join("ns/mnt")).unwrap();
    };
    process("self", "mnt:[1]");
    process("1", "mnt:[1]");
    process("77", "mnt:[2]");
    assert!(machine.reasons(&disk).is_empty());
    machine.table("77/mountinfo", "30 1 250:0 / /inside rw - xfs /dev/none rw\n");
    assert_eq!(machine.codes(&disk), ["mounted"]);
    // A path in the table of swap spaces may be one of another namespace.
    let image = machine.dir.path().join("proc/77/root/swapfile");
    fs::create_dir_all(image.parent().unwrap()).unwrap();
    fs::write(&image, "").unwrap();
    machine.table("swaps", "Filename Type\n/swapfile file 1 0 -2\n");
    assert_eq!(machine.file_reasons(&image)[0].code, "swap");
}

#[test]
fn a_file_seen_through_an_overlay_is_the_same_file() {
    let machine = Machine::new();
    let image = machine.image("image");
    machine.loop_on(9, &image, &[]);
    let number = |major, minor| crate::host::sysfs::DeviceNumber { major, minor };
    let inode = fs::metadata(&image).unwrap().ino();
    let codes = |on, inode| {
        let tables = Tables::read(&machine.system);
        let found = reasons_for_file(&machine.system, &tables, FileId { on, inode }, &image);
        found.len()
    };
    assert_eq!(codes(number(0, 50), inode), 0, "no overlay on this machine");
    let overlay = "30 1 0:50 / /merged rw - overlay overlay rw\n";
    machine.table("self/mountinfo", &format!("{overlay}31 1 0:51 / /tmp rw - tmpfs tmpfs rw\n"));
    assert_eq!(codes(number(0, 50), inode), 1);
    assert_eq!(codes(number(0, 99), inode), 1, "layers on several file systems");
    assert_eq!(codes(number(0, 51), inode), 0, "a file in memory is another file");
    assert_eq!(codes(number(0, 50), inode + 1), 0);
    assert_eq!(codes(number(254, 9), inode), 0, "a disk of its own");
}

/// btrfs mounts have numbers of their own, and a swap space may have another name than its device: both lead to the
/// device by a node. The machine names that of a real device, which only root can make.
#[test]
fn a_mount_with_a_number_of_its_own_is_known_by_its_source() {
    let Some((machine, device, node)) = with_a_node("a_mount_with_a_number_of_its_own") else {
        return;
    };
    assert!(machine.reasons(&device).is_empty());
    let mount = format!("30 1 0:60 / /data rw - btrfs {} rw\n", node.display());
    machine.table("self/mountinfo", &mount);
    assert_eq!(machine.codes(&device), ["mounted"]);
}

#[test]
fn swap_space_is_known_by_its_number() {
    let Some((machine, device, node)) = with_a_node("swap_space_is_known_by_its_number") else {
        return;
    };
    machine.table("swaps", &format!("Filename Type\n{} partition 1 0 -2\n", node.display()));
    assert_eq!(machine.codes(&device), ["swap"]);
}

/// A machine with a disk, and a node that leads to it; `None` without the right to make one.
fn with_a_node(test: &str) -> Option<(Machine, Device, PathBuf)> {
    let machine = Machine::new();
    let device = machine.device("sda", "250:0", &[]);
    let node = machine.dir.path().join("node");
    let made = std::process::Command::new("mknod").arg(&node).args(["b", "250", "0"]).status();
    if made.is_ok_and(|status| status.success()) {
        return Some((machine, device, node));
    }
    assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{test} needs root");
    None
}

#[test]
fn a_table_that_cannot_be_read_refuses_everything() {
    type Hide = fn(&Machine);
    let cases: [(&str, Hide); 6] = [
        ("locks", |machine| fs::remove_file(machine.system.proc.join("locks")).unwrap()),
        ("mountinfo", |machine| {
            fs::remove_file(machine.system.proc.join("self/mountinfo")).unwrap();
        }),
        ("unknown form", |machine| machine.table("self/mountinfo", "a line of another kernel\n")),
        ("sys/block", |machine| fs::remove_dir_all(machine.system.sys.join("block")).unwrap()),
        ("sys/dev/block", |machine| {
            fs::remove_dir_all(machine.system.sys.join("dev/block")).unwrap();
        }),
        ("mounted in its place", |machine| {
            let at = machine.system.sys.join("block");
            machine.table(
                "self/mountinfo",
                &format!("30 1 0:60 / {} rw - tmpfs tmpfs rw\n", at.display()),
            );
        }),
    ];
    for (words, hide) in cases {
        let machine = Machine::new();
        let disk = machine.device("sda", "250:0", &[]);
        let image = machine.image("image");
        assert!(machine.reasons(&disk).is_empty() && machine.file_reasons(&image).is_empty());
        hide(&machine);
        for reasons in [machine.reasons(&disk), machine.file_reasons(&image)] {
            let first = reasons.first().unwrap_or_else(|| panic!("{words}: nothing refuses"));
            assert_eq!(first.code, UNREADABLE, "{words}");
            assert!(first.message.contains(words), "{words}: {}", first.message);
        }
    }
}

/// Its node is not at hand here, and the path that the kernel shows leads nowhere.
#[test]
fn a_loop_device_on_nobody_knows_what_refuses() {
    let machine = Machine::new();
    let image = machine.image("image");
    let gone = machine.dir.path().join("gone");
    let size = ("size", "8192");
    let device = machine.loop_on(9, &gone, &[size]);
    for reasons in [machine.reasons(&device), machine.file_reasons(&image)] {
        assert_eq!(reasons.first().map(|reason| reason.code), Some(UNREADABLE), "{reasons:?}");
    }
}
