//! NVMe commands: identity, health and erasure of a controller, and its I/O.
//!
//! [`command`] and [`io_command`] build each command as plain data, [`identify`] and [`log`] decode
//! the answers, and [`status`] describes a failure in words. All are pure functions, byte for byte
//! equal to `nvme-cli`. [`Controller`] talks to the kernel, [`generic`] finds and opens the node
//! for I/O commands, [`placement`] finds the placement handles of a namespace. Source of all
//! layouts: NVM Express Base Specification 2.0 and NVM Command Set Specification 1.0.

pub mod command;
pub mod generic;
pub mod io_command;
pub mod placement;
pub mod status;

use std::fs::File;
use std::os::fd::AsFd;

pub use nvme::{fdp, identify, log};
use rustix::io::Errno;
use target::TargetError;

use crate::host::ioctl;
use command::AdminCommand;
use identify::{IdentifyController, IdentifyNamespace};
use io_command::IoCommand;
use log::{SanitizeLog, SmartLog};

/// The controller behind an open namespace. Needs `CAP_SYS_ADMIN`.
#[derive(Debug)]
pub struct Controller<'a> {
    file: &'a File,
    name: String,
}

impl<'a> Controller<'a> {
    /// The controller of the namespace that `file` has open; `name` is for messages.
    pub fn new(file: &'a File, name: &str) -> Self {
        Self { file, name: name.to_owned() }
    }

    /// Number of the open namespace.
    ///
    /// # Errors
    /// [`TargetError::Device`] if this is no NVMe namespace.
    pub fn namespace_id(&self) -> Result<u32, TargetError> {
        ioctl::nvme_namespace_id(self.file.as_fd()).map_err(|errno| TargetError::Device {
            context: format!("{} does not tell its NVMe namespace", self.name),
            source: errno.into(),
        })
    }

    /// Identity and features of the controller.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn identify(&self) -> Result<IdentifyController, TargetError> {
        Ok(IdentifyController::decode(&self.execute(&AdminCommand::identify_controller())?))
    }

    /// Format and sizes of a namespace.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn identify_namespace(&self, namespace_id: u32) -> Result<IdentifyNamespace, TargetError> {
        let answer = self.execute(&AdminCommand::identify_namespace(namespace_id))?;
        Ok(IdentifyNamespace::decode(&answer))
    }

    /// Numbers of the namespaces attached to the controller.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn namespaces(&self) -> Result<Vec<u32>, TargetError> {
        Ok(identify::namespace_list(&self.execute(&AdminCommand::active_namespaces())?))
    }

    /// Health of the whole controller.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn smart(&self) -> Result<SmartLog, TargetError> {
        Ok(SmartLog::decode(&self.execute(&AdminCommand::smart_log())?))
    }

    /// Progress of a sanitize.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn sanitize_log(&self) -> Result<SanitizeLog, TargetError> {
        Ok(SanitizeLog::decode(&self.execute(&AdminCommand::sanitize_log())?))
    }

    /// Bytes written to NAND, for drives with the OCP cloud SSD log.
    ///
    /// # Errors
    /// As [`Controller::execute`]; a drive without the log ends it with a failure.
    pub fn nand_written_bytes(&self) -> Result<Option<u64>, TargetError> {
        Ok(log::ocp_nand_written_bytes(&self.execute(&AdminCommand::ocp_smart_log())?))
    }

    /// The power state in force.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn power_state(&self) -> Result<u32, TargetError> {
        Ok(self.exchange(&AdminCommand::get_power_state())?.1 & 0x1f)
    }

    /// Changes the power state until the next reset.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn set_power_state(&self, state: u8) -> Result<(), TargetError> {
        self.execute(&AdminCommand::set_power_state(state)).map(drop)
    }

    /// Whether autonomous power state transitions are on, and their table.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn autonomous_power(&self) -> Result<(bool, Vec<u8>), TargetError> {
        let (table, result) = self.exchange(&AdminCommand::get_autonomous_power())?;
        Ok((result & 1 != 0, table))
    }

    /// Switches autonomous power state transitions, with this table, on or off until the next
    /// reset.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub fn set_autonomous_power(&self, enabled: bool, table: &[u8]) -> Result<(), TargetError> {
        let command = AdminCommand::set_autonomous_power(enabled);
        let mut data = table.to_vec();
        data.resize(command.answer_bytes as usize, 0);
        self.exchange_with(&command, data).map(drop)
    }

    /// Sends a command, waits for its end and returns its data.
    ///
    /// # Errors
    /// [`TargetError::Device`] with the command's name and the controller's or the kernel's words.
    pub fn execute(&self, command: &AdminCommand) -> Result<Vec<u8>, TargetError> {
        Ok(self.exchange(command)?.0)
    }

    /// The data and the number that a command returned.
    fn exchange(&self, command: &AdminCommand) -> Result<(Vec<u8>, u32), TargetError> {
        self.exchange_with(command, vec![0; command.answer_bytes as usize])
    }

    /// Sends an I/O command of this name, waits for its end and returns its data.
    fn ask(&self, name: &str, command: &IoCommand, bytes: u32) -> Result<Vec<u8>, TargetError> {
        let mut data = vec![0; bytes as usize];
        let status = ioctl::nvme_io(self.file.as_fd(), command, &mut data);
        self.done(name, status.map(|status| (status, 0)))?;
        Ok(data)
    }

    fn exchange_with(
        &self,
        command: &AdminCommand,
        mut data: Vec<u8>,
    ) -> Result<(Vec<u8>, u32), TargetError> {
        let outcome = ioctl::nvme_admin(self.file.as_fd(), command, &mut data);
        Ok((data, self.done(command.name, outcome)?))
    }

    /// The result of a command of this name that ended with a status and a result.
    fn done(&self, name: &str, outcome: Result<(u32, u32), Errno>) -> Result<u32, TargetError> {
        let source = match outcome {
            Ok((0, result)) => return Ok(result),
            Ok((status, _)) => std::io::Error::other(status::words(status)),
            Err(errno) => errno.into(),
        };
        let context = format!("NVMe {name} failed on {}", self.name);
        Err(TargetError::Device { context, source })
    }
}
