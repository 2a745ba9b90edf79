//! Does a run tell a drive that is hardly slower than no drive at all?

use result::schema::{NullLoad, Phase, Run};
use target::TargetKind;
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{request, run_quietly, test};

/// A run over random reads, one at a time, on a target that answers each after `latency_ns`.
fn reads(kind: TargetKind, latency_ns: u64, time: &str) -> Run {
    let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(latency_ns));
    target.kind = kind;
    let library = tempfile::tempdir().unwrap();
    let settings = [("time", time), ("random_span", "64MiB")];
    let request =
        run::Request { read_only: true, ..request(library.path(), test("latency"), &settings) };
    run_quietly(&mut target, &request).unwrap().run
}

fn null_load(run: &Run) -> Option<NullLoad> {
    let of_phase = |phase: &Phase| phase.host?.null_load;
    run.phases.iter().find_map(of_phase)
}

#[test]
fn a_fast_drive_is_compared_with_none_and_a_slow_or_simulated_one_is_not() {
    let fast = reads(TargetKind::Block, 40_000, "1s");
    let NullLoad { ios, duration_ns } = null_load(&fast).unwrap();
    assert!(
        ios > 5_000 && (200_000_000..=250_000_000).contains(&duration_ns),
        "{ios} {duration_ns}"
    );
    assert_eq!(null_load(&reads(TargetKind::Block, 1_000_000, "1s")), None);
    assert_eq!(null_load(&reads(TargetKind::Simulated, 40_000, "1s")), None);
}
