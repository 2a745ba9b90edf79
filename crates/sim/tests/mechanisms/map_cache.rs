//! Does a drive that holds a part of its map find in it what locality promises, and does it pay for the rest?

use base::{OpKind, Rng};
use sim::Device;
use sim::ftl::NO_PAGE;
use sim::mechanism::map_cache::Lookups;
use sim::nand::aging::past::Past;

use crate::common::{CACHE, alone, closed_loop, fill, op, secs, small};

const READ_COMMAND: u64 = 5_000;
const WRITE_COMMAND: u64 = 6_000;
const LINK_PAGE: u64 = 8_000;
const CHANNEL_PAGE: u64 = 10_000;
const READ: u64 = 50_000;
/// Pages in a segment of the map: entries of 64 bytes in a page of 4 KiB.
const SEGMENT: u64 = 64;

/// The small drive with room for so many segments of its map in DRAM and in the host's memory, and an entry size that
/// gives a map of a few thousand.
fn cached(dram_segments: u64, host_segments: u64, changes: &[(&str, &str)]) -> Device {
    let [dram, host] = [dram_segments, host_segments].map(|count| (count * 4096).to_string());
    let mut all = vec![
        ("map_cache.bytes", dram.as_str()),
        ("map_cache.entry_bytes", "64"),
        ("nand.blocks_per_plane", "590"),
    ];
    if host_segments > 0 {
        all.push(("map_cache.hmb_bytes", &host));
        all.push(("map_cache.hmb_latency_ns", "1_500"));
    }
    all.extend(changes);
    small(&all)
}

fn pages(device: &Device) -> u64 {
    device.config().geometry.logical_pages
}

/// The totals of a load.
struct Totals {
    lookups: Lookups,
    metadata_pages: u64,
    host_pages: u64,
}

fn totals(device: &Device) -> Totals {
    let totals = device.telemetry();
    Totals {
        lookups: device.map_cache().expect("it has a cache").lookups(),
        metadata_pages: totals.metadata_pages,
        host_pages: totals.host_pages,
    }
}

/// The shares of lookups in DRAM, the host's memory and NAND since earlier totals.
fn shares(device: &Device, before: &Totals) -> [f64; 3] {
    let (now, then) = (totals(device).lookups, before.lookups);
    let counts = [now.dram - then.dram, now.host - then.host, now.nand - then.nand];
    let all = counts.iter().sum::<u64>() as f64;
    counts.map(|count| count as f64 / all)
}

fn assert_close(what: &str, measured: f64, formula: f64) {
    println!("{what}: {measured:.4}, formula {formula:.4}");
    assert!((measured / formula - 1.0).abs() < 0.02, "{what}: {measured} against {formula}");
}

/// So many commands of a page at pages that `page` draws, reads with a chance in percent.
fn load(
    device: &mut Device,
    count: u64,
    reads: u64,
    rng: &mut Rng,
    mut page: impl FnMut(&mut Rng) -> u64,
) {
    closed_loop(device, 32, count, |tag| {
        let kind = if rng.chance(reads, 100) { OpKind::Read } else { OpKind::Write };
        op(kind, page(rng), 1, tag)
    });
}

#[test]
fn a_read_waits_for_its_segment_and_a_write_does_not() {
    let mut device = cached(1, 1, &[]);
    // Segment 0 and segment 1 in NAND: each leaves both levels when two others come.
    for segment in 0..4 {
        alone(&mut device, &op(OpKind::Write, segment * SEGMENT, 4, 0));
        device.run_until(secs(segment + 1));
    }
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    device.run_until(secs(10));
    assert_eq!(device.telemetry().metadata_pages, 2);
    let mut read = |page| alone(&mut device, &op(OpKind::Read, page, 1, 0));
    let of_page = READ + CHANNEL_PAGE;
    let found = READ_COMMAND + of_page + LINK_PAGE;
    assert_eq!(read(0), found + of_page, "from NAND");
    assert_eq!(read(1), found, "from DRAM");
    assert_eq!(read(3 * SEGMENT), found + 1_500, "from the host's memory");
    assert_eq!(read(0), found + 1_500, "it has made room");
    let written = WRITE_COMMAND + LINK_PAGE;
    assert_eq!(alone(&mut device, &op(OpKind::Write, SEGMENT, 1, 0)), written);
    assert_eq!(totals(&device).lookups.nand, 4 + 2);
    // Nothing was ever written there: there is no segment to read, and no page.
    let unmapped = READ_COMMAND + LINK_PAGE;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 100 * SEGMENT, 1, 0)), unmapped);
    device.check().unwrap();
}

