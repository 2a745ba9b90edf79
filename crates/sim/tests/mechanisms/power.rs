//! Power: is the energy of states and operations right to the nanojoule, and does waking have its
//! price? The small drive of `timing.rs` with the powers below.

use base::{Nanos, OpKind, Rng};
use sim::Device;
use sim::mechanism::power::{OperationCounts, StateTimes};

use crate::common::{CACHE, alone, closed_loop, fill, op, random_writes, secs, small};

const WRITE_COMMAND: u64 = 6_000;
const LINK_PAGE: u64 = 8_000;
const CHANNEL_PAGE: u64 = 10_000;
const PROGRAM: u64 = 600_000;
const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

const POWER: [(&str, &str); 6] = [
    ("power.active_mw", "2_000"),
    ("power.idle_mw", "500"),
    ("power.read_nj", "5_000"),
    ("power.program_nj", "70_001"),
    ("power.erase_nj", "300_000"),
    ("power.transfer_nj", "33"),
];
const SLUMBER: [(&str, &str); 4] = [
    ("power.slumber.after_ns", "100_000_000"),
    ("power.slumber.entry_ns", "2_000_000"),
    ("power.slumber.exit_ns", "5_000_000"),
    ("power.slumber.power_mw", "40"),
];
const SLEEP: [(&str, &str); 4] = [
    ("power.sleep.after_ns", "3_000_000_000"),
    ("power.sleep.entry_ns", "20_000_000"),
    ("power.sleep.exit_ns", "50_000_000"),
    ("power.sleep.power_mw", "5"),
];

fn with_power(changes: &[(&str, &str)]) -> Device {
    small(&[&POWER, &SLUMBER[..], &SLEEP[..], changes].concat())
}

#[test]
fn time_is_spent_in_states_to_the_nanosecond() {
    let mut device = with_power(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(10));
    let active_ns = WRITE_COMMAND + 4 * LINK_PAGE + 4 * CHANNEL_PAGE + PROGRAM;
    let idle_ns = 102 * MS;
    let slumber_ns = 3_020 * MS - idle_ns;
    let sleep_ns = 10 * SECOND - active_ns - idle_ns - slumber_ns;
    let want = StateTimes { active_ns, idle_ns, slumber_ns, sleep_ns };
    assert_eq!(device.power_times(), Some(want));
    // A milliwatt for a nanosecond is a picojoule; the operations are one program and four pages moved.
    let states_pj = 2_000 * active_ns + 500 * idle_ns + 40 * slumber_ns + 5 * sleep_ns;
    assert_eq!(device.telemetry().energy_nj, states_pj / 1_000 + 70_001 + 4 * 33);
}

#[test]
fn the_first_command_after_a_rest_waits_for_the_drive() {
    let awake = WRITE_COMMAND + LINK_PAGE;
    for (rest_ns, wait_ns) in [
        (50 * MS, 0),
        (100 * MS - 1, 0),
        (101 * MS, MS + 5 * MS),
        (102 * MS, 5 * MS),
        (2_999 * MS, 5 * MS),
        (3_010 * MS, 10 * MS + 50 * MS),
        (4_000 * MS, 50 * MS),
    ] {
        let mut device = with_power(&[]);
        alone(&mut device, &op(OpKind::Write, 0, 4, 0));
        device.run_until(Nanos(SECOND / 100));
        let end_of_work = WRITE_COMMAND + 4 * LINK_PAGE + 4 * CHANNEL_PAGE + PROGRAM;
        device.run_until(Nanos(end_of_work + rest_ns));
        let write = op(OpKind::Write, 8, 1, 0);
        assert_eq!(alone(&mut device, &write), wait_ns + awake, "after {rest_ns} ns");
        assert_eq!(alone(&mut device, &write), awake, "the second does not wait");
    }
}

