//! Collection without a request: does idle time restore a tortured drive, and does cleaning in the
//! gaps spare a busy host its stalls?

use base::{Nanos, OpKind, Rng};
use sim::Device;

use crate::common::{alone, closed_loop, fill, op, random_writes, secs, small};

const AFTER_S: u64 = 2;
const PAGES_PER_S: u64 = 2_000;
const IDLE: [(&str, &str); 4] = [
    ("idle_gc.after_ns", "2_000_000_000"),
    ("idle_gc.free_target", "50"),
    ("idle_gc.pages_per_s", "2_000"),
    ("idle_gc.valid_percent_max", "95"),
];
/// Room for the targets above: 62 spare superblocks.
const ROOM: [(&str, &str); 2] = [("gc.pacing", "watermark"), ("gc.free_high", "4")];

/// A drive that was filled and then written at random until every write needs cleaning.
fn tortured(changes: &[&[(&str, &str)]]) -> (Device, Rng) {
    let mut device = small(&changes.concat());
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages / 2, &mut rng);
    (device, rng)
}

fn moved(device: &Device) -> u64 {
    device.telemetry().gc_moved_pages
}

fn rest(device: &mut Device, time: Nanos) {
    device.run_until(Nanos(device.now().0 + time.0));
}

/// Host pages that fit before a page has to move for them.
fn burst_pages(device: &mut Device, rng: &mut Rng) -> u64 {
    let pages = device.config().geometry.logical_pages;
    // The host is back; what idle collection has in hand is moved yet.
    alone(device, &op(OpKind::Read, 0, 1, 0));
    rest(device, Nanos(10_000_000));
    let (before, mut count) = (moved(device), 0);
    while moved(device) == before {
        random_writes(device, pages, 64, rng);
        count += 64;
    }
    count
}

#[test]
fn a_tortured_drive_recovers_in_proportion_to_its_idle_time() {
    let mut bursts = Vec::new();
    for idle_s in [0, 5, 10, 20] {
        let (mut device, mut rng) = tortured(&[&IDLE, &ROOM]);
        // Work left by the last writes ends first.
        rest(&mut device, secs(1));
        let before = moved(&device);
        rest(&mut device, secs(AFTER_S - 1 + idle_s));
        let in_idle = moved(&device) - before;
        let want = PAGES_PER_S * idle_s;
        println!("{idle_s} s idle: {in_idle} pages moved, {want} at the rated pace");
        assert!(in_idle.abs_diff(want) <= 8, "{in_idle} pages moved in {idle_s} s, not {want}");
        device.check().unwrap();
        bursts.push(burst_pages(&mut device, &mut rng));
    }
    println!("host pages before the next page moves: {bursts:?}");
    let gain = |index: usize| bursts[index] as f64 - bursts[0] as f64;
    assert!(gain(1) > 1_000.0, "{bursts:?}");
    // The victims get fuller, so that twice the time is a little less than twice the gain.
    for (index, times) in [(2, 2.0), (3, 4.0)] {
        let share = gain(index) / gain(1) / times;
        assert!((0.75..1.05).contains(&share), "{bursts:?}: {share}");
    }
}

#[test]
fn a_drive_without_idle_collection_does_not_recover() {
    let (mut device, mut rng) = tortured(&[&ROOM]);
    rest(&mut device, secs(1));
    let before = moved(&device);
    rest(&mut device, secs(3_600));
    assert_eq!(moved(&device), before);
    let superblock = u64::from(device.config().geometry.superblock_pages());
    assert!(burst_pages(&mut device, &mut rng) < 3 * superblock);
}

#[test]
fn idle_collection_stops_when_the_host_returns_and_waits_again() {
    let (mut device, _) = tortured(&[&IDLE, &ROOM]);
    rest(&mut device, secs(AFTER_S + 3));
    alone(&mut device, &op(OpKind::Read, 0, 1, 0));
    let before = moved(&device);
    rest(&mut device, Nanos(secs(AFTER_S).0 - 1));
    let unit_pages = u64::from(device.config().geometry.unit_pages);
    assert!(moved(&device) - before <= unit_pages, "only what was in hand is moved");
    rest(&mut device, secs(3));
    assert!(moved(&device) - before > PAGES_PER_S * 2, "it begins again");
}

/// Nearly full superblocks would give little room for their wear: idle collection takes only those
/// with enough to gain, although its target is not reached.
#[test]
fn idle_collection_leaves_nearly_full_superblocks_alone() {
    let percent_max = ("idle_gc.valid_percent_max", "60");
    let mut device = small(&[&IDLE[..3], &[percent_max], &ROOM].concat());
    let geometry = device.config().geometry;
    let superblock_pages = u64::from(geometry.superblock_pages());
    fill(&mut device, geometry.logical_pages);
    // The host stream filled superblocks in their order. Thirty lose half of their pages, 140 lose a quarter.
    let mut pages = Vec::new();
    for superblock in 0..170 {
        let lost = if superblock < 30 { superblock_pages / 2 } else { superblock_pages / 4 };
        pages.extend((0..lost).map(|page| superblock * superblock_pages + page));
    }
    let mut next = pages.iter();
    closed_loop(&mut device, 32, pages.len() as u64, |tag| {
        op(OpKind::Write, *next.next().expect("as many as pages"), 1, tag)
    });
    assert_eq!(device.telemetry().erased_superblocks, 0, "the host needed no room");
    rest(&mut device, secs(3_600));
    let erased = |superblocks: std::ops::Range<usize>| -> u32 {
        device.ftl().erase_counts[superblocks].iter().sum()
    };
    assert!(device.telemetry().free_superblocks < 50, "the target is not reached");
    assert_eq!((erased(0..30), erased(30..geometry.superblocks as usize)), (30, 0));
    device.check().unwrap();
}

