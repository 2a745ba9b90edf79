//! The common needs of the simulator's tests: a small drive to change, a closed loop, the formulas.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

pub mod cases;
pub mod power;
pub mod swarm;
pub mod three_streams;
pub mod untimed;

use base::{Completion, Data, Nanos, Op, OpKind, Ratio, Rng, TelemetryRow};
use sim::ftl::table::number_bytes;
use sim::{Config, Device, Model, PAGE_BYTES, Probe};

/// A small drive with round numbers: 2 channels x 2 dies, units of 4 pages, 64 superblocks of 512 pages.
pub const SMALL: &str = r#"
name = "small test drive"
capacity_gb = { value = 1, from = "assumed: test" }
interface.link_bytes_per_s = { value = 512_000_000, from = "assumed: test" }
interface.queue_depth = { value = 32, from = "assumed: test" }
controller.read_command_ns = { value = 5_000, from = "assumed: test" }
controller.write_command_ns = { value = 6_000, from = "assumed: test" }
controller.relocate_ns = { value = 1_000, from = "assumed: test" }
nand.channels = { value = 2, from = "assumed: test" }
nand.dies_per_channel = { value = 2, from = "assumed: test" }
nand.planes = { value = 2, from = "assumed: test" }
nand.blocks_per_plane = { value = 560, from = "assumed: test" }
nand.pages_per_block = { value = 32, from = "assumed: test" }
nand.page_bytes = { value = 8192, from = "assumed: test" }
nand.read_ns = { value = 50_000, from = "assumed: test" }
nand.program_ns = { value = 600_000, from = "assumed: test" }
nand.erase_ns = { value = 3_000_000, from = "assumed: test" }
nand.channel_bytes_per_s = { value = 409_600_000, from = "assumed: test" }
nand.reserved_superblocks = { value = 2, from = "assumed: test" }
buffer.write_bytes = { value = 1_048_576, from = "assumed: test" }
buffer.power_loss_protected = { value = false, from = "assumed: test" }
gc.policy = { value = "greedy", from = "assumed: test" }
gc.candidates = { value = 10, from = "assumed: test" }
gc.pacing = { value = "proportional", from = "assumed: test" }
gc.free_low = { value = 3, from = "assumed: test" }
gc.free_high = { value = 12, from = "assumed: test" }
"#;

/// A map on NAND for the small drive, which needs room for it. Entries of 64 bytes: 256 in a unit
/// of 16 KiB. Map entries of 16 bytes: 1,024 pages in a segment.
pub const MAPPED: [(&str, &str); 4] = [
    ("mapping.entry_bytes", "64"),
    ("mapping.map_entry_bytes", "16"),
    ("mapping.journal_superblocks", "4"),
    ("nand.reserved_superblocks", "20"),
];

/// Blocks for the small drive and its map.
pub const MAP_ROOM: [(&str, &str); 1] = [("nand.blocks_per_plane", "578")];

/// A dedicated pSLC cache for the small drive: eight superblocks.
pub const CACHE: [(&str, &str); 8] = [
    ("pslc.bytes", "8388608"),
    ("pslc.borrows", "false"),
    ("pslc.bits_per_cell", "2"),
    ("pslc.read_ns", "20_000"),
    ("pslc.program_ns", "200_000"),
    ("pslc.erase_ns", "1_000_000"),
    ("pslc.idle_after_ns", "100_000_000"),
    ("pslc.when_full", "direct"),
];

/// The small drive with changes.
pub fn small(changes: &[(&str, &str)]) -> Device {
    Device::new(small_config(Ratio::ONE, changes))
}

/// The model of the small drive at a scale, with changes.
pub fn small_config(scale: Ratio, changes: &[(&str, &str)]) -> Config {
    let changes: Vec<_> = changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let model = Model::load("small", SMALL, &changes).expect("the test model is valid");
    model.resolve(scale).expect("the test model is consistent")
}

/// A built-in drive at a scale, with changes.
pub fn built_in(name: &str, scale: &str, changes: &[(&str, &str)]) -> Device {
    let changes: Vec<_> = changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let text = sim::model::built_in(name).expect("built in");
    let model = Model::load(name, text, &changes).expect("valid");
    Device::new(model.resolve(scale.parse().expect("a ratio")).expect("consistent"))
}

/// A command of whole pages.
pub fn op(kind: OpKind, page: u64, pages: u64, tag: u32) -> Op {
    let len = (pages * PAGE_BYTES) as u32;
    Op {
        kind,
        data: Data::Incompressible,
        fua: false,
        placement: 0,
        len,
        tag,
        offset: page * PAGE_BYTES,
    }
}

/// The same drive with page numbers as one of more than 2^32 pages has them.
pub fn wide(mut config: Config) -> Config {
    config.geometry.page_number_bytes = number_bytes(1 << 32);
    config
}

/// The same drive with packed owners, as one of more than 2^31 pages has them, unless it compresses.
pub fn packed(mut config: Config) -> Config {
    config.geometry.packs_owners = config.geometry.page_granules == 1;
    config
}

/// One drive in seven with page numbers that are wider than it needs, and one with packed owners.
pub fn sometimes_large(config: Config, seed: u64) -> Config {
    match seed % 7 {
        0 => wide(config),
        1 => packed(config),
        _ => config,
    }
}

