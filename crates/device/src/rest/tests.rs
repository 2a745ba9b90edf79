//! A SATA port as a tree of files: does the switch work, and do the settings return after every end
//! of a run?

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A simulated machine with one SATA disk on `host3`.
struct Machine {
    dir: tempfile::TempDir,
    system: System,
    disk: Device,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let system = System { sys: at("sys"), proc: at("proc"), udev: at("udev"), is_live: false };
        let disk = at("sys/devices/pci/ata1/host3/target3:0:0/3:0:0:0/block/sdx");
        for made in [&disk.join("device"), &at("sys/block"), &at("sys/class/scsi_host/host3")] {
            fs::create_dir_all(made).expect("a directory");
        }
        fs::write(disk.join("dev"), "250:0\n").expect("a file");
        fs::write(disk.join("device/serial"), "ONE\n").expect("a file");
        symlink(&disk, at("sys/block/sdx")).expect("a link");
        let disk = Device::at(&disk).expect("a disk");
        let machine = Self { dir, system, disk };
        machine.set_policy("medium_power\n");
        machine
    }

    fn policy_file(&self) -> PathBuf {
        sata::policy_file(&self.system, &self.disk).expect("a port")
    }

    fn set_policy(&self, policy: &str) {
        let file = self.dir.path().join("sys/class/scsi_host/host3/link_power_management_policy");
        fs::write(file, policy).expect("a file");
    }

    fn policy(&self) -> String {
        fs::read_to_string(self.policy_file()).expect("a file").trim().to_owned()
    }

    fn journal_dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    fn journals(&self) -> usize {
        fs::read_dir(self.journal_dir()).into_iter().flatten().count()
    }

    fn switch(&self) -> RestSwitch {
        RestSwitch {
            system: self.system.clone(),
            journal_dir: self.journal_dir(),
            file: File::open("/dev/null").expect("a file"),
            disk: self.disk.clone(),
            serial: Some("ONE".to_owned()),
            protocol: Protocol::Ata,
            changed: None,
        }
    }

    /// The state after the kill of a run that let the drive rest: its lock is gone, its journal is
    /// there.
    fn killed(&self) {
        let mut switch = self.switch();
        switch.set(Rest::Allowed).expect("it is switched");
        drop(switch.changed.take());
        assert_eq!((self.policy().as_str(), self.journals()), ("med_power_with_dipm", 1));
    }

    fn restore(&self) -> Vec<Result<String, TargetError>> {
        restore_in(&self.system, &self.journal_dir())
    }
}

#[test]
fn a_port_is_switched_and_put_back_as_it_was_found() {
    let machine = Machine::new();
    let mut switch = machine.switch();
    let words = switch.set(Rest::Allowed).expect("it is switched");
    assert_eq!(
        words,
        "link power management of host3 is med_power_with_dipm (found: medium_power)"
    );
    assert_eq!(machine.policy(), "med_power_with_dipm");
    switch.set(Rest::Denied).expect("it is switched");
    assert_eq!((machine.policy().as_str(), machine.journals()), ("max_performance", 1));
    switch.set(Rest::AsFound).expect("it is put back");
    assert_eq!((machine.policy().as_str(), machine.journals()), ("medium_power", 0));
    switch.set(Rest::Denied).expect("once more");
    drop(switch);
    assert_eq!((machine.policy().as_str(), machine.journals()), ("medium_power", 0));
}

#[test]
fn a_panic_puts_it_back() {
    let machine = Machine::new();
    let mut switch = machine.switch();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        switch.set(Rest::Denied).expect("it is switched");
        std::panic::resume_unwind(Box::new("a bug"));
    }));
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"a bug"));
    assert_eq!((machine.policy().as_str(), machine.journals()), ("medium_power", 0));
}

#[test]
fn what_a_killed_run_left_is_put_back_by_the_next_start_and_not_twice() {
    let machine = Machine::new();
    machine.killed();
    let restored = machine.restore();
    let words = restored[0].as_ref().expect("it is put back");
    assert!(words.contains("link power management of host3 is medium_power"), "{words}");
    assert_eq!((machine.policy().as_str(), machine.journals()), ("medium_power", 0));
    assert!(machine.restore().is_empty());
}

#[test]
fn a_run_that_is_alive_is_left_alone() {
    let machine = Machine::new();
    let mut switch = machine.switch();
    switch.set(Rest::Denied).expect("it is switched");
    assert!(machine.restore().is_empty());
    assert_eq!((machine.policy().as_str(), machine.journals()), ("max_performance", 1));
    let error = machine.switch().set(Rest::Allowed).expect_err("one run a drive").to_string();
    assert!(error.contains("nothing is switched"), "{error}");
}

#[test]
fn nothing_is_switched_while_an_older_setting_waits_to_be_put_back() {
    let machine = Machine::new();
    machine.killed();
    let error = machine.switch().set(Rest::Denied).expect_err("what was found would be lost");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.contains("run `ssdlab restore-settings`"), "{cause}");
    assert_eq!(machine.policy(), "med_power_with_dipm");
}

#[test]
fn another_drive_of_the_same_name_is_left_alone() {
    let machine = Machine::new();
    machine.killed();
    let serial = machine.system.sys.join("block/sdx/device/serial");
    fs::write(serial, "TWO\n").expect("a file");
    let restored = machine.restore();
    assert!(restored[0].as_ref().expect("words").contains("another drive"), "{restored:?}");
    assert_eq!((machine.policy().as_str(), machine.journals()), ("med_power_with_dipm", 0));
}

#[test]
fn what_cannot_be_put_back_now_stays_noted() {
    let machine = Machine::new();
    machine.killed();
    fs::remove_dir_all(machine.system.sys.join("class")).expect("no port");
    let message = machine.restore().remove(0).expect_err("the port is gone").to_string();
    assert!(message.contains("cannot set"), "{message}");
    assert_eq!(machine.journals(), 1);
}

#[test]
fn hostile_journals_change_nothing() {
    let machine = Machine::new();
    fs::create_dir(machine.journal_dir()).expect("a directory");
    let outside = machine.dir.path().join("outside");
    fs::write(&outside, "mine").expect("a file");
    let entry = |host: &str, policy: &str| {
        let found = serde_json::json!({"kind": "sata", "host": host, "policy": policy});
        serde_json::json!({"disk": "sdx", "serial": "ONE", "found": found}).to_string()
    };
    let journals = [
        ("a", String::new()),
        ("b", "{".repeat(100_000)),
        ("c", entry("../../../../outside", "x")),
        ("d", entry("host3", "x\ny")),
        ("e", entry("host+3/..", "x")),
    ];
    for (name, text) in &journals {
        let file = machine.journal_dir().join(format!("rest-{name}.json"));
        fs::write(file, text).expect("a file");
    }
    symlink(&outside, machine.journal_dir().join("rest-f.json")).expect("a link");
    let restored = machine.restore();
    assert_eq!(restored.len(), 3, "{restored:?}");
    assert!(restored.iter().all(Result::is_err), "{restored:?}");
    assert_eq!(machine.policy(), "medium_power");
    assert_eq!(fs::read_to_string(&outside).expect("a file"), "mine");
}