#[test]
fn idle_collection_ends_at_its_target_and_a_year_costs_nothing() {
    let (mut device, _) = tortured(&[&IDLE, &ROOM]);
    // Were the clock looked at every 2 ms, or even every 2 s, this would not end soon.
    rest(&mut device, secs(365 * 86_400));
    let done = moved(&device);
    let free = device.telemetry().free_superblocks;
    println!("a year of rest: {free} superblocks free");
    assert!((48..=50).contains(&free), "{free} superblocks free, the target was 50");
    rest(&mut device, secs(365 * 86_400));
    assert_eq!(moved(&device), done);
    device.check().unwrap();
}

/// Random page writes, one per `interval`, whether or not the drive keeps up; returns the longest
/// latency.
fn open_loop(device: &mut Device, interval: Nanos, count: u64, rng: &mut Rng) -> u64 {
    let pages = device.config().geometry.logical_pages;
    let mut free: Vec<u32> = (0..device.config().queue_depth).collect();
    let (mut ended, mut worst_ns, start) = (Vec::new(), 0, device.now().0);
    for number in 0..count {
        let due = Nanos(start + number * interval.0);
        device.run_until(due);
        device.reap(usize::from(free.is_empty()), &mut ended);
        for end in ended.drain(..) {
            free.push(end.tag);
            worst_ns = worst_ns.max(end.latency().0);
        }
        let tag = free.pop().expect("one has ended");
        device.submit(&op(OpKind::Write, rng.below(pages), 1, tag));
    }
    // No tag is in use twice: the next round begins with all of them.
    device.reap(device.config().queue_depth as usize - free.len(), &mut ended);
    ended.iter().fold(worst_ns, |worst_ns, end| worst_ns.max(end.latency().0))
}

#[test]
fn cleaning_in_the_gaps_spares_a_moderate_host_its_stalls() {
    let run = |changes: &[(&str, &str)]| {
        let (mut device, mut rng) = tortured(&[changes, &ROOM]);
        // A tenth of what an erased drive takes.
        let interval = Nanos(1_500_000);
        open_loop(&mut device, interval, 20_000, &mut rng);
        let worst_ns = open_loop(&mut device, interval, 20_000, &mut rng);
        device.check().unwrap();
        worst_ns
    };
    let lazy_ns = run(&[]);
    let background_ns = run(&[("background_gc.free_target", "12")]);
    println!("longest write: {lazy_ns} ns, with background collection {background_ns} ns");
    assert!(lazy_ns > 10 * background_ns);
}

#[test]
fn the_gap_after_any_write_is_used() {
    let (mut device, mut rng) = tortured(&[&ROOM, &[("background_gc.free_target", "20")]]);
    rest(&mut device, secs(60));
    let pages = device.config().geometry.logical_pages;
    let unit_pages = u64::from(device.config().geometry.unit_pages);
    let mut used = vec![0; unit_pages as usize];
    for write in 0..4_000 {
        let before = moved(&device);
        alone(&mut device, &op(OpKind::Write, rng.below(pages), 1, 0));
        rest(&mut device, Nanos(20_000_000));
        used[(write % unit_pages) as usize] += u64::from(moved(&device) > before);
    }
    println!("gaps in which pages moved, by the place of the write before in its unit: {used:?}");
    assert!(used.iter().all(|&gaps| gaps > 50), "{used:?}");
}

#[test]
fn a_constant_queue_has_no_gaps() {
    let run = |changes: &[(&str, &str)]| {
        let (mut device, mut rng) = tortured(&[changes, &ROOM]);
        let (before, pages) = (moved(&device), device.config().geometry.logical_pages);
        random_writes(&mut device, pages, pages / 4, &mut rng);
        moved(&device) - before
    };
    let (lazy, background) = (run(&[]), run(&[("background_gc.free_target", "12")]));
    // The one gap is before the first write.
    assert!(lazy.abs_diff(background) * 100 < lazy, "{lazy} pages moved, {background}");
}

/// Without a gap, a drive with background collection equals one without, to the nanosecond and page
/// by page.
#[test]
fn background_collection_waits_for_a_gap() {
    let run = |changes: &[(&str, &str)]| {
        let mut device = small(&[changes, &ROOM].concat());
        let pages = device.config().geometry.logical_pages;
        let mut rng = Rng::split(1, "addresses");
        device.telemetry_start(Nanos(10_000_000));
        let mut filled = 0;
        closed_loop(&mut device, 32, pages / 32 + pages / 4, |tag| {
            if filled + 32 <= pages {
                filled += 32;
                return op(OpKind::Write, filled - 32, 32, tag);
            }
            op(OpKind::Write, rng.below(pages), 1, tag)
        });
        let mut rows = Vec::new();
        device.telemetry_take(&mut rows);
        (device.now(), rows, device)
    };
    let (lazy_end, lazy_rows, _) = run(&[]);
    let (end, rows, mut device) = run(&[("background_gc.free_target", "30")]);
    assert!(rows.iter().map(|row| row.gc_moved_pages).sum::<u64>() > 10_000);
    assert_eq!(end, lazy_end);
    assert_eq!(rows, lazy_rows);
    rest(&mut device, secs(60));
    let rested = device.telemetry().free_superblocks;
    assert!((28..=30).contains(&rested), "{rested} superblocks free, the target was 30");
}
