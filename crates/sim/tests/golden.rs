//! Do fixed seeds give the results of yesterday, in every build and beside any other work?
//!
//! Each drive gets a fixed workload, all drives at once in separate threads; a hash covers every
//! completion and every telemetry row, from the first command of the fill to the last rest. Another
//! hash covers random models at their own queue depths: a change may alter a few of them and none
//! of those drives. `fixtures/golden.txt` contains the results of the last intended change; a
//! failure prints the new content of the file. Debug and release builds read the same file.

mod common;

use std::cell::RefCell;

use base::{Completion, Data, Fnv, Nanos, Op, OpKind, Ratio, Rng, Status, TelemetryRow};
use common::swarm::{Draft, is_small, watched_torture};
use common::{CACHE, MAP_ROOM, MAPPED, SMALL, in_order, op, packed, watched_loop, wide};
use sim::{Config, Device, Model, PAGE_BYTES};

/// Data of about half its size: only drives that compress are affected.
const HALF: Data = Data::Compressible { physical_percent: 55 };

/// A name, a model, its scale and changes.
struct Life {
    name: String,
    text: &'static str,
    scale: Ratio,
    changes: Vec<(String, String)>,
}

fn scale(denominator: u64) -> Ratio {
    Ratio::new(1, denominator).expect("a ratio")
}

fn small(name: &str, changes: &[(&str, &str)]) -> Life {
    let changes = changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Life { name: name.to_owned(), text: SMALL, scale: scale(4), changes }
}

/// Whether a drive has more than 480 GB: its life would take minutes.
fn is_large(text: &str) -> bool {
    Model::load("built-in", text, &[]).expect("valid").user_bytes() > Some(481_000_000_000)
}

/// The built-in drives.
fn built_in() -> impl Iterator<Item = Life> {
    sim::model::ONE_OF_EACH_KIND.iter().map(|name| {
        let text = sim::model::built_in(name).expect("built in");
        let scale = scale(if is_large(text) { 2048 } else { 256 });
        Life { name: (*name).to_owned(), text, scale, changes: Vec::new() }
    })
}

/// Every policy and every optional part of a drive, and the drives that the tests know closely.
fn lives() -> Vec<Life> {
    let small = [
        small("watermark", &[("gc.pacing", "watermark")]),
        small("proportional", &[("gc.pacing", "proportional")]),
        small("token", &[("gc.pacing", "token")]),
        small("rate", &[("gc.pacing", "rate"), ("gc.rate_iops", "3000")]),
        small("bursts", &[("gc.quantum_bytes", "4_000_000"), ("gc.duty_percent", "80")]),
        small(
            "bursts-follow-debt",
            &[("gc.quantum_bytes", "4_000_000"), ("gc.burst_waiting_writes", "8")],
        ),
        small("fifo", &[("gc.policy", "fifo")]),
        small("d-choices", &[("gc.policy", "d-choices")]),
        small("windowed-greedy", &[("gc.policy", "windowed-greedy")]),
        small("cost-benefit", &[("gc.policy", "cost-benefit")]),
        small("parity", &[("parity.stripe_units", "4"), ("nand.blocks_per_plane", "730")]),
        small("cold-survivor", &[("streams.cold", "survivor")]),
        small(
            "throttle",
            &[("throttle.burst_bytes", "1_000_000"), ("throttle.bytes_per_s", "5_000_000")],
        ),
        small(
            "write-caps",
            &[
                ("write_caps.random_iops", "10_000"),
                ("write_caps.random_burst_commands", "50_000"),
                ("write_caps.sequential_bytes_per_s", "50_000_000"),
            ],
        ),
        small(
            "wear-leveling",
            &[("wear_leveling.allocation", "least-worn"), ("wear_leveling.spread_max", "2")],
        ),
        small(
            "pslc",
            &[
                ("pslc.bytes", "4_194_304"),
                ("pslc.borrows", "true"),
                ("pslc.bits_per_cell", "2"),
                ("pslc.read_ns", "20_000"),
                ("pslc.program_ns", "200_000"),
                ("pslc.erase_ns", "1_000_000"),
                ("pslc.idle_after_ns", "10_000_000"),
                ("pslc.when_full", "direct"),
                ("nand.blocks_per_plane", "590"),
            ],
        ),
        small(
            "performance-mode",
            &[
                ("performance_mode.program_ns", "200_000"),
                ("performance_mode.fill_percent", "50"),
                ("performance_mode.reorganise_pages_per_s", "20_000"),
            ],
        ),
        small("background-gc", &[("background_gc.free_target", "20")]),
        small(
            "idle-gc",
            &[
                ("idle_gc.after_ns", "10_000_000"),
                ("idle_gc.free_target", "20"),
                ("idle_gc.pages_per_s", "10_000"),
                ("idle_gc.valid_percent_max", "95"),
            ],
        ),
    ];
    let states = conditions().into_iter().chain(modes());
    built_in().chain(small).chain(parts()).chain(reads()).chain(states).collect()
}

