//! The processor on which all interrupts of a drive arrive.
//!
//! A drive with a queue for each processor answers on the processor of the request. One with a
//! single queue (SATA, most virtual disks) answers on one processor for all requests; a thread on
//! another processor has to be woken from there for every command. On a virtual disk that took 1.7
//! times as long and cost 1.7 times the processor time (`docs/reference/engine.md`), depending on where the
//! system happens to run the thread. So the thread is kept on the processor that gets the
//! interrupts.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::host::sysfs::{Device, DeviceNumber, System};

/// Most layers searched between a file system and its drive: partitions are none, loop devices and
/// mappings are one each.
const LAYERS_MAX: usize = 8;

/// The processor that gets the interrupts of the drive under a block device, or `None` if there are
/// several queues, several drives or no interrupts of its own.
pub fn processor(system: &System, number: DeviceNumber) -> Option<usize> {
    let drive = lowest(system, system.by_number(number)?.disk())?;
    if drive.hardware_queues() != 1 {
        return None;
    }
    let table = fs::read_to_string(system.proc.join("interrupts")).ok()?;
    let interrupt = the_busy_one(&drive.message_interrupts(), &table)?;
    let place = system.proc.join(format!("irq/{interrupt}/effective_affinity_list"));
    fs::read_to_string(place).ok()?.trim().parse().ok()
}

/// The drive under loop devices and mappings.
fn lowest(system: &System, mut disk: Device) -> Option<Device> {
    for _ in 0..LAYERS_MAX {
        let below = match (disk.backing_file(), disk.slaves().as_slice()) {
            (Some(file), _) => {
                system.by_number(DeviceNumber::from_raw(fs::metadata(file).ok()?.dev()))?
            }
            (None, []) => return Some(disk),
            (None, [only]) => only.clone(),
            (None, _) => return None,
        };
        disk = below.disk();
    }
    None
}

/// The interrupt with more than three quarters of a controller's count; the others report its
/// configuration.
fn the_busy_one(interrupts: &[u32], table: &str) -> Option<u32> {
    let counts = interrupts.iter().map(|&interrupt| (count(table, interrupt), interrupt));
    let sum: u64 = interrupts.iter().map(|&interrupt| count(table, interrupt)).sum();
    let (most, interrupt) = counts.max()?;
    (interrupts.len() == 1 || most > sum / 2 + sum / 4).then_some(interrupt)
}

/// Count of an interrupt, on all processors together.
fn count(table: &str, interrupt: u32) -> u64 {
    let label = format!("{interrupt}:");
    let mut lines = table.lines().map(str::split_whitespace);
    let line = lines.find_map(|mut words| (words.next() == Some(label.as_str())).then_some(words));
    line.into_iter().flatten().map_while(|word| word.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::host::machine::Machine;

    const TABLE: &str = "           CPU0       CPU1
 35:          0          1 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config
 36:         12   44954910 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 40:        500        500 PCI-MSI-0000:00:1f.2    0-edge      ahci[0000:00:1f.2]
";

    /// Queues, as attributes of their disk.
    const QUEUES: [(&str, &str); 2] = [("mq/0/cpu_list", "0"), ("mq/1/cpu_list", "1")];

    /// A machine with the disk `vda`, which has these queues, and its partition `vda1`.
    fn machine(queues: &[(&str, &str)]) -> Machine {
        let machine = Machine::new();
        machine.table("interrupts", TABLE);
        for (interrupt, processors) in [(35, "0-1"), (36, "1"), (40, "0-1")] {
            arrives(&machine, interrupt, processors);
        }
        machine.device("pci/virtio1/block/vda", "254:0", queues);
        machine.device("pci/virtio1/block/vda/vda1", "254:1", &[("partition", "1")]);
        let interrupts = machine.system.sys.join("devices/pci/msi_irqs");
        fs::create_dir(&interrupts).unwrap();
        for interrupt in ["35", "36"] {
            fs::write(interrupts.join(interrupt), "msix\n").unwrap();
        }
        machine
    }

    /// Sets the processors on which an interrupt arrives.
    fn arrives(machine: &Machine, interrupt: u32, processors: &str) {
        let dir = machine.system.proc.join(format!("irq/{interrupt}"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("effective_affinity_list"), format!("{processors}\n")).unwrap();
    }

    fn heard(machine: &Machine, number: &str) -> Option<usize> {
        processor(&machine.system, DeviceNumber::parse(number).unwrap())
    }

    #[test]
    fn a_single_queue_is_heard_on_one_processor() {
        let machine = machine(&QUEUES[..1]);
        assert_eq!(heard(&machine, "254:0"), Some(1));
        assert_eq!(heard(&machine, "254:1"), Some(1), "a partition is heard where its disk is");
        assert_eq!(heard(&machine, "8:0"), None, "a device that nobody knows");
    }

    #[test]
    fn every_processor_hears_its_own_queue() {
        assert_eq!(heard(&machine(&QUEUES), "254:0"), None);
        assert_eq!(heard(&machine(&[]), "254:0"), None, "a device without queues");
    }

    #[test]
    fn a_mapping_is_heard_where_its_only_drive_is() {
        let machine = machine(&QUEUES[..1]);
        machine.device("virtual/block/dm-0", "253:0", &[]);
        let slaves = machine.system.sys.join("devices/virtual/block/dm-0/slaves");
        fs::create_dir_all(&slaves).unwrap();
        let devices = machine.system.sys.join("devices");
        symlink(devices.join("pci/virtio1/block/vda/vda1"), slaves.join("vda1")).unwrap();
        assert_eq!(heard(&machine, "253:0"), Some(1));
        machine.device("pci2/block/sda", "8:0", &[]);
        symlink(devices.join("pci2/block/sda"), slaves.join("sda")).unwrap();
        assert_eq!(heard(&machine, "253:0"), None, "two drives may be heard in two places");
    }

    #[test]
    fn an_interrupt_that_may_arrive_anywhere_is_nowhere() {
        let machine = machine(&QUEUES[..1]);
        arrives(&machine, 36, "0-1");
        assert_eq!(heard(&machine, "254:0"), None);
    }

    #[test]
    fn the_interrupt_of_the_queue_is_the_busy_one() {
        assert_eq!(the_busy_one(&[35, 36], TABLE), Some(36));
        assert_eq!(the_busy_one(&[40], TABLE), Some(40));
        assert_eq!(the_busy_one(&[35, 36, 40], TABLE), Some(36));
        assert_eq!(the_busy_one(&[35, 41], "35: 5 5 a\n41: 4 4 b\n"), None, "two share the work");
        assert_eq!(the_busy_one(&[35, 41], "35: 0 0 a\n41: 0 0 b\n"), None);
        assert_eq!(the_busy_one(&[], TABLE), None);
    }
}
