//! Machines that are not at hand, as trees of files: NVMe, SATA with LVM on a partition, md, loop.

use std::fs;
use std::os::unix::fs::symlink;

use super::kernel::Tables;
use super::report::{DeviceReport, Protocol, list_in, report};
use crate::host::machine::Machine;
use crate::host::sysfs::{Device, DeviceNumber};
use crate::nvme::generic;

impl Machine {
    fn report(&self, device: &Device) -> DeviceReport {
        report(&self.system, &Tables::read(&self.system), device, device.node())
    }
}

#[test]
fn an_nvme_drive_tells_who_it_is() {
    let machine = Machine::new();
    let drive = machine.device(
        "nvme0n1",
        "259:0",
        &[
            ("device/model", "Fast Drive 1TB            "),
            ("device/serial", "S123                "),
            ("device/firmware_rev", "1B2Q"),
            ("wwid", "eui.0025"),
            ("queue/logical_block_size", "4096"),
            ("queue/scheduler", "[none] mq-deadline"),
            ("queue/discard_max_bytes", "2147450880"),
            ("queue/rotational", "0"),
            ("queue/write_cache", "write back"),
            ("device/device/current_link_speed", "8.0 GT/s PCIe"),
            ("device/device/current_link_width", "2"),
            ("device/device/max_link_speed", "16.0 GT/s PCIe"),
            ("device/device/max_link_width", "4"),
            ("device/device/link/l1_aspm", "1"),
            ("device/device/power/control", "on"),
        ],
    );
    let found = machine.report(&drive);
    assert_eq!(found.settings["pcie_link"], "8.0 GT/s PCIe x2 (of 16.0 GT/s PCIe x4)");
    assert_eq!(found.settings["write_cache"], "write back");
    assert_eq!((&*found.settings["pcie_link_l1"], &*found.settings["autosuspend"]), ("1", "on"));
    assert_eq!(found.protocol, Protocol::Nvme);
    assert_eq!(found.capacity_bytes, 1 << 20);
    assert_eq!(found.logical_block_bytes, 4096);
    assert_eq!(found.confirmations, ["S123", "eui.0025"]);
    assert_eq!(found.scheduler.as_deref(), Some("none"));
    let words = "/dev/nvme0n1 (Fast Drive 1TB, serial S123, firmware 1B2Q, 1MiB";
    assert_eq!(found.describe(), format!("{words})"));
    let worn = DeviceReport { host_written_bytes: Some(12_340_000_000_000), ..found.clone() };
    assert_eq!(worn.describe(), format!("{words}, 12.3 TB written so far)"));
    assert!(found.deallocate && found.in_use.is_empty());
}

#[test]
fn the_settings_of_links_partitions_and_loop_devices_are_conditions() {
    let machine = Machine::new();
    let path = "pci0000:00/ata1/host3/target3:0:0/3:0:0:0/block/sda";
    let disk = machine.device(path, "250:0", &[]);
    let host = machine.system.sys.join("class/scsi_host/host3");
    fs::create_dir_all(&host).unwrap();
    fs::write(host.join("link_power_management_policy"), "max_performance\n").unwrap();
    let settings = |device: &Device| machine.report(device).settings;
    assert_eq!(settings(&disk)["sata_link_power"], "max_performance");
    assert!(!settings(&disk).contains_key("partition_alignment_bytes"));
    for (name, number, start, aligned) in
        [("sda1", "250:1", "2048", "1048576"), ("sda2", "250:2", "63", "512")]
    {
        let attributes = [("partition", &name[3..]), ("start", start)];
        let part = machine.device(&format!("{path}/{name}"), number, &attributes);
        assert_eq!(settings(&part)["partition_alignment_bytes"], aligned);
    }
    let stick = "pci0000:00/usb2/2-1/2-1:1.0/host6/block/sdb";
    let attributes = [("device/power/control", "on")];
    let stick = machine.device(stick, "250:16", &attributes);
    let port = machine.system.sys.join("devices/pci0000:00/usb2/2-1");
    fs::create_dir_all(port.join("power")).unwrap();
    fs::write(port.join("busnum"), "2\n").unwrap();
    fs::write(port.join("power/control"), "auto\n").unwrap();
    assert_eq!(settings(&stick)["autosuspend"], "auto");
    let file = machine.dir.path().join("image");
    fs::write(&file, "").unwrap();
    for (number, flag, is_direct) in [("91", "0", "false"), ("92", "1", "true")] {
        let attributes = [("loop/backing_file", file.to_str().unwrap()), ("loop/dio", flag)];
        let device =
            machine.device(&format!("loop{number}"), &format!("250:{number}"), &attributes);
        assert_eq!(settings(&device)["loop_direct_io"], is_direct);
    }
}

