//! ATA commands to SATA drives: identity, health and secure erase.
//!
//! [`command`] builds each command as plain data and wraps it for the kernel's SCSI layer (ATA
//! PASS-THROUGH (16) of SAT-3), [`identify`] and [`smart`] decode the answers, [`security`] is the
//! procedure of a secure erase. Source of all layouts: ACS-3 (INCITS 522).

pub mod command;
pub mod counters;
pub mod identify;
pub mod security;
pub mod smart;

use std::fs::File;
use std::os::fd::AsFd;

use target::TargetError;

use crate::host::ioctl::{self, ScsiData, ScsiOutcome};
use command::{Command, Data};
use identify::IdentifyDevice;
use smart::{Attribute, Statistics};

/// A device that executes ATA commands: a drive, or in tests a played one.
pub trait Port {
    /// Sends a command, waits for its end and returns its 512 bytes of data, if any.
    ///
    /// # Errors
    /// [`TargetError::Device`] with the command's name and the message of the drive or the kernel.
    fn execute(&mut self, command: &Command) -> Result<Vec<u8>, TargetError>;
}

/// The drive behind an open block device, through `SG_IO`. Needs `CAP_SYS_RAWIO`.
#[derive(Debug)]
pub struct Drive<'a> {
    file: &'a File,
    name: String,
}

impl<'a> Drive<'a> {
    /// The drive that `file` has open; `name` is for messages.
    pub fn new(file: &'a File, name: &str) -> Self {
        Self { file, name: name.to_owned() }
    }

    /// Identity and features of the drive.
    ///
    /// # Errors
    /// As [`Port::execute`].
    pub fn identify(&mut self) -> Result<IdentifyDevice, TargetError> {
        identify(self)
    }

    /// The vendor's attributes.
    ///
    /// # Errors
    /// As [`Port::execute`].
    pub fn attributes(&mut self) -> Result<Vec<Attribute>, TargetError> {
        Ok(smart::attributes(&self.execute(&Command::smart_read_data())?))
    }

    /// The standard's statistics; pages that the drive does not have stay empty.
    ///
    /// # Errors
    /// As [`Port::execute`]: the drive has no such log.
    pub fn statistics(&mut self) -> Result<Statistics, TargetError> {
        let mut statistics = Statistics::default();
        for page in smart::pages(&self.execute(&Command::statistics_page(0))?) {
            if Statistics::PAGES.contains(&page) {
                statistics.add(&self.execute(&Command::statistics_page(page))?);
            }
        }
        Ok(statistics)
    }
}

/// Identity and features of the drive behind a port.
///
/// # Errors
/// As [`Port::execute`].
pub fn identify(port: &mut impl Port) -> Result<IdentifyDevice, TargetError> {
    Ok(IdentifyDevice::decode(&port.execute(&Command::identify())?))
}

impl Port for Drive<'_> {
    fn execute(&mut self, command: &Command) -> Result<Vec<u8>, TargetError> {
        let mut answer = vec![0; if command.data == Data::FromDrive { 512 } else { 0 }];
        let data = match &command.data {
            Data::None => ScsiData::None,
            Data::FromDrive => ScsiData::FromDevice(&mut answer),
            Data::ToDrive(bytes) => ScsiData::ToDevice(bytes.as_slice()),
        };
        let block = command.to_scsi();
        let failed = |source| TargetError::Device {
            context: format!("ATA {} failed on {}", command.name, self.name),
            source,
        };
        let outcome = ioctl::scsi(self.file.as_fd(), &block, data, command.timeout_ms)
            .map_err(|errno| failed(errno.into()))?;
        match objection(&outcome) {
            None => Ok(answer),
            Some(words) => Err(failed(std::io::Error::other(words))),
        }
    }
}

/// The failure of a command, or `None` if it succeeded.
fn objection(outcome: &ScsiOutcome) -> Option<String> {
    const CHECK_CONDITION: u8 = 2;
    if outcome.host_status != 0 {
        return Some(format!("the adapter gave up (host status {:#x})", outcome.host_status));
    }
    if outcome.status == 0 {
        return None;
    }
    if outcome.status != CHECK_CONDITION {
        return Some(format!("SCSI status {:#04x}", outcome.status));
    }
    command::sense_objection(&outcome.sense)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u8, host_status: u16, sense: &[u8]) -> ScsiOutcome {
        ScsiOutcome { status, host_status, sense: sense.to_vec() }
    }

    #[test]
    fn an_end_is_good_only_where_everybody_says_so() {
        assert_eq!(objection(&outcome(0, 0, &[])), None);
        assert!(objection(&outcome(0, 3, &[])).unwrap().contains("0x3"));
        assert!(objection(&outcome(8, 0, &[])).unwrap().contains("0x08"));
        // The answer of an emulated drive to an unknown command.
        let aborted = [0x70, 0, 0x0b, 0, 0, 0, 0, 0x0a, 0x04, 0x41, 0x40, 0x01];
        assert!(objection(&outcome(2, 0, &aborted)).unwrap().contains("aborted"));
    }
}
