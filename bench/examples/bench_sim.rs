//! `cargo xtask bench sim`: speed of simulated drives. One JSON document on stdout.
//!
//! - `drives`: each of some built-in drives, behind its host, is filled and loaded for 2,000 s of virtual time, as in the consistency test; `hash`
//!   covers every completion and every column of every telemetry row, so that a change of speed cannot hide a change of
//!   results.
//! - `capacities`: the same for drives of 240, 480 and 960 GB that differ in nothing else.
//! - `steady`: drives of several sizes with 14.5% over-provisioning in steady state: the timed simulator, the same
//!   mapping without time (`floor`), a bare loop over the same arrays (`bare`), and the smallest of the drives once
//!   more. All run in one process and in turns, so that other work of the machine affects all of them. Figures are
//!   medians of the turns, shares of their ratios. The floor itself prepares the steady state, without time.
//! - `mechanisms`: the smallest of those drives with all mechanisms that go together and leave its
//!   write amplification as it is, behind a host: filled, overwritten twice, then timed; `groups`: the same with eight
//!   groups of dies that collect each for itself, without the mechanisms that do not go with them.
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::collections::VecDeque;
use std::time::Instant;

use base::{Completion, Data, Fnv, Nanos, Op, OpKind, Rng};
use io::engine::sim::configure;
use sim::ftl::gc::{VictimPolicy, VictimSelector};
use sim::ftl::{Ftl, StreamId, SuperblockState};
use sim::geometry::{Divisor, Geometry};
use sim::prefetch::prefetch;
use sim::{Config, Drive, PAGE_BYTES};

#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

const QUEUE_DEPTH: u32 = 32;
const FILL_PAGES: u64 = 32;

/// One measured interval.
struct Stretch {
    host_pages: u64,
    programmed_pages: u64,
    wall_s: f64,
    virtual_s: f64,
}

/// Keeps the drive busy until `next` has no more commands or `until` is reached; `watch` gets every
/// completion.
fn closed_loop(
    drive: &mut Drive,
    until: Nanos,
    mut next: impl FnMut(u32) -> Option<Op>,
    mut watch: impl FnMut(&Completion),
) -> Stretch {
    let (before, start, wall) = (drive.telemetry(), drive.now(), Instant::now());
    let mut ended: Vec<Completion> = Vec::with_capacity(QUEUE_DEPTH as usize);
    let mut outstanding = 0;
    for op in (0..QUEUE_DEPTH).filter_map(&mut next) {
        drive.submit(&[op]);
        outstanding += 1;
    }
    while outstanding > 0 {
        drive.reap(1, &mut ended);
        assert!(!ended.is_empty(), "the drive came to a standstill");
        let more = drive.now() < until;
        for end in ended.drain(..) {
            watch(&end);
            // Not `next(..).filter(..)`: that copies the command in pieces, and reading it then waits for them.
            if more && let Some(op) = next(end.tag) {
                drive.submit(&[op]);
            } else {
                outstanding -= 1;
            }
        }
    }
    let after = drive.telemetry();
    Stretch {
        host_pages: after.host_pages - before.host_pages,
        programmed_pages: after.programmed_pages - before.programmed_pages,
        wall_s: wall.elapsed().as_secs_f64(),
        virtual_s: drive.now().as_secs_f64() - start.as_secs_f64(),
    }
}

fn write(page: u64, pages: u64, tag: u32) -> Op {
    Op {
        kind: OpKind::Write,
        data: Data::Incompressible,
        fua: false,
        placement: 0,
        len: (pages * PAGE_BYTES) as u32,
        tag,
        offset: page * PAGE_BYTES,
    }
}

fn fill(drive: &mut Drive, hash: &mut Fnv) -> Stretch {
    let pages = drive.config().geometry.logical_pages;
    let mut page = 0;
    let next = |tag| {
        let length = FILL_PAGES.min(pages - page);
        page += length;
        (length > 0).then(|| write(page - length, length, tag))
    };
    closed_loop(drive, Nanos(u64::MAX), next, |end| add_completion(hash, end))
}

fn load(drive: &mut Drive, seconds: u64, hash: &mut Fnv) -> Stretch {
    let pages = drive.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    let until = Nanos(drive.now().0 + seconds * Nanos::SECOND.0);
    let next = |tag| Some(write(rng.below(pages), 1, tag));
    closed_loop(drive, until, next, |end| add_completion(hash, end))
}

