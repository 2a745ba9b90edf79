//! Purge of a real target to its fresh state: the methods, the best one, and its execution.
//!
//! The order of [`PurgeMethod::REAL`] is by how surely the drive forgets its history: commands that
//! reset all maps and erase the NAND come first, deallocating every block next, writing every block
//! once last. A method that would reach beyond the device (other namespaces, other partitions) is
//! never used.

mod ata;
mod nvme;
mod waiter;

use std::fs::File;

use target::TargetError;
use target::purge::{PurgeMethod, PurgeOption, Waiter};

use crate::describe::{DeviceReport, Protocol};

/// The methods to purge the device of a report, the best first. Asks the drive for its features
/// (needs root), and opens the device for reading only.
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

/// The methods to purge an open device, the best first.
pub fn device_options(file: &File, report: &DeviceReport) -> Vec<PurgeOption> {
    let name = report.node.display().to_string();
    if report.zoned {
        // A reset leaves no history of a zone, and there is nothing to deallocate or to overwrite.
        return vec![PurgeOption::new(PurgeMethod::ZoneReset, None)];
    }
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

/// The methods to purge a file, the best first. Opening the file shows whether its file system can
/// punch holes.
pub fn file_options(deallocate: bool) -> Vec<PurgeOption> {
    let obstacle = (!deallocate).then(|| "the file system cannot punch holes".to_owned());
    vec![
        PurgeOption::new(PurgeMethod::Deallocate, obstacle),
        PurgeOption::new(PurgeMethod::Overwrite, None),
    ]
}

/// Purges with one of the drive's own commands. Blocks until the drive is done.
///
/// # Errors
/// [`TargetError::Device`] if the drive fails; [`TargetError::Interrupted`] if it continues by itself;
/// [`TargetError::Unsupported`] if there is no such command.
pub fn tell_the_drive(
    method: PurgeMethod,
    file: &File,
    name: &str,
    waiter: &dyn Waiter,
) -> Result<(), TargetError> {
    match method {
        PurgeMethod::AtaSecurityErase => ata::security_erase(file, name, waiter),
        _ => nvme::purge(method, file, name, waiter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::kernel::Tables;
    use crate::describe::report::report;
    use crate::host::machine::Machine;

    /// The methods of a device in a file's place, each with its obstacle.
    fn options(report: &DeviceReport) -> Vec<(PurgeMethod, Option<String>)> {
        let file = tempfile::tempfile().unwrap();
        let options = device_options(&file, report).into_iter();
        options.map(|option| (option.method, option.obstacle)).collect()
    }

    fn drive(protocol: Protocol, partition_of: Option<&str>) -> DeviceReport {
        let machine = Machine::new();
        let device = machine.device("sda", "250:0", &[]);
        let report =
            report(&machine.system, &Tables::read(&machine.system), &device, device.node());
        DeviceReport { protocol, partition_of: partition_of.map(str::to_owned), ..report }
    }

    #[test]
    fn no_command_of_the_drive_is_for_a_partition() {
        for protocol in [Protocol::Nvme, Protocol::Ata] {
            let options = options(&drive(protocol, Some("sda")));
            let (rest, of_the_drive) =
                options.split_last_chunk::<2>().map(|(a, b)| (b, a)).unwrap();
            assert!(!of_the_drive.is_empty());
            for (method, obstacle) in of_the_drive {
                let obstacle = obstacle.as_ref().unwrap();
                assert!(obstacle.contains("not only this partition"), "{method:?}: {obstacle}");
            }
            assert_eq!(rest[0].0, PurgeMethod::Deallocate);
            assert!(rest[0].1.as_ref().unwrap().contains("BLKDISCARD"));
            assert_eq!(rest[1], (PurgeMethod::Overwrite, None));
        }
        assert!(file_options(false)[0].obstacle.as_ref().unwrap().contains("punch holes"));
    }

    #[test]
    fn a_drive_that_does_not_say_what_it_can_is_told_nothing() {
        for (protocol, count) in [(Protocol::Nvme, 4), (Protocol::Ata, 1), (Protocol::Other, 0)] {
            let options = options(&drive(protocol, None));
            assert_eq!(options.len(), count + 2);
            for (method, obstacle) in &options[..count] {
                let obstacle = obstacle.as_ref().unwrap();
                assert!(obstacle.contains("did not say whether it can"), "{method:?}: {obstacle}");
            }
        }
    }
}
