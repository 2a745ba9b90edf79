//! Does a review of an exposed drive run as that of any drive, and does each of its runs say what the books say?

use serde_json::Value;

use crate::machine::Record;
use crate::nvme_tcp::{document, number};

/// The tests of the review, in its order.
const TESTS: [&str; 2] = ["consistency", "latency"];
/// Host bytes of the SMART log are in units of 1,000 blocks of 512 bytes.
const UNIT_BYTES: u64 = 512_000;

/// The `run.json` of each run, in the order of their begins.
fn runs() -> Vec<Value> {
    let record = Record::of("review-runs");
    record.must_exit_with(0);
    let documents = serde_json::Deserializer::from_str(&record.stdout).into_iter();
    let mut runs: Vec<Value> =
        documents.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}: {record:#?}"));
    runs.sort_by_key(|run| number(&run["health"]["before"]["host_written_bytes"]));
    runs
}

fn nand_bytes(run: &Value, when: &str) -> u64 {
    number(&run["health"][when]["nand_written_bytes"])
}

fn host_bytes(run: &Value, when: &str) -> u64 {
    number(&run["health"][when]["host_written_bytes"])
}

#[test]
fn a_review_behind_format_is_complete_and_writes_its_page() {
    let review = document("review");
    let list = |key: &str| review[key].as_array().map_or(0, Vec::len);
    assert_eq!((list("run_dirs"), list("errors")), (TESTS.len(), 0), "{review:#}");
    let runs = runs();
    let tests: Vec<_> = runs.iter().map(|run| run["test"].as_str().expect("a test")).collect();
    assert_eq!(tests, TESTS);
    for run in &runs {
        let test = &run["test"];
        assert_eq!(run["status"], "complete", "{test}: {run:#}");
        assert_eq!(run["purge"]["method"], "nvme-format", "{test}");
        let metrics = run["metrics"].as_object().expect("metrics");
        let known = metrics.values().filter(|value| value.is_number()).count();
        assert!(known > 0, "{test} has no figure: {run:#}");
    }
    let page = Record::of("review-page");
    page.must_exit_with(0);
    assert!(page.stdout.starts_with("<!doctype html>"), "{page:#?}");
}

#[test]
fn the_amplification_of_its_runs_is_that_of_the_books() {
    let [before, after] = ["review-before", "review-after"].map(document);
    let books = |books: &Value, column: &str| number(&books["telemetry"][column]) * 4096;
    let grown = |column: &str| books(&after, column) - books(&before, column);
    let mut nand = books(&before, "programmed_pages");
    let (mut host, mut written) = (0, [0, 0]);
    for run in &runs() {
        // Nothing but runs writes, and a format programs nothing.
        assert_eq!(nand_bytes(run, "before"), nand, "{}", run["test"]);
        nand = nand_bytes(run, "after");
        host = host_bytes(run, "after");
        written[0] += host - host_bytes(run, "before");
        written[1] += nand - nand_bytes(run, "before");
    }
    assert_eq!(nand, books(&after, "programmed_pages"), "the last run and the books");
    let counted = document("review-ocp");
    assert_eq!(number(&counted["Physical media units written"]["lo"]), nand);
    assert_eq!(written[1], grown("programmed_pages"));
    assert_eq!(host.div_ceil(UNIT_BYTES), books(&after, "host_pages").div_ceil(UNIT_BYTES));
    assert!(written[0].abs_diff(grown("host_pages")) <= UNIT_BYTES, "{written:?}: {after:#}");
    // The capacity has been written, and garbage was collected.
    assert!(grown("host_pages") > number(&after["capacity_bytes"]) && written[1] > written[0]);
}