/// A fresh drive, filled once and loaded for this time, and the hash of its completions and rows.
fn fill_and_load(drive: &mut Drive, seconds: u64) -> (Stretch, Stretch, Fnv) {
    let mut hash = Fnv::EMPTY;
    drive.telemetry_start(Nanos::SECOND);
    let filled = fill(drive, &mut hash);
    let loaded = load(drive, seconds, &mut hash);
    let mut rows = Vec::new();
    drive.telemetry_take(&mut rows);
    rows.iter().for_each(|row| hash.add(row.values()));
    hash.add(drive.telemetry().values());
    (filled, loaded, hash)
}

/// This number of random page writes.
fn write_at_random(drive: &mut Drive, count: u64, rng: &mut Rng) -> Stretch {
    let pages = drive.config().geometry.logical_pages;
    let mut left = count;
    let next = |tag| {
        left = left.checked_sub(1)?;
        Some(write(rng.below(pages), 1, tag))
    };
    closed_loop(drive, Nanos(u64::MAX), next, |_| ())
}

/// A simulated command does not fail.
fn add_completion(hash: &mut Fnv, end: &Completion) {
    hash.add([u64::from(end.tag), end.submitted.0, end.done.0]);
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

/// Memory of this process in bytes: now, and at its peak.
fn memory_bytes() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    (field("VmRSS:").unwrap_or(0), field("VmHWM:").unwrap_or(0))
}

/// The Extreme II with longer or shorter superblocks and no reserve: 14.5% over-provisioning exactly
/// as 480 GB on 512 GiB.
fn sized_config(gib: u64) -> Config {
    changed_config(gib, &[])
}

/// A drive of [`sized_config`] with more keys.
fn changed_config(gib: u64, more: &[(&str, &str)]) -> Config {
    let changes = [
        ("nand.pages_per_block", (gib / 2).to_string()),
        ("capacity_gb", (gib * 15 / 16).to_string()),
        ("nand.reserved_superblocks", "0".to_owned()),
    ];
    let more = more.iter().map(|(key, value)| (*key, (*value).to_owned()));
    let changes = changes.into_iter().chain(more);
    let changes: Vec<_> = changes.map(|(key, value)| (key.to_owned(), value)).collect();
    configure("sandisk-extreme-ii-480gb", &changes).expect("valid")
}

/// Writable pages that the pacing of the drive keeps in steady state. All three keep them;
/// otherwise they would not have the same garbage to collect.
fn kept_pages(config: &Config) -> u32 {
    let superblock_pages = config.geometry.superblock_data_pages();
    config.pacing.steady_pages(config.free_low, config.free_high, superblock_pages) as u32
}

/// Host writes without time: the same maps, streams, victims and order of work as the simulator.
struct Floor {
    ftl: Ftl,
    victims: VictimSelector,
    rng: Rng,
    ahead: VecDeque<u64>,
    /// Erased superblocks at the moment when a stream of the host needs one.
    kept_free: usize,
    programmed_pages: u64,
}

/// Host writes of a turn; the timed simulator, the floor and the bare loop take turns.
const TURN_WRITES: u64 = 1_000_000;
/// Distance of the prefetch of the map, in host writes.
const AHEAD: usize = 64;
/// Distance of the prefetch of the map in cleaning, in pages, for floor and bare loop.
const SCAN_AHEAD: usize = 64;

impl Floor {
    fn filled(config: &Config) -> Self {
        let mut ftl = Ftl::new(config.geometry);
        for logical in 0..config.geometry.logical_pages {
            if ftl.stream_room_pages(StreamId::Host) == 0 {
                ftl.open_superblock(StreamId::Host);
            }
            ftl.place(StreamId::Host, logical);
        }
        let victims = VictimSelector::new(VictimPolicy::Greedy, 1, 1);
        let rng = Rng::split(1, "floor");
        let kept_free = (kept_pages(config) / config.geometry.superblock_pages()) as usize;
        Self { ftl, victims, rng, ahead: VecDeque::new(), kept_free, programmed_pages: 0 }
    }

    /// This number of random page writes; returns the pages programmed.
    fn write(&mut self, count: u64) -> u64 {
        let before = self.programmed_pages;
        let pages = self.ftl.geometry.logical_pages;
        for _ in 0..count {
            while self.ahead.len() < AHEAD {
                let logical = self.rng.below(pages);
                self.ftl.prefetch_logical(logical);
                self.ahead.push_back(logical);
            }
            if self.ftl.stream_room_pages(StreamId::Host) == 0 {
                self.collect();
                self.ftl.open_superblock(StreamId::Host);
            }
            let logical = self.ahead.pop_front().expect("filled above");
            self.ftl.place(StreamId::Host, logical);
            self.programmed_pages += 1;
        }
        self.programmed_pages - before
    }

