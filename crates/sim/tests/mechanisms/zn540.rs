//! Does a model of the ZN540 do what the drive did? The figures are those of `gc_interference.csv` (arXiv 2310.19094).
//!
//! Roles: reads at QD 1 and 256 and appends without a limit set values of the model, reads at QD 16 to 64 chose
//! `independent_planes`; the other reads, and reads beside appends, are predicted.

use base::{Nanos, OpKind, Ratio, Rng};
use sim::{Device, Model};

use crate::common::op;

const MODEL: &str = include_str!("../../drives/wd-ultrastar-dc-zn540-1000gb.toml");
const WRITES: u32 = 128;
const APPEND_PAGES: u64 = 256;

/// The drive with zones of a 64th, the first hundred of them full.
fn filled() -> Device {
    let model = Model::load("zn540", MODEL, &[]).expect("valid");
    let mut device = Device::new(model.resolve(Ratio::new(1, 64).unwrap()).expect("consistent"));
    let plan = *device.zones().unwrap().plan();
    let mut out = Vec::new();
    for zone in 0..100 {
        let mut left = plan.capacity_pages;
        while left > 0 {
            let pages = left.min(APPEND_PAGES);
            device.append(&op(OpKind::Write, zone * plan.size_pages, pages, 0));
            device.reap(1, &mut out);
            left -= pages;
        }
    }
    device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
    device
}

/// Rates and latencies of half a second.
struct Figures {
    reads_per_s: f64,
    read_mean_us: f64,
    write_mb_per_s: f64,
}

/// Random reads of the full zones, so many at a time, beside appends of 1 MiB to eight other zones in turn, at most
/// 128 at a time and one after each interval, if there is one.
fn measure(read_depth: u32, interval_ns: Option<u64>) -> Figures {
    let mut device = filled();
    let plan = *device.zones().unwrap().plan();
    let mut rng = Rng::new(1);
    let read = |rng: &mut Rng, tag| {
        let page = rng.below(100) * plan.size_pages + rng.below(plan.capacity_pages);
        op(OpKind::Read, page, 1, WRITES + tag)
    };
    let mut zones: Vec<u64> = (100..108).collect();
    let mut next_zone = 108;
    let begin_ns = device.now().0;
    let end_ns = begin_ns + Nanos::SECOND.0 / 2;
    (0..read_depth).for_each(|tag| device.submit(&read(&mut rng, tag)));
    let mut free: Vec<u32> = (0..interval_ns.map_or(0, |_| WRITES)).collect();
    let mut sent_bytes = [0; WRITES as usize];
    let (mut turn, mut next_ns) = (0, begin_ns);
    let (mut reads, mut read_ns, mut written) = (0_u64, 0, 0);
    let mut out = Vec::new();
    while device.now().0 < end_ns {
        while device.now().0 >= next_ns && !free.is_empty() {
            let tag = free.pop().unwrap();
            let zone = zones[turn];
            let left =
                plan.capacity_pages - device.zones().unwrap().all()[zone as usize].written_pages;
            let pages = left.min(APPEND_PAGES);
            device.append(&op(OpKind::Write, zone * plan.size_pages, pages, tag));
            sent_bytes[tag as usize] = pages * 4096;
            if pages == left {
                zones[turn] = next_zone;
                next_zone += 1;
            }
            turn = (turn + 1) % zones.len();
            next_ns += interval_ns.unwrap_or(0);
        }
        let next_ns = if free.is_empty() { end_ns } else { next_ns.min(end_ns) };
        device.run_until_end(Nanos(next_ns));
        device.reap(0, &mut out);
        for end in out.drain(..) {
            assert_eq!(end.status, base::Status::Ok);
            if end.tag < WRITES {
                written += sent_bytes[end.tag as usize];
                free.push(end.tag);
                continue;
            }
            reads += 1;
            read_ns += end.latency().0;
            let next = read(&mut rng, end.tag - WRITES);
            device.submit(&next);
        }
    }
    device.check().unwrap();
    let seconds = (device.now().0 - begin_ns) as f64 / 1e9;
    Figures {
        reads_per_s: reads as f64 / seconds,
        read_mean_us: read_ns as f64 / 1e3 / reads.max(1) as f64,
        write_mb_per_s: written as f64 / 1e6 / seconds,
    }
}

fn is_within_a_fifth(what: &str, model: f64, drive: f64) {
    println!("{what}: model {model:.1}, drive {drive:.1}, {:+.1}%", 100.0 * (model / drive - 1.0));
    assert!((model / drive - 1.0).abs() < 0.2, "{what}: {model} of {drive}");
}

#[test]
fn it_has_the_zones_of_the_drive() {
    let model = Model::load("zn540", MODEL, &[]).unwrap();
    let zones = model.resolve(Ratio::ONE).unwrap().options.zones.unwrap();
    assert_eq!((zones.zones, zones.size_pages, zones.capacity_pages), (904, 2048 << 8, 1077 << 8));
}

#[test]
fn reads_scale_with_their_depth_as_on_the_drive() {
    for (depth, reads_per_s) in [
        (1, 13_745.3),
        (2, 27_093.1),
        (4, 52_679.2),
        (8, 99_477.1),
        (16, 177_084.3),
        (32, 281_645.3),
        (64, 380_152.2),
        (128, 446_697.0),
        (256, 460_793.6),
    ] {
        let measured = measure(depth, None);
        is_within_a_fifth(&format!("reads at QD {depth}"), measured.reads_per_s, reads_per_s);
    }
}

#[test]
fn writes_and_the_reads_beside_them_are_those_of_the_drive() {
    let saturated = measure(1, Some(0));
    is_within_a_fifth("MB/s of appends", saturated.write_mb_per_s, 1_213.0);
    // A limit of 1,000 MiB/s.
    for (depth, mean_us) in [(1, 184.9), (4, 187.8)] {
        let limited = measure(depth, Some(1_000_000));
        is_within_a_fifth("MB/s of limited appends", limited.write_mb_per_s, 1_048.6);
        is_within_a_fifth(&format!("us of reads at QD {depth}"), limited.read_mean_us, mean_us);
    }
}
