//! Is each kind of writes as slow as its cap, to the nanosecond, and no other command slower?

use base::{Completion, Nanos, Op, OpKind, Rng};
use sim::Device;

use crate::common::{alone, built_in, op, secs, small, watched_loop};

/// 2,000 in a second.
const RANDOM_NS: u64 = 500_000;
const RANDOM: (&str, &str) = ("write_caps.random_iops", "2_000");
/// 128 KiB at 64 MB/s.
const SEQUENTIAL_NS: u64 = 2_048_000;
const SEQUENTIAL: (&str, &str) = ("write_caps.sequential_bytes_per_s", "64_000_000");

/// The ends of so many commands, of which 32 are outstanding.
fn ends(device: &mut Device, count: u64, next: impl FnMut(u32) -> Op) -> Vec<Completion> {
    let mut ends = Vec::new();
    watched_loop(device, 32, count, next, |_, end| ends.push(*end));
    ends
}

/// The times from each end to the next.
fn steps(ends: &[Completion]) -> Vec<u64> {
    ends.windows(2).map(|pair| pair[1].done.0 - pair[0].done.0).collect()
}

/// Page writes that continue nothing.
fn at_random(rng: &mut Rng) -> impl FnMut(u32) -> Op {
    |tag| op(OpKind::Write, 2 * rng.below(100_000), 1, tag)
}

/// Writes of 128 KiB, in order in each of so many streams, which take turns.
fn in_streams(streams: u64) -> impl FnMut(u32) -> Op {
    let mut written = 0;
    move |tag| {
        let (stream, place) = (written % streams, written / streams);
        written += 1;
        op(OpKind::Write, stream * 20_000 + 32 * place, 32, tag)
    }
}

#[test]
fn random_writes_end_one_by_one_at_their_cap() {
    let mut device = small(&[RANDOM]);
    let ends = ends(&mut device, 2_000, at_random(&mut Rng::new(1)));
    assert!(steps(&ends).iter().all(|&step| step == RANDOM_NS), "{:?}", steps(&ends));
    device.check().unwrap();
}

/// Of the streams, only the first command of each is random.
#[test]
fn a_cap_on_random_writes_leaves_sequential_ones_alone() {
    let life = |changes: &[(&str, &str)], streams| {
        let mut device = small(changes);
        ends(&mut device, 3_200, in_streams(streams));
        device.now().0
    };
    assert_eq!(life(&[RANDOM], 1), life(&[], 1));
    // Eight are followed, and a ninth makes all of them look like new ones.
    let late_ns = life(&[RANDOM], 8) - life(&[], 8);
    assert!(late_ns < 8 * RANDOM_NS, "{late_ns}");
    assert!(life(&[RANDOM], 9) > 3_199 * RANDOM_NS);
    assert!(life(&[RANDOM, ("write_caps.streams", "9")], 9) < life(&[], 9) + 9 * RANDOM_NS);
}

#[test]
fn sequential_writes_keep_to_their_rate() {
    let mut device = small(&[SEQUENTIAL]);
    let ends = ends(&mut device, 2_000, in_streams(1));
    // The first begins the stream, and the second need not wait for it.
    let steps = steps(&ends);
    assert!(steps[1..].iter().all(|&step| step == SEQUENTIAL_NS), "{steps:?}");
}

#[test]
fn a_cap_on_sequential_writes_leaves_random_ones_alone() {
    let life =
        |changes: &[(&str, &str)]| ends(&mut small(changes), 9_000, at_random(&mut Rng::new(1)));
    assert_eq!(life(&[SEQUENTIAL]), life(&[]));
}

