//! Is the shape right? Write amplification, pacing and throughput compared with formulas. Theory
//! and sources: `docs/reference/simulator.md`.

use base::{Completion, Nanos, OpKind, Rng, TelemetryRow};
use sim::Device;

use crate::common::{
    built_in, closed_loop, fill, op, random_writes, small, spread, waf_fifo, waf_greedy,
    watched_loop,
};

fn logical_pages(device: &Device) -> u64 {
    device.config().geometry.logical_pages
}

/// Rows of one second over `count` random writes after `warm_up` of them.
fn rows_in_steady_state(device: &mut Device, warm_up: u64, count: u64) -> Vec<TelemetryRow> {
    let pages = logical_pages(device);
    let mut rng = Rng::split(1, "addresses");
    fill(device, pages);
    random_writes(device, pages, warm_up, &mut rng);
    device.telemetry_start(Nanos::SECOND);
    random_writes(device, pages, count, &mut rng);
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    rows
}

fn waf(rows: &[TelemetryRow]) -> f64 {
    let sum = |of: fn(&TelemetryRow) -> u64| rows.iter().map(of).sum::<u64>() as f64;
    sum(|row| row.programmed_pages) / sum(|row| row.host_pages)
}

/// Physical over logical pages, without erased superblocks: free ones, and on average half of each
/// of the two open ones.
fn alpha_effective(device: &Device, rows: &[TelemetryRow]) -> f64 {
    let free = rows.iter().map(|row| row.free_superblocks as f64).sum::<f64>() / rows.len() as f64;
    let geometry = &device.config().geometry;
    let superblocks = f64::from(geometry.superblocks) - free - 1.0;
    superblocks * f64::from(geometry.superblock_pages()) / geometry.logical_pages as f64
}

#[test]
fn waf_of_the_uneven_drive_is_that_of_greedy_theory() {
    // 1,024 pages a superblock; the formula knows the size.
    let mut device = built_in("samsung-840-pro-256gb", "1/16", &[]);
    let pages = logical_pages(&device);
    let rows = rows_in_steady_state(&mut device, 2 * pages, pages);
    let alpha = alpha_effective(&device, &rows);
    let theory = waf_greedy(alpha, device.config().geometry.superblock_pages());
    let measured = waf(&rows);
    println!("alpha {alpha:.4}: measured {measured:.3}, greedy {theory:.3}");
    assert!((measured / theory - 1.0).abs() < 0.03, "{measured} against {theory}");
    device.check().unwrap();
}

#[test]
fn waf_of_the_even_drive_is_that_of_greedy_theory_too() {
    let mut device = built_in("sandisk-extreme-ii-480gb", "1/64", &[]);
    let pages = logical_pages(&device);
    let rows = rows_in_steady_state(&mut device, 2 * pages, pages);
    let alpha = alpha_effective(&device, &rows);
    let (measured, theory) = (waf(&rows), waf_fifo(alpha));
    println!("alpha {alpha:.4}: measured {measured:.3}, fifo {theory:.3}");
    assert!((measured / theory - 1.0).abs() < 0.03, "{measured} against {theory}");
}

/// The predicted content of a drive in steady state equals the actual one; a preconditioning pass
/// uses the prediction of the model.
#[test]
fn the_log_of_a_drive_is_as_long_as_its_pacing_says() {
    let rate = ("gc.rate_iops", "5_000");
    for (pacing, rate) in
        [("watermark", None), ("proportional", None), ("token", None), ("rate", Some(rate))]
    {
        let changes: Vec<_> =
            [("gc.pacing", pacing), ("gc.free_high", "12")].into_iter().chain(rate).collect();
        let mut device = built_in("sandisk-extreme-ii-480gb", "1/256", &changes);
        let pages = logical_pages(&device);
        let rows = rows_in_steady_state(&mut device, pages, pages);
        let measured = alpha_effective(&device, &rows);
        let log_pages = device.config().log_bytes() / sim::PAGE_BYTES;
        let told = log_pages as f64 / pages as f64;
        println!("{pacing}: alpha {measured:.4}, told {told:.4}");
        assert!((told - measured).abs() < 0.003, "{pacing}: {measured}, but {told} was told");
    }
}

