//! Bringing a real target to its fresh state: which ways there are, which is best, and doing it.
//!
//! The order of [`PurgeMethod::REAL`] is that of how surely the drive forgets its history: commands that
//! reset all maps and erase the NAND come first, telling it that every block is unused next, writing every
//! block once last. A way that would reach beyond the device (other namespaces, other partitions) is
//! never taken.

mod ata;
mod nvme;
mod waiter;

use std::fs::File;

use target::IoError;
use target::purge::{PurgeMethod, PurgeOption, Waiter};

use crate::describe::{DeviceReport, Protocol};

/// The ways to purge the device of a report, the best first. Asks the drive what it can do (needs root),
/// and opens the device for reading only.
#[must_use]
pub fn survey(report: &DeviceReport) -> Vec<PurgeOption> {
    match File::open(&report.node) {
        Ok(file) => device_options(&file, report),
        Err(error) => {
            let obstacle = format!("{} could not be opened: {error}", report.node.display());
            let option = |method| PurgeOption::new(method, Some(obstacle.clone()));
            PurgeMethod::REAL.map(option).to_vec()
        }
    }
}

/// The ways to purge an open device, the best first.
pub fn device_options(file: &File, report: &DeviceReport) -> Vec<PurgeOption> {
    let name = report.node.display().to_string();
    let mut options = match report.protocol {
        Protocol::Nvme => nvme::options(file, &name),
        Protocol::Ata => ata::options(file, &name),
        Protocol::Other => Vec::new(),
    };
    if let Some(disk) = &report.partition_of {
        // These commands know no partitions.
        for option in &mut options {
            option.obstacle =
                Some(format!("it would erase all of {disk}, not only this partition"));
        }
    }
    let obstacle = (!report.deallocate)
        .then(|| "the device does not take BLKDISCARD (queue/discard_max_bytes is 0)".to_owned());
    options.push(PurgeOption::new(PurgeMethod::Deallocate, obstacle));
    options.push(PurgeOption::new(PurgeMethod::Overwrite, None));
    options
}

/// The ways to purge a file, the best first. Whether its file system can punch holes is found out
/// when it is opened.
#[must_use]
pub fn file_options(deallocate: bool) -> Vec<PurgeOption> {
    let obstacle = (!deallocate).then(|| "the file system cannot punch holes".to_owned());
    vec![
        PurgeOption::new(PurgeMethod::Deallocate, obstacle),
        PurgeOption::new(PurgeMethod::Overwrite, None),
    ]
}

/// Purges with a command of the drive's own. Blocks until the drive is done.
///
/// # Errors
/// [`IoError::Device`] where the drive fails; [`IoError::Interrupted`] where it goes on by itself; [`IoError::Unsupported`] where there is no such command.
pub fn tell_the_drive(
    method: PurgeMethod,
    file: &File,
    name: &str,
    waiter: &dyn Waiter,
) -> Result<(), IoError> {
    match method {
        PurgeMethod::AtaSecurityErase => ata::security_erase(file, name, waiter),
        _ => nvme::purge(method, file, name, waiter),
    }
}
