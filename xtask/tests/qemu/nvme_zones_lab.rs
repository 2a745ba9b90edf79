//! Does ssdlab measure a zoned block device as it measures the same drive in itself, by writes and by appends?

use serde_json::Value;

use crate::machine::Record;
use crate::nvme_tcp::{document, number};

/// Slowness of the clock of the drive.
const SLOWDOWN: f64 = 80.0;

#[test]
fn what_cannot_be_measured_is_refused() {
    let disordered = Record::of("lab-disordered");
    disordered.must_exit_with(5);
    assert!(disordered.stdout.contains("write mq-deadline into"), "{disordered:#?}");
    let other = Record::of("lab-other");
    other.must_exit_with(2);
    assert!(other.stdout.contains("`zones` is the test for it"), "{other:#?}");
    Record::of("lab-unconfirmed").must_be_refused_as("needs-erase");
}

/// The steps that end after a number of commands, with that number.
fn commands(run: &Value) -> Vec<(&str, u64)> {
    let phases = run["phases"].as_array().expect("phases").iter();
    let by_number =
        phases.filter(|phase| !phase["name"].as_str().is_some_and(|it| it.starts_with("reads")));
    by_number
        .map(|phase| (phase["name"].as_str().expect("a name"), number(&phase["ios"])))
        .collect()
}

#[test]
fn zones_of_a_device_are_measured_by_writes_and_by_appends() {
    let twin = document("lab-twin.json");
    let finish = |run: &Value| run["metrics"]["zones.finish_begun.latency_ns_mean"].as_f64();
    let true_ns = finish(&twin).expect("a figure") * SLOWDOWN;
    for (name, engine) in [("lab-block", "io_uring"), ("lab-generic", "NVMe passthrough")] {
        Record::of(name).must_exit_with(0);
        let run = document(&format!("{name}.json"));
        assert_eq!(
            (&run["status"], &run["purge"]["method"]),
            (&"complete".into(), &"zone-reset".into())
        );
        assert!(run["target"]["engine"].as_str().is_some_and(|it| it.contains(engine)), "{run:#}");
        assert_eq!(commands(&run), commands(&twin), "{name}");
        // The machine adds some milliseconds to a finish, which takes 80 here.
        let measured_ns = finish(&run).expect("a figure");
        let ratio = measured_ns / true_ns;
        assert!((1.0..2.0).contains(&ratio), "{name}: {measured_ns} ns, {true_ns} in the drive");
    }
    let books = document("lab-books");
    assert_eq!(number(&books["telemetry"]["gc_moved_pages"]), 0);
    assert_eq!(number(&books["errors"]), 0, "{books:#}");
}