#[test]
fn every_pacing_moves_the_same_pages_and_they_differ_in_evenness() {
    let run = |pacing, free_high| {
        let changes = [("gc.pacing", pacing), ("gc.free_high", free_high)];
        let mut device = built_in("samsung-840-pro-256gb", "1/8", &changes);
        let pages = logical_pages(&device);
        let rows = rows_in_steady_state(&mut device, pages / 2, pages / 4);
        let iops: Vec<f64> = rows.iter().map(|row| row.host_pages as f64).collect();
        (waf(&rows), spread(&iops))
    };
    let (lazy_waf, lazy_cv) = run("watermark", "4");
    let (beside_waf, beside_cv) = run("background", "4");
    let (eager_waf, eager_cv) = run("proportional", "8");
    let (token_waf, token_cv) = run("token", "8");
    println!("lazy WAF {lazy_waf:.3} cv {lazy_cv:.3}; eager WAF {eager_waf:.3} cv {eager_cv:.3}");
    println!("token WAF {token_waf:.3} cv {token_cv:.3}");
    println!("background WAF {beside_waf:.3} cv {beside_cv:.3}");
    assert!((lazy_waf / beside_waf - 1.0).abs() < 0.03 && lazy_cv > beside_cv);
    for (waf, cv) in [(eager_waf, eager_cv), (token_waf, token_cv)] {
        assert!((lazy_waf / waf - 1.0).abs() < 0.03);
        assert!(lazy_cv > 5.0 * cv);
    }
}

/// The share of the background suffices with 25% of spare, where no write waits for two erases of 5 ms; with the 7% that
/// the drive has, the host waits for the moves of a superblock.
#[test]
fn collection_in_the_background_stops_the_host_only_where_spare_is_small() {
    let longest_gap_ns = |capacity_gb| {
        let mut device = built_in("samsung-840-pro-256gb", "1/64", &[("capacity_gb", capacity_gb)]);
        let pages = logical_pages(&device);
        let mut rng = Rng::new(1);
        fill(&mut device, pages);
        random_writes(&mut device, pages, 2 * pages, &mut rng);
        let (mut last_ns, mut longest_ns) = (device.now().0, 0);
        let next = |tag| op(OpKind::Write, rng.below(pages), 1, tag);
        watched_loop(&mut device, 32, pages, next, |_, end| {
            longest_ns = longest_ns.max(end.done.0 - last_ns);
            last_ns = end.done.0;
        });
        longest_ns
    };
    let [roomy_ns, tight_ns] = ["206", "256"].map(longest_gap_ns);
    println!("longest gap {roomy_ns} ns with 25% of spare, {tight_ns} ns with 7%");
    assert!(roomy_ns < 10_000_000 && tight_ns > 2 * roomy_ns);
}

#[test]
fn collection_begins_when_the_spare_is_used_up() {
    let mut device = built_in("samsung-840-pro-256gb", "1/16", &[]);
    let geometry = device.config().geometry;
    let pages = logical_pages(&device);
    let superblock = u64::from(geometry.superblock_pages());
    fill(&mut device, pages);
    let spare = geometry.physical_pages() - pages;
    let reserve = u64::from(device.config().free_low) * superblock;
    let mut rng = Rng::new(1);
    random_writes(&mut device, pages, spare - reserve - 2 * superblock, &mut rng);
    assert_eq!(device.telemetry().gc_moved_pages, 0, "spare is left");
    random_writes(&mut device, pages, 4 * superblock, &mut rng);
    assert!(device.telemetry().gc_moved_pages > 0, "the spare is used up");
}