    fn collect(&mut self) {
        let Geometry { superblock_units: units, unit_pages, .. } = self.ftl.geometry;
        while self.ftl.free.len() < self.kept_free {
            let victim = self.victims.select(&self.ftl).expect("a victim");
            self.ftl.states[victim as usize] = SuperblockState::Victim;
            for unit in victim * units..(victim + 1) * units {
                self.ftl.prefetch_owned(unit + SCAN_AHEAD as u32 / unit_pages);
                self.relocate(unit);
            }
            self.ftl.erased(victim);
        }
    }

    fn relocate(&mut self, unit: u32) {
        let mut pages = u64::MAX >> (64 - self.ftl.geometry.unit_pages);
        while pages != 0 {
            if self.ftl.stream_room_pages(StreamId::Gc) == 0 {
                self.ftl.open_superblock(StreamId::Gc);
            }
            let moved = self.ftl.move_pages(StreamId::Gc, unit, &mut pages, |_, _| ());
            self.programmed_pages += u64::from(moved);
        }
    }
}

/// The arrays of the map in the smallest possible log: one frontier, the oldest page is cleaned first, and there are no
/// superblocks to choose, open or erase. This is the limit of the memory for the same work.
struct Bare {
    l2p: Vec<u32>,
    p2l: Vec<u32>,
    valid: Vec<u32>,
    by_superblock: Divisor,
    rng: Rng,
    ahead: VecDeque<u32>,
    head: u32,
    tail: u32,
    free: u32,
    placed: u64,
}

impl Bare {
    fn filled(config: &Config) -> Self {
        let geometry = &config.geometry;
        let pages = (geometry.logical_pages, geometry.physical_pages());
        let (logical, physical) = (pages.0 as u32, pages.1 as u32);
        let mut p2l: Vec<u32> = (0..logical).collect();
        p2l.resize(physical as usize, 0);
        Self {
            l2p: (0..logical).collect(),
            p2l,
            valid: vec![0; geometry.superblocks as usize + 1],
            by_superblock: Divisor::new(geometry.superblock_pages()),
            rng: Rng::split(1, "bare"),
            ahead: VecDeque::with_capacity(AHEAD + 1),
            head: logical,
            tail: 0,
            free: physical - logical,
            placed: 0,
        }
    }

    fn after(&self, page: u32) -> u32 {
        if page as usize + 1 == self.p2l.len() { 0 } else { page + 1 }
    }

    fn place(&mut self, logical: u32) {
        let old = std::mem::replace(&mut self.l2p[logical as usize], self.head);
        let count = &mut self.valid[self.by_superblock.divide(old.into()) as usize];
        *count = count.wrapping_sub(1);
        let count = &mut self.valid[self.by_superblock.divide(self.head.into()) as usize];
        *count = count.wrapping_add(1);
        self.p2l[self.head as usize] = logical;
        self.head = self.after(self.head);
        self.free -= 1;
        self.placed += 1;
    }

    fn clean(&mut self, keep: u32) {
        while self.free < keep {
            if let Some(&far) = self.p2l.get(self.tail as usize + SCAN_AHEAD) {
                prefetch(&self.l2p, far as usize);
            }
            let logical = self.p2l[self.tail as usize];
            self.free += 1;
            if self.l2p[logical as usize] == self.tail {
                self.place(logical);
            }
            self.tail = self.after(self.tail);
        }
    }

    /// This number of random page writes. `keep` pages stay free, as in the floor's open and erased
    /// superblocks. Returns the pages programmed.
    fn write(&mut self, count: u64, keep: u32) -> u64 {
        let before = self.placed;
        let pages = self.l2p.len() as u64;
        for _ in 0..count {
            while self.ahead.len() <= AHEAD {
                let logical = self.rng.below(pages) as u32;
                prefetch(&self.l2p, logical as usize);
                self.ahead.push_back(logical);
            }
            self.clean(keep);
            let logical = self.ahead.pop_front().expect("filled above");
            self.place(logical);
        }
        self.placed - before
    }
}

/// Pages programmed and nanoseconds of one program, turn by turn.
#[derive(Default)]
struct Turns {
    programmed_pages: u64,
    ns_per_host_page: Vec<f64>,
}

impl Turns {
    /// Times a turn, which returns its programmed pages.
    fn take(&mut self, write: impl FnOnce() -> u64) {
        let wall = Instant::now();
        self.programmed_pages += write();
        self.ns_per_host_page.push(wall.elapsed().as_secs_f64() * 1e9 / TURN_WRITES as f64);
    }

    fn waf(&self) -> f64 {
        let host_pages = TURN_WRITES * self.ns_per_host_page.len() as u64;
        self.programmed_pages as f64 / host_pages as f64
    }