/// Side by side, each kind has all of its own rate.
#[test]
fn no_kind_waits_for_the_other() {
    let mut device = small(&[RANDOM, SEQUENTIAL]);
    let mut rng = Rng::new(1);
    let (mut random, mut sequential) = (at_random(&mut rng), in_streams(1));
    let all = ends(&mut device, 4_000, |tag| if tag < 16 { random(tag) } else { sequential(tag) });
    // The first megabytes fill the buffer, and all wait for that.
    let both = &all[1_000..3_000];
    let time_ns = both[1_999].done.0 - both[0].done.0;
    let random = both.iter().filter(|end| end.tag < 16).count() as u64;
    println!("{random} of 2,000 writes are random in {time_ns} ns");
    assert!(random.abs_diff(time_ns / RANDOM_NS) <= 2);
    assert!((2_000 - random).abs_diff(time_ns / SEQUENTIAL_NS) <= 2);
}

#[test]
fn a_burst_of_random_writes_passes_at_full_speed_and_comes_back_at_rest() {
    let burst = ("write_caps.random_burst_commands", "1_000");
    let life =
        |changes: &[(&str, &str)]| ends(&mut small(changes), 1_000, at_random(&mut Rng::new(1)));
    assert_eq!(life(&[RANDOM, burst]), life(&[]), "the cap is not felt");
    let mut device = small(&[RANDOM, burst]);
    let mut rng = Rng::new(1);
    ends(&mut device, 2_000, at_random(&mut rng));
    assert!(
        steps(&ends(&mut device, 500, at_random(&mut rng))).iter().all(|&step| step == RANDOM_NS)
    );
    // Half of its time gives half of the burst back.
    device.run_until(Nanos(device.now().0 + 500 * RANDOM_NS));
    let begin_ns = device.now().0;
    let again = ends(&mut device, 1_000, at_random(&mut rng));
    assert!(again[499].done.0 < begin_ns + 100 * RANDOM_NS, "{again:?}");
    assert_eq!(again[999].done.0, begin_ns + 500 * RANDOM_NS);
}

#[test]
fn a_forced_write_is_programmed_and_waits_for_its_turn() {
    let forced = |tag| Op { fua: true, ..op(OpKind::Write, 64 * u64::from(tag), 1, tag) };
    let forced = ends(&mut small(&[RANDOM]), 32, forced);
    // The first is programmed before it ends; the last finds its data in NAND when the others have had their times.
    assert!(forced[0].latency().0 > 640_000, "{forced:?}");
    assert!(forced[31].latency().0 > 31 * RANDOM_NS, "{forced:?}");
}

#[test]
fn reads_are_not_capped() {
    let read_beside_writes = |changes: &[(&str, &str)]| {
        let mut device = small(changes);
        alone(&mut device, &op(OpKind::Write, 0, 4, 0));
        device.run_until(secs(1));
        (0..16).for_each(|tag| device.submit(&op(OpKind::Write, 100 + 2 * u64::from(tag), 1, tag)));
        device.submit(&op(OpKind::Read, 0, 1, 16));
        let mut out = Vec::new();
        while !out.iter().any(|end: &Completion| end.tag == 16) {
            device.reap(1, &mut out);
        }
        out.pop().map(|end| (end.latency(), out.len()))
    };
    let (capped, free) = (read_beside_writes(&[RANDOM]), read_beside_writes(&[]));
    assert_eq!(capped.map(|(latency, _)| latency), free.map(|(latency, _)| latency));
    assert!(capped.map(|(_, writes)| writes) < free.map(|(_, writes)| writes), "{capped:?}");
}

/// The cap of SF-1200 drives on a drive with the next controller of the family.
#[test]
fn a_vertex_3_with_the_cap_of_its_predecessor_has_its_figure() {
    let mut device =
        built_in("ocz-vertex-3-240gb", "1/256", &[("write_caps.random_iops", "10_000")]);
    let ends = ends(&mut device, 5_000, at_random(&mut Rng::new(1)));
    let seconds = (ends[4_999].done.0 - ends[0].done.0) as f64 / 1e9;
    assert!((4_999.0 / seconds / 10_000.0 - 1.0).abs() < 0.01, "{seconds} s");
}