#[test]
fn a_part_of_a_page_waits_for_its_segment_before_it_is_read() {
    let mut device = cached(1, 0, &[("interface.logical_block_bytes", "512")]);
    for segment in 0..2 {
        alone(&mut device, &op(OpKind::Write, segment * SEGMENT, 4, 0));
        device.run_until(secs(segment + 1));
    }
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    device.run_until(secs(10));
    let sector = base::Op { len: 512, ..op(OpKind::Write, 0, 1, 0) };
    let both = WRITE_COMMAND + LINK_PAGE / 8 + 2 * (READ + CHANNEL_PAGE);
    assert_eq!(alone(&mut device, &sector), both);
}

#[test]
fn a_map_that_fits_costs_nothing() {
    let mut device = cached(1 << 20, 0, &[]);
    let mut all = small(&[("nand.blocks_per_plane", "590")]);
    for device in [&mut device, &mut all] {
        let pages = pages(device);
        fill(device, pages);
        load(device, pages, 30, &mut Rng::new(1), |rng| rng.below(pages));
    }
    assert_eq!(device.telemetry().metadata_pages, 0);
    assert_eq!(device.telemetry().host_pages, all.telemetry().host_pages);
}

/// Uniform addresses: a level finds its share of the map, and a write that misses writes a segment, as all of them
/// have changed.
#[test]
fn uniform_writes_find_the_share_that_is_at_hand() {
    for (dram, host) in [(382, 0), (1_910, 0), (382, 1_528)] {
        let mut device = cached(dram, host, &[]);
        let (pages, segments) = (pages(&device), f64::from(device.config().geometry.map_pages));
        let mut rng = Rng::new(dram + host);
        load(&mut device, 100_000, 0, &mut rng, |rng| rng.below(pages));
        let before = totals(&device);
        load(&mut device, 200_000, 0, &mut rng, |rng| rng.below(pages));
        let found = shares(&device, &before);
        let formula = [dram as f64 / segments, host as f64 / segments];
        assert_close("in DRAM", found[0], formula[0]);
        if host > 0 {
            assert_close("in the host's memory", found[1], formula[1]);
        }
        let now = totals(&device);
        let written = (now.metadata_pages - before.metadata_pages) as f64;
        let waf = written / (now.host_pages - before.host_pages) as f64;
        assert_close("WAF of the map", waf, 1.0 - formula[0] - formula[1]);
        assert!(device.telemetry().gc_moved_pages > 0, "garbage was collected");
        device.check().unwrap();
    }
}

/// Among reads with a share r, a segment that is found with chance h has stayed unchanged with r (1 - h) / (1 - r h):
/// it has been used k times with chance (1 - h) h^(k - 1), by reads only with r^k.
#[test]
fn what_was_only_read_leaves_for_nothing() {
    let mut device = cached(1_910, 0, &[]);
    let (pages, segments) = (pages(&device), f64::from(device.config().geometry.map_pages));
    let mut rng = Rng::new(1);
    fill(&mut device, pages);
    for percent in [50, 80, 95] {
        load(&mut device, 50_000, percent, &mut rng, |rng| rng.below(pages));
        let before = totals(&device);
        load(&mut device, 300_000, percent, &mut rng, |rng| rng.below(pages));
        let (hit, reads) = (1_910.0 / segments, percent as f64 / 100.0);
        let changed = 1.0 - reads * (1.0 - hit) / (1.0 - reads * hit);
        let written = (totals(&device).metadata_pages - before.metadata_pages) as f64;
        assert_close("written by command", written / 300_000.0, (1.0 - hit) * changed);
    }
}

/// Che's approximation: a segment used at a rate stays for one time, the same for all, that fills the cache.
fn che(segments_and_rates: [(f64, f64); 2], cached: f64) -> f64 {
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        segments_and_rates.iter().map(|&(segments, rate)| segments * of(rate)).sum()
    };
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..200 {
        let time = (low + high) / 2.0;
        let filled = sum(&|rate| 1.0 - f64::exp(-rate * time));
        if filled < cached { low = time } else { high = time }
    }
    sum(&|rate| rate * (1.0 - f64::exp(-rate * low)))
}

#[test]
fn a_hot_set_is_found_as_often_as_ches_approximation_says() {
    for (hot_percent, hot_chance, dram) in [(10, 90, 300), (20, 80, 1_000), (5, 95, 400)] {
        let mut device = cached(dram, 0, &[]);
        let segments = u64::from(device.config().geometry.map_pages) - 1;
        let hot = segments * hot_percent / 100;
        let mut rng = Rng::new(dram);
        let mut page = |rng: &mut Rng| {
            let segment = if rng.chance(hot_chance, 100) {
                rng.below(hot)
            } else {
                hot + rng.below(segments - hot)
            };
            segment * SEGMENT + rng.below(SEGMENT)
        };
        load(&mut device, 50_000, 50, &mut rng, &mut page);
        let before = totals(&device);
        load(&mut device, 200_000, 50, &mut rng, &mut page);
        let [hot_rate, cold_rate] = [hot_chance as f64 / 100.0, 1.0 - hot_chance as f64 / 100.0];
        let (hot, cold) = (hot as f64, (segments - hot) as f64);
        let formula = che([(hot, hot_rate / hot), (cold, cold_rate / cold)], dram as f64);
        assert_close("found", shares(&device, &before)[0], formula);
    }
}

