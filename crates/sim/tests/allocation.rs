//! Does the hot path allocate? A counting allocator watches a drive in steady state.
#![allow(clippy::print_stdout, reason = "a test that shows its figures")]

mod common;

use allocation_counter::AllocationInfo;
use base::{Completion, OpKind, Rng};
use common::{fill, op, random_writes, small};
use sim::Device;

const QUEUE_DEPTH: u32 = 32;

/// Random writes with some reads, deallocations and flushes, 32 at a time, into space that is there already.
fn mixed_load(device: &mut Device, count: u64, rng: &mut Rng, ended: &mut Vec<Completion>) {
    let pages = device.config().geometry.logical_pages;
    let mut next = |tag| match rng.below(100) {
        0 => op(OpKind::Flush, 0, 0, tag),
        1 => op(OpKind::Deallocate, rng.below(pages), 1, tag),
        2..20 => op(OpKind::Read, rng.below(pages - 8), 8, tag),
        _ => op(OpKind::Write, rng.below(pages - 2), 2, tag),
    };
    for tag in 0..QUEUE_DEPTH {
        device.submit(&next(tag));
    }
    for _ in 0..count {
        device.reap(1, ended);
        for end in ended.drain(..) {
            device.submit(&next(end.tag));
        }
    }
    device.reap(QUEUE_DEPTH as usize, ended);
    ended.clear();
}

fn allocations_in_steady_state(changes: &[(&str, &str)], count: u64) -> AllocationInfo {
    let mut device = small(changes);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    let mut ended = Vec::with_capacity(QUEUE_DEPTH as usize);
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut rng);
    // Every queue gets as long as it will ever be.
    mixed_load(&mut device, pages, &mut rng, &mut ended);
    let moved = device.telemetry().gc_moved_pages;
    let info = allocation_counter::measure(|| {
        mixed_load(&mut device, count, &mut rng, &mut ended);
    });
    assert!(device.telemetry().gc_moved_pages - moved > count / 2, "collection took part");
    info
}

#[test]
fn no_io_allocates() {
    const COUNT: u64 = 200_000;
    for changes in [
        [("gc.pacing", "watermark"), ("gc.policy", "greedy")],
        [("gc.pacing", "proportional"), ("gc.policy", "fifo")],
        [("gc.pacing", "token"), ("gc.policy", "d-choices")],
        [("gc.policy", "cost-benefit"), ("background_gc.free_target", "20")],
        [("nand.cache_program", "true"), ("read_cache.bytes", "1048576")],
        [("interface.kind", "nvme"), ("interface.queues", "4")],
    ] {
        let info = allocations_in_steady_state(&changes, COUNT);
        println!("{changes:?}: {} allocations in {COUNT} commands", info.count_total);
        // A queue that sets a new record doubles once; anything per I/O would be in the thousands.
        assert!(info.count_total <= 4, "{changes:?}: {info:?}");
    }
}

#[test]
fn the_counter_counts() {
    let info = allocation_counter::measure(|| {
        std::hint::black_box(Vec::<u64>::with_capacity(std::hint::black_box(1)));
    });
    assert_eq!(info.count_total, 1);
}
