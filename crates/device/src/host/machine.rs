//! A machine that is not at hand, as a tree of files.

use std::fs;
use std::os::unix::fs::symlink;

use crate::host::sysfs::{Device, System};

/// A simulated machine; its device numbers (major 250 and up) are those of no real node.
pub(crate) struct Machine {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) system: System,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let system = System { sys: at("sys"), proc: at("proc"), udev: at("udev"), is_live: false };
        for name in ["sys/block", "sys/dev/block", "proc/self"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let machine = Self { dir, system };
        for (name, text) in [("self/mountinfo", ""), ("swaps", "Filename Type\n"), ("locks", "")] {
            machine.table(name, text);
        }
        machine
    }

    /// Adds a whole disk (`sda`) or a partition (`sda/sda1`).
    pub(crate) fn device(&self, path: &str, number: &str, attributes: &[(&str, &str)]) -> Device {
        let dir = self.system.sys.join("devices").join(path);
        fs::create_dir_all(dir.join("holders")).unwrap();
        fs::create_dir_all(dir.join("slaves")).unwrap();
        for (name, value) in [("dev", number), ("size", "2048")].iter().chain(attributes) {
            let file = dir.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{value}\n")).unwrap();
        }
        symlink(&dir, self.system.sys.join("dev/block").join(number)).unwrap();
        if !path.contains('/') {
            symlink(&dir, self.system.sys.join("block").join(path)).unwrap();
        }
        Device::at(&dir).unwrap()
    }

    pub(crate) fn holds(&self, holder: &str, below: &str) {
        let devices = self.system.sys.join("devices");
        symlink(devices.join(holder), devices.join(below).join("holders").join(holder)).unwrap();
        let name = below.rsplit('/').next().unwrap();
        symlink(devices.join(below), devices.join(holder).join("slaves").join(name)).unwrap();
    }

    pub(crate) fn table(&self, name: &str, text: &str) {
        fs::write(self.system.proc.join(name), text).unwrap();
    }
}