/// Parts below and above the translation layer: its map, NAND and the host's side.
fn parts() -> [Life; 10] {
    [
        small("mapping", &[MAP_ROOM.as_slice(), &MAPPED].concat()),
        small(
            "map-flush",
            &[
                ("map_cache.bytes", "1_000_000_000"),
                ("map_cache.entry_bytes", "64"),
                ("housekeeping.map_flush_period_ns", "400_000_000"),
                ("housekeeping.map_flush_bytes_max", "4_000_000"),
                ("nand.blocks_per_plane", "590"),
            ],
        ),
        small(
            "journal-flush",
            &[MAP_ROOM.as_slice(), &MAPPED, &[("housekeeping.map_flush_period_ns", "2_000_000")]]
                .concat(),
        ),
        small("map-unit", &[("map.unit_bytes", "8192")]),
        small(
            "map-cache",
            &[
                ("map_cache.bytes", "16_384"),
                ("map_cache.entry_bytes", "64"),
                ("map_cache.hmb_bytes", "65_536"),
                ("map_cache.hmb_latency_ns", "1_500"),
                ("nand.blocks_per_plane", "590"),
            ],
        ),
        small(
            "nand",
            &[
                ("nand.pages.program_lower_ns", "200_000"),
                ("nand.pages.program_upper_ns", "1_000_000"),
                ("nand.suspend.suspend_ns", "20_000"),
                ("nand.suspend.resume_ns", "30_000"),
                ("nand.suspend.per_operation_max", "3"),
                ("nand.cache_program", "true"),
            ],
        ),
        small("planes-in-turn", &[("nand.multi_plane", "false")]),
        small(
            "retry",
            &[
                ("nand.retry.initial_cycles", "3_000"),
                ("nand.retry.fresh_ppb", "1_000"),
                ("nand.retry.per_kilocycle_ppb", "1_000"),
                ("nand.retry.per_day_ppb", "10"),
                ("nand.retry.per_day_per_kilocycle_ppb", "30"),
                ("nand.retry.corrected_ppb", "2_000"),
                ("nand.retry.retries_max", "4"),
            ],
        ),
        small(
            "nvme",
            &[
                ("interface.kind", "nvme"),
                ("interface.queues", "4"),
                ("interface.arbitration_burst", "2"),
                ("read_cache.bytes", "1_048_576"),
            ],
        ),
        small("command-slots", &[("interface.command_slots", "3")]),
    ]
}

