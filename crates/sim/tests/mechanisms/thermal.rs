//! Temperature against the exponential, and the rate that a hot drive allows its host.

use base::{Nanos, OpKind, Rng, TelemetryRow};
use sim::nand::aging::past::Past;
use sim::{Device, PAGE_BYTES};

use crate::common::{CACHE, closed_loop, fill, op, random_writes, secs, small};

const MS: u64 = 1_000_000;
/// 30 C.
const AMBIENT_MK: f64 = 303_150.0;
/// 25 K for a watt, and a time constant of a second.
const RESISTANCE: f64 = 25_000.0;
const THERMAL: [(&str, &str); 3] = [
    ("thermal.ambient_c", "30"),
    ("thermal.resistance_mk_per_w", "25_000"),
    ("thermal.capacity_mj_per_k", "40"),
];

fn power<'a>(active_mw: &'a str, operation_nj: &'a str) -> [(&'a str, &'a str); 6] {
    [
        ("power.active_mw", active_mw),
        ("power.idle_mw", "500"),
        ("power.read_nj", operation_nj),
        ("power.program_nj", operation_nj),
        ("power.erase_nj", operation_nj),
        ("power.transfer_nj", "0"),
    ]
}

const SLUMBER: [(&str, &str); 4] = [
    ("power.slumber.after_ns", "700_000_000"),
    ("power.slumber.entry_ns", "300_000_000"),
    ("power.slumber.exit_ns", "5_000_000"),
    ("power.slumber.power_mw", "100"),
];

/// The temperature after a stretch of constant power, seconds and watts.
fn after(from_mk: f64, watts: f64, seconds: f64) -> f64 {
    let end_mk = AMBIENT_MK + RESISTANCE * watts;
    end_mk + (from_mk - end_mk) * f64::exp(-seconds)
}

fn close(got: u64, want: f64, what: &str) {
    let error = (got as f64 - want) / (want - AMBIENT_MK).abs().max(1.0);
    assert!(error.abs() < 0.01, "{what}: {got}, not {want}");
}

/// Reads for a while, always one outstanding.
fn work_until(device: &mut Device, end_ns: u64) {
    while device.now().0 < end_ns {
        closed_loop(device, 8, 100, |tag| op(OpKind::Read, 0, 1, tag));
    }
}

#[test]
fn temperature_follows_the_exponential_up_and_down() {
    let mut device = small(&[&power("6_000", "0"), &THERMAL[..], &SLUMBER[..]].concat());
    assert_eq!(device.telemetry().temperature_mk, AMBIENT_MK as u64);
    for tenths in 1..60 {
        work_until(&mut device, tenths * 100 * MS);
        let seconds = device.now().0 as f64 / 1e9;
        close(device.telemetry().temperature_mk, after(AMBIENT_MK, 6.0, seconds), "warming");
    }
    let mut unpowered = small(&[&power("6_000", "0"), &THERMAL[..]].concat());
    work_until(&mut unpowered, 500 * MS);
    unpowered.age(Past::days(1));
    assert_eq!(unpowered.telemetry().temperature_mk, AMBIENT_MK as u64);
    let rested_ns = device.now().0;
    let hot_mk = device.telemetry().temperature_mk as f64;
    for tenths in 1..60 {
        device.run_until(Nanos(rested_ns + tenths * 100 * MS));
        let seconds = tenths as f64 / 10.0;
        // Idle for a second, then in slumber.
        let idle_mk = after(hot_mk, 0.5, seconds.min(1.0));
        let want = after(idle_mk, 0.1, (seconds - 1.0).max(0.0));
        close(device.telemetry().temperature_mk, want, "cooling");
    }
}

