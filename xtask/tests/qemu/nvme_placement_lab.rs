//! Does ssdlab measure the handles of a drive through its generic device as it measures the same drive in itself, and do
//! its counters close with the books?

use serde_json::Value;

use crate::machine::Record;
use crate::nvme_tcp::{document, number};

#[test]
fn a_drive_without_handles_to_name_is_refused_with_what_is_missing() {
    for (name, expected) in [
        ("handles-of-block", "only writes through /dev/ng"),
        ("handles-of-none", "the drive has no flexible data placement: bit 19 of ctratt"),
    ] {
        let refused = Record::of(name);
        refused.must_exit_with(5);
        assert!(refused.stdout.contains(expected), "{refused:#?}");
    }
    Record::of("handles-unconfirmed").must_be_refused_as("needs-erase");
}

/// Blocks that the units of both handles still take.
fn left(name: &str) -> [u64; 2] {
    let status = document(name);
    [0, 1].map(|handle| number(&status["ruhss"][handle]["ruamw"]))
}

#[test]
fn a_write_past_the_block_layer_reaches_the_handle_that_it_names() {
    const WRITTEN_BLOCKS: u64 = (256 << 10) / 4096;
    Record::of("handles-second").must_exit_with(0);
    let [first, second] = left("handles-status-before");
    assert_eq!(left("handles-status-after"), [first, second - WRITTEN_BLOCKS]);
}

fn run_of(name: &str) -> Value {
    Record::of(name).must_exit_with(0);
    let run = document(&format!("{name}.json"));
    assert_eq!(run["status"], "complete", "{run:#}");
    run
}

#[test]
fn what_the_run_counted_is_what_the_books_count_to_the_page() {
    let run = run_of("handles-generic");
    let engine = run["target"]["engine"].as_str().expect("an engine");
    assert!(engine.contains("NVMe passthrough through /dev/ng"), "{engine}");
    let handles = run["target"]["details"]["placement"].as_str().expect("words");
    assert!(handles.starts_with("2 placement handles, initially isolated"), "{handles}");
    let [before, after] = ["handles-books-before", "handles-books-after"].map(document);
    let grown_by =
        |of: &dyn Fn(&Value) -> u64, [before, after]: [&Value; 2]| of(after) - of(before);
    for (counter, column) in
        [("host_written_bytes", "host_pages"), ("nand_written_bytes", "programmed_pages")]
    {
        let health = &run["health"];
        let counted = |look: &Value| number(&look[counter]);
        let pages = |books: &Value| number(&books["telemetry"][column]) * 4096;
        assert_eq!(
            grown_by(&counted, [&health["before"], &health["after"]]),
            grown_by(&pages, [&before, &after]),
            "{counter}"
        );
    }
}

/// The last step writes its stream to the first handle and its random blocks to the second one; the format before it gave
/// each an empty unit.
#[test]
fn the_last_step_of_the_run_writes_to_each_of_its_handles() {
    Record::of("handles-generic").must_exit_with(0);
    let (empty, written) = (left("handles-status-before"), left("handles-status-end"));
    assert!(written[0] < empty[0] && written[1] < empty[1], "{written:?} of {empty:?}");
}

/// Counters are read every 10 s, and only the step of uniform writes is long enough for them on any machine; the rates of
/// both other steps are those of a busy machine, not of the drive.
#[test]
fn uniform_writes_amplify_as_on_the_same_drive_simulated() {
    let uniform = ["handles-generic", "handles-twin"].map(|name| {
        let run = run_of(name);
        let waf = run["metrics"]["placement.uniform.waf"].as_f64();
        waf.unwrap_or_else(|| panic!("no waf: {:#}", run["metrics"]))
    });
    println!("uniform {uniform:.3?}");
    assert!((uniform[0] / uniform[1] - 1.0).abs() < 0.1, "{uniform:?}");
}
