//! Does ssdlab refuse to write to an NVMe drive in use, and does it read one without a write?

use crate::machine::Record;

#[test]
fn a_mounted_drive_is_refused() {
    Record::of("refused-mounted").must_be_refused_as("mounted");
    assert!(Record::of("refused-mounted").stderr.contains("/mnt"));
}

/// Numbers in the statistics of a block device: writes, sectors written, deallocations and flushes.
const WRITES: [usize; 4] = [4, 6, 11, 15];

#[test]
fn a_mounted_drive_is_read_and_nothing_is_written() {
    let reading = Record::of("reading");
    reading.must_exit_with(0);
    let run = Record::of("reading.json").document();
    let reads = run["metrics"]["latency.random_read.iops"].as_f64().unwrap();
    assert!(reads > 0.0, "{run}");
    assert!(run["metrics"]["latency.random_write.iops"].is_null(), "{run}");
    assert!(run["warnings"].to_string().contains("mounted"), "{}", run["warnings"]);
    let [before, after] = ["reading-before", "reading-after"].map(|name| &Record::of(name).stdout);
    assert!(before.len() > 64 && before == after, "{before} {after}");
    let writes = |name: &str| {
        let numbers: Vec<_> = Record::of(name).stdout.split_whitespace().collect();
        WRITES.map(|place| numbers.get(place).copied())
    };
    assert_eq!(writes("reading-stat-before"), writes("reading-stat-after"));
    let [reads_before, reads_after] = ["reading-stat-before", "reading-stat-after"].map(|name| {
        Record::of(name).stdout.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    });
    assert!(reads_after > reads_before + 100, "{reads_before} {reads_after}");
}

#[test]
fn a_file_system_needs_a_second_consent() {
    Record::of("refused-signature").must_be_refused_as("signature");
    assert!(Record::of("refused-signature").stderr.contains("ext"));
}

/// The request for a confirmation identifies the drive: by its label, and by the bytes written so
/// far.
#[test]
fn an_unconfirmed_drive_says_who_it_is() {
    let refused = Record::of("refused-unconfirmed");
    refused.must_be_refused_as("needs-erase");
    for word in ["serial NVME-ONE", "firmware ", "TB written so far", "--erase NVME-ONE"] {
        assert!(refused.stderr.contains(word), "{word}: {refused:#?}");
    }
}

#[test]
fn another_drives_serial_is_refused() {
    Record::of("refused-serial").must_be_refused_as("wrong-serial");
}

#[test]
fn a_controller_is_no_block_device() {
    let refused = Record::of("refused-controller");
    refused.must_be_refused_as("not-a-block-device");
    assert!(refused.stderr.contains("its block device is /dev/nvme"), "{refused:#?}");
}

#[test]
fn a_namespace_in_use_beside_the_target_is_told_and_kept() {
    Record::of("sibling").must_exit_with(0);
    let run = Record::of("sibling.json").document();
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains("another namespace of the same controller is in use"), "{warnings}");
    Record::of("sibling-checked").must_exit_with(0);
}

#[test]
fn another_mapping_of_the_same_disk_is_refused() {
    let refused = Record::of("refused-mapping");
    refused.must_be_refused_as("held");
    for word in ["is part of /dev/", "device-mapper volume theirs", "mounted at /mnt"] {
        assert!(refused.stderr.contains(word), "{word}: {refused:#?}");
    }
    Record::of("mapping-checked").must_exit_with(0);
    Record::of("mapping-alone").must_exit_with(0);
}