/// Reads and times of NAND as drives have them.
fn reads() -> Vec<Life> {
    vec![
        small(
            "housekeeping",
            &[
                ("housekeeping.patrol_interval_ns", "5_000_000"),
                ("housekeeping.refresh_after_ns", "60_000_000_000"),
                ("housekeeping.refresh_pages_per_s", "100_000"),
            ],
        ),
        small(
            "read-ahead",
            &[
                ("read_ahead.streams", "64"),
                ("read_ahead.window_bytes", "262_144"),
                ("read_ahead.buffer_bytes", "16_777_216"),
            ],
        ),
        small(
            "spread",
            &[
                ("nand.spread.program_percent", "20"),
                ("nand.spread.erase_percent", "40"),
                ("nand.spread.layer_percent", "5"),
            ],
        ),
        small(
            "page-register",
            &[("nand.page_register", "true"), ("interface.logical_block_bytes", "512")],
        ),
        small("independent-planes", &[("nand.independent_planes", "true")]),
        small("reads-in-turn", &[("gc.host_reads", "in-turn"), ("nand.cache_program", "true")]),
        small("die-groups", &[("nand.die_groups", "2")]),
        small(
            "own-victims",
            &[
                ("nand.die_groups", "2"),
                ("gc.victims", "per-group"),
                ("nand.blocks_per_plane", "590"),
            ],
        ),
        small(
            "page-reads",
            &[
                ("nand.pages.program_lower_ns", "200_000"),
                ("nand.pages.program_middle_ns", "600_000"),
                ("nand.pages.program_upper_ns", "1_000_000"),
                ("nand.pages.read_lower_ns", "30_000"),
                ("nand.pages.read_middle_ns", "50_000"),
                ("nand.pages.read_upper_ns", "70_000"),
            ],
        ),
    ]
}

/// Age, heat and placement handles.
fn conditions() -> [Life; 4] {
    [
        small(
            "suspend-spread",
            &[
                ("nand.suspend.suspend_ns", "20_000"),
                ("nand.suspend.tail_ns", "15_000"),
                ("nand.suspend.hold_ns", "200_000"),
                ("nand.suspend.resume_ns", "30_000"),
                ("nand.suspend.per_operation_max", "3"),
                ("controller.latency_tail_ns", "2_000"),
            ],
        ),
        small(
            "aged",
            &[
                ("age.cycles", "2_000"),
                ("age.retention_days", "90"),
                ("age.read_count", "20"),
                ("nand.retry.initial_cycles", "0"),
                ("nand.retry.fresh_ppb", "1_000"),
                ("nand.retry.per_kilocycle_ppb", "500"),
                ("nand.retry.per_day_ppb", "10"),
                ("nand.retry.per_day_per_kilocycle_ppb", "30"),
                ("nand.retry.per_kiloread_ppb", "50_000"),
                ("nand.retry.reclaim_reads", "100"),
                ("nand.retry.corrected_ppb", "2_000"),
                ("nand.retry.retries_max", "4"),
                ("nand.wear.program_less_per_kilocycle_permille", "50"),
                ("nand.wear.erase_more_per_kilocycle_permille", "300"),
            ],
        ),
        small(
            "thermal",
            &[
                ("power.active_mw", "2_000"),
                ("power.idle_mw", "500"),
                ("power.read_nj", "5_000"),
                ("power.program_nj", "70_000"),
                ("power.erase_nj", "300_000"),
                ("power.transfer_nj", "33"),
                ("thermal.ambient_c", "30"),
                ("thermal.resistance_mk_per_w", "25_000"),
                ("thermal.capacity_mj_per_k", "20"),
                ("thermal.light.threshold_c", "45"),
                ("thermal.light.hysteresis_c", "2"),
                ("thermal.light.bytes_per_s", "40_000_000"),
                ("thermal.heavy.threshold_c", "50"),
                ("thermal.heavy.hysteresis_c", "10"),
                ("thermal.heavy.bytes_per_s", "2_000_000"),
            ],
        ),
        small(
            "placement",
            &[
                ("interface.kind", "nvme"),
                ("interface.placement_handles", "3"),
                ("gc.handle_isolation", "persistent"),
            ],
        ),
    ]
}

