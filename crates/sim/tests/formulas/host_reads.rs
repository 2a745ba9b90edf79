//! Does the rank of the host's reads change their latency, evenness and WAF as the docs say? Half reads, half writes.

use std::cell::Cell;

use base::OpKind;

use crate::common::{op, spread, watched_loop, worn_in, writes_and_waf};

const DOCS: &str = include_str!("../../../../docs/reference/mechanisms.md");

const DRIVE: [(&str, &str); 2] = [("nand.blocks_per_plane", "640"), ("gc.pacing", "token")];
const SUSPEND: [(&str, &str); 3] = [
    ("nand.suspend.suspend_ns", "20_000"),
    ("nand.suspend.resume_ns", "30_000"),
    ("nand.suspend.per_operation_max", "3"),
];
const IN_TURN: (&str, &str) = ("gc.host_reads", "in-turn");
const BURSTS: (&str, &str) = ("gc.quantum_bytes", "1_000_000");

/// Steady state under a mixed load.
struct Mixed {
    iops: f64,
    waf: f64,
    /// Of writes per second.
    cv: f64,
    read_p99_ms: f64,
    read_longest_ms: f64,
    write_p99_ms: f64,
    longest_ms: f64,
}

fn mixed(changes: &[(&str, &str)]) -> Mixed {
    let (mut device, mut rng) = worn_in(&[&DRIVE[..], changes].concat());
    let pages = device.config().geometry.logical_pages;
    let begin = device.now().0;
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    // By tag: a completion does not tell the kind of its command.
    let are_reads: [Cell<bool>; 32] = Default::default();
    let next = |tag| {
        let is_read = rng.chance(1, 2);
        are_reads[tag as usize].set(is_read);
        op(if is_read { OpKind::Read } else { OpKind::Write }, rng.below(pages), 1, tag)
    };
    watched_loop(&mut device, 32, 3 * pages / 2, next, |_, end| {
        let is_read = are_reads[end.tag as usize].get();
        if is_read { &mut reads } else { &mut writes }.push(end.latency().0);
    });
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    device.check().unwrap();
    let (written, waf) = writes_and_waf(&rows);
    reads.sort_unstable();
    writes.sort_unstable();
    let p99_ms = |latencies: &[u64]| latencies[latencies.len() * 99 / 100] as f64 / 1e6;
    let longest_ms = |latencies: &[u64]| latencies[latencies.len() - 1] as f64 / 1e6;
    Mixed {
        iops: (reads.len() + writes.len()) as f64 * 1e9 / (device.now().0 - begin) as f64,
        waf,
        cv: spread(&written),
        read_p99_ms: p99_ms(&reads),
        read_longest_ms: longest_ms(&reads),
        write_p99_ms: p99_ms(&writes),
        longest_ms: longest_ms(&writes).max(longest_ms(&reads)),
    }
}

impl Mixed {
    /// The row of the table in the docs.
    fn row(&self, name: &str) -> String {
        let Self { iops, waf, read_p99_ms, read_longest_ms, write_p99_ms, longest_ms, .. } = self;
        let cv_percent = 100.0 * self.cv;
        format!(
            "| {name} | {iops:.0} | {waf:.2} | {read_p99_ms:.1} ms | {read_longest_ms:.1} ms | {write_p99_ms:.0} ms | \
             {cv_percent:.1}% | {longest_ms:.0} ms |"
        )
    }
}

#[test]
fn reads_in_turn_wait_for_cleaning_at_the_same_waf_and_the_docs_say_how_long() {
    let suspended = [&SUSPEND[..], &[IN_TURN]].concat();
    let drives: [(&str, &[(&str, &str)]); 6] = [
        ("none", &[]),
        ("`gc.host_reads=in-turn`", &[IN_TURN]),
        ("`[nand.suspend]`", &SUSPEND),
        ("`[nand.suspend]`, `gc.host_reads=in-turn`", &suspended),
        ("`gc.quantum_bytes=1_000_000`", &[BURSTS]),
        ("`gc.quantum_bytes=1_000_000`, `gc.host_reads=in-turn`", &[BURSTS, IN_TURN]),
    ];
    let drives = drives.map(|(name, changes)| (name, mixed(changes)));
    let rows: Vec<String> = drives.iter().map(|(name, drive)| drive.row(name)).collect();
    println!("{}", rows.join("\n"));
    for pair in drives.chunks(2) {
        let [(_, first), (name, in_turn)] = pair else { panic!("pairs") };
        assert!((in_turn.waf / first.waf - 1.0).abs() < 0.01, "{name}: WAF {}", in_turn.waf);
        assert!(in_turn.read_p99_ms > 1.3 * first.read_p99_ms, "{name}: {}", in_turn.read_p99_ms);
    }
    assert!(drives[2].1.read_p99_ms < drives[0].1.read_p99_ms, "reads suspend what they wait for");
    let missing: Vec<&String> = rows.iter().filter(|row| !DOCS.contains(*row)).collect();
    assert!(
        missing.is_empty(),
        "the table in docs/reference/mechanisms.md becomes:\n{}",
        rows.join("\n")
    );
}
