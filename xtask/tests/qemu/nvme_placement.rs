//! Does nvme-cli see the placement of an exposed drive with handles as its books have it?

use serde_json::{Value, json};

use crate::machine::Record;
use crate::nvme_tcp::{document, number};

/// Blocks of 4,096 bytes in a write with a handle, and in a reclaim unit: a superblock of the drive.
const WRITTEN_BLOCKS: u64 = 64;
const UNIT_BLOCKS: u64 = 360;

/// Blocks that the unit of each handle still takes.
fn left(name: &str) -> Vec<u64> {
    let status = document(name);
    let handles = status["ruhss"].as_array().expect("handles");
    handles.iter().map(|handle| number(&handle["ruamw"])).collect()
}

#[test]
fn the_configuration_and_the_use_of_handles_are_those_of_the_model() {
    let configurations = document("placement-configs");
    let expected = json!({"fdpa": 128, "vss": 0, "nrg": 1, "nruh": 4, "nnss": 1, "erutl": 0,
        "runs": UNIT_BLOCKS * 4096});
    assert_eq!(configurations["configs"][0], expected);
    let usage = document("placement-usage");
    let by_the_controller: Vec<_> = (0..4).map(|_| json!({"ruha": 2})).collect();
    assert_eq!(usage["ruhus"], Value::Array(by_the_controller));
    assert_eq!(left("placement-fresh"), [UNIT_BLOCKS; 4]);
}

#[test]
fn writes_move_on_in_the_units_of_their_handles_and_the_host_exchanges_them() {
    for name in ["placement-write1", "placement-write3", "placement-write9", "placement-update"] {
        Record::of(name).must_exit_with(0);
    }
    let begun = UNIT_BLOCKS - WRITTEN_BLOCKS;
    assert_eq!(left("placement-begun"), [begun, begun, UNIT_BLOCKS, begun], "9 counts as 0");
    let exchanged = left("placement-exchanged");
    assert_eq!(exchanged[1..], [UNIT_BLOCKS, UNIT_BLOCKS, begun]);
    Record::of("placement-listen").must_exit_with(0);
    let events = document("placement-events");
    let events = events["events"].as_array().expect("events");
    let found: Vec<_> = events.iter().map(|event| [&event["type"], &event["pid"]]).collect();
    assert_eq!(json!(found), json!([[0, 1], [3, 9]]), "handle 2 had no unit");
}

#[test]
fn the_statistics_are_the_books() {
    let (books, found) = (document("placement-books"), document("placement-stats"));
    let pages = |column: &str| number(&books["telemetry"][column]) * 4096;
    assert_eq!(number(&found["hbmw"]), pages("host_pages"));
    assert_eq!(number(&found["mbmw"]), pages("programmed_pages"));
    assert_eq!(number(&found["hbmw"]), number(&books["bytes"]["write"]));
    assert!(pages("programmed_pages") > 16 << 20, "dd alone has written 24 MiB: {books:#}");
}
