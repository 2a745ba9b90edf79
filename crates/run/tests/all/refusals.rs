//! Is a test that a target cannot do refused with the reason, before anything is written?

use base::Bytes;
use run::{Request, SpanRequest, Test};
use target::scripted::{Reply, ScriptedTarget};
use target::{Limits, Target};

use crate::common::{request, run_quietly};

const MIB: u64 = 1 << 20;

/// A drive of 64 MiB with sectors of 4 KiB that takes 32 commands at a time.
fn small_drive() -> ScriptedTarget {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(1_000_000));
    target.limits =
        Limits { logical_block_bytes: 4096, queue_depth_max: 32, energy: true, ..target.limits };
    target
}

/// Requests a test and returns the reason of the refusal; no command may have reached the drive.
fn refusal(test: &str, span: SpanRequest, settings: &[(&str, &str)]) -> String {
    let mut target = small_drive();
    let library = tempfile::tempdir().unwrap();
    let test_named = test.parse().unwrap();
    let request = Request { span, ..request(library.path(), test_named, settings) };
    let refused = run_quietly(&mut target, &request);
    assert!(target.events().is_empty(), "{test}: {:?}", target.events());
    assert_eq!(
        std::fs::read_dir(library.path()).unwrap().count(),
        0,
        "{test} left a run directory"
    );
    refused.expect_err(test).to_string()
}

#[test]
fn more_than_the_target_holds_is_refused_and_not_made_smaller() {
    for (test, name) in [
        ("corners", "random_span"),
        ("sweep", "sweep_span"),
        ("incompressible", "small_span"),
        ("latency", "random_span"),
        ("qd-sweep", "random_span"),
        ("mixed", "random_span"),
        ("power", "random_span"),
        ("pslc", "write_bytes"),
        ("pslc", "burst_bytes"),
    ] {
        let error = refusal(test, SpanRequest::Default, &[(name, "65MiB")]);
        let asked = format!("`--set {name}=65MiB` asks for 68.2 MB, more than the span of 67.1 MB");
        assert!(error.contains(&asked), "{test}: {error}");
    }
    let within_a_span = SpanRequest::Bytes(Bytes(32 * MIB));
    let error = refusal("corners", within_a_span, &[("random_span", "64MiB")]);
    assert!(error.contains("asks for 67.1 MB, more than the span of 33.6 MB"), "{error}");
}

#[test]
fn a_default_gives_way_to_a_small_target_and_says_so() {
    let target = small_drive();
    let limits = target.limits();
    let site = run::suite::Site {
        span_bytes: 64 * MIB,
        identity: &target.identity(),
        limits: &limits,
        has_meter: false,
    };
    for test in ["corners", "sweep", "latency", "qd-sweep", "mixed", "pslc", "incompressible"] {
        let definition = test.parse::<Test>().unwrap().definition();
        let params = run::params::Params::new(definition.params, &[]).unwrap();
        let notes = (definition.procedure)(&params, &site).unwrap().notes.join("\n");
        assert!(
            notes.contains("the span is only 67.1 MB, so the test uses that"),
            "{test}: {notes}"
        );
    }
}

#[test]
fn spans_and_spare_areas_that_the_target_has_not_are_refused() {
    let error = refusal("consistency", SpanRequest::Bytes(Bytes(65 * MIB)), &[]);
    assert!(error.contains("--span 65MiB is larger"), "{error}");
    let too_much = SpanRequest::Spare("99.9%".parse().unwrap());
    let error = refusal("consistency", too_much, &[]);
    assert!(error.contains("--spare 99.9%") || error.contains("--spare 999/1000"), "{error}");
    assert!(error.contains("no whole block of 128KiB") && error.contains("such as 25%"), "{error}");
}

#[test]
fn what_would_measure_nothing_is_refused() {
    for (test, name) in [
        ("pslc", "write_bytes"),
        ("pslc", "burst_bytes"),
        ("pts-hir", "cycles"),
        ("pts-write-saturation", "steps_max"),
    ] {
        let error = refusal(test, SpanRequest::Default, &[(name, "0")]);
        let asked = format!("`--set {name}=0` would measure nothing");
        assert!(error.contains(&asked), "{test}: {error}");
    }
}

#[test]
fn a_value_that_a_list_has_already_is_refused() {
    for (test, name, value) in [
        ("qd-sweep", "queue_depths", "1,1"),
        ("mixed", "read_percents", "0,100,0"),
        ("pslc", "pauses", "60s,1m"),
    ] {
        let error = refusal(test, SpanRequest::Default, &[(name, value)]);
        assert!(error.contains(&format!("`--set {name}={value}`")), "{test}: {error}");
        assert!(error.contains("twice"), "{test}: {error}");
    }
}

#[test]
fn a_raw_capacity_that_is_none_is_refused_also_where_no_pass_needs_it() {
    let error = refusal("consistency", SpanRequest::Default, &[("raw_capacity", "NaN")]);
    assert!(error.contains("`--set raw_capacity=NaN`"), "{error}");
}

#[test]
fn a_trace_is_not_replayed_in_another_way_than_asked_for() {
    for (name, value, expected) in [
        ("queue_depth_max", "4095", "32 commands"),
        ("queue_depth_max", "0", "at least 1"),
        ("transfer_max", "513", "blocks of 4096 bytes"),
        ("transfer_max", "6000", "blocks of 4096 bytes"),
    ] {
        let error = refusal("light", SpanRequest::Default, &[(name, value)]);
        assert!(error.contains(&format!("`--set {name}={value}`")), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn parts_of_a_sector_are_refused() {
    for test in ["consistency", "latency", "qd-sweep", "mixed"] {
        let error = refusal(test, SpanRequest::Default, &[("block", "512B")]);
        assert!(
            error.contains("block size in bytes is 512") && error.contains("4096"),
            "{test}: {error}"
        );
    }
}

#[test]
fn queues_deeper_than_the_target_are_refused() {
    for (test, name) in [
        ("consistency", "queue_depth"),
        ("corners", "deep_queue_depth"),
        ("incompressible", "deep_queue_depth"),
        ("qd-sweep", "queue_depths"),
        ("mixed", "queue_depth"),
    ] {
        let error = refusal(test, SpanRequest::Default, &[(name, "33")]);
        assert!(error.contains("33") && error.contains("32 commands"), "{test}: {error}");
    }
}

#[test]
fn a_part_of_a_trace_is_told_as_it_was_typed() {
    for (settings, words) in [
        (&[("part", "1/1000000000")][..], "`--set part=1/1000000000` leaves too little of synth:"),
        (&[("trace", "none"), ("part", "1/10")], "`--set part=1/10` is for synthesised traces"),
        (
            &[("trace", "synth:light-2011?seed=x"), ("part", "1/10")],
            "synth:light-2011?seed=x: seed=x",
        ),
    ] {
        let error = refusal("light", SpanRequest::Default, settings);
        assert!(error.contains(words), "{error}");
    }
}
