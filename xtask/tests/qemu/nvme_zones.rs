//! Is an exposed drive with zones a zoned block device for the kernel, blkzone, nvme-cli and fio?

use crate::machine::Record;

/// Zones of the drive, whatever its scale.
const ZONES: &str = "904";
/// Blocks of 512 bytes of a zone, and of the part of it that takes data: 1,077 MiB / 64 in whole units.
const SIZE_SECTORS: u64 = (32 << 20) / 512;
const CAPACITY_SECTORS: u64 = 34_464;
/// Sectors of the first write.
const WRITTEN_SECTORS: u64 = (1 << 20) / 512;

fn zone(name: &str, written_sectors: u64, state: &str) {
    let record = Record::of(name);
    record.must_exit_with(0);
    let line = record.stdout.lines().find(|line| line.contains("start: 0x000000000"));
    let line = line.unwrap_or_else(|| panic!("{record:#?}"));
    let capacity = format!("cap 0x{CAPACITY_SECTORS:06x}");
    let pointer = format!("wptr 0x{written_sectors:06x}");
    for words in [capacity.as_str(), pointer.as_str(), state] {
        assert!(line.contains(words), "{words}: {line}");
    }
}

#[test]
fn the_kernel_knows_its_zones_and_their_limits() {
    Record::of("zones-connect").must_exit_with(0);
    let queue = &Record::of("zones-queue").stdout;
    let lines: Vec<_> = queue.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, ["host-managed", ZONES, &SIZE_SECTORS.to_string()]);
    let namespace = Record::of("zones-id");
    namespace.must_exit_with(0);
    let namespace = namespace.document();
    assert_eq!((&namespace["mar"], &namespace["mor"]), (&13.into(), &13.into()), "{namespace:#}");
    zone("zones-fresh", 0, "zcond: 1(em)");
    let troubles = &Record::of("zones-troubles").stdout;
    assert_eq!(troubles.trim(), "", "the kernel lost the drive");
}

#[test]
fn a_zone_is_written_at_its_pointer_finished_and_emptied() {
    assert_ne!(Record::of("zones-elsewhere").code, 0, "a write beside the pointer");
    zone("zones-written", WRITTEN_SECTORS, "zcond: 2(oi)");
    let report = Record::of("zones-nvme").document();
    let first = &report["zone_list"][0];
    assert_eq!(first["wp"], WRITTEN_SECTORS / 8, "{report:#}");
    let data = Record::of("zones-data");
    let sums: Vec<_> = data.stdout.lines().filter(|line| line.len() > 64).collect();
    assert_eq!((sums.len(), sums[0]), (2, sums[1]));
    for name in ["zones-finish", "zones-reset"] {
        Record::of(name).must_exit_with(0);
    }
    let finished = Record::of("zones-finished");
    assert!(finished.stdout.contains("zcond:14(fu)"), "{finished:#?}");
    zone("zones-emptied", 0, "zcond: 1(em)");
    assert_eq!(Record::of("zones-emptied.bytes").stdout.trim(), "0");
}

#[test]
fn fio_writes_zones_and_reads_them_back() {
    assert_eq!(Record::of("zones-scheduler").stdout.trim(), "[mq-deadline] none");
    Record::of("zones-fio").must_exit_with(0);
    let books = Record::of("zones-status").document();
    let written = books["bytes"]["write"].as_u64().expect("a number");
    assert_eq!(written, (1 << 20) + 2 * (16 << 20), "{books:#}");
}