#[test]
fn energy_of_operations_warms_the_drive() {
    let mut device = small(&[&power("2_000", "70_000"), &THERMAL[..]].concat());
    let pages = device.config().geometry.logical_pages;
    device.telemetry_start(Nanos(20 * MS));
    random_writes(&mut device, pages, pages, &mut Rng::new(1));
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    assert!(rows.len() > 50, "{} rows", rows.len());
    let mut want = AMBIENT_MK;
    for row in &rows {
        // Watts: nanojoules in 20 ms.
        want = after(want, row.energy_nj as f64 / 2e7, 0.02);
        // Of the first ones, firmware has seen nothing or a part.
        if want > AMBIENT_MK + 10_000.0 {
            close(row.temperature_mk, want, "a row");
        }
    }
    assert!(want > AMBIENT_MK + 50_000.0, "{want} mK is hardly warm");
}

#[test]
fn telemetry_does_not_change_the_temperature() {
    let life = |interval_ns: Option<u64>| {
        let limits = [
            ("thermal.heavy.threshold_c", "60"),
            ("thermal.heavy.hysteresis_c", "5"),
            ("thermal.heavy.bytes_per_s", "20_000_000"),
        ];
        let mut device = small(&[&power("2_000", "70_000"), &THERMAL[..], &limits[..]].concat());
        let pages = device.config().geometry.logical_pages;
        if let Some(interval_ns) = interval_ns {
            device.telemetry_start(Nanos(interval_ns));
        }
        random_writes(&mut device, pages, pages / 4, &mut Rng::new(1));
        device.run_until(Nanos(device.now().0 + secs(1).0));
        (device.now(), device.telemetry())
    };
    assert_eq!(life(None), life(Some(3 * MS)));
    assert_eq!(life(None), life(Some(70 * MS)));
}

const INTERVAL_NS: u64 = 10 * MS;

/// Sequential writes for some seconds of a drive whose programs warm it, with these limits; a row for each 10 ms.
fn write_warm(limits: &[(&str, &str)], seconds: u64) -> (Device, Vec<TelemetryRow>) {
    let mut device = small(&[&power("1_000", "500_000"), &THERMAL[..], limits].concat());
    let pages = device.config().geometry.logical_pages / 16 * 16;
    let mut page = 0;
    device.telemetry_start(Nanos(INTERVAL_NS));
    while device.now() < secs(seconds) {
        closed_loop(&mut device, 4, 16, |tag| {
            page = (page + 16) % pages;
            op(OpKind::Write, page, 16, tag)
        });
    }
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    (device, rows)
}

fn rate_bytes_per_s(rows: &[TelemetryRow]) -> f64 {
    let pages: u64 = rows.iter().map(|row| row.host_pages).sum();
    (pages * PAGE_BYTES) as f64 * 1e9 / (rows.len() as u64 * INTERVAL_NS) as f64
}

/// 70 C is what the drive ends at with that rate: it cools only when it rests.
#[test]
fn a_hot_drive_steps_down_to_its_rate_and_recovers_by_rest() {
    let limits = [
        ("thermal.light.threshold_c", "60"),
        ("thermal.light.hysteresis_c", "25"),
        ("thermal.light.bytes_per_s", "20_000_000"),
    ];
    let (mut device, rows) = write_warm(&limits, 4);
    let full = rate_bytes_per_s(&rows[2..7]);
    let slow = rate_bytes_per_s(&rows[100..]);
    assert!((slow / 2e7 - 1.0).abs() < 0.01, "{slow} B/s");
    assert!(full > 4.0 * slow, "{full} B/s before");
    // At rest it ends at 42.5 C, below 35 C only without the power of idling.
    device.run_until(Nanos(device.now().0 + secs(60).0));
    close(device.telemetry().temperature_mk, AMBIENT_MK + 12_500.0, "at rest");
    let write = |device: &mut Device| {
        let start = device.now().0;
        closed_loop(device, 32, 100, |tag| op(OpKind::Write, 32 * u64::from(tag), 32, tag));
        (100 * 32 * PAGE_BYTES) as f64 * 1e9 / (device.now().0 - start) as f64
    };
    assert!(write(&mut device) < 2.1e7, "42.5 C is not below 35 C");
    let recovers = [("thermal.light.hysteresis_c", "10")];
    let (mut device, rows) = write_warm(&[limits.as_slice(), &recovers].concat(), 4);
    let slow = rate_bytes_per_s(&rows[100..200]);
    assert!((slow / 2e7 - 1.0).abs() < 0.01, "{slow} B/s");
    device.run_until(Nanos(device.now().0 + secs(60).0));
    assert!(write(&mut device) > 4.0 * slow, "42.5 C is below 50 C");
}

