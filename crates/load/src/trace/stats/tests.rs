use base::{OpKind, Rng};

use super::*;
use crate::trace::Flags;

fn summary(records: &[Record]) -> Summary {
    let mut stats = TraceStats::default();
    records.iter().for_each(|record| stats.add(record));
    stats.summary()
}

fn read(offset: u64, len: u32) -> Record {
    Record::new(0, OpKind::Read, offset, len)
}

#[test]
fn every_size_has_its_row() {
    let sizes = [
        (512, "< 4 KiB"),
        (4095, "< 4 KiB"),
        (4096, "4 KiB"),
        (4608, "4-8 KiB"),
        (8192, "8 KiB"),
        (12 << 10, "8-16 KiB"),
        (16 << 10, "16 KiB"),
        (64 << 10, "64 KiB"),
        (96 << 10, "64-128 KiB"),
        (128 << 10, "128 KiB"),
        ((128 << 10) + 1, "128 KiB-1 MiB"),
        (1 << 20, ">= 1 MiB"),
        (u32::MAX, ">= 1 MiB"),
    ];
    for (len, name) in sizes {
        assert_eq!(SIZE_BINS[size_bin(len)], name, "{len}");
    }
}

#[test]
fn streams_side_by_side_are_sequential_and_jumps_are_not() {
    let two = (0..100).flat_map(|i| [read(i * 4096, 4096), read((1 << 30) + i * 8192, 8192)]);
    let two: Vec<_> = two.collect();
    assert!((summary(&two).sequential_share - 198.0 / 200.0).abs() < 1e-9);
    let jumps: Vec<_> = (0..100).map(|i| read(i * 8192, 4096)).collect();
    assert!(summary(&jumps).sequential_share < 1e-9);
}

#[test]
fn the_footprint_counts_each_page_once() {
    let records = [read(0, 8192), read(4096, 8192), read(100, 10), read(1 << 40, 1)];
    let footprint = summary(&records).footprint;
    assert_eq!(footprint, Footprint { bytes: 4 * 4096, written_bytes: 0, exact: true });
    let far = (0..70_000).map(|i| read(i << 30, 512)).collect::<Vec<_>>();
    assert!(!summary(&far).footprint.exact);
}

#[test]
fn depths_have_mean_and_table() {
    let depths = [1, 1, 1, 2, 4, 5, 40, 0];
    let records = depths.map(|queue_depth| Record { queue_depth, ..read(0, 512) });
    let table = summary(&records).queue_depth.unwrap();
    assert_eq!((table.ios, table.max), (7, 40));
    assert!((table.mean - 54.0 / 7.0).abs() < 1e-9);
    assert!((table.shares[0] - 3.0 / 7.0).abs() < 1e-9);
    assert!((table.shares[3] - 2.0 / 7.0).abs() < 1e-9);
    assert!((table.shares[7] - 1.0 / 7.0).abs() < 1e-9);
}

/// A loop over n pages has distance n for every use but the first of each.
#[test]
fn a_loop_has_its_own_length_as_reuse_distance() {
    let pages = 100_000_u64;
    let records: Vec<_> = (0..3 * pages).map(|i| read(i % pages * 4096, 4096)).collect();
    let reuse = summary(&records).reuse.unwrap();
    let exact = pages * 4096;
    assert!((reuse.first_use_share - 1.0 / 3.0).abs() < 0.02, "{reuse:?}");
    for bytes in [reuse.distance_bytes_p25, reuse.distance_bytes_p90] {
        assert_eq!(bytes, exact.next_power_of_two());
    }
}

#[test]
fn pauses_split_bursts() {
    let at = |ms: u64| Record::new(ms * 1_000_000, OpKind::Write, 0, 512);
    let pauses = summary(&[at(0), at(1), at(2), at(1002), at(1003)]).pauses;
    assert_eq!((pauses.bursts, pauses.burst_ios_max), (2, 3));
    assert_eq!(pauses.longest_ns, 1_000_000_000);
    assert_eq!(pauses.capped_ns, 3_000_000 + 25_000_000);
}

#[test]
fn slices_keep_every_io_however_long_the_trace() {
    let mut rng = Rng::new(1);
    let mut at = 0;
    let mut records = Vec::new();
    for _ in 0..10_000 {
        at += rng.below(1_000_000_000_000);
        records.push(Record::new(at, OpKind::ALL[rng.below(2) as usize], 0, 512));
    }
    let summary = summary(&records);
    assert!((100..=240).contains(&summary.mix.len()), "{}", summary.mix.len());
    assert_eq!(summary.mix.iter().map(|slice| slice.reads + slice.writes).sum::<u64>(), 10_000);
}

#[test]
fn kinds_flags_and_alignment_are_counted() {
    let preflush = Record { flags: Flags::PREFLUSH, ..Record::new(5, OpKind::Write, 512, 4096) };
    let records = [
        read(0, 4096),
        preflush,
        Record::new(6, OpKind::Flush, 0, 0),
        Record::new(7, OpKind::Deallocate, 0, 1 << 20),
    ];
    let summary = summary(&records);
    assert_eq!((summary.ios, summary.flushes, summary.preflush_ios), (4, 1, 1));
    assert_eq!(summary.deallocates, KindTotal { ios: 1, bytes: 1 << 20 });
    assert_eq!((summary.duration_ns, summary.end_bytes), (7, 1 << 20));
    assert!((summary.aligned_share - 0.5).abs() < 1e-9);
}

#[test]
fn each_stream_has_its_commands_bytes_and_own_footprint() {
    let of = |stream, record: Record| Record { stream, ..record };
    let flush = Record::new(0, OpKind::Flush, 0, 0);
    let records =
        [of(7, read(0, 8192)), of(3, read(4096, 4096)), of(7, read(0, 4096)), of(3, flush)];
    let streams = summary(&records).streams;
    let row =
        |stream, ios, bytes, footprint_bytes| StreamRow { stream, ios, bytes, footprint_bytes };
    assert_eq!(streams.rows, [row(3, 2, 4096, 4096), row(7, 2, 12_288, 8192)]);
    assert!(streams.exact);
    assert_eq!(summary(&records).footprint.bytes, 8192, "shared addresses count once");
    let many: Vec<_> = (0..70_000).map(|stream| of(stream, read(0, 512))).collect();
    let streams = summary(&many).streams;
    assert_eq!((streams.rows.len(), streams.other_ios), (65_536, 70_000 - 65_536));
}
