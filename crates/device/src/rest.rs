//! Rest of link and drive while they are idle: switched for a test and always restored afterwards.
//!
//! `sata` switches the link power management of the port, `nvme` the power state of the controller.
//! Before any change, the settings found are written to a journal and synced. They are restored
//! when the run ends, also by Ctrl-C or a panic, and by the next start or [`restore_left_behind`]
//! after a kill. A restart of the machine resets both settings, and removes the journal, which lies
//! in `/run`.

mod nvme;
mod sata;

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use target::Rest;
use target::TargetError;

use crate::describe::report::{DeviceReport, Protocol, serial_of};
use crate::host::journal::{self, Journal};
use crate::host::sysfs::{Device, System};
use crate::nvme::Controller;

/// Prefix of the names of these journals.
const JOURNAL_PREFIX: &str = "rest-";

/// The settings found, enough to restore them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Found {
    /// Of the port of a SATA drive.
    Sata(sata::Found),
    /// Of an NVMe controller.
    Nvme(nvme::Found),
}

/// Content of a journal: the settings found, and their drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The kernel's name of the disk.
    disk: String,
    /// Its serial number, so that another drive of that name is left alone.
    serial: Option<String>,
    found: Found,
}

/// The switch of one open drive. Dropping it restores the settings found.
#[derive(Debug)]
pub struct RestSwitch {
    system: System,
    journal_dir: PathBuf,
    file: File,
    disk: Device,
    serial: Option<String>,
    protocol: Protocol,
    /// Held from the first change on.
    changed: Option<(Entry, Journal)>,
}

impl RestSwitch {
    /// A switch for an open device, or `None` if it has nothing to switch.
    pub fn new(file: &File, report: &DeviceReport) -> Option<Self> {
        let system = System::live();
        let disk = system.by_number(report.number)?.disk();
        let able = match report.protocol {
            Protocol::Ata => sata::policy_file(&system, &disk).is_some(),
            Protocol::Nvme => nvme::can_rest(file, &disk.name),
            Protocol::Other => false,
        };
        let switch = Self {
            file: file.try_clone().ok()?,
            journal_dir: journal::DIR.into(),
            serial: serial_of(&system, &disk),
            system,
            disk,
            protocol: report.protocol,
            changed: None,
        };
        able.then_some(switch)
    }

    /// Switches, and returns the change in words.
    pub fn set(&mut self, rest: Rest) -> Result<String, TargetError> {
        if rest == Rest::AsFound {
            return self.restore().map(|()| "as it was found".to_owned());
        }
        if self.changed.is_none() {
            let entry = Entry {
                disk: self.disk.name.clone(),
                serial: self.serial.clone(),
                found: self.look()?,
            };
            let journal = Journal::write(&self.journal_dir, &journal_name(&entry.disk), &entry)?;
            self.changed = Some((entry, journal));
        }
        let allowed = rest == Rest::Allowed;
        match self.changed.as_ref().map(|(entry, _)| &entry.found) {
            Some(Found::Sata(found)) => sata::switch(&self.system, found, allowed),
            Some(Found::Nvme(_)) => nvme::switch(&self.file, &self.disk.name, allowed),
            None => Ok(String::new()),
        }
    }

    fn look(&self) -> Result<Found, TargetError> {
        match self.protocol {
            Protocol::Nvme => nvme::look(&self.file, &self.disk.name).map(Found::Nvme),
            _ => sata::look(&self.system, &self.disk).map(Found::Sata),
        }
    }

    fn restore(&mut self) -> Result<(), TargetError> {
        let Some((entry, _)) = &self.changed else { return Ok(()) };
        match &entry.found {
            Found::Sata(found) => sata::restore(&self.system, found)?,
            Found::Nvme(found) => nvme::restore(&self.file, &self.disk.name, found)?,
        }
        if let Some((_, journal)) = self.changed.take() {
            journal.remove();
        }
        Ok(())
    }
}

impl Drop for RestSwitch {
    fn drop(&mut self) {
        // A setting that cannot be restored now stays in the journal, for the next start.
        let _ = self.restore();
    }
}

/// Whether a drive of this kind may have such a setting; only an open drive tells whether it has.
pub fn may_switch(report: &DeviceReport) -> bool {
    let system = System::live();
    let disk = system.by_number(report.number).map(|device| device.disk());
    match report.protocol {
        Protocol::Ata => disk.is_some_and(|disk| sata::policy_file(&system, &disk).is_some()),
        Protocol::Nvme => true,
        Protocol::Other => false,
    }
}

/// Whether an open NVMe drive changes its power state by itself (APST), or `None` for other drives, and if it cannot be
/// read.
pub fn autonomous_power(file: &File, report: &DeviceReport) -> Option<bool> {
    let controller = Controller::new(file, &report.name);
    let is_nvme = report.protocol == Protocol::Nvme;
    let has_it = is_nvme && controller.identify().is_ok_and(|id| id.autonomous_power);
    has_it.then(|| controller.autonomous_power().ok())?.map(|(enabled, _)| enabled)
}

/// Restores the settings changed by runs that were killed; returns a sentence for each drive, or an
/// error if it was not possible. Settings of runs that are still alive are left alone.
pub fn restore_left_behind() -> Vec<Result<String, TargetError>> {
    restore_in(&System::live(), Path::new(journal::DIR))
}

/// The kernel writes no slash in the name of a disk that has power settings; a name with a slash
/// would name no file.
fn journal_name(disk: &str) -> String {
    format!("{JOURNAL_PREFIX}{}.json", disk.replace('/', "!"))
}

fn restore_in(system: &System, dir: &Path) -> Vec<Result<String, TargetError>> {
    journal::left_behind(dir, JOURNAL_PREFIX)
        .into_iter()
        .map(|(entry, journal)| put_back(system, &entry, journal))
        .collect()
}

fn put_back(system: &System, entry: &Entry, journal: Journal) -> Result<String, TargetError> {
    let disk = system.disks().into_iter().find(|disk| disk.name == entry.disk);
    let is_same = disk
        .as_ref()
        .is_some_and(|disk| entry.serial.is_none() || serial_of(system, disk) == entry.serial);
    let Some(disk) = disk.filter(|_| is_same) else {
        journal.remove();
        return Ok(format!(
            "{} is gone or another drive: nothing to put back there",
            entry.disk.escape_debug()
        ));
    };
    let words = match &entry.found {
        Found::Sata(found) => {
            sata::restore(system, found)?;
            found.words()
        }
        Found::Nvme(found) => {
            let node = disk.node();
            let file = File::open(&node).map_err(|source| TargetError::Device {
                context: format!("cannot open {}", node.display()),
                source,
            })?;
            nvme::restore(&file, &disk.name, found)?;
            found.words()
        }
    };
    journal.remove();
    Ok(format!("{}: {words}, as an earlier run that was killed had found it", disk.name))
}

#[cfg(test)]
mod tests;
