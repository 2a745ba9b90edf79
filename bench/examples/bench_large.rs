//! `cargo xtask bench large`: how fast drives of 30.72 and 61.44 TB live, and the memory that they take. One JSON
//! document on stdout.
//!
//! A drive is filled in order, overwritten once at random without time, and loaded with random writes of whole mapping
//! units and of 4 KiB, in turns. It needs 6 to 8 bytes of memory for each unit of raw NAND; a size that does not fit is left
//! out and said so. Stderr has each drive as soon as it is done. `--quick` takes a 64th of them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

use std::time::Instant;

use base::{Completion, Data, Op, OpKind, Ratio, Rng};
use sim::ftl::gc::{VictimPolicy, VictimSelector};
use sim::ftl::table::maps_bytes;
use sim::ftl::{Ftl, StreamId};
use sim::{Config, Drive, Model, PAGE_BYTES};

#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

const QUEUE_DEPTH: u32 = 128;
/// Commands of a turn.
const TURN_WRITES: u64 = 1_000_000;
const TURNS: usize = 10;
/// Number of pages for which the map is prefetched.
const AHEAD: u32 = 64;

/// Capacity, dies on each of 16 channels (of 1 Tbit with four planes), bytes of a mapping unit; the least memory first.
const DRIVES: [(u64, u32, u32); 4] =
    [(61_440, 32, 65_536), (30_720, 16, 16_384), (61_440, 32, 32_768), (61_440, 32, 16_384)];

fn config((capacity_gb, dies, unit_bytes): (u64, u32, u32), scale: Ratio) -> Config {
    let changes = [
        ("capacity_gb", capacity_gb.to_string()),
        ("map.unit_bytes", unit_bytes.to_string()),
        ("nand.channels", "16".to_owned()),
        ("nand.dies_per_channel", dies.to_string()),
        ("nand.planes", "4".to_owned()),
        ("nand.pages_per_block", "2048".to_owned()),
        ("nand.blocks_per_plane", "1024".to_owned()),
    ];
    let changes = changes.map(|(key, value)| (key.to_owned(), value));
    let text = sim::model::built_in("intel-ssd-750-400gb").expect("built in");
    let model = Model::load("large", text, &changes).expect("valid");
    model.resolve(scale).expect("consistent")
}

/// Maps of a full drive that has been overwritten once at random.
fn overwritten(config: &Config) -> Ftl {
    let mut ftl = Ftl::new(config.geometry);
    let mut victims = VictimSelector::new(VictimPolicy::Greedy, 1, 1);
    let kept_free = config.free_high as usize;
    let pages = config.geometry.logical_pages;
    (0..pages).for_each(|logical| place(&mut ftl, &mut victims, kept_free, logical));
    let mut rng = Rng::split(1, "large");
    let mut ahead = rng.clone();
    (0..AHEAD).for_each(|_| _ = ahead.below(pages));
    for _ in 0..pages {
        ftl.prefetch_logical(ahead.below(pages));
        place(&mut ftl, &mut victims, kept_free, rng.below(pages));
    }
    ftl
}

fn place(ftl: &mut Ftl, victims: &mut VictimSelector, kept_free: usize, logical: u64) {
    if !ftl.stream_has_room(StreamId::Host) {
        collect(ftl, victims, kept_free);
        ftl.open_superblock(StreamId::Host);
    }
    ftl.place(StreamId::Host, logical);
}

fn collect(ftl: &mut Ftl, victims: &mut VictimSelector, kept_free: usize) {
    let (units, unit_pages) = (ftl.geometry.superblock_units, ftl.geometry.unit_pages);
    while ftl.free.len() < kept_free {
        let victim = victims.select(ftl).expect("a victim");
        ftl.become_victim(victim);
        for unit in victim * units..(victim + 1) * units {
            ftl.prefetch_owned(unit + AHEAD / unit_pages);
            let mut pages = u64::MAX >> (64 - unit_pages);
            while pages != 0 {
                if !ftl.stream_has_room(StreamId::Gc) {
                    ftl.open_superblock(StreamId::Gc);
                }
                ftl.move_pages(StreamId::Gc, unit, &mut pages, |_, _| ());
            }
        }
        ftl.erased(victim);
    }
}