#[test]
fn the_series_adds_up_to_states_and_operations() {
    let mut device = with_power(&[]);
    let pages = device.config().geometry.logical_pages;
    let (mut rng, mut reads) = (Rng::new(1), Rng::new(2));
    device.telemetry_start(Nanos(SECOND / 7));
    fill(&mut device, pages);
    for rest_ns in [0, 50 * MS, 101 * MS, SECOND, 10 * SECOND] {
        random_writes(&mut device, pages, pages / 4, &mut rng);
        closed_loop(&mut device, 4, 1_000, |tag| op(OpKind::Read, reads.below(pages), 1, tag));
        device.run_until(Nanos(device.now().0 + rest_ns));
    }
    // To the end of a row, with everything under way long ended.
    device.run_until(Nanos(device.now().0.next_multiple_of(SECOND / 7)));
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    let series_nj: u64 = rows.iter().map(|row| row.energy_nj).sum();

    let OperationCounts { reads, programs, erases, transfers } = device.operations();
    let (totals, geometry) = (device.telemetry(), device.config().geometry);
    assert_eq!(programs * u64::from(geometry.unit_pages), totals.programmed_pages);
    assert_eq!(erases, totals.erased_superblocks * u64::from(geometry.dies));
    assert_eq!(transfers * CHANNEL_PAGE, totals.channel_busy_ns);
    assert!(erases > 0 && reads > 1_000, "{reads} reads, {erases} erases");

    let times = device.power_times().unwrap();
    let StateTimes { active_ns, idle_ns, slumber_ns, sleep_ns } = times;
    assert_eq!(active_ns + idle_ns + slumber_ns + sleep_ns, device.now().0);
    let states_pj = 2_000 * active_ns + 500 * idle_ns + 40 * slumber_ns + 5 * sleep_ns;
    let operations_nj = 5_000 * reads + 70_001 * programs + 300_000 * erases + 33 * transfers;
    assert_eq!(series_nj, states_pj / 1_000 + operations_nj);
    assert_eq!(series_nj, totals.energy_nj);
    device.check().unwrap();
}

#[test]
fn a_second_of_rest_draws_what_its_state_draws() {
    let mut device = with_power(&[]);
    device.telemetry_start(Nanos::SECOND);
    device.run_until(secs(6));
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    let energies: Vec<_> = rows.iter().map(|row| row.energy_nj / 1_000).collect();
    // Millijoules a thousand times; idle for 102 ms, then slumber, sleep from 3.02 s on.
    let first = 500 * 102 + 40 * 898;
    assert_eq!(energies, [first, 40_000, 40_000, 40 * 20 + 5 * 980, 5_000, 5_000]);
}

#[test]
fn without_slumber_a_drive_stays_idle_and_without_power_nothing_is_counted() {
    let mut idle = small(&POWER);
    idle.run_until(secs(10));
    let times = StateTimes { idle_ns: 10 * SECOND, ..StateTimes::default() };
    assert_eq!(idle.power_times(), Some(times));
    assert_eq!(alone(&mut idle, &op(OpKind::Write, 0, 1, 0)), WRITE_COMMAND + LINK_PAGE);
    let mut none = small(&[]);
    alone(&mut none, &op(OpKind::Write, 0, 4, 0));
    none.run_until(secs(1));
    assert_eq!((none.power_times(), none.telemetry().energy_nj), (None, 0));
}

#[test]
fn work_of_its_own_wakes_the_drive_without_a_command() {
    let idle_gc = [
        ("idle_gc.after_ns", "500_000_000"),
        ("idle_gc.free_target", "20"),
        ("idle_gc.pages_per_s", "1_000_000"),
        ("idle_gc.valid_percent_max", "95"),
    ];
    let mut device = with_power(&idle_gc);
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages, &mut Rng::new(1));
    device.run_until(Nanos(device.now().0 + 400 * MS));
    let before = device.power_times().unwrap();
    device.run_until(Nanos(device.now().0 + SECOND));
    let after = device.power_times().unwrap();
    assert!(before.slumber_ns > 200 * MS, "{before:?}");
    assert!(after.active_ns > before.active_ns + 10 * MS, "{before:?} {after:?}");
}

