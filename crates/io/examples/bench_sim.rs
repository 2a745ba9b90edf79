//! `cargo xtask bench sim`: how fast simulated drives live. One JSON document on stdout.
//!
//! Each built-in drive is filled and then loaded with random writes, as the consistency test does; `hash`
//! covers every telemetry row, so that a change of speed cannot hide a change of meaning.
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::time::Instant;

use base::{Completion, Data, Nanos, Op, OpKind, Ratio, Rng, TelemetryRow};
use sim::{Device, Model, PAGE_BYTES};

#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

const QUEUE_DEPTH: u32 = 32;
const FILL_PAGES: u64 = 32;

/// One measured stretch.
struct Stretch {
    host_pages: u64,
    programmed_pages: u64,
    wall_s: f64,
    virtual_s: f64,
}

/// Keeps the drive busy until `next` gives nothing more or `until` is reached.
fn closed_loop(
    device: &mut Device,
    until: Nanos,
    mut next: impl FnMut(u32) -> Option<Op>,
) -> Stretch {
    let (before, start, wall) = (device.telemetry(), device.now(), Instant::now());
    let mut ended: Vec<Completion> = Vec::with_capacity(QUEUE_DEPTH as usize);
    let mut outstanding = 0;
    for op in (0..QUEUE_DEPTH).filter_map(&mut next) {
        device.submit(&op);
        outstanding += 1;
    }
    while outstanding > 0 {
        device.reap(1, &mut ended);
        let more = device.now() < until;
        for end in ended.drain(..) {
            match next(end.tag).filter(|_| more) {
                Some(op) => device.submit(&op),
                None => outstanding -= 1,
            }
        }
    }
    let after = device.telemetry();
    Stretch {
        host_pages: after.host_pages - before.host_pages,
        programmed_pages: after.programmed_pages - before.programmed_pages,
        wall_s: wall.elapsed().as_secs_f64(),
        virtual_s: device.now().as_secs_f64() - start.as_secs_f64(),
    }
}

fn write(page: u64, pages: u64, tag: u32) -> Op {
    Op {
        kind: OpKind::Write,
        data: Data::Incompressible,
        len: (pages * PAGE_BYTES) as u32,
        tag,
        offset: page * PAGE_BYTES,
    }
}

fn fill(device: &mut Device) -> Stretch {
    let pages = u64::from(device.config().geometry.logical_pages);
    let mut page = 0;
    closed_loop(device, Nanos(u64::MAX), |tag| {
        let length = FILL_PAGES.min(pages - page);
        page += length;
        (length > 0).then(|| write(page - length, length, tag))
    })
}

fn load(device: &mut Device, seconds: u64) -> (Stretch, Vec<TelemetryRow>) {
    let pages = u64::from(device.config().geometry.logical_pages);
    let mut rng = Rng::split(1, "addresses");
    let until = Nanos(device.now().0 + seconds * Nanos::SECOND.0);
    device.telemetry_start(Nanos::SECOND);
    let stretch = closed_loop(device, until, |tag| Some(write(rng.below(pages), 1, tag)));
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    (stretch, rows)
}

/// FNV-1a over the counters of every row.
fn hash(rows: &[TelemetryRow]) -> u64 {
    let words = rows.iter().flat_map(|r| {
        [r.host_pages, r.programmed_pages, r.gc_moved_pages, r.free_superblocks, r.die_busy_ns]
    });
    words
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}

fn stretch_json(name: &str, s: &Stretch) -> String {
    format!(
        "\"{name}\": {{\"wall_s\": {:.3}, \"virtual_s\": {:.1}, \"host_pages\": {}, \
         \"host_pages_per_s\": {:.0}, \"programmed_pages_per_s\": {:.0}, \"ns_per_host_page\": {:.1}}}",
        s.wall_s,
        s.virtual_s,
        s.host_pages,
        s.host_pages as f64 / s.wall_s,
        s.programmed_pages as f64 / s.wall_s,
        s.wall_s * 1e9 / s.host_pages as f64
    )
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (scale, seconds) = if quick { (Ratio::new(1, 16), 125) } else { (Ratio::new(1, 1), 2000) };
    let mut drives = Vec::new();
    for (name, text) in sim::model::BUILT_IN {
        let model =
            Model::load(name, text, &[]).and_then(|m| m.resolve(scale.unwrap_or(Ratio::ONE)));
        let mut device = Device::new(model.expect("built-in models are valid"));
        let filled = fill(&mut device);
        let (loaded, rows) = load(&mut device, seconds);
        drives.push(format!(
            "{{\"drive\": \"{name}\", {}, {}, \"hash\": \"{:016x}\"}}",
            stretch_json("fill", &filled),
            stretch_json("load", &loaded),
            hash(&rows)
        ));
    }
    println!("{{\"bench\": \"sim\", \"quick\": {quick}, \"drives\": [{}]}}", drives.join(", "));
}