/// Modes and states of firmware.
fn modes() -> Vec<Life> {
    let bounded = [
        ("pslc.borrows", "true"),
        ("pslc.borrowed_bytes_max", "16_777_216"),
        ("nand.blocks_per_plane", "590"),
    ];
    let states = [
        ("pslc.borrows", "true"),
        ("cleaning_states.starved_free", "14"),
        ("cleaning_states.balance_free", "20"),
        ("cleaning_states.reserve_free", "60"),
        ("cleaning_states.starved_random_iops", "2_500"),
        ("cleaning_states.balance_random_iops", "8_000"),
        ("nand.blocks_per_plane", "620"),
    ];
    vec![
        small("pslc-bounded", &[&CACHE[..], &bounded].concat()),
        small(
            "map-in-pslc",
            &[
                &CACHE[..],
                &[
                    ("map_cache.bytes", "16_384"),
                    ("map_cache.entry_bytes", "64"),
                    ("map_cache.in_pslc", "true"),
                    ("nand.blocks_per_plane", "620"),
                ],
            ]
            .concat(),
        ),
        small("cleaning-states", &[&CACHE[..], &states].concat()),
        small(
            "wear-budget",
            &[
                ("wear_budget.burst_bytes", "1_000_000_000"),
                ("wear_budget.bytes_per_s", "20_000_000"),
                ("compression.granule_bytes", "1024"),
            ],
        ),
        small(
            "idle-sort",
            &[
                ("idle_sort.after_ns", "10_000_000"),
                ("idle_sort.pages_per_s", "20_000"),
                ("idle_sort.stretch_bytes", "262_144"),
            ],
        ),
    ]
}

/// All of a completion.
fn add_completion(hash: &mut Fnv, end: &Completion) {
    let errno = match end.status {
        Status::Ok => 0,
        Status::Failed { errno } => errno,
    };
    hash.add([u64::from(end.tag), end.submitted.0, end.done.0, u64::from(errno.cast_unsigned())]);
}

/// Number of columns of telemetry when the first hashes were recorded.
const FIRST_COLUMNS: usize = 16;

/// All of a telemetry row. Columns beyond the first count where they are not 0, so that the hashes of drives without
/// them stay.
fn add_row(hash: &mut Fnv, row: &TelemetryRow) {
    hash.add(row.values().take(FIRST_COLUMNS));
    let later = (0_u64..).zip(row.values()).skip(FIRST_COLUMNS);
    hash.add(later.filter(|&(_, value)| value != 0).flat_map(|(column, value)| [column, value]));
}

/// The hash of a drive's results.
fn live(life: &Life) -> u64 {
    let model = Model::load(&life.name, life.text, &life.changes).expect("a valid model");
    let config = model.resolve(life.scale).expect("a consistent model");
    live_on(&mut Device::new(config))
}

/// Short compared with the whole workload, so that most rows end under load.
const INTERVAL: Nanos = Nanos(Nanos::SECOND.0 / 100);

/// The hash of a drive that is filled, and then twice loaded with all kinds of commands and left
/// idle.
fn live_on(device: &mut Device) -> u64 {
    let pages = device.config().capacity_bytes() / PAGE_BYTES;
    let depth = device.config().queue_depth;
    let mut rng = Rng::split(1, "golden");
    let mut hash = Fnv::EMPTY;
    device.telemetry_start(INTERVAL);
    watched_loop(device, 32, pages.div_ceil(32), in_order(pages), |_, end| {
        add_completion(&mut hash, end);
    });
    for _ in 0..2 {
        let next = |tag| any_command(&mut rng, pages, tag);
        let count = u64::from(depth) + pages / 2;
        watched_loop(device, depth, count, next, |_, end| add_completion(&mut hash, end));
        device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
    }
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    rows.iter().for_each(|row| add_row(&mut hash, row));
    add_row(&mut hash, &device.telemetry());
    hash.value()
}