    fn ns(&self) -> f64 {
        median(self.ns_per_host_page.clone())
    }

    /// Median ratio of the times of two programs, turn by turn.
    fn share_of(&self, other: &Self) -> f64 {
        let turns = self.ns_per_host_page.iter().zip(&other.ns_per_host_page);
        median(turns.map(|(mine, others)| mine / others).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    (values[middle] + values[(values.len() - 1) / 2]) / 2.0
}

/// A drive in the steady state of random writes.
struct Steady {
    drive: Drive,
    rng: Rng,
}

impl Steady {
    /// The drive in the state that a floor has reached.
    fn new(config: &Config, floor: &Floor) -> Self {
        let drive = Drive::with_ftl(config.clone(), floor.ftl.clone());
        Self { drive, rng: Rng::split(2, "addresses") }
    }

    fn write(&mut self, count: u64) -> u64 {
        write_at_random(&mut self.drive, count, &mut self.rng).programmed_pages
    }
}

/// Timed, untimed and bare cost of a host write in steady state on a drive of `gib` raw; ratio of timed to a smaller one.
fn steady_json(gib: u64, turns: u64, smaller: &mut Steady) -> String {
    let config = sized_config(gib);
    let pages = config.geometry.logical_pages;
    let mut floor = Floor::filled(&config);
    floor.write(2 * pages);
    let before = memory_bytes().0;
    let mut steady = Steady::new(&config, &floor);
    let memory = memory_bytes().0 - before;
    let keep = kept_pages(&config);
    let mut bare = Bare::filled(&config);
    bare.write(2 * pages, keep);
    // Both streams open, the pacing settled.
    steady.write(3 * TURN_WRITES);

    let [mut timed, mut untimed, mut looped, mut small] = <[Turns; 4]>::default();
    for _ in 0..turns {
        small.take(|| smaller.write(TURN_WRITES));
        timed.take(|| steady.write(TURN_WRITES));
        untimed.take(|| floor.write(TURN_WRITES));
        looped.take(|| bare.write(TURN_WRITES, keep));
    }
    format!(
        "{{\"raw_gib\": {gib}, \"timed_ns\": {:.1}, \"floor_ns\": {:.1}, \"bare_ns\": {:.1}, \
         \"timed_share_of_floor\": {:.3}, \"floor_share_of_bare\": {:.3}, \"timed_ratio_to_smallest\": {:.3}, \
         \"timed_host_pages_per_s\": {:.0}, \"timed_programs_per_s\": {:.0}, \"waf_timed\": {:.3}, \
         \"waf_floor\": {:.3}, \"waf_bare\": {:.3}, \"memory_bytes_per_raw_page\": {:.2}}}",
        timed.ns(),
        untimed.ns(),
        looped.ns(),
        untimed.share_of(&timed),
        looped.share_of(&untimed),
        timed.share_of(&small),
        1e9 / timed.ns(),
        1e9 * timed.waf() / timed.ns(),
        timed.waf(),
        untimed.waf(),
        looped.waf(),
        memory as f64 / (gib << 18) as f64,
    )
}

/// [`steady_json`] of each size; the first is the smallest.
fn steady_jsons(sizes_gib: &[u64], turns: u64) -> Vec<String> {
    let config = sized_config(sizes_gib[0]);
    let mut floor = Floor::filled(&config);
    floor.write(2 * config.geometry.logical_pages);
    let mut smallest = Steady::new(&config, &floor);
    sizes_gib.iter().map(|&gib| steady_json(gib, turns, &mut smallest)).collect()
}

/// Keys of the mechanisms. The map cache holds the whole map, so that it costs time and no WAF.
const MECHANISMS: [(&str, &str); 39] = [
    ("host", "nvme-2024"),
    ("controller.processors", "1"),
    ("controller.read_latency_ns", "40000"),
    ("controller.write_latency_ns", "60000"),
    ("controller.latency_spread_ns", "20000"),
    ("interface.kind", "nvme"),
    ("interface.queues", "4"),
    ("interface.coalesced_commands", "4"),
    ("interface.coalesced_ns", "100000"),
    ("nand.pages.program_lower_ns", "920000"),
    ("nand.pages.program_upper_ns", "2000000"),
    ("nand.suspend.suspend_ns", "20000"),
    ("nand.suspend.resume_ns", "30000"),
    ("nand.suspend.per_operation_max", "3"),
    ("nand.retry.initial_cycles", "3000"),
    ("nand.retry.fresh_ppb", "1000"),
    ("nand.retry.per_kilocycle_ppb", "1000"),
    ("nand.retry.per_day_ppb", "1000"),
    ("nand.retry.per_day_per_kilocycle_ppb", "1000"),
    ("nand.retry.corrected_ppb", "2000"),
    ("nand.retry.retries_max", "10"),
    ("nand.moves_by_plane", "true"),
    ("nand.cache_program", "true"),
    ("nand.page_register", "true"),
    ("nand.spread.program_percent", "10"),
    ("nand.spread.erase_percent", "10"),
    ("nand.spread.layer_percent", "10"),
    ("read_cache.bytes", "16777216"),
    ("read_ahead.streams", "8"),
    ("read_ahead.window_bytes", "65536"),
    ("read_ahead.buffer_bytes", "524288"),
    ("map_cache.bytes", "1000000000"),
    ("map_cache.entry_bytes", "4"),
    ("wear_leveling.allocation", "least-worn"),
    ("wear_leveling.spread_max", "8"),
    ("background_gc.free_target", "13"),
    ("housekeeping.patrol_interval_ns", "10000000000"),
    ("housekeeping.refresh_after_ns", "86400000000000"),
    ("housekeeping.refresh_pages_per_s", "1000"),
];

/// Keys of a drive whose groups of dies collect each for itself, and those of [`MECHANISMS`] that go with them.
fn in_groups() -> Vec<(&'static str, &'static str)> {
    let moves_between = ["wear_leveling.", "housekeeping.refresh"];
    let stays = |(key, _): &(&str, &str)| !moves_between.iter().any(|moves| key.starts_with(moves));
    let groups =
        [("nand.die_groups", "8"), ("gc.victims", "per-group"), ("gc.host_reads", "in-turn")];
    MECHANISMS.into_iter().filter(stays).chain(groups).collect()
}

/// The cost of a host write on a drive with these mechanisms, in steady state.
fn mechanisms_json(gib: u64, turns: usize, mechanisms: &[(&str, &str)]) -> String {
    let config = changed_config(gib, mechanisms);
    let pages = config.geometry.logical_pages;
    let mut drive = Drive::new(config);
    fill(&mut drive, &mut Fnv::EMPTY.clone());
    let mut rng = Rng::split(2, "addresses");
    write_at_random(&mut drive, 2 * pages, &mut rng);
    let mut timed = Turns::default();
    for _ in 0..turns {
        timed.take(|| write_at_random(&mut drive, TURN_WRITES, &mut rng).programmed_pages);
    }
    format!(
        "{{\"raw_gib\": {gib}, \"timed_ns\": {:.1}, \"timed_host_pages_per_s\": {:.0}, \"waf_timed\": {:.3}}}",
        timed.ns(),
        1e9 / timed.ns(),
        timed.waf()
    )
}

/// The consistency test on a new drive: filled once, then loaded for this time.
fn consistency_json(name: &str, config: Config, seconds: u64) -> String {
    let (filled, loaded, hash) = fill_and_load(&mut Drive::new(config), seconds);
    format!(
        "{{\"drive\": \"{name}\", {}, {}, \"hash\": \"{:016x}\"}}",
        stretch_json("fill", &filled),
        stretch_json("load", &loaded),
        hash.value()
    )
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (scale, seconds) = if quick { ("1/16", 125) } else { ("1/1", 2000) };
    let built_in = sim::model::ONE_OF_EACH_KIND.iter().map(|name| {
        let scale = ("scale".to_owned(), scale.to_owned());
        let config = configure(name, &[scale]).expect("built-in models are valid");
        consistency_json(name, config, seconds)
    });
    let drives: Vec<_> = built_in.collect();
    // Full size: 240, 480 and 960 GB of one kind.
    let raw_gib = if quick { [16, 32, 64] } else { [256, 512, 1024] };
    let capacities = raw_gib.map(|gib| {
        let config = sized_config(gib);
        let name = format!("{} GB", config.capacity_bytes() / 1_000_000_000);
        consistency_json(&name, config, seconds)
    });
    let steady = if quick { steady_jsons(&[16], 3) } else { steady_jsons(&[64, 512, 1024], 30) };
    let (gib, turns) = if quick { (16, 3) } else { (64, 30) };
    let mechanisms = mechanisms_json(gib, turns, &MECHANISMS);
    let groups = mechanisms_json(gib, turns, &in_groups());
    println!(
        "{{\"bench\": \"sim\", \"quick\": {quick}, \"drives\": [{}], \"capacities\": [{}], \"steady\": [{}], \
         \"mechanisms\": {mechanisms}, \"groups\": {groups}, \"memory_bytes_peak\": {}}}",
        drives.join(", "),
        capacities.join(", "),
        steady.join(", "),
        memory_bytes().1
    );
}