/// Three segments are changed and one is only read; a shutdown writes the three and no more.
#[test]
fn days_without_power_leave_the_map_in_nand_and_none_of_it_in_the_caches() {
    let mut device = cached(2, 4, &[]);
    fill(&mut device, 8 * SEGMENT);
    device.age(Past::days(1));
    let before = totals(&device);
    for (kind, segment) in
        [(OpKind::Write, 0), (OpKind::Write, 1), (OpKind::Write, 2), (OpKind::Read, 3)]
    {
        alone(&mut device, &op(kind, segment * SEGMENT, 1, 0));
    }
    device.age(Past::days(1));
    assert_eq!(totals(&device).metadata_pages - before.metadata_pages, 3);
    device.check().unwrap();
    let before = totals(&device);
    for segment in 0..4 {
        alone(&mut device, &op(OpKind::Read, segment * SEGMENT, 1, 0));
    }
    assert_eq!(shares(&device, &before), [0.0, 0.0, 1.0]);
    device.age(Past::days(1));
    assert_eq!(totals(&device).metadata_pages, before.metadata_pages, "nothing has changed");
}

/// The map in a cache of 64 superblocks, 16,384 pages, that data goes past. The write buffer is small, so that it hides
/// nothing.
fn with_pslc(in_pslc: &str) -> Device {
    let own = [
        ("pslc.bytes", "67108864"),
        ("pslc.only_below_bytes", "1"),
        ("map_cache.in_pslc", in_pslc),
        ("buffer.write_bytes", "131072"),
        ("nand.blocks_per_plane", "760"),
    ];
    cached(16, 0, &[&CACHE[..], &own].concat())
}

/// Per unit of four pages a native program takes 640,000 ns with its transfer, one in the cache 240,000; a segment is
/// read in 60,000 or 30,000 ns; four dies share the work.
#[test]
fn a_map_in_pslc_costs_programs_and_reads_of_its_cells() {
    for (in_pslc, program_ns, read_ns) in
        [("false", 640_000.0, 60_000.0), ("true", 240_000.0, 30_000.0)]
    {
        let mut device = with_pslc(in_pslc);
        let pages = pages(&device);
        let mut rng = Rng::new(1);
        load(&mut device, 12_000, 0, &mut rng, |rng| rng.below(pages));
        let (time_ns, totals) = (device.now().0 as f64, device.telemetry());
        let map_pages = totals.metadata_pages as f64;
        let reads = device.operations().reads as f64;
        let die_ns = 12_000.0 * 640_000.0 / 4.0 + map_pages * program_ns / 4.0 + reads * read_ns;
        println!(
            "in pSLC {in_pslc}: {map_pages} map pages, {reads} reads, {time_ns} ns, dies {}",
            die_ns / 4.0
        );
        assert!((time_ns / (die_ns / 4.0) - 1.0).abs() < 0.02, "{time_ns}");
        let ftl = device.ftl();
        let is_cached = |&page: &u64| ftl.is_cache(ftl.superblock_of(page));
        let places: Vec<u64> = ftl.l2p.iter().collect();
        let (data, map) = places.split_at(pages as usize);
        let cached = |part: &[u64]| {
            part.iter().filter(|&&page| page < NO_PAGE).filter(|p| is_cached(p)).count()
        };
        let written = map.iter().filter(|&&page| page < NO_PAGE).count();
        assert_eq!(cached(data), 0);
        assert_eq!(cached(map), if in_pslc == "true" { written } else { 0 });
        assert_eq!(totals.pslc_pages, cached(map) as u64);
        device.check().unwrap();
    }
}

/// Behind a full cache the map goes on to the native cells, and comes back to the cache when that is folded.
#[test]
fn a_map_goes_past_a_full_cache() {
    let mut device = with_pslc("true");
    let pages = pages(&device);
    let mut rng = Rng::new(1);
    for _ in 0..2 {
        load(&mut device, 40_000, 0, &mut rng, |rng| rng.below(pages));
        device.check().unwrap();
        let cached = device.telemetry().pslc_pages;
        assert!(cached > 0 && cached < u64::from(device.config().geometry.map_pages), "{cached}");
        device.run_until(secs(device.now().0 / 1_000_000_000 + 20));
        assert_eq!(device.telemetry().pslc_pages, 0, "a rest folds it");
    }
    assert!(device.telemetry().folded_pages > 0);
}
