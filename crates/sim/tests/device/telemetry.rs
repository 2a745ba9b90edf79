//! Are the telemetry rows consistent? Every column compared with the others, on drives that write
//! for every reason.

use base::telemetry::ColumnKind;
use base::{Data, Nanos, Op, OpKind, Rng, TelemetryRow};
use sim::Device;

use crate::common::{CACHE, MAPPED, closed_loop, op, random_writes, small};

/// Length of a row, and of the last row of every test.
const INTERVAL_NS: u64 = Nanos::SECOND.0 / 10;
const PARITY: [(&str, &str); 1] = [("parity.stripe_units", "4")];
const COMPRESSION: [(&str, &str); 1] = [("compression.granule_bytes", "512")];

/// The small drive with these sections, and room for them.
fn drive(sections: &[&[(&str, &str)]]) -> Device {
    small(&[&[("nand.blocks_per_plane", "900")], sections.concat().as_slice()].concat())
}

fn drives() -> [(&'static str, Device); 6] {
    [
        ("plain", drive(&[])),
        ("parity", drive(&[&PARITY])),
        ("mapping", drive(&[&MAPPED])),
        ("cache", drive(&[&CACHE])),
        ("compression", drive(&[&COMPRESSION])),
        ("all", drive(&[&PARITY, &MAPPED, &CACHE, &COMPRESSION])),
    ]
}

/// Bursts of random writes of half-compressible data with flushes among them and pauses between them.
fn live(device: &mut Device) -> Vec<TelemetryRow> {
    device.telemetry_start(Nanos(INTERVAL_NS));
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(1);
    for _ in 0..6 {
        closed_loop(device, 32, pages / 2, |tag| {
            let flush = rng.chance(1, 100);
            let (kind, length) =
                if flush { (OpKind::Flush, 0) } else { (OpKind::Write, 1 + rng.below(3)) };
            let data = Data::Compressible { physical_percent: 50 };
            Op { data, ..op(kind, rng.below(pages - 3), length, tag) }
        });
        device.run_until(Nanos((device.now().0 + 500_000_000).next_multiple_of(INTERVAL_NS)));
    }
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    device.check().unwrap();
    rows
}

/// The sum of the counters of rows, with the levels of the last one.
fn sum(rows: &[TelemetryRow]) -> TelemetryRow {
    rows.iter().fold(TelemetryRow::default(), |sum, row| {
        row.map(|column, value| match column.kind {
            ColumnKind::Counter => value + (column.get)(&sum),
            ColumnKind::Level => value,
        })
    })
}

#[test]
fn rows_add_up_to_the_totals_in_every_column() {
    let mut seen = TelemetryRow::default();
    for (name, mut device) in drives() {
        let rows = live(&mut device);
        let totals = device.telemetry();
        assert_eq!(sum(&rows), totals, "the drive with {name}");
        seen = sum(&[seen, sum(&rows)]);
    }
    for column in TelemetryRow::COLUMNS.iter().filter(|c| c.kind == ColumnKind::Counter) {
        // Energy is looked at in `tests/mechanisms/power.rs`.
        let is_counted = (column.get)(&seen) > 0 || column.name == "energy_nj";
        assert!(is_counted, "nothing was counted in {}", column.name);
    }
}

/// The programmed pages are the sum of all sources, minus the pages in DRAM: the host's in the
/// buffer, and those of an open unit of moved pages.
#[test]
fn every_programmed_page_has_its_reason() {
    for (name, mut device) in drives() {
        live(&mut device);
        let t = device.telemetry();
        let caused = t.host_pages
            + t.gc_moved_pages
            + t.padding_pages
            + t.metadata_pages
            + t.folded_pages
            + t.parity_pages;
        let found = t.programmed_pages + t.saved_pages + t.buffer_pages;
        let open_pages = caused.abs_diff(found);
        let unit_pages =
            u64::from(device.config().geometry.unit_pages / device.config().geometry.page_granules);
        // One page for each column that is rounded down.
        assert!(open_pages <= unit_pages + 6, "{name}: {caused} caused, {found} found: {t:?}");
    }
}

/// The controller works for the time of its model on each command and on each valid page that it
/// has read, of which the host overwrites a few on their way. Waiting work counts when its turn has
/// come: no row contains more time than its length.
#[test]
fn the_controller_is_busy_with_commands_and_moved_pages() {
    let mut device = small(&[("controller.relocate_ns", "100_000")]);
    let config = device.config().clone();
    let pages = config.geometry.logical_pages;
    let mut rng = Rng::new(1);
    device.telemetry_start(Nanos(INTERVAL_NS));
    closed_loop(&mut device, 32, 3 * pages, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
    closed_loop(&mut device, 32, 1_000, |tag| op(OpKind::Read, rng.below(pages), 1, tag));
    let waiting = device.telemetry().controller_busy_ns;
    device.run_until(Nanos((device.now().0 + 500_000_000).next_multiple_of(INTERVAL_NS)));
    let totals = device.telemetry();
    assert!(waiting <= totals.controller_busy_ns);
    let command_ns = 3 * pages * config.write_command_ns + 1_000 * config.read_command_ns;
    let least_ns = command_ns + totals.gc_moved_pages * config.relocate_ns;
    let most_ns = command_ns + totals.gc_moved_pages * config.relocate_ns * 101 / 100;
    let busy_ns = totals.controller_busy_ns;
    assert!((least_ns..=most_ns).contains(&busy_ns), "{busy_ns} of {least_ns} to {most_ns}");
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    let fullest_ns = rows.iter().map(|row| row.controller_busy_ns).max().unwrap_or(0);
    let limit = INTERVAL_NS * 99 / 100..=INTERVAL_NS;
    assert!(limit.contains(&fullest_ns), "this controller is the limit: {fullest_ns}");
    assert_eq!(rows.last().map(|row| row.controller_busy_ns), Some(0), "it rests with the host");
}

#[test]
fn the_cache_of_a_compressing_drive_is_told_in_pages() {
    let mut device = drive(&[&CACHE, &COMPRESSION]);
    closed_loop(&mut device, 1, 100, {
        let mut page = 0;
        move |tag| {
            page += 1;
            op(OpKind::Write, page, 1, tag)
        }
    });
    assert_eq!(device.telemetry().pslc_pages, 100, "incompressible pages, none of them folded yet");
}

#[test]
fn a_drive_that_ignores_deallocation_ignores_it_from_every_side() {
    let mut device = small(&[("interface.deallocate", "ignored")]);
    closed_loop(&mut device, 1, 1, |tag| op(OpKind::Write, 0, 4, tag));
    closed_loop(&mut device, 1, 1, |tag| op(OpKind::Deallocate, 0, 2, tag));
    device.deallocate(2, 4);
    assert!(device.ftl().l2p.iter().take(4).all(|physical| physical != sim::ftl::NO_PAGE));
}

/// A series covers the time since its begin, and none of the work before; a new one replaces it.
#[test]
fn a_series_begins_when_it_is_started() {
    let mut device = drive(&[&PARITY, &MAPPED]);
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(1);
    device.telemetry_start(Nanos(INTERVAL_NS));
    random_writes(&mut device, pages, pages / 4, &mut rng);
    // In the midst of a row.
    let (before, begun) = (device.telemetry(), device.now().0);
    device.telemetry_start(Nanos(INTERVAL_NS));
    random_writes(&mut device, pages, pages / 4, &mut rng);
    let took_ns = (device.now().0 - begun).next_multiple_of(INTERVAL_NS) + INTERVAL_NS;
    device.run_until(Nanos(begun + took_ns));
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    assert_eq!(rows.len() as u64, took_ns / INTERVAL_NS);
    let totals = device.telemetry();
    assert_eq!(sum(&rows), totals.since(&before));
}

/// The last row covers the rest of the series, and no row covers the time after it.
#[test]
fn a_series_that_is_stopped_tells_of_all_that_was_before() {
    for (rest_ns, stopped_before) in [(INTERVAL_NS / 3, true), (INTERVAL_NS / 3, false), (0, false)]
    {
        let mut device = drive(&[&PARITY, &MAPPED]);
        let pages = device.config().geometry.logical_pages;
        let mut rng = Rng::new(1);
        random_writes(&mut device, pages, pages / 4, &mut rng);
        let before = device.telemetry();
        let end = Nanos(device.now().0 + 2 * INTERVAL_NS + rest_ns);
        device.telemetry_start(Nanos(INTERVAL_NS));
        if stopped_before {
            device.telemetry_stop_at(end);
        }
        for _ in 0..100 {
            device.submit(&op(OpKind::Write, rng.below(pages), 1, 0));
            device.reap(1, &mut Vec::new());
        }
        device.run_until(end);
        let at_the_end = device.telemetry();
        if !stopped_before {
            device.telemetry_stop_at(end);
        }
        random_writes(&mut device, pages, pages / 4, &mut rng);
        device.telemetry_stop_at(device.now());
        let mut rows = Vec::new();
        device.telemetry_take(&mut rows);
        assert_eq!(rows.len() as u64, 2 + u64::from(rest_ns > 0));
        assert_eq!(sum(&rows), at_the_end.since(&before));
        let die_ns = u64::from(device.config().geometry.dies) * INTERVAL_NS;
        assert!(rows.iter().all(|row| row.die_busy_ns <= die_ns));
    }
}
