//! Is an exposed simulated drive an NVMe drive for the kernel's host over TCP and for nvme-cli, and do its logs say what
//! its books say?

use serde_json::Value;

use crate::machine::Record;

/// Capacity of the drive: 256 GB / 1024, in whole pages.
const CAPACITY_BYTES: u64 = 250_056_704;

/// A number that nvme-cli prints as such, or as text where it may exceed 53 bits.
pub(crate) fn number(value: &Value) -> u64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    value.as_u64().or(text).unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn document(name: &str) -> Value {
    let record = Record::of(name);
    record.must_exit_with(0);
    record.document()
}

#[test]
fn the_drive_is_discovered_connected_and_listed() {
    let found = document("tcp-discover");
    let entry = &found["records"][0];
    assert_eq!((&entry["traddr"], &entry["trsvcid"]), (&"127.0.0.1".into(), &"4420".into()));
    let nqn = entry["subnqn"].as_str().expect("a name");
    assert!(nqn.starts_with("nqn.2026-11.invalid.ssdlab:samsung-840-pro-256gb:"), "{nqn}");
    assert_ne!(Record::of("tcp-other").code, 0, "there is no such subsystem");
    Record::of("tcp-connect").must_exit_with(0);
    let list = document("tcp-list");
    let devices = list["Devices"].as_array().expect("a list");
    let model = |device: &&Value| {
        device["ModelNumber"].as_str().is_some_and(|model| model.starts_with("Samsung SSD 840 Pro"))
    };
    let device = devices.iter().find(model).unwrap_or_else(|| panic!("{list:#}"));
    assert_eq!(
        (number(&device["PhysicalSize"]), number(&device["SectorSize"])),
        (CAPACITY_BYTES, 4096)
    );
    let controller = document("tcp-id-ctrl");
    for (field, value) in [
        ("mdts", 8),
        ("cntrltype", 1),
        ("oncs", 0x18f),
        ("oacs", 0x1a),
        ("sanicap", 1 << 29 | 0b111),
        ("apsta", 1),
        ("vwc", 7),
    ] {
        assert_eq!(controller[field], value, "{field}");
    }
    assert_eq!(controller["subnqn"], nqn);
    let namespace = document("tcp-id-ns");
    assert_eq!(
        (number(&namespace["nsze"]), &namespace["flbas"]),
        (CAPACITY_BYTES / 4096, &1.into())
    );
    let queue = &Record::of("tcp-queue").stdout;
    let lines: Vec<_> = queue.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, [&(CAPACITY_BYTES / 512).to_string(), "4096", "write back", "1"]);
}

#[test]
fn files_survive_another_connection_with_several_queues_and_digests() {
    Record::of("tcp-mkfs").must_exit_with(0);
    Record::of("tcp-digests").must_exit_with(0);
    let (written, read) = (Record::of("tcp-written"), Record::of("tcp-read"));
    written.must_exit_with(0);
    assert_eq!(written.stdout.lines().filter(|line| line.len() > 64).count(), 2, "{written:#?}");
    assert_eq!(written.stdout, read.stdout);
    for name in ["tcp-fio", "tcp-fio-trim"] {
        Record::of(name).must_exit_with(0);
    }
    let troubles = &Record::of("tcp-troubles").stdout;
    assert_eq!(troubles.trim(), "", "the kernel lost the drive");
}

#[test]
fn its_logs_say_what_its_books_say() {
    let (books, smart) = (document("tcp-status"), document("tcp-smart"));
    for (kind, name) in [("read", "data_units_read"), ("write", "data_units_written")] {
        assert_eq!(number(&smart[name]), number(&books["bytes"][kind]).div_ceil(512_000), "{name}");
    }
    assert_eq!(number(&smart["host_write_commands"]), number(&books["requests"]["write"]));
    assert_eq!(smart["critical_warning"], 0);
    let ocp = document("tcp-ocp");
    let written = &ocp["Physical media units written"];
    assert_eq!(number(&written["hi"]), 0, "{ocp:#}");
    let pages = number(&books["telemetry"]["programmed_pages"]);
    assert_eq!(number(&written["lo"]), pages * 4096, "{ocp:#}");
    assert!(pages > 48 << 8, "fio alone has written 48 MiB");
}

#[test]
fn a_discard_empties_pages_of_the_drive() {
    Record::of("tcp-discard").must_exit_with(0);
    assert_eq!(Record::of("tcp-discarded.bytes").stdout.trim(), "0");
    let [before, after] = ["tcp-status", "tcp-discarded"].map(document);
    let data = |books: &Value| number(&books["data_bytes"]);
    assert!(data(&before) - data(&after) >= 48 << 20, "{before:#} {after:#}");
    assert!(number(&before["valid_pages"]) > number(&after["valid_pages"]), "{before:#} {after:#}");
}