#[test]
fn sequential_writes_reach_the_slowest_of_link_channel_and_die() {
    for (change, bottleneck) in [
        (vec![], "die"),
        (vec![("nand.program_ns", "50000"), ("controller.write_command_ns", "0")], "link"),
        (
            vec![
                ("nand.program_ns", "1000"),
                ("nand.channel_bytes_per_s", "100_000_000"),
                ("controller.write_command_ns", "0"),
            ],
            "channel",
        ),
    ] {
        let mut device = small(&change);
        let config = device.config().clone();
        let unit_bytes = f64::from(config.geometry.unit_pages) * 4096.0;
        let transfer = config.nand.page_transfer_ns as f64 * f64::from(config.geometry.unit_pages);
        let die = f64::from(config.geometry.dies) * unit_bytes
            / (transfer + config.nand.program_ns as f64)
            * 1e9;
        let channel = f64::from(config.geometry.channels) * unit_bytes / transfer * 1e9;
        let link = config.interface.link_write_bytes_per_s as f64;
        let limit = die.min(channel).min(link);
        let name = if limit == die {
            "die"
        } else if limit == link {
            "link"
        } else {
            "channel"
        };
        assert_eq!(name, bottleneck);
        let mut page = 0;
        let write = |device: &mut Device, page: &mut u64, count| {
            closed_loop(device, 32, count, |tag| {
                *page += 32;
                op(OpKind::Write, *page - 32, 32, tag)
            });
        };
        write(&mut device, &mut page, 500);
        let start = device.now().0;
        write(&mut device, &mut page, 4000);
        let measured = 4000.0 * 131_072.0 / (device.now().0 - start) as f64 * 1e9;
        println!("{name}: {:.1} MB/s of {:.1}", measured / 1e6, limit / 1e6);
        assert!((measured / limit - 1.0).abs() < 0.01, "{name}: {measured} of {limit}");
    }
}

/// All of it is garbage, but the drive erases a few superblocks at a time: no write waits for the
/// erase of the whole drive, which takes superblocks x tBERS.
#[test]
fn a_trimmed_drive_is_erased_as_it_is_written() {
    for name in ["samsung-840-pro-256gb", "sandisk-extreme-ii-480gb"] {
        let mut device = built_in(name, "1/64", &[]);
        let pages = logical_pages(&device);
        let _ = rows_in_steady_state(&mut device, pages / 4, 1);
        device.deallocate(0, pages);
        let config = device.config().clone();
        let all_ns = u64::from(config.geometry.superblocks) * config.nand.erase_ns;
        let mut page = 0;
        let mut longest_ns = 0;
        let mut ended = Vec::new();
        while page < pages / 4 {
            for tag in 0..32 {
                device.submit(&op(OpKind::Write, page, 8, tag));
                page += 8;
            }
            device.reap(32, &mut ended);
            let waits = ended.drain(..).map(|end: Completion| end.latency().0);
            longest_ns = waits.fold(longest_ns, u64::max);
        }
        println!("{name}: longest write {longest_ns} ns of {all_ns}");
        assert!(longest_ns < all_ns / 4, "{name}: {longest_ns} ns of {all_ns}");
    }
}

#[test]
fn a_trimmed_drive_is_fast_again() {
    let mut device = built_in("samsung-840-pro-256gb", "1/64", &[]);
    let pages = logical_pages(&device);
    let _ = rows_in_steady_state(&mut device, pages / 4, 1);
    device.deallocate(0, pages);
    let before = device.telemetry();
    // Garbage collection still moves the pages that it had begun with; after that all that is collected is empty.
    random_writes(&mut device, pages, pages / 4, &mut Rng::new(2));
    let moved = device.telemetry().gc_moved_pages - before.gc_moved_pages;
    assert!(moved < u64::from(device.config().geometry.superblock_pages()), "{moved} pages moved");
    device.check().unwrap();
}
