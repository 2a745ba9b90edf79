//! Does throughput follow from the parts? Sequential rates compared with the slowest stage, random
//! reads with queue depth, random writes in steady state with the balance of a die's time.

use std::collections::BTreeMap;

use base::{Nanos, OpKind, Rng};
use sim::{Config, Device};

use crate::common::{closed_loop, fill, op, random_writes, small, spread};

/// The name and the rate of the slowest of the stages, bytes per second.
fn slowest(stages: &[(&'static str, f64)]) -> (&'static str, f64) {
    let slower = |a: &(&'static str, f64), b: &(&'static str, f64)| a.1.total_cmp(&b.1);
    stages.iter().copied().min_by(slower).expect("there are stages")
}

/// Sequential reads of 128 KiB move at the rate of the slowest stage:
/// - command: 128 KiB / controller time of a read;
/// - link: its rate;
/// - channel: channels x 4 KiB / transfer of a page;
/// - die: dies x unit / (tR + transfer of a unit), as a die holds its data until it has crossed.
#[test]
fn sequential_reads_reach_the_slowest_of_command_link_channel_and_die() {
    let fast_link = ("interface.link_bytes_per_s", "50_000_000_000");
    let fast_channel = ("nand.channel_bytes_per_s", "10_000_000_000");
    let no_command = ("controller.read_command_ns", "0");
    for (changes, bottleneck) in [
        (vec![], "link"),
        (vec![fast_link], "die"),
        (vec![fast_link, ("nand.read_ns", "1000"), no_command], "channel"),
        (vec![fast_link, fast_channel, ("controller.read_command_ns", "1_000_000")], "command"),
    ] {
        let mut device = small(&changes);
        let pages = device.config().geometry.logical_pages / 32 * 32;
        fill(&mut device, pages);
        device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
        let config = device.config().clone();
        let (geometry, nand) = (config.geometry, config.nand);
        let unit_ns = f64::from(geometry.unit_pages) * nand.page_transfer_ns as f64;
        let unit_bytes = f64::from(geometry.unit_pages) * 4096.0;
        let (name, limit) = slowest(&[
            ("command", 131_072e9 / config.read_command_ns as f64),
            ("link", config.interface.link_bytes_per_s as f64),
            ("channel", f64::from(geometry.channels) * unit_bytes / unit_ns * 1e9),
            ("die", f64::from(geometry.dies) * unit_bytes / (nand.read_ns as f64 + unit_ns) * 1e9),
        ]);
        assert_eq!(name, bottleneck);
        let mut page = 0;
        let mut read = |device: &mut Device, count| {
            closed_loop(device, 32, count, |tag| {
                page = (page + 32) % pages;
                op(OpKind::Read, page, 32, tag)
            });
        };
        read(&mut device, 100);
        let start_ns = device.now().0;
        read(&mut device, 4_000);
        let measured = 4_000.0 * 131_072e9 / (device.now().0 - start_ns) as f64;
        println!("{name}: {:.1} MB/s of {:.1}", measured / 1e6, limit / 1e6);
        assert!((measured / limit - 1.0).abs() < 0.01, "{name}: {measured} of {limit}");
    }
}

/// A full drive of four dies of two planes whose pages lie on random dies, and whose reads take a second on the
/// die and next to nothing elsewhere.
fn dies_only(independent_planes: &str) -> Device {
    let changes = [
        ("controller.read_command_ns", "0"),
        ("interface.link_bytes_per_s", "1_000_000_000_000"),
        ("nand.channel_bytes_per_s", "1_000_000_000_000"),
        ("nand.read_ns", "1_000_000_000"),
        ("nand.independent_planes", independent_planes),
    ];
    let mut device = small(&changes);
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
    device
}

/// Requests on each die, largest first: the order does not matter, because all dies are alike.
type Occupancy = Vec<u32>;

/// Every distribution of `count` requests over the dies of `occupancy`, with its probability.
fn throws(occupancy: &Occupancy, count: u32) -> BTreeMap<Occupancy, f64> {
    let mut ways = BTreeMap::from([(occupancy.clone(), 1.0)]);
    for _ in 0..count {
        let mut next = BTreeMap::new();
        for (way, chance) in ways {
            for die in 0..way.len() {
                let mut more = way.clone();
                more[die] += 1;
                more.sort_unstable_by(|a, b| b.cmp(a));
                *next.entry(more).or_insert(0.0) += chance / way.len() as f64;
            }
        }
        ways = next;
    }
    ways
}

/// Mean number of busy dies under `queue_depth` reads of uniformly random dies, each of which takes
/// a round: in every round each busy die ends one request, and as many new ones arrive at random
/// dies. The stationary distribution of that Markov chain, by iteration.
fn busy_dies(dies: usize, queue_depth: u32) -> f64 {
    let busy = |occupancy: &Occupancy| occupancy.iter().filter(|&&count| count > 0).count();
    let mut chances = throws(&vec![0; dies], queue_depth);
    for _ in 0..200 {
        let mut next = BTreeMap::new();
        for (occupancy, chance) in &chances {
            let left: Occupancy = occupancy.iter().map(|count| count.saturating_sub(1)).collect();
            for (way, share) in throws(&left, busy(occupancy) as u32) {
                *next.entry(way).or_insert(0.0) += chance * share;
            }
        }
        chances = next;
    }
    chances.iter().map(|(occupancy, chance)| chance * busy(occupancy) as f64).sum()
}

/// Checks the rate of random reads at several queue depths against that of so many servers.
fn follows_occupancy(independent_planes: &str, servers: usize) {
    const READS: u64 = 60_000;
    for queue_depth in [1, 2, 4, 8] {
        let mut device = dies_only(independent_planes);
        let pages = device.config().geometry.logical_pages;
        let mut rng = Rng::new(1);
        let start_ns = device.now().0;
        closed_loop(&mut device, queue_depth, READS, |tag| {
            op(OpKind::Read, rng.below(pages), 1, tag)
        });
        let seconds = (device.now().0 - start_ns) as f64 / 1e9;
        let (measured, theory) = (READS as f64 / seconds, busy_dies(servers, queue_depth));
        println!("queue depth {queue_depth}: {measured:.4} of {servers} busy, theory {theory:.4}");
        assert!((measured / theory - 1.0).abs() < 0.01, "{queue_depth}: {measured} of {theory}");
    }
}

#[test]
fn random_reads_follow_the_occupancy_of_the_dies() {
    follows_occupancy("false", 4);
}

/// No read waits for another plane of its die: each plane is a server of its own.
#[test]
fn random_reads_follow_the_occupancy_of_independent_planes() {
    follows_occupancy("true", 8);
}

/// IOPS <= min(queue depth / unloaded latency, 1 / command, link, channels, dies): reached at both ends.
#[test]
fn random_reads_stay_below_their_asymptotes_and_reach_them() {
    let iops = |queue_depth| {
        let mut device = small(&[("nand.dies_per_channel", "64"), ("nand.blocks_per_plane", "40")]);
        let pages = device.config().geometry.logical_pages;
        fill(&mut device, pages);
        device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
        let (mut rng, start_ns) = (Rng::new(1), device.now().0);
        closed_loop(&mut device, queue_depth, 20_000, |tag| {
            op(OpKind::Read, rng.below(pages), 1, tag)
        });
        20_000e9 / (device.now().0 - start_ns) as f64
    };
    // Command 5,000 ns, tR 50,000, channel 10,000 (two of them), link 8,000.
    let unloaded = 1e9 / 73_000.0;
    let limit: f64 = 1e9 / 8_000.0;
    for queue_depth in [1, 2, 4, 8, 16, 32] {
        let measured = iops(queue_depth);
        let bound = limit.min(f64::from(queue_depth) * unloaded);
        println!("queue depth {queue_depth}: {measured:.0} IOPS of at most {bound:.0}");
        assert!(measured <= bound * 1.0001, "{queue_depth}: {measured} of {bound}");
        if queue_depth == 1 || queue_depth == 32 {
            assert!(measured > 0.99 * bound, "{queue_depth}: {measured} of {bound}");
        }
    }
}

/// Figures of random writes in steady state.
struct Steady {
    iops: f64,
    waf: f64,
    free_superblocks_mean: f64,
    /// Spread of the IOPS of single seconds: standard deviation over mean.
    spread: f64,
}

/// Random writes over the whole drive, counted once it has been written over three times.
fn random_writes_in_steady_state(device: &mut Device) -> Steady {
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::new(1);
    fill(device, pages);
    random_writes(device, pages, 3 * pages, &mut rng);
    let (before, start_ns) = (device.telemetry(), device.now().0);
    device.telemetry_start(Nanos::SECOND);
    random_writes(device, pages, pages, &mut rng);
    let after = device.telemetry();
    let mut rows = Vec::new();
    device.telemetry_take(&mut rows);
    let host = (after.host_pages - before.host_pages) as f64;
    let free_superblocks = rows.iter().map(|row| row.free_superblocks as f64).sum::<f64>();
    let iops: Vec<f64> = rows.iter().map(|row| row.host_pages as f64).collect();
    Steady {
        iops: host * 1e9 / (device.now().0 - start_ns) as f64,
        waf: (after.programmed_pages - before.programmed_pages) as f64 / host,
        free_superblocks_mean: free_superblocks / rows.len() as f64,
        spread: spread(&iops),
    }
}

/// The part that limits random writes in steady state, and the IOPS that it allows, from the measured
/// WAF `A` alone. Of the pages of a victim the share v = (A - 1) / A is valid; a unit of k pages is read unless none is. So
/// a superblock of n pages takes of the dies, channels and link:
/// - dies: n/k (tPROG + k x) + n/k (1 - (1 - v)^k) tR + n v x + dies tBERS, with x a page over a channel;
/// - channels: (n + n v) x;
/// - link: 4,096 bytes for each of the n / A host pages.
fn books(config: &Config, waf: f64) -> (&'static str, f64) {
    let (geometry, nand) = (config.geometry, config.nand);
    let (dies, k) = (f64::from(geometry.dies), f64::from(geometry.unit_pages));
    let n = f64::from(geometry.superblock_pages());
    let valid = (waf - 1.0) / waf;
    let page_ns = nand.page_transfer_ns as f64;
    let read_share = 1.0 - (1.0 - valid).powf(k);
    let die_ns = n / k * (nand.program_ns as f64 + k * page_ns + read_share * nand.read_ns as f64)
        + n * valid * page_ns
        + dies * nand.erase_ns as f64;
    let channel_ns = n * (1.0 + valid) * page_ns;
    let host_per_superblock = n / waf;
    slowest(&[
        ("die", dies * host_per_superblock / die_ns * 1e9),
        ("channel", f64::from(geometry.channels) * host_per_superblock / channel_ns * 1e9),
        ("link", config.interface.link_write_bytes_per_s as f64 / 4096.0),
    ])
}

#[test]
fn random_writes_in_steady_state_follow_the_books() {
    let fast_channel = ("nand.channel_bytes_per_s", "4_096_000_000");
    for (changes, bottleneck) in [
        (vec![fast_channel], "die"),
        (
            vec![
                ("nand.program_ns", "20_000"),
                ("nand.read_ns", "5_000"),
                ("nand.erase_ns", "100_000"),
            ],
            "channel",
        ),
        (vec![fast_channel, ("interface.link_bytes_per_s", "10_000_000")], "link"),
    ] {
        let mut device = small(&changes);
        let Steady { iops, waf, .. } = random_writes_in_steady_state(&mut device);
        let (name, limit) = books(device.config(), waf);
        println!("{name}: {iops:.0} IOPS of {limit:.0}, WAF {waf:.3}");
        assert_eq!(name, bottleneck);
        assert!((iops / limit - 1.0).abs() < 0.02, "{name}: {iops} of {limit}");
    }
}

/// Lazy cleaning that keeps as much erased on average as eager cleaning moves as many pages and has
/// the same balance, but is far less even: the host stands still while the drive cleans from its
/// lower level to its upper one.
#[test]
fn lazy_cleaning_moves_as_many_pages_as_eager_cleaning_and_is_less_even() {
    let fast_channel = ("nand.channel_bytes_per_s", "4_096_000_000");
    let run = |pacing, free_low, free_high| {
        let levels =
            [("gc.pacing", pacing), ("gc.free_low", free_low), ("gc.free_high", free_high)];
        let mut device = small(&[&[fast_channel][..], &levels].concat());
        let steady = random_writes_in_steady_state(&mut device);
        let limit = books(device.config(), steady.waf).1;
        let Steady { iops, waf, free_superblocks_mean: free, spread } = steady;
        println!(
            "{pacing}: {iops:.0} IOPS of {limit:.0}, WAF {waf:.3}, {free:.1} erased, spread {spread:.4}"
        );
        (steady, limit)
    };
    let (eager, eager_limit) = run("proportional", "3", "20");
    let (lazy, lazy_limit) = run("watermark", "3", "30");
    for (iops, limit) in [(eager.iops, eager_limit), (lazy.iops, lazy_limit)] {
        assert!((iops / limit - 1.0).abs() < 0.02, "{iops} of {limit}");
    }
    let (lazy_free, eager_free) = (lazy.free_superblocks_mean, eager.free_superblocks_mean);
    assert!((lazy_free - eager_free).abs() < 0.5, "{lazy_free} and {eager_free}");
    assert!((lazy.waf / eager.waf - 1.0).abs() < 0.01, "{} and {}", lazy.waf, eager.waf);
    assert!(lazy.spread > 10.0 * eager.spread, "{} and {}", lazy.spread, eager.spread);
}