#[test]
fn a_rate_that_cools_the_drive_gives_a_saw_tooth() {
    let limits = [
        ("thermal.heavy.threshold_c", "90"),
        ("thermal.heavy.hysteresis_c", "20"),
        ("thermal.heavy.bytes_per_s", "10_000_000"),
    ];
    let (_, rows) = write_warm(&limits, 20);
    let hot = rows.iter().map(|row| row.temperature_mk).max().expect("rows");
    // A look comes after 16 ms at most, in which the drive warms by less than a kelvin.
    assert!((363_150..365_000).contains(&hot), "{hot} mK");
    let is_fast: Vec<bool> = rows.iter().map(|row| row.host_pages > 100).collect();
    let changes = is_fast.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes >= 6, "{changes} changes between fast and slow");
    let settled = &rows[rows.len() / 2..];
    let cool = settled.iter().map(|row| row.temperature_mk).min().expect("rows");
    assert!((342_000..=343_150).contains(&cool), "{cool} mK");
}

/// Senses for a read after three seconds at up to 78 C, if data ages faster from a temperature on.
fn senses_of_warm_data(reference_c: &str) -> u64 {
    const READS: u64 = 100;
    let ages = [
        ("nand.retry.initial_cycles", "0"),
        ("nand.retry.fresh_ppb", "0"),
        ("nand.retry.per_kilocycle_ppb", "0"),
        ("nand.retry.per_day_ppb", "1_000"),
        ("nand.retry.per_day_per_kilocycle_ppb", "0"),
        ("nand.retry.corrected_ppb", "2_000"),
        ("nand.retry.retries_max", "9"),
        ("heat_aging.reference_c", reference_c),
        ("heat_aging.doubling_k", "2"),
    ];
    let mut device = small(&[&power("2_000", "0"), &THERMAL[..], &ages[..]].concat());
    fill(&mut device, 1_000);
    let begun_ns = device.now().0;
    work_until(&mut device, begun_ns + 3_000 * MS);
    let before = device.operations().reads;
    closed_loop(&mut device, 1, READS, |tag| op(OpKind::Read, 0, 1, tag));
    (device.operations().reads - before) / READS
}

#[test]
fn data_of_a_hot_drive_is_sensed_more_often() {
    assert_eq!(senses_of_warm_data("30"), 10, "months at 30 C pass in a second at 78 C");
    assert_eq!(senses_of_warm_data("80"), 1, "the drive stays below 80 C");
}

/// Work that no command begins is noted at the next event, which may be far away.
#[test]
fn firmware_reads_the_temperature_while_a_drive_of_its_own_accord_does_one_long_read() {
    let slow = [("pslc.read_ns", "1_000_000_000")];
    let mut device = small(&[&CACHE[..], &power("6_000", "0"), &THERMAL[..], &slow].concat());
    closed_loop(&mut device, 1, 64, |tag| op(OpKind::Write, u64::from(tag), 1, tag));
    let rested = device.now().0;
    device.run_until(Nanos(rested + 10_000 * MS));
    assert!(device.telemetry().pslc_pages == 0, "the cache is folded");
    let warm_mk = device.telemetry().temperature_mk as f64;
    assert!(warm_mk > AMBIENT_MK, "it has worked: {warm_mk}");
}