#[test]
fn faults_reach_the_host_as_status_codes() {
    assert_ne!(Record::of("tcp-media-read").code, 0);
    assert_ne!(Record::of("tcp-protected").code, 0);
    let errors = document("tcp-errors");
    let status = |index: usize| number(&errors["errors"][index]["status_field"]);
    assert_eq!(status(0) & 0x7ff, 0x020, "write protected: {errors:#}");
    assert_eq!(status(1) & 0x7ff, 0x281, "unrecovered read error: {errors:#}");
    assert_eq!(number(&errors["errors"][1]["lba"]), 256);
}

#[test]
fn format_and_sanitize_erase_the_drive() {
    Record::of("tcp-format").must_exit_with(0);
    let namespace = document("tcp-formatted");
    assert_eq!((number(&namespace["nsze"]), number(&namespace["nuse"])), (CAPACITY_BYTES / 512, 0));
    for name in ["tcp-formatted-status", "tcp-sanitized-status"] {
        assert_eq!(
            (number(&document(name)["data_bytes"]), number(&document(name)["valid_pages"])),
            (0, 0),
            "{name}"
        );
    }
    Record::of("tcp-sanitize").must_exit_with(0);
    assert_eq!(Record::of("tcp-sanitized.bytes").stdout.trim(), "0");
    let served = document("tcp-served");
    assert_eq!(served["connections_broken"], 0, "{served:#}");
}

#[test]
fn nvme_cli_divides_the_drive_into_namespaces() {
    for name in ["tcp-divided", "tcp-created-16384", "tcp-created-32768"] {
        Record::of(name).must_exit_with(0);
    }
    let listed = |name: &str| {
        let list = document(name);
        let entries = list["nsid_list"].as_array().expect("a list").iter();
        entries.map(|entry| number(&entry["nsid"])).collect::<Vec<_>>()
    };
    assert_eq!(listed("tcp-allocated"), [1, 2]);
    let sizes: Vec<_> = Record::of("tcp-parts").stdout.split_whitespace().collect();
    assert_eq!(sizes, ["16384", "32768"]);
    for (name, text) in [("tcp-first", "first\nfirst"), ("tcp-second", "second\nsecond")] {
        assert_eq!(Record::of(name).stdout.trim(), text, "{name}");
    }
    let parted = document("tcp-parted");
    assert_eq!(number(&parted["data_bytes"]), 24 << 20);
    let free = number(&document("tcp-parted-id")["unvmcap"]);
    assert_eq!(free, CAPACITY_BYTES - (24 << 20));
    assert_eq!(listed("tcp-gone"), [1]);
    assert_eq!(
        number(&document("tcp-gone-status")["data_bytes"]),
        8 << 20,
        "with it went its data"
    );
}

#[test]
fn ssdlab_measures_it_as_any_drive_and_reads_what_its_books_say() {
    let list = document("tcp-lab-list");
    let devices = list["devices"].as_array().expect("devices");
    let is_ours = |device: &&Value| {
        device["model"].as_str().is_some_and(|model| model.starts_with("Samsung SSD 840 Pro"))
    };
    assert!(devices.iter().any(|device| is_ours(&device)), "{list:#}");
    let [before, after] = ["tcp-lab-before", "tcp-lab-after"].map(document);
    let programmed = |books: &Value| number(&books["telemetry"]["programmed_pages"]) * 4096;
    let mut last = programmed(&before);
    for (name, method) in
        [("tcp-lab-format", "nvme-format"), ("tcp-lab-sanitize", "nvme-sanitize-block")]
    {
        Record::of(name).must_exit_with(0);
        let run = document(&format!("{name}.json"));
        assert_eq!((&run["status"], &run["purge"]["method"]), (&"complete".into(), &method.into()));
        let look = |when: &str, counter: &str| number(&run["health"][when][counter]);
        for when in ["before", "after"] {
            let nand = look(when, "nand_written_bytes");
            assert!(nand >= last, "{name}, {when}: {nand} is below {last}");
            assert_eq!(nand % 4096, 0);
            last = nand;
        }
        let host = look("after", "host_written_bytes") - look("before", "host_written_bytes");
        let nand = look("after", "nand_written_bytes") - look("before", "nand_written_bytes");
        assert!(host > CAPACITY_BYTES && nand > host, "{name}: {nand} for {host}");
    }
    assert!(last <= programmed(&after));
    let counted = document("tcp-lab-ocp");
    assert_eq!(number(&counted["Physical media units written"]["lo"]), programmed(&after));
}