#[test]
fn a_namespace_and_its_generic_node_find_each_other() {
    let machine = Machine::new();
    let sys = &machine.system.sys;
    let controller = "pci0000:00/nvme/nvme0";
    let namespace = machine.device(&format!("{controller}/nvme0n2"), "259:7", &[]);
    assert_eq!(namespace.generic(), None, "kernels before 5.13 have none");
    let generic = sys.join("devices").join(controller).join("ng0n2");
    for dir in [&generic, &sys.join("dev/char")] {
        fs::create_dir_all(dir).unwrap();
    }
    fs::write(generic.join("dev"), "245:1\n").unwrap();
    symlink(&generic, sys.join("dev/char/245:1")).unwrap();
    let number = DeviceNumber { major: 245, minor: 1 };
    assert_eq!(namespace.generic(), Some(("/dev/ng0n2".into(), number)));
    assert_eq!(machine.system.namespace_of_generic(number), Some(namespace));
    // The controller's own node is no namespace, whatever its number.
    let controller = sys.join("devices").join(controller);
    symlink(&controller, sys.join("dev/char/246:0")).unwrap();
    let number = DeviceNumber { major: 246, minor: 0 };
    assert_eq!(machine.system.namespace_of_generic(number), None);
}

#[test]
fn only_a_whole_namespace_with_a_generic_node_is_reached_past_the_block_layer() {
    let machine = Machine::new();
    let namespace = machine.device("nvme0n1", "259:0", &[]);
    let partition = machine.device("nvme0n1/nvme0n1p1", "259:1", &[("partition", "1")]);
    let sata = machine.device("sda", "250:0", &[("device/vendor", "ATA")]);
    for (device, reason) in [
        (namespace, "no generic character device"),
        (partition, "name nvme0n1"),
        (sata, "no NVMe namespace"),
    ] {
        let located = generic::locate(&machine.system, &machine.report(&device));
        assert!(located.as_ref().is_err_and(|why| why.contains(reason)), "{located:?}");
    }
}

#[test]
fn a_sata_serial_comes_from_the_vpd_page_or_from_udev() {
    let machine = Machine::new();
    let sda = machine.device("sda", "250:0", &[("device/vpd_pg80", "\0\u{1}\0\u{4}  SER1")]);
    assert_eq!(machine.report(&sda).serial.as_deref(), Some("SER1"));
    let sdb = machine.device("sdb", "250:16", &[]);
    assert_eq!(machine.report(&sdb).confirmations, ["/dev/sdb"], "no identity but its node");
    fs::create_dir(&machine.system.udev).unwrap();
    fs::write(machine.system.udev.join("b250:16"), "S:x\nE:ID_SERIAL_SHORT=SER2\n").unwrap();
    assert_eq!(machine.report(&sdb).confirmations, ["SER2"]);
    let part = machine.device("sdb/sdb1", "250:17", &[("partition", "1")]);
    assert_eq!(machine.report(&part).confirmations, ["SER2-part1"]);
}

#[test]
fn a_mounted_partition_keeps_its_disk_and_not_its_sibling() {
    let machine = Machine::new();
    let disk = machine.device("sda", "250:0", &[]);
    let first = machine.device("sda/sda1", "250:1", &[("partition", "1")]);
    let second = machine.device("sda/sda2", "250:2", &[("partition", "2"), ("start", "2048")]);
    machine.table("self/mountinfo", "27 1 250:1 / / rw - ext4 /dev/root rw\n");
    assert_eq!(machine.codes(&disk), ["mounted"]);
    assert_eq!(machine.codes(&first), ["mounted"]);
    assert!(machine.codes(&second).is_empty());
    let message = &machine.report(&disk).in_use[0].message;
    assert!(message.contains("/dev/sda1 is mounted at /;"), "{message}");
    assert!(message.contains("the running system"), "{message}");
}

