//! Bringing a real target to its fresh state: which ways there are, which is best, and doing it.
//!
//! The order of [`PurgeMethod::REAL`] is that of how surely the drive forgets its history: commands that
//! reset all maps and erase the NAND come first, telling it that every block is unused next, writing every
//! block once last. A way that would reach beyond the device (other namespaces, other partitions) is
//! never taken.

mod ata;
mod nvme;
mod overwrite;
mod waiter;

use std::fs::File;

use crate::discover::{DeviceReport, Protocol};
use crate::error::IoError;
use crate::target::PurgeMethod;

pub(crate) use overwrite::overwrite;
pub use waiter::{Patient, Waiter};

/// One way to purge a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeOption {
    /// The way.
    pub method: PurgeMethod,
    /// Why it cannot be gone; `None` where it can.
    pub obstacle: Option<String>,
}

impl PurgeOption {
    fn new(method: PurgeMethod, obstacle: Option<String>) -> Self {
        Self { method, obstacle }
    }
}

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
pub(crate) fn device_options(file: &File, report: &DeviceReport) -> Vec<PurgeOption> {
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

/// The way that was asked for, else the first without an obstacle.
///
/// # Errors
/// [`IoError::Unsupported`] where that way, or every way, has an obstacle.
pub fn choose(
    options: &[PurgeOption],
    wanted: Option<PurgeMethod>,
    target: &str,
) -> Result<PurgeMethod, IoError> {
    let free = |option: &&PurgeOption| option.obstacle.is_none();
    let Some(wanted) = wanted else {
        return options.iter().find(free).map(|option| option.method).ok_or_else(|| {
            IoError::Unsupported(format!("there is no way to purge {target}: {}", list(options)))
        });
    };
    let option = options.iter().find(|option| option.method == wanted);
    let obstacle = match option {
        Some(PurgeOption { obstacle: None, .. }) => return Ok(wanted),
        Some(PurgeOption { obstacle: Some(obstacle), .. }) => obstacle.as_str(),
        None => "it is not that kind of device",
    };
    let others: Vec<_> = options.iter().filter(free).map(|option| option.method.name()).collect();
    Err(IoError::Unsupported(format!(
        "{target} cannot be purged with --purge {}: {obstacle}; possible are: {}",
        wanted.name(),
        if others.is_empty() { "none".to_owned() } else { others.join(", ") }
    )))
}

fn list(options: &[PurgeOption]) -> String {
    let line = |option: &PurgeOption| {
        format!("{}: {}", option.method.name(), option.obstacle.as_deref().unwrap_or("possible"))
    };
    options.iter().map(line).collect::<Vec<_>>().join("; ")
}

/// Purges with a command of the drive's own. Blocks until the drive is done.
///
/// # Errors
/// [`IoError::Device`] where the drive fails; [`IoError::Interrupted`] where it goes on by itself; [`IoError::Unsupported`] where there is no such command.
pub(crate) fn tell_the_drive(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<PurgeOption> {
        vec![
            PurgeOption::new(PurgeMethod::NvmeFormat, Some("two namespaces".to_owned())),
            PurgeOption::new(PurgeMethod::Deallocate, None),
            PurgeOption::new(PurgeMethod::Overwrite, None),
        ]
    }

    #[test]
    fn the_best_way_without_an_obstacle_is_taken() {
        assert_eq!(choose(&options(), None, "it").unwrap(), PurgeMethod::Deallocate);
        let wanted = Some(PurgeMethod::Overwrite);
        assert_eq!(choose(&options(), wanted, "it").unwrap(), PurgeMethod::Overwrite);
        assert!(choose(&[], None, "it").unwrap_err().to_string().contains("no way to purge it"));
    }

    #[test]
    fn a_way_that_is_asked_for_and_closed_is_explained() {
        let message = |wanted| choose(&options(), Some(wanted), "it").unwrap_err().to_string();
        let closed = message(PurgeMethod::NvmeFormat);
        assert!(closed.contains("--purge nvme-format: two namespaces"), "{closed}");
        assert!(closed.contains("possible are: deallocate, overwrite"), "{closed}");
        assert!(message(PurgeMethod::AtaSecurityErase).contains("not that kind of device"));
    }

    #[test]
    fn every_method_is_found_by_its_name() {
        for method in PurgeMethod::REAL {
            assert_eq!(method.name().parse::<PurgeMethod>().unwrap(), method);
        }
        let error = "shred".parse::<PurgeMethod>().unwrap_err().to_string();
        assert!(error.contains("`shred`") && error.contains("nvme-format-crypto"), "{error}");
    }
}
