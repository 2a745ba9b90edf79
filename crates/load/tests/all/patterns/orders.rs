//! Do patterns with an order keep it?

use base::OpKind;
use load::Workload;

use super::{BLOCK, blocks, ops, workload};

#[test]
fn streams_take_turns_each_in_its_part() {
    let found: Vec<_> = blocks("streams(2)", 9, 1).take(11).collect();
    assert_eq!(found, [0, 4, 1, 5, 2, 6, 3, 7, 0, 4, 1]);
}

#[test]
fn a_stride_meets_every_block_in_as_many_rounds_as_it_is_long() {
    let found: Vec<_> = blocks("stride(16KiB)", 10, 1).take(12).collect();
    assert_eq!(found, [0, 4, 8, 1, 5, 9, 2, 6, 3, 7, 0, 4]);
}

#[test]
fn shuffled_meets_every_block_once() {
    let mut found: Vec<_> = blocks("shuffled", 1_000, 1).collect();
    assert!(found.windows(2).any(|pair| pair[1] < pair[0]));
    found.sort_unstable();
    assert_eq!(found, (0..1_000).collect::<Vec<_>>());
    assert_ne!(blocks("shuffled", 1_000, 2).take(5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

/// A model of the span: which zone is open, and what was written since the last deallocation.
#[test]
fn appended_zones_are_deallocated_and_then_written_in_order() {
    const ZONE: u64 = 64 << 10;
    const ZONES: u64 = 40;
    let pattern = "append(zones=4, zone=64KiB, handles=2)";
    let workload = workload(pattern, ZONES * ZONE / u64::from(BLOCK));
    let mut written = vec![0; ZONES as usize];
    let mut is_fresh = vec![true; ZONES as usize];
    let (mut rewrites, mut handles) = (0, [0_u64; 2]);
    for op in ops(workload, 1).take(20_000) {
        let zone = (op.offset / ZONE) as usize;
        if op.kind == OpKind::Deallocate {
            assert_eq!((op.offset % ZONE, u64::from(op.len)), (0, ZONE), "whole zones");
            assert!(written[zone] == 0 || written[zone] == ZONE, "not one that is being written");
            rewrites += u64::from(written[zone] > 0);
            (written[zone], is_fresh[zone]) = (0, true);
            continue;
        }
        assert_eq!(op.offset % ZONE, written[zone], "in order");
        assert!(is_fresh[zone], "deallocated since its last writes, or never written");
        written[zone] += u64::from(op.len);
        is_fresh[zone] = written[zone] < ZONE;
        handles[usize::from(op.placement)] += 1;
        let open = written.iter().filter(|bytes| (1..ZONE).contains(*bytes)).count();
        assert!(open <= 4, "{open} zones are open");
    }
    assert!(rewrites > 100 && handles.iter().all(|count| *count > 5_000), "{rewrites} {handles:?}");
}

#[test]
fn appended_zones_without_deallocation_write_alone() {
    let workload = workload("append(zones=4, zone=64KiB, deallocate=false)", 1_000);
    assert!(!workload.deallocates());
    assert!(ops(workload, 1).take(5_000).all(|op| op.kind == OpKind::Write && op.placement == 0));
}

#[test]
fn a_long_zone_is_deallocated_in_parts() {
    let order = "append(zones=1, zone=3GiB)".parse().unwrap();
    let workload = Workload::new(OpKind::Write, order, BLOCK, 1, 16 << 30);
    let first: Vec<_> = ops(workload, 1).take(4).collect();
    let deallocated: Vec<_> = first[..3].iter().map(|op| (op.kind, op.len)).collect();
    assert_eq!(deallocated, [(OpKind::Deallocate, 1 << 30); 3]);
    assert_eq!(first[3].kind, OpKind::Write);
}

#[test]
fn forced_writes_and_handles_are_those_of_the_workload() {
    let workload = Workload { fua_percent: 25, placement: 3, ..workload("uniform", 1_000) };
    let ops: Vec<_> = ops(workload, 1).take(10_000).collect();
    let forced = ops.iter().filter(|op| op.fua).count();
    // Five standard deviations of a binomial count: 5 x sqrt(10,000 x 1/4 x 3/4) = 217.
    assert!(forced.abs_diff(2_500) < 217, "{forced}");
    assert!(ops.iter().all(|op| op.placement == 3));
}

#[test]
fn what_a_pattern_cannot_do_is_named_before_a_command() {
    let check = |pattern: &str, blocks: u64, change: fn(Workload) -> Workload| {
        let order = pattern.parse().unwrap();
        let workload = Workload::new(OpKind::Write, order, BLOCK, 1, blocks * u64::from(BLOCK));
        change(workload).check(512).unwrap_err().to_string()
    };
    let as_is = |workload| workload;
    for (pattern, blocks, rule) in [
        ("streams(11)", 10, "the number of streams is 11"),
        ("stride(6000)", 100, "the stride in bytes is 6000"),
        ("stride(1MiB)", 100, "not be longer than the span"),
        ("append(zones=4, zone=64KiB)", 8 * 16, "at least 9"),
        ("append(zones=4, zone=1000)", 1_000, "the size of a zone is 1000"),
    ] {
        let error = check(pattern, blocks, as_is);
        assert!(error.contains(rule), "{error}");
    }
    let reads = |workload| Workload { mix: load::Mix::ReadPercent(50), ..workload };
    assert!(check("append(zones=1, zone=64KiB)", 1_000, reads).contains("writes alone"));
    let forced = |workload| Workload { fua_percent: 101, ..workload };
    assert!(check("uniform", 10, forced).contains("forced writes is 101"));
}