/// Nanoseconds for which this thread has had a processor, which other work of the machine hardly changes.
fn processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(f64::NAN)
}

/// A turn of random writes of `len` bytes; nanoseconds of processor time for each.
fn turn(drive: &mut Drive, len: u32, rng: &mut Rng) -> f64 {
    let places = drive.config().capacity_bytes() / u64::from(len);
    let mut write = |tag| Op {
        kind: OpKind::Write,
        data: Data::Incompressible,
        fua: false,
        placement: 0,
        len,
        tag,
        offset: rng.below(places) * u64::from(len),
    };
    let begin_ns = processor_ns();
    let mut ended: Vec<Completion> = Vec::new();
    let first: Vec<Op> = (0..QUEUE_DEPTH).map(&mut write).collect();
    drive.submit(&first);
    let mut sent = u64::from(QUEUE_DEPTH);
    let mut outstanding = u64::from(QUEUE_DEPTH);
    while outstanding > 0 {
        drive.reap(1, &mut ended);
        assert!(!ended.is_empty(), "the drive came to a standstill");
        for end in ended.drain(..) {
            outstanding -= 1;
            if sent < TURN_WRITES {
                drive.submit(&[write(end.tag)]);
                (sent, outstanding) = (sent + 1, outstanding + 1);
            }
        }
    }
    (processor_ns() - begin_ns) / TURN_WRITES as f64
}

/// Median processor time of a write of `len` bytes, and the WAF of all turns.
fn load_json(drive: &mut Drive, len: u32) -> String {
    let mut rng = Rng::split(len.into(), "addresses");
    turn(drive, len, &mut rng);
    let before = drive.telemetry();
    let mut ns: Vec<f64> = (0..TURNS).map(|_| turn(drive, len, &mut rng)).collect();
    ns.sort_by(f64::total_cmp);
    let now = drive.telemetry();
    let programmed = now.programmed_pages - before.programmed_pages;
    let waf = programmed as f64 / (now.host_pages - before.host_pages) as f64;
    let median_ns = ns[TURNS / 2];
    format!(
        "{{\"write_bytes\": {len}, \"processor_ns_per_write\": {median_ns:.1}, \"writes_per_processor_s\": {:.0}, \"waf\": {waf:.3}}}",
        1e9 / median_ns
    )
}

/// A field of a file of the kernel in bytes.
fn kernel_bytes(file: &str, field: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn drive_json(drive: (u64, u32, u32), scale: Ratio) -> Option<String> {
    let config = config(drive, scale);
    let needed_bytes = maps_bytes(&config.geometry);
    let (capacity_gb, _, unit_bytes) = drive;
    let available_bytes = kernel_bytes("/proc/meminfo", "MemAvailable:");
    if needed_bytes > available_bytes {
        eprintln!(
            "{capacity_gb} GB in units of {unit_bytes} bytes: {needed_bytes} bytes of maps do not fit"
        );
        return None;
    }
    let before_bytes = kernel_bytes("/proc/self/status", "VmRSS:");
    let wall = Instant::now();
    let ftl = overwritten(&config);
    let prepared_s = wall.elapsed().as_secs_f64();
    let mut drive = Drive::with_ftl(config, ftl);
    let memory_bytes = kernel_bytes("/proc/self/status", "VmRSS:") - before_bytes;
    let loads = [unit_bytes, PAGE_BYTES as u32].map(|len| load_json(&mut drive, len));
    let json = format!(
        "{{\"capacity_gb\": {capacity_gb}, \"unit_bytes\": {unit_bytes}, \"maps_bytes\": {needed_bytes}, \
         \"memory_bytes\": {memory_bytes}, \"prepared_s\": {prepared_s:.1}, \"loads\": [{}]}}",
        loads.join(", ")
    );
    // At once: the next drive may not fit after all.
    eprintln!("{json}");
    Some(json)
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let scale = if quick { Ratio::new(1, 64).unwrap_or(Ratio::ONE) } else { Ratio::ONE };
    let drives: Vec<_> = DRIVES.into_iter().filter_map(|drive| drive_json(drive, scale)).collect();
    println!("{{\"bench\": \"large\", \"quick\": {quick}, \"drives\": [{}]}}", drives.join(", "));
}
