//! Does `zones` measure a drive with zones, and does every other test refuse it?

use io::engine::sim::SimTarget;
use result::schema::{MarkKind, RunStatus};
use run::{Outcome, Test};
use target::Target;

use crate::common::{metric, request, run_quietly, settings, simulated, test};

const DRIVE: &str = "wd-ultrastar-dc-zn540-1000gb";

/// Runs `zones` on a ZN540 of 1/64 of the size.
fn zones(own: &str) -> (Outcome, SimTarget) {
    let mut drive = simulated(DRIVE, &[("scale", "1/64")]);
    let library = tempfile::tempdir().unwrap();
    let outcome =
        run_quietly(&mut drive, &request(library.path(), test("zones"), &settings(own))).unwrap();
    assert_eq!(outcome.run.status, RunStatus::Complete, "{:?}", outcome.run.warnings);
    drive.drive().check().unwrap();
    (outcome, drive)
}

/// One write at a time leaves the link idle between them; four appends to one zone fill its 1,213 MB/s.
#[test]
fn rates_rise_with_the_depth_and_orders_cost_what_they_do() {
    let (outcome, _) = zones("bytes=64MiB time=1s open_zones=1,4,14 depths=1,4,64 orders=4");
    let figure = |name: &str| metric(&outcome, &format!("zones.{name}"));
    let rate = |step: &str| figure(&format!("{step}.mb_per_s"));
    for zones in [1, 4, 14] {
        let appends = [1, 4, 64].map(|depth| rate(&format!("append_zones{zones}_qd{depth}")));
        let write = rate(&format!("write_zones{zones}"));
        println!("{zones} zones: write {write:.1}, appends {appends:.1?} MB/s");
        assert!(appends.iter().chain([&write]).all(|rate| (100.0..1_214.0).contains(rate)));
    }
    let (write, append) = (rate("write_zones1"), rate("append_zones1_qd1"));
    assert!((write / append - 1.0).abs() < 0.01, "{write} and {append} MB/s");
    assert!(rate("append_zones1_qd4") > 1.3 * append);
    assert!(rate("append_zones1_qd64") > 1_150.0);
    let mean = |step: &str| figure(&format!("{step}.latency_ns_mean"));
    for step in
        ["reset_empty", "reset_half", "reset_full", "finish_begun", "finish_half", "reads_alone"]
    {
        println!("{step}: {:.0} ns", mean(step));
    }
    assert!(mean("reset_empty") < 10_000.0, "nothing to erase");
    for reset in ["reset_half", "reset_full"] {
        // An erase of 10 ms, at 1/64.
        assert!((156_250.0..160_000.0).contains(&mean(reset)), "{reset}: {}", mean(reset));
    }
    let is_marked = |step: &str| {
        let metric = format!("zones.{step}.latency_ns_mean");
        let mut marks = outcome.run.marks.iter();
        marks.any(|mark| mark.metric == metric && mark.kind == MarkKind::Scale)
    };
    assert!(is_marked("reset_full") && is_marked("finish_half") && !is_marked("reads_alone"));
    assert!(!outcome.run.findings.iter().any(|it| it.text.contains("empties")), "of small zones");
    // All of the capacity is padded but for the buffer, or half of it.
    let (begun, half) = (mean("finish_begun"), mean("finish_half"));
    assert!(begun > 1.8 * half, "{begun} and {half} ns");
    let beside = ["reads_alone", "reads_beside_half", "reads_beside_all"].map(mean);
    println!("reads {beside:.0?} ns");
    assert!(beside.is_sorted() && beside[2] > 1.2 * beside[0], "{beside:?}");
}

/// A zone fills whole units and a share in 16 of parity: nothing moves.
#[test]
fn whole_zones_are_programmed_once() {
    let (outcome, drive) = zones("bytes=64MiB time=1s open_zones=1 depths=1 orders=1");
    let limits = drive.limits().zones.unwrap();
    let written = 28 * limits.capacity_bytes;
    let phase = outcome.run.phases.iter().find(|phase| phase.name == "whole_zones").unwrap();
    assert_eq!(phase.bytes, written);
    assert_eq!(metric(&outcome, "zones.whole_zones.gc_moved_pages"), 0.0);
    let waf = metric(&outcome, "zones.whole_zones.waf");
    assert!((1.0..16.0 / 15.0 * 1.01).contains(&waf), "{waf}");
}

#[test]
fn every_other_test_refuses_zones_and_zones_every_other_drive() {
    let refusal = |drive: &str, test: Test| {
        let mut drive = simulated(drive, &[("scale", "1/64")]);
        let library = tempfile::tempdir().unwrap();
        let refused = run_quietly(&mut drive, &request(library.path(), test, &[]));
        refused.expect_err(test.name()).to_string()
    };
    for other in Test::ALL.into_iter().filter(|other| other.name() != "zones") {
        let error = refusal(DRIVE, other);
        assert!(error.contains("`zones` is the test for it"), "{other:?}: {error}");
    }
    let error = refusal("samsung-pm883-480gb", test("zones"));
    assert!(error.contains("not for "), "{error}");
    let mut drive = simulated(DRIVE, &[("scale", "1/64")]);
    let library = tempfile::tempdir().unwrap();
    let too_many = request(library.path(), test("zones"), &[("open_zones", "15")]);
    let error = run_quietly(&mut drive, &too_many).unwrap_err().to_string();
    assert!(error.contains("15 zones cannot be open") && error.contains("1 to 14"), "{error}");
}
