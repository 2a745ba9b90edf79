//! An exposed simulated drive as an NVMe disk of the machine.

use crate::machine::Record;

/// 256 GB / 1024, as `nbdinfo --size` tells it.
const CAPACITY_BYTES: u64 = 250_056_704;

#[test]
fn the_machine_has_an_exposed_drive_as_its_disk() {
    let record = Record::of("exposed-size");
    let sectors: u64 = record.stdout.trim().parse().expect("a number of sectors");
    assert_eq!(sectors * 512, CAPACITY_BYTES, "the kernel and the server agree");
    let written = Record::of("exposed-written");
    written.must_exit_with(0);
    let read = Record::of("exposed-read");
    read.must_exit_with(0);
    let run = Record::of("exposed.json").document();
    assert_eq!(run["status"], "complete", "{run:#}");
    assert_eq!(run["target"]["kind"], "block", "for the machine it is a block device");
}