/// Runs one command alone and returns its latency.
pub fn alone<P: Probe>(device: &mut Device<P>, op: &Op) -> u64 {
    let mut out = Vec::new();
    device.submit(op);
    device.reap(1, &mut out);
    assert_eq!(out.len(), 1, "the command ends");
    out[0].latency().0
}

/// Keeps `queue_depth` commands outstanding until `count` have ended; returns the last ones that
/// ended together.
pub fn closed_loop<P: Probe>(
    device: &mut Device<P>,
    queue_depth: u32,
    count: u64,
    next: impl FnMut(u32) -> Op,
) -> Vec<Completion> {
    watched_loop(device, queue_depth, count, next, |_, _| ())
}

/// The same, and passes every completion to `watch` before the next command.
pub fn watched_loop<P: Probe>(
    device: &mut Device<P>,
    queue_depth: u32,
    count: u64,
    mut next: impl FnMut(u32) -> Op,
    mut watch: impl FnMut(&Device<P>, &Completion),
) -> Vec<Completion> {
    let mut out = Vec::new();
    let mut last = Vec::new();
    let (mut issued, mut ended) = (0, 0);
    for tag in 0..queue_depth.min(count as u32) {
        device.submit(&next(tag));
        issued += 1;
    }
    while ended < count {
        device.reap(1, &mut out);
        assert!(!out.is_empty(), "the drive came to a standstill");
        for end in &out {
            watch(device, end);
            ended += 1;
            if issued < count {
                device.submit(&next(end.tag));
                issued += 1;
            }
        }
        std::mem::swap(&mut last, &mut out);
        out.clear();
    }
    last
}

/// Writes the first `pages` pages once, in order, 32 at a time.
pub fn fill(device: &mut Device, pages: u64) {
    closed_loop(device, 32, pages.div_ceil(32), in_order(pages));
}

/// The commands that write the first `pages` pages once, in order, 32 at a time.
pub fn in_order(pages: u64) -> impl FnMut(u32) -> Op {
    let mut page = 0;
    move |tag| {
        let length = 32.min(pages - page);
        page += length;
        op(OpKind::Write, page - length, length, tag)
    }
}

/// Random page writes over the first `pages` pages.
pub fn random_writes(device: &mut Device, pages: u64, count: u64, rng: &mut Rng) {
    closed_loop(device, 32, count, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
}

/// The small drive with changes, filled and overwritten one and a half times, so that it cleans; its telemetry has begun.
/// With it the generator of the addresses.
pub fn worn_in(changes: &[(&str, &str)]) -> (Device, Rng) {
    let mut device = small(changes);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, pages);
    random_writes(&mut device, pages, 3 * pages / 2, &mut rng);
    device.telemetry_start(Nanos::SECOND);
    (device, rng)
}

/// Rows of the telemetry of a filled drive in steady state, one for each interval: three overwrites after two.
pub fn steady_rows(device: &mut Device, interval: Nanos) -> Vec<TelemetryRow> {
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    fill(device, pages);
    random_writes(device, pages, 2 * pages, &mut rng);
    device.telemetry_start(interval);
    random_writes(device, pages, 3 * pages, &mut rng);
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    device.check().unwrap();
    rows
}

/// Host writes of each row, and the WAF of all.
pub fn writes_and_waf(rows: &[TelemetryRow]) -> (Vec<f64>, f64) {
    let written: Vec<f64> = rows.iter().map(|row| row.host_pages as f64).collect();
    let programmed: u64 = rows.iter().map(|row| row.programmed_pages).sum();
    let waf = programmed as f64 / written.iter().sum::<f64>();
    (written, waf)
}

/// WAF between two moments by the pages that garbage collection moved, padding and metadata left aside.
pub fn waf_of_moves(before: &TelemetryRow, after: &TelemetryRow) -> f64 {
    let moved_pages = after.gc_moved_pages - before.gc_moved_pages;
    1.0 + moved_pages as f64 / (after.host_pages - before.host_pages) as f64
}

/// Unevenness of values: standard deviation over mean.
pub fn spread(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance =
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    variance.sqrt() / mean
}

/// WAF of FIFO cleaning, which greedy on large superblocks equals: A = 1 / (1 - exp(-alpha / A)).
pub fn waf_fifo(alpha: f64) -> f64 {
    let mut waf = 2.0;
    for _ in 0..100_000 {
        waf = 1.0 / (1.0 - f64::exp(-alpha / waf));
    }
    waf
}

/// WAF of greedy cleaning with `b` pages per block (mean-field fixed point): the integer K and x in
/// `[0, 1)` with H_b - H_K + x/K = (b - K + x) alpha / b give A = b / (b - K + x).
pub fn waf_greedy(alpha: f64, b: u32) -> f64 {
    let size = f64::from(b);
    let harmonic = |n: u32| (1..=n).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    let (all, mut below) = (harmonic(b), 0.0);
    for k in 1..b {
        let level = f64::from(k);
        below += 1.0 / level;
        let x = ((size - level) * alpha / size - (all - below)) / (1.0 / level - alpha / size);
        if (0.0..1.0).contains(&x) {
            return size / (size - level + x);
        }
    }
    panic!("no fixed point for alpha {alpha}, b {b}");
}

/// Seconds as ns.
pub fn secs(seconds: u64) -> Nanos {
    Nanos(seconds * Nanos::SECOND.0)
}
