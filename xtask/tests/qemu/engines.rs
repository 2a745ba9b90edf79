//! Do polled commands have the same effect as others, and does the engine fit the drive?

use serde_json::Value;

use crate::machine::Record;

/// Fails unless the run succeeded and names the expected engine.
pub(crate) fn must_have_used(name: &str, words: &str) -> Value {
    Record::of(name).must_exit_with(0);
    let run = Record::of(&format!("{name}.json")).document();
    let engine = run["target"]["engine"].as_str().expect("an engine");
    assert!(engine.contains(words), "{engine}");
    let ios = run["phases"].as_array().expect("phases").last().expect("a load")["ios"].as_u64();
    assert!(ios > Some(100), "{run:#}");
    run
}

#[test]
fn completions_are_polled_where_the_driver_has_a_queue_for_it() {
    must_have_used("polled", "polled completions");
    let refused = Record::of("polled-refused");
    refused.must_exit_with(5);
    assert!(refused.stderr.contains("nvme.poll_queues"), "{refused:#?}");
}

#[test]
fn a_single_command_is_not_handed_to_another_thread() {
    must_have_used("handed-single", "sync, one command at a time (the kernel would hand each");
    must_have_used("handed-several", "io_uring");
    must_have_used("handed-asked", "io_uring");
}

#[test]
fn two_threads_each_have_a_submission_thread() {
    let run = must_have_used("submitted", "submission thread");
    assert_eq!(run["config"]["workers"], 2);
}
