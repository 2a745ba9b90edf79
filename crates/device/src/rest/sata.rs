//! Link power management of a SATA port.
//!
//! Source: `link_power_management_policy` of the kernel's `scsi_host` class
//! (`Documentation/ABI/testing/sysfs-class-scsi_host`). With `med_power_with_dipm`, the default of
//! Windows and Linux, the host may put the link into partial and the drive may put it into slumber.
//! Kernels before 4.15 have `min_power` instead. `max_performance` keeps the link awake.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use target::TargetError;

use crate::host::sysfs::{Device, System};

const ATTRIBUTE: &str = "link_power_management_policy";
const REST: [&str; 2] = ["med_power_with_dipm", "min_power"];
const AWAKE: [&str; 1] = ["max_performance"];

/// The port and its policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    /// The kernel's name of the port, `host3`.
    host: String,
    policy: String,
}

impl Found {
    pub(super) fn words(&self) -> String {
        format!("link power management of {} is {}", self.host, self.policy)
    }

    /// The attribute. A journal may contain any text, so the name must be that of a port and
    /// nothing else.
    fn file(&self, system: &System) -> Result<PathBuf, TargetError> {
        let is_word = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let number = self.host.strip_prefix("host").and_then(|number| number.parse::<u32>().ok());
        match number.filter(|_| is_word(&self.policy)) {
            Some(number) => Ok(attribute(system, &format!("host{number}"))),
            None => Err(TargetError::Usage(format!("{self:?} is no setting of a SATA port"))),
        }
    }
}

fn attribute(system: &System, host: &str) -> PathBuf {
    system.sys.join("class/scsi_host").join(host).join(ATTRIBUTE)
}

/// The attribute of the port behind this disk, or `None` if the port has none.
pub(super) fn policy_file(system: &System, disk: &Device) -> Option<PathBuf> {
    let file = attribute(system, &disk.scsi_host()?);
    file.is_file().then_some(file)
}

pub(super) fn look(system: &System, disk: &Device) -> Result<Found, TargetError> {
    let host = disk.scsi_host().unwrap_or_default();
    let file = attribute(system, &host);
    let text = fs::read_to_string(&file).map_err(|source| TargetError::Device {
        context: format!("cannot read {}", file.display()),
        source,
    })?;
    Ok(Found { host, policy: text.trim().to_owned() })
}

/// Lets the link rest or keeps it awake; the first policy that the kernel takes.
pub(super) fn switch(system: &System, found: &Found, allowed: bool) -> Result<String, TargetError> {
    let file = found.file(system)?;
    let policies = if allowed { REST.as_slice() } else { &AWAKE };
    let mut refused = None;
    for policy in policies {
        match write(&file, policy) {
            Ok(()) => {
                let Found { host, policy: before } = found;
                return Ok(format!(
                    "link power management of {host} is {policy} (found: {before})"
                ));
            }
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| TargetError::Unsupported(found.words())))
}

pub(super) fn restore(system: &System, found: &Found) -> Result<(), TargetError> {
    write(&found.file(system)?, &found.policy)
}

/// Writes and reads back: some kernels take a policy and keep another.
fn write(file: &PathBuf, policy: &str) -> Result<(), TargetError> {
    let failed = |source| TargetError::Device {
        context: format!("cannot set {} to {policy}", file.display()),
        source,
    };
    fs::write(file, policy).map_err(failed)?;
    let now = fs::read_to_string(file).map_err(failed)?;
    if now.trim() == policy {
        return Ok(());
    }
    Err(failed(std::io::Error::other(format!("it says {}", now.trim()))))
}
