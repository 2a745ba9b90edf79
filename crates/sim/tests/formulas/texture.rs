//! Do the values of a model give every evenness between 0.3% and 80%, with the latencies in the docs?
//!
//! Coefficient of variation of writes per second in steady state. The drive has two dies and much spare, so that a
//! second is as long for it as for a drive of full size: 6,100 pages a second, and bursts of some seconds fit.

use base::OpKind;

use crate::common::{op, spread, watched_loop, worn_in, writes_and_waf};

const DOCS: &str = include_str!("../../../../docs/reference/mechanisms.md");

const DRIVE: [(&str, &str); 6] = [
    ("capacity_gb", "2"),
    ("nand.channels", "1"),
    ("nand.pages_per_block", "64"),
    ("nand.blocks_per_plane", "1220"),
    ("nand.program_ns", "1_300_000"),
    ("gc.free_high", "100"),
];

/// The rows of the table in the docs, from even to uneven by each value.
const ROWS: [&[(&str, &str)]; 24] = [
    &[("gc.pacing", "rate"), ("gc.rate_iops", "1500")],
    &[],
    &[
        ("nand.spread.program_percent", "30"),
        ("nand.spread.erase_percent", "60"),
        ("nand.spread.layer_percent", "20"),
    ],
    &[("gc.quantum_bytes", "300_000")],
    &[("gc.quantum_bytes", "1_000_000")],
    &[("gc.quantum_bytes", "3_000_000")],
    &[("gc.quantum_bytes", "10_000_000")],
    &[("gc.quantum_bytes", "30_000_000")],
    &[("gc.quantum_bytes", "100_000_000"), ("gc.duty_percent", "70")],
    &[("gc.quantum_bytes", "100_000_000"), ("gc.duty_percent", "72")],
    &[("gc.quantum_bytes", "100_000_000"), ("gc.duty_percent", "75")],
    &[("gc.quantum_bytes", "100_000_000"), ("gc.duty_percent", "80")],
    &[("gc.quantum_bytes", "50_000_000"), ("gc.duty_percent", "80")],
    &[("gc.quantum_bytes", "50_000_000"), ("gc.duty_percent", "90")],
    &[("gc.quantum_bytes", "50_000_000"), ("gc.duty_percent", "95")],
    &[("gc.pacing", "token")],
    &[("gc.pacing", "watermark"), ("gc.free_high", "4")],
    &[("gc.pacing", "watermark"), ("gc.free_high", "6")],
    &[("gc.pacing", "watermark"), ("gc.free_high", "10")],
    &[("nand.die_groups", "2")],
    &[("nand.die_groups", "2"), ("gc.victims", "per-group")],
    &[("nand.die_groups", "2"), ("gc.quantum_bytes", "10_000_000")],
    &[("nand.die_groups", "2"), ("gc.victims", "per-group"), ("gc.quantum_bytes", "10_000_000")],
    &[
        ("nand.die_groups", "2"),
        ("gc.victims", "per-group"),
        ("gc.pacing", "watermark"),
        ("gc.free_high", "6"),
    ],
];

/// Steady state over some minutes.
struct Texture {
    changes: &'static [(&'static str, &'static str)],
    iops: f64,
    least_iops: f64,
    waf: f64,
    /// Of writes per second.
    cv: f64,
    p99_ms: f64,
    longest_ms: f64,
}

fn texture(changes: &'static [(&'static str, &'static str)]) -> Texture {
    let (mut device, mut rng) = worn_in(&[&DRIVE[..], changes].concat());
    let pages = device.config().geometry.logical_pages;
    let mut latencies = Vec::new();
    let next = |tag| op(OpKind::Write, rng.below(pages), 1, tag);
    watched_loop(&mut device, 32, pages, next, |_, end| latencies.push(end.latency().0));
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    device.check().unwrap();
    let (iops, waf) = writes_and_waf(&rows);
    latencies.sort_unstable();
    let ms = |index: usize| latencies[index] as f64 / 1e6;
    Texture {
        changes,
        iops: iops.iter().sum::<f64>() / iops.len() as f64,
        least_iops: iops.iter().copied().fold(f64::INFINITY, f64::min),
        waf,
        cv: spread(&iops),
        p99_ms: ms(latencies.len() * 99 / 100),
        longest_ms: ms(latencies.len() - 1),
    }
}

impl Texture {
    /// The row of the table in the docs.
    fn row(&self) -> String {
        let values: Vec<_> =
            self.changes.iter().map(|(key, value)| format!("`{key}={value}`")).collect();
        let values = if values.is_empty() { "none".to_owned() } else { values.join(", ") };
        let Self { iops, least_iops, waf, p99_ms, longest_ms, .. } = self;
        let cv_percent = 100.0 * self.cv;
        format!(
            "| {values} | {iops:.0} | {least_iops:.0} | {waf:.2} | {cv_percent:.1}% | {p99_ms:.0} ms | {longest_ms:.0} ms |"
        )
    }

    fn has(&self, key: &str) -> bool {
        self.changes.iter().any(|(changed, _)| *changed == key)
    }
}

#[test]
fn every_evenness_can_be_had_and_the_docs_say_at_which_latency() {
    let drives: Vec<Texture> = std::thread::scope(|scope| {
        let threads = ROWS.map(|changes| scope.spawn(move || texture(changes)));
        threads.map(|thread| thread.join().expect("the drive lives")).into_iter().collect()
    });
    let mut evenness: Vec<f64> = drives.iter().map(|drive| drive.cv).collect();
    evenness.sort_by(f64::total_cmp);
    assert!(evenness[0] < 0.003 && evenness[ROWS.len() - 1] > 0.8, "{evenness:?}");
    // From 0.3% to 80% no step is wider than a factor of four.
    let is_wide = |pair: &[f64]| pair[1] > 0.003 && pair[1] > 4.0 * pair[0].max(0.003);
    assert!(!evenness.windows(2).any(is_wide), "{evenness:?}");
    for drive in &drives {
        // A host with a share of the burst does not wait for its end.
        let longest_ms = if drive.has("gc.duty_percent") { 200.0 } else { 2_000.0 };
        assert!(drive.longest_ms < longest_ms, "{}", drive.row());
    }
    let rows: Vec<String> = drives.iter().map(Texture::row).collect();
    let missing: Vec<&String> = rows.iter().filter(|row| !DOCS.contains(*row)).collect();
    assert!(
        missing.is_empty(),
        "the table in docs/reference/mechanisms.md becomes:\n{}",
        rows.join("\n")
    );
}