#[test]
fn what_is_built_on_top_is_named_layer_by_layer() {
    let machine = Machine::new();
    let disk = machine.device("sda", "250:0", &[]);
    machine.device("sda/sda2", "250:2", &[("partition", "2")]);
    machine.device("md0", "250:80", &[("md/level", "raid1")]);
    let dm = [("dm/name", "vg-home"), ("dm/uuid", "LVM-abc")];
    machine.device("dm-0", "250:90", &dm);
    machine.holds("md0", "sda/sda2");
    machine.holds("dm-0", "md0");
    machine.table("self/mountinfo", "30 1 250:90 / /home rw - xfs /dev/mapper/vg-home rw\n");
    let found = machine.report(&disk);
    assert_eq!(machine.codes(&disk), ["held"]);
    assert_eq!(
        found.in_use[0].message,
        "/dev/sda2 is part of /dev/md0 (md raid1), under /dev/dm-0 (LVM volume vg-home), mounted \
         at /home; take that apart first"
    );
}

#[test]
fn swap_and_loop_devices_on_top_count_as_use() {
    let machine = Machine::new();
    let disk = machine.device("sdz9", "250:0", &[]);
    machine.device("loop77", "250:70", &[("loop/backing_file", "/dev/sdz9")]);
    machine.table("swaps", "Filename Type Size\n/dev/sdz9 partition 1 0 -2\n");
    assert_eq!(machine.codes(&disk), ["swap", "held"]);
}

#[test]
fn a_member_of_a_mounted_btrfs_volume_is_held() {
    let machine = Machine::new();
    let disk = machine.device("sdb", "250:16", &[]);
    let members = machine.system.sys.join("fs/btrfs/0a-1b/devices");
    fs::create_dir_all(&members).unwrap();
    fs::write(members.join("sdb"), "").unwrap();
    assert_eq!(machine.codes(&disk), ["held"]);
}

#[test]
fn a_loop_device_is_confirmed_by_the_file_behind_it() {
    let machine = Machine::new();
    let image = machine.dir.path().join("image");
    fs::write(&image, "").unwrap();
    let image = fs::canonicalize(image).unwrap();
    let text = image.to_str().unwrap();
    let device = machine.device("loop9", "250:9", &[("loop/backing_file", text)]);
    assert_eq!(machine.report(&device).confirmations, [text]);
    assert_eq!(list_in(&machine.system).len(), 1);
}

#[test]
fn the_partition_of_a_disk_without_writes_takes_none() {
    let machine = Machine::new();
    let disk = machine.device("sda", "250:0", &[("ro", "1")]);
    let partition = machine.device("sda/sda1", "250:1", &[("partition", "1"), ("ro", "0")]);
    let other = machine.device("sdb", "250:16", &[("ro", "0")]);
    let read_only = [&disk, &partition, &other].map(|device| machine.report(device).read_only);
    assert_eq!(read_only, [true, true, false]);
}

#[test]
fn a_namespace_of_several_controllers_has_the_queues_of_its_paths() {
    let machine = Machine::new();
    let alone = machine.device("pci0000:00/nvme/nvme3/nvme3n1", "259:1", &[]);
    assert_eq!(alone.queues(), [described_at(&machine, "pci0000:00/nvme/nvme3/nvme3n1/queue")]);
    let head = machine.device("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "259:2", &[]);
    let devices = machine.system.sys.join("devices");
    for (controller, paths) in
        [("nvme1", ["nvme0c1n1", "nvme0c1n12"]), ("nvme2", ["nvme0c2n1", "hwmon0"])]
    {
        let dir = devices.join("virtual/nvme-fabrics/ctl").join(controller);
        for path in paths {
            fs::create_dir_all(dir.join(path)).unwrap();
        }
        symlink(&dir, devices.join("virtual/nvme-subsystem/nvme-subsys0").join(controller))
            .unwrap();
    }
    let expected = ["nvme1/nvme0c1n1", "nvme2/nvme0c2n1"]
        .map(|path| described_at(&machine, &format!("virtual/nvme-fabrics/ctl/{path}/queue")));
    assert_eq!(head.queues(), expected);
}

fn described_at(machine: &Machine, path: &str) -> std::path::PathBuf {
    let devices = fs::canonicalize(machine.system.sys.join("devices")).unwrap();
    devices.join(path)
}
