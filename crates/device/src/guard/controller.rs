//! Other namespaces of the same NVMe controller: some commands affect them all.

use std::fs::File;

use target::{Backing, TargetError, TargetSpec};

use super::device_at;
use crate::describe::kernel::Tables;
use crate::describe::usage::reasons;
use crate::describe::{DeviceReport, Protocol};
use crate::host::sysfs::{Device, System};
use crate::nvme::Controller;
use crate::nvme::identify::IdentifyController;

/// The reason why the other namespaces forbid writing, or the warnings for the reader of the
/// result.
///
/// # Errors
/// [`TargetError::Refused`] with code `shared-controller` if one of them is in use and commands to one
/// namespace may reach the others.
pub(super) fn check(
    system: &System,
    file: &File,
    report: &DeviceReport,
) -> Result<Option<String>, TargetError> {
    if report.protocol != Protocol::Nvme {
        return Ok(None);
    }
    let used = used_siblings(system, report);
    if used.is_empty() {
        return Ok(None);
    }
    let name = report.node.display().to_string();
    let apart = Controller::new(file, &name).identify().is_ok_and(|id| keeps_apart(&id));
    judge(&name, &used, apart).map(Some)
}

/// Refuses to write to several namespaces of one controller at the same time, unless it keeps them apart: an erasure
/// of one would reach the others in the midst of their runs.
///
/// # Errors
/// [`TargetError::Refused`] with code `shared-controller`.
pub fn check_beside(specs: &[TargetSpec]) -> Result<(), TargetError> {
    let device = |spec: &TargetSpec| match spec.backing() {
        Backing::Device(path) => device_at(path).map(|device| device.disk()),
        Backing::Nothing | Backing::File(_) => None,
    };
    let disks: Vec<_> = specs.iter().filter_map(device).collect();
    require_apart(&System::live(), &disks, |disk| {
        let file = File::open(disk.node());
        let identify = |file: &File| Controller::new(file, &disk.name).identify();
        file.is_ok_and(|file| identify(&file).is_ok_and(|id| keeps_apart(&id)))
    })
}

fn require_apart(
    system: &System,
    disks: &[Device],
    keeps_apart: impl Fn(&Device) -> bool,
) -> Result<(), TargetError> {
    for (index, disk) in disks.iter().enumerate() {
        let siblings = disk.siblings(system);
        let other = disks[..index].iter().find(|other| siblings.contains(other));
        let Some(other) = other.filter(|_| !keeps_apart(disk)) else { continue };
        return Err(TargetError::Refused {
            code: "shared-controller",
            message: format!(
                "{} and {} are namespaces of one controller, which erases all of them at once or does not say that it \
                 keeps them apart: a purge of one would reach the other in the midst of its run; leave --parallel away",
                other.node().display(),
                disk.node().display()
            ),
        });
    }
    Ok(())
}

/// Whether a command to one namespace never reaches another.
fn keeps_apart(id: &IdentifyController) -> bool {
    !id.format_hits_all && !id.erase_hits_all
}

/// The sentences on the use of each other namespace of the controller.
fn used_siblings(system: &System, report: &DeviceReport) -> Vec<String> {
    let Some(own) = system.by_number(report.number).map(|device| device.disk()) else {
        return Vec::new();
    };
    let tables = Tables::read(system);
    let first_reason = |disk: &Device| reasons(system, &tables, disk).into_iter().next();
    let siblings = own.siblings(system);
    siblings.iter().filter_map(first_reason).map(|reason| reason.message).collect()
}

fn judge(name: &str, used: &[String], apart: bool) -> Result<String, TargetError> {
    let used = used.join("; ");
    if apart {
        return Ok(format!(
            "another namespace of the same controller is in use, which disturbs the figures: {used}"
        ));
    }
    Err(TargetError::Refused {
        code: "shared-controller",
        message: format!(
            "the controller of {name} has another namespace that is in use, and erases all of them at once \
             or does not say that it keeps them apart: {used}"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::machine::Machine;

    #[test]
    fn a_controller_keeps_apart_only_what_no_command_reaches_at_once() {
        let keeps_apart = |attributes: u8| {
            let mut bytes = vec![0; 4096];
            bytes[524] = attributes;
            keeps_apart(&IdentifyController::decode(&bytes))
        };
        assert_eq!([0b00, 0b01, 0b10, 0b11].map(keeps_apart), [true, false, false, false]);
    }

    #[test]
    fn namespaces_of_one_controller_are_not_written_beside_each_other_unless_kept_apart() {
        let machine = Machine::new();
        let controller = machine.dir.path().join("controller");
        std::fs::create_dir(&controller).unwrap();
        let disks = [("nvme0n1", "250:0"), ("nvme0n2", "250:1"), ("nvme1n1", "250:2")];
        let disks = disks.map(|(name, number)| machine.device(name, number, &[]));
        for disk in &disks[..2] {
            let link = machine.system.sys.join("devices").join(&disk.name).join("device");
            std::os::unix::fs::symlink(&controller, link).unwrap();
        }
        let [first, second, other] = &disks;
        let code = |disks: [&Device; 2], keeps_apart: bool| {
            let disks = disks.map(Clone::clone);
            match require_apart(&machine.system, &disks, |_| keeps_apart) {
                Err(TargetError::Refused { code, message }) => {
                    assert!(message.contains("/dev/nvme0n1") && message.contains("/dev/nvme0n2"));
                    Some(code)
                }
                outcome => outcome.map(|()| None).unwrap(),
            }
        };
        assert_eq!(code([first, second], false), Some("shared-controller"));
        assert_eq!(code([second, first], false), Some("shared-controller"));
        assert_eq!(code([first, second], true), None);
        assert_eq!(code([first, other], false), None, "another controller");
    }

    #[test]
    fn namespaces_in_use_must_be_kept_apart() {
        let used = ["/dev/nvme0n2 is mounted at /".to_owned()];
        let warning = judge("/dev/nvme0n1", &used, true).unwrap();
        assert!(warning.contains("disturbs the figures") && warning.contains("nvme0n2"));
        let Err(TargetError::Refused { code, message }) = judge("/dev/nvme0n1", &used, false)
        else {
            panic!("not refused")
        };
        assert_eq!(code, "shared-controller");
        assert!(message.contains("mounted at /"), "{message}");
    }
}
