//! Does each difference between a run and its continuation refuse by itself?

use std::collections::BTreeMap;

use base::Bytes;
use target::{Limits, TargetKind};

use super::*;
use crate::span::SpanRequest;

const SIZE_BYTES: u64 = 1 << 30;

fn identity(kind: TargetKind) -> Identity {
    let details = [("wwid", "eui.1"), ("value", "1")];
    Identity {
        kind,
        name: "drive".to_owned(),
        spec: "sim:drive".to_owned(),
        serial: Some("S1".to_owned()),
        firmware: Some("F1".to_owned()),
        capacity_bytes: SIZE_BYTES,
        raw_bytes: None,
        log_bytes: None,
        engine: String::new(),
        facts: base::Facts::default(),
        details: details.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
    }
}

fn limits() -> Limits {
    use device::host::clock::MonotonicClock;
    use target::Target as _;
    target::null::NullTarget::new(SIZE_BYTES, MonotonicClock::start()).limits()
}

fn new_request() -> Request {
    Request::new("consistency".parse().unwrap(), "library".into())
}

fn plan_of(request: &Request) -> Plan {
    super::super::plan(request, &identity(TargetKind::Block), &limits()).unwrap()
}

/// An interrupted run on the drive.
fn interrupted(kind: TargetKind) -> Run {
    let request = new_request();
    let run = super::super::new_run(&request, &plan_of(&request), &identity(kind), 0);
    Run { status: RunStatus::Interrupted, run_id: "run-1".to_owned(), ..run }
}

/// The error of a continuation of the run with this request on this target.
fn continued(run: &Run, request: Request, identity: &Identity) -> Result<(), RunError> {
    let library = tempfile::tempdir().unwrap();
    let mut writer = result::store::RunWriter::create(library.path(), run).unwrap();
    writer.finish(run).unwrap();
    let earlier = RunDir::open(writer.path()).unwrap();
    let plan = plan_of(&request);
    check_continuation(&Request { resume: Some(earlier), ..request }, &plan, identity)
}

fn must_differ(answer: Result<(), RunError>, words: &str) {
    let error = answer.map_or_else(|error| error.to_string(), |()| "it goes on".to_owned());
    assert!(error.contains(words), "expected {words}: {error}");
}

#[test]
fn every_difference_to_the_earlier_run_refuses() {
    let block = identity(TargetKind::Block);
    let same = || interrupted(TargetKind::Block);
    continued(&same(), new_request(), &block).unwrap();
    for (status, words) in
        [(RunStatus::Running, "still being written"), (RunStatus::Complete, "is complete")]
    {
        must_differ(refuse_unless_over(&Run { status, ..same() }), words);
    }
    must_differ(
        continued(&Run { status: RunStatus::Complete, ..same() }, new_request(), &block),
        "is complete",
    );
    let on = |identity: Identity| continued(&same(), new_request(), &identity);
    must_differ(on(identity(TargetKind::File)), "the kind was");
    must_differ(
        on(Identity { serial: Some("S2".into()), ..block.clone() }),
        "serial number was S1",
    );
    must_differ(on(Identity { serial: None, ..block.clone() }), "serial number was S1");
    must_differ(on(Identity { firmware: None, ..block.clone() }), "firmware was F1");
    let capacity_bytes = SIZE_BYTES + 512;
    must_differ(on(Identity { capacity_bytes, ..block.clone() }), "size in bytes was");
    let details = BTreeMap::from([("wwid".to_owned(), "eui.2".to_owned())]);
    must_differ(on(Identity { details, ..block.clone() }), "world-wide name was eui.1");

    let simulated = identity(TargetKind::Simulated);
    let on = |identity: Identity| {
        continued(&interrupted(TargetKind::Simulated), new_request(), &identity)
    };
    on(simulated.clone()).unwrap();
    must_differ(on(Identity { spec: "sim:other".into(), ..simulated.clone() }), "the model was");
    let mut details = simulated.details.clone();
    details.insert("value".to_owned(), "2".to_owned());
    must_differ(on(Identity { details, ..simulated }), "model's values was");

    let of = |run: Run| continued(&run, new_request(), &block);
    must_differ(of(Run { tool_version: "0.0.0".into(), ..same() }), "its version was 0.0.0");
    must_differ(of(Run { suite_version: 0, ..same() }), "suite version was 0");
    let with = |request: Request| continued(&same(), request, &block);
    must_differ(
        with(Request { test: "latency".parse().unwrap(), ..new_request() }),
        "its test was",
    );
    must_differ(with(Request { seed: 2, ..new_request() }), "its seed was 1");
    let span = SpanRequest::Bytes(Bytes(SIZE_BYTES / 2));
    must_differ(with(Request { span, ..new_request() }), "its span was");
    let settings = vec![("duration".to_owned(), "7s".to_owned())];
    must_differ(with(Request { settings, ..new_request() }), "its configuration was");
    // A run of another schema version does not get this far from a file.
    let request = new_request();
    let older = Run { schema_version: 0, ..same() };
    must_differ(refuse_other_request(&older, &request, &plan_of(&request)), "schema version was 0");
}