fn any_command(rng: &mut Rng, pages: u64, tag: u32) -> Op {
    match rng.below(100) {
        0 => op(OpKind::Flush, 0, 0, tag),
        1 => op(OpKind::Deallocate, rng.below(pages - 4), 4, tag),
        2..12 => op(OpKind::Read, rng.below(pages - 8), 8, tag),
        _ => {
            let page = rng.below(pages);
            Op { data: HALF, placement: (page % 4) as u8, ..op(OpKind::Write, page, 1, tag) }
        }
    }
}

/// Number of random models; each takes about a millisecond.
const RANDOM_MODELS: u64 = 2_000;

/// The hash of every completion of a tortured drive, of its totals at every hundredth completion
/// and at rest, and of a row for each second.
fn hash_at_random(config: Config, rng: &Rng) -> u64 {
    let (mut device, mut rng) = (Device::new(config), rng.clone());
    let hash = RefCell::new(Fnv::EMPTY);
    let mut ended = 0_u32;
    let watch = |device: &Device, end: &Completion| {
        let mut hash = hash.borrow_mut();
        add_completion(&mut hash, end);
        ended += 1;
        if ended.is_multiple_of(100) {
            add_row(&mut hash, &device.telemetry());
        }
    };
    device.telemetry_start(Nanos::SECOND);
    let mut rows = Vec::new();
    watched_torture(&mut device, &mut rng, watch, |device| {
        let mut hash = hash.borrow_mut();
        hash.add([device.now().0]);
        add_row(&mut hash, &device.telemetry());
        device.telemetry_take(&mut rows);
        rows.drain(..).for_each(|row| add_row(&mut hash, &row));
    });
    hash.into_inner().value()
}

/// The hash of the results of random drives.
fn live_at_random() -> u64 {
    let mut hash = Fnv::EMPTY;
    for seed in 0..RANDOM_MODELS {
        let mut rng = Rng::split(seed, "golden models");
        let draft = Draft::recorded(&mut rng, &[]);
        let Some(config) = draft.resolve().ok().filter(is_small) else { continue };
        hash.add([hash_at_random(config, &rng)]);
    }
    hash.value()
}

/// Random models at other seeds than those of the recorded hash.
#[test]
fn a_drive_with_the_tables_of_a_large_one_lives_the_same_life() {
    let mut drives = 0;
    for seed in 2 * RANDOM_MODELS.. {
        let mut rng = Rng::split(seed, "golden models");
        let draft = Draft::recorded(&mut rng, &[]);
        let Some(config) = draft.resolve().ok().filter(is_small) else { continue };
        let hash = hash_at_random(config.clone(), &rng);
        for large in [wide(config.clone()), packed(config.clone()), packed(wide(config))] {
            assert_eq!(hash_at_random(large, &rng), hash, "seed {seed}:\n{}", draft.text());
        }
        drives += 1;
        if drives == 200 {
            return;
        }
    }
}

#[test]
fn fixed_seeds_give_the_recorded_results() {
    let lives = lives();
    let (hashes, random): (Vec<u64>, u64) = std::thread::scope(|scope| {
        let random = scope.spawn(live_at_random);
        let threads: Vec<_> = lives.iter().map(|life| scope.spawn(|| live(life))).collect();
        let hashes = threads.into_iter().map(|thread| thread.join().expect("the drive lives"));
        (hashes.collect(), random.join().expect("the drives live"))
    });
    let lines = lives.iter().zip(hashes).map(|(life, hash)| format!("{} {hash:016x}\n", life.name));
    let now = lines.collect::<String>() + &format!("random {random:016x}\n");
    let recorded = include_str!("fixtures/golden.txt");
    assert!(
        now.trim() == recorded.trim(),
        "where the change is meant, sim::RESULTS_VERSION is raised and fixtures/golden.txt becomes:\n{now}"
    );
}