#[test]
fn a_drive_that_is_kept_awake_stays_idle_until_it_may_rest_again() {
    let mut device = with_power(&[]);
    device.run_until(secs(1));
    device.allow_idle_states(false);
    device.run_until(secs(6));
    assert_eq!(alone(&mut device, &op(OpKind::Write, 0, 1, 0)), WRITE_COMMAND + LINK_PAGE);
    device.run_until(secs(8));
    let awake = device.power_times().unwrap();
    assert_eq!((awake.slumber_ns, awake.sleep_ns), (898 * MS, 0), "only what was before");
    device.allow_idle_states(true);
    device.run_until(secs(10));
    let rested = device.power_times().unwrap();
    assert_eq!(rested.slumber_ns - awake.slumber_ns, 2 * SECOND - 102 * MS);
    assert_eq!(rested.total_ns(), device.now().0, "no moment is counted twice");
}

#[test]
fn what_the_host_allows_outlives_a_purge() {
    let mut device = with_power(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.allow_idle_states(false);
    device.reset();
    device.run_until(secs(10));
    assert_eq!(device.power_times().unwrap().slumber_ns, 0);
}

#[test]
fn an_erase_of_a_block_that_the_scale_has_shortened_draws_its_share() {
    let text = sim::model::built_in("samsung-840-pro-256gb").expect("a built-in model");
    let model = sim::Model::load("840", text, &[]).expect("a valid model");
    let erase_nj = |scale: u64| {
        let scale = base::Ratio::new(1, scale).expect("a ratio");
        let config = model.resolve(scale).expect("a consistent model");
        let pages = config.geometry.superblock_units / config.geometry.dies;
        (config.options.power.expect("it has power").erase_nj, u64::from(pages))
    };
    let (whole_nj, whole_pages) = erase_nj(1);
    let (small_nj, small_pages) = erase_nj(64);
    assert!(small_pages < whole_pages, "{small_pages} of {whole_pages}");
    assert_eq!(small_nj, (whole_nj * small_pages).div_ceil(whole_pages));
}

#[test]
fn a_new_life_begins_with_no_energy_drawn() {
    let mut device = with_power(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(10));
    device.reset();
    assert_eq!(device.telemetry().energy_nj, 0);
    device.run_until(secs(11));
    let times = device.power_times().unwrap();
    assert_eq!((times.idle_ns, times.slumber_ns), (102 * MS, 898 * MS));
}

/// A page that is sensed again costs all its senses, a page with one bit per cell one: the latency
/// shows their number.
#[test]
fn every_sense_draws_its_energy() {
    let retry = [
        ("nand.retry.initial_cycles", "3000"),
        ("nand.retry.fresh_ppb", "1_000"),
        ("nand.retry.per_kilocycle_ppb", "1_000"),
        ("nand.retry.per_day_ppb", "0"),
        ("nand.retry.per_day_per_kilocycle_ppb", "0"),
        ("nand.retry.corrected_ppb", "1_000"),
        ("nand.retry.retries_max", "5"),
    ];
    let later = [("pslc.idle_after_ns", "3_000_000_000"), ("nand.blocks_per_plane", "620")];
    let cache = [&CACHE[..], &later].concat();
    // 1,000 ppb when fresh and 1,000 for each thousand of 3,000 cycles, 1,000 a sense.
    for (changes, senses, sense_ns) in
        [(&[][..], 1, 50_000), (&retry, 4, 50_000), (&cache, 1, 20_000)]
    {
        let mut device = small(&[&POWER, changes].concat());
        alone(&mut device, &op(OpKind::Write, 0, 4, 0));
        device.run_until(secs(1));
        let (before, from) = (device.telemetry().energy_nj, device.now().0);
        let latency = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
        assert_eq!(latency, 5_000 + senses * sense_ns + CHANNEL_PAGE + LINK_PAGE);
        assert_eq!(device.operations().reads, senses);
        let active_nj = 2 * (device.now().0 - from);
        assert_eq!(device.telemetry().energy_nj - before, active_nj + senses * 5_000 + 33);
    }
}
