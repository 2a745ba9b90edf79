//! Other namespaces of the same NVMe controller: some commands affect them all.

use std::fs::File;

use target::TargetError;

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
