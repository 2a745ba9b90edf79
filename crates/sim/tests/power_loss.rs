//! Does a drive keep its promises when its power fails? Random tiny drives, random commands, cuts
//! at random moments; a failure names the seed and the command that repeats this one case.
#![allow(clippy::print_stdout, reason = "a test that shows its figures")]

mod common;

use base::{Nanos, OpKind, Ratio, Rng};
use sim::Device;
use sim::ftl::{NO_PAGE, STREAMS, StreamId, SuperblockState};
use sim::power_loss::{Contents, MapUnit, PoweredOff, UnitState};
use sim_trial::{Report, damage};

use common::cases::{Cases, how_to_repeat};
use common::power::{Fate, Life, Sabotage, live};
use common::{CACHE, MAP_ROOM, MAPPED, alone, closed_loop, op, secs, small_config};

const CUTS: u64 = 10_000;
/// Sometimes the power fails again at once.
const USUAL: Fate = Fate { cuts: 25, commands: [0, 10, 100, 400], sabotage: None };

/// Tests of drives up to this number of cuts, or the selected part of it; no drive may break a
/// promise.
fn good_lives(cases: Cases, cuts: u64, fate: Fate) -> Vec<Life> {
    let mut lives = Vec::new();
    let mut seen = 0;
    let cuts = cases.part(cuts);
    for life in cases.seeds(u64::MAX).filter_map(|seed| live(seed, fate)) {
        let Life { seed, report, .. } = &life;
        let again = how_to_repeat("power_loss", *seed);
        assert!(report.is_kept(), "seed {seed}: {:?} {:?}\n{again}", report.broken, report.faults);
        seen += report.cuts;
        lives.push(life);
        if seen >= cuts {
            break;
        }
    }
    lives
}

fn sum(lives: &[Life], figure: impl Fn(&Report) -> u64) -> u64 {
    lives.iter().map(|life| figure(&life.report)).sum()
}

/// Events that must have happened more often than a number.
type Least = (&'static str, u64, fn(&Report) -> u64);

#[test]
fn ten_thousand_cuts_lose_nothing_that_was_promised() {
    let cases = Cases::chosen();
    let lives = good_lives(cases, CUTS, USUAL);
    if cases.is_repetition() {
        return;
    }
    let (all, least) = (cases.part(CUTS), cases.least(CUTS));
    let (protected, exposed): (Vec<_>, Vec<_>) =
        lives.into_iter().partition(|life| life.has_capacitors);
    let at_stake = |lives: &[Life]| sum(lives, |report| report.writes_not_durable);
    println!("{} drives with capacitors, {} without", protected.len(), exposed.len());
    println!("{} writes were lost as allowed", at_stake(&exposed));
    let cuts = sum(&protected, |report| report.cuts);
    // One drive in three has capacitors. A tenth of the cases is some 40 drives, whose share may be far from that.
    let share = if cases == Cases::All { all / 10..all / 2 } else { all / 50..all * 4 / 5 };
    assert!(share.contains(&cuts), "{cuts} of {all} cuts with capacitors");
    assert_eq!(at_stake(&protected), 0, "capacitors keep what was acknowledged");
    assert!(at_stake(&exposed) > least, "hardly any write was at stake");
    let figures: [Least; 9] = [
        ("reads", least, |report| report.reads),
        ("pages found outside the journal", least, |report| report.pages_found.sum),
        ("pages moved", least, |report| report.gc_moved_pages),
        ("pages of the map", least, |report| report.metadata_pages),
        ("pages folded", least, |report| report.folded_pages),
        ("pages saved", least, |report| report.saved_pages),
        ("writes torn", cases.least(CUTS / 10), |report| report.writes_torn),
        ("programs torn", cases.least(CUTS / 10), |report| report.torn_programs),
        ("erases torn", cases.least(CUTS / 100), |report| report.torn_erases),
    ];
    for (name, least, figure) in figures {
        let seen = sum(&exposed, figure);
        println!("{seen} {name}");
        // Few drives erase much, and a tenth of the cases may hold none of them.
        let may_miss = name == "erases torn" && cases != Cases::All;
        assert!(seen > least || may_miss, "{name}: it hardly happened");
    }
}

#[test]
fn a_drive_that_never_gets_anything_done_lives_on() {
    // Hundreds of cuts within a few commands of each other: no victim is ever finished in one go.
    let fate = Fate { cuts: 200, commands: [0, 1, 2, 5], sabotage: None };
    let cases = Cases::chosen();
    let lives = good_lives(cases, 9_000, fate);
    let moved = sum(&lives, |report| report.gc_moved_pages);
    assert!(cases.is_repetition() || moved > cases.least(5_000), "{moved} pages moved");
}

/// A mapped drive of 4 dies on 2 channels and units of 4 pages, see `SMALL`.
fn mapped(changes: &[(&str, &str)]) -> Device<Contents> {
    let changes = [&MAPPED[..], &MAP_ROOM, changes].concat();
    Device::with_contents(small_config(Ratio::ONE, &changes)).expect("it has a journal")
}

#[test]
fn a_recovery_takes_as_long_as_its_reads() {
    // A unit of the drive's life: 4 pages on one of 4 dies; 558 superblocks are looked at on every die, a read
    // of 50 us and a page over the channel each, and a channel is shared by two dies (another 10 us).
    let mut device = mapped(&[]);
    device.submit(&op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(1));
    let (mut device, report) = device.power_cut().power_on();
    let looks_ns = 558 * 60_000 + 10_000;
    let search_ns = 50_000 + 4 * 10_000;
    assert_eq!(report.duration_ns, looks_ns + search_ns);
    assert_eq!((report.pages_found, report.superblocks_searched), (4, 1));
    assert_eq!(device.now().0, secs(1).0 + report.duration_ns);
    // The page is read from NAND: command, array, channel, link.
    let read_ns = 5_000 + 50_000 + 10_000 + 8_000;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), read_ns);
}

#[test]
fn capacitors_last_as_long_as_the_buffer_takes() {
    let mut device = mapped(&[("buffer.power_loss_protected", "true")]);
    alone(&mut device, &op(OpKind::Write, 0, 1, 0));
    let off = device.power_cut();
    // One unit completed with padding, then the journal's, each across the channel and into the array.
    assert_eq!(off.held_up_ns(), 2 * (4 * 10_000 + 600_000));
    let (device, report) = off.power_on();
    assert_eq!((report.journal_units, device.probe().version(0)), (1, Some(0)));
    let mut device = mapped(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 1, 0));
    let (device, report) = device.power_cut().power_on();
    assert_eq!((report.pages_found, device.probe().version(0)), (0, None));
}

/// Writes of 1 to 4 pages, most of them to a tenth of the drive; a few flushes.
fn skewed_writes(device: &mut Device<Contents>, commands: u64, rng: &mut Rng) {
    let pages = device.config().geometry.logical_pages - 4;
    closed_loop(device, 32, commands, |tag| {
        let among = if rng.chance(9, 10) { pages / 10 } else { pages };
        let (page, length) = (rng.below(among), 1 + rng.below(4));
        let kind = if rng.chance(1, 200) { OpKind::Flush } else { OpKind::Write };
        op(kind, page, if kind == OpKind::Write { length } else { 0 }, tag)
    });
}

/// NAND contains wear and the stream that wrote a superblock: wear leveling and the separation of
/// hot and cold data continue after a cut.
#[test]
fn a_recovered_drive_knows_how_worn_its_superblocks_are_and_who_wrote_them() {
    let cold = [("streams.cold", "survivor"), ("nand.blocks_per_plane", "620")];
    let mut device = mapped(&[&CACHE[..], &cold].concat());
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    for page in 0..pages / 16 {
        closed_loop(&mut device, 1, 1, |tag| op(OpKind::Write, page * 16, 16, tag));
    }
    skewed_writes(&mut device, pages, &mut rng);
    let (states, writers) = (device.ftl().states.clone(), device.ftl().written_by.clone());
    let erases = device.ftl().erase_counts.clone();
    let closed_at = device.ftl().closed_at.clone();
    let spread = erases.iter().max().unwrap() - erases.iter().min().unwrap();
    assert!(spread > 3, "superblocks are worn unevenly: {spread}");
    let (device, _) = device.power_cut().power_on();
    assert_eq!(device.ftl().erase_counts, erases);
    let mut seen = [0; STREAMS];
    let mut order: [Vec<(u64, u64)>; STREAMS] = Default::default();
    for (superblock, state) in states.into_iter().enumerate() {
        if matches!(state, SuperblockState::Closed | SuperblockState::Cached) {
            let writer = writers[superblock];
            assert_eq!(device.ftl().written_by[superblock], writer, "superblock {superblock}");
            seen[writer as usize] += 1;
            order[writer as usize]
                .push((closed_at[superblock], device.ftl().closed_at[superblock]));
        }
    }
    let written = [StreamId::Host, StreamId::Gc, StreamId::Cold, StreamId::Pslc];
    let is_seen = |&stream: &StreamId| seen[stream as usize] > 0;
    assert!(written.iter().all(is_seen), "{seen:?} superblocks by stream");
    // Within a stream what was older still is, for policies that go by age.
    for mut stream in order {
        stream.sort_unstable();
        assert!(stream.is_sorted_by_key(|(_, after)| *after));
    }
}

/// Blocks with one bit per cell stay so over a cut: read as fast as before, and folded into cells
/// that are slow again.
#[test]
fn a_recovered_cache_is_still_read_with_one_bit_per_cell() {
    let mut device = mapped(&[&CACHE[..], &[("nand.blocks_per_plane", "620")]].concat());
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let (mut device, _) = device.power_cut().power_on();
    let read = op(OpKind::Read, 0, 1, 0);
    // Command, array, channel, link.
    assert_eq!(alone(&mut device, &read), 5_000 + 20_000 + 10_000 + 8_000);
    device.run_until(secs(10));
    assert_eq!((device.telemetry().folded_pages, device.telemetry().pslc_pages), (4, 0));
    assert_eq!(alone(&mut device, &read), 5_000 + 50_000 + 10_000 + 8_000);
}

/// A program that is suspended for a read has begun: its unit is neither empty nor readable.
#[test]
fn a_suspended_program_is_torn_like_any_other() {
    let mut device = mapped(&[
        ("nand.suspend.suspend_ns", "20_000"),
        ("nand.suspend.resume_ns", "30_000"),
        ("nand.suspend.per_operation_max", "2"),
    ]);
    alone(&mut device, &op(OpKind::Write, 0, 16, 0));
    device.run_until(secs(1));
    // The fifth unit is on die 0 again, as the page that is read while it is programmed.
    alone(&mut device, &op(OpKind::Write, 16, 4, 0));
    device.run_until(Nanos(device.now().0 + 200_000));
    device.submit(&op(OpKind::Read, 0, 1, 0));
    // Command, suspension, and half of the time in the array.
    device.run_until(Nanos(device.now().0 + 5_000 + 20_000 + 25_000));
    let unit = device.ftl().unit_of(device.ftl().l2p.get(16));
    let off = device.power_cut();
    assert_eq!(off.torn_programs(), 1);
    assert_eq!(off.nand().state(unit), UnitState::Torn);
}

/// A journal unit with a torn predecessor does not count, and does not count later when other units
/// have taken the predecessor's place: the deallocations in it stay undone for good.
#[test]
fn a_journal_unit_that_was_passed_over_stays_so() {
    let mut device = mapped(&[]);
    let deallocate = |page, tag| op(OpKind::Deallocate, page, 1, tag);
    let flush = |tag| op(OpKind::Flush, 0, 0, tag);
    let is_there = |device: &Device<Contents>, page: u64| device.ftl().l2p.get(page) != NO_PAGE;
    // The first journal unit is on die 0.
    alone(&mut device, &op(OpKind::Write, 0, 20, 0));
    device.run_until(secs(1));
    alone(&mut device, &deallocate(12, 0));
    alone(&mut device, &flush(0));
    // A unit of data keeps die 1 from the second one, while the third is programmed on die 2.
    alone(&mut device, &op(OpKind::Write, 20, 4, 0));
    [deallocate(0, 0), flush(1), deallocate(1, 2), flush(3)]
        .iter()
        .for_each(|op| device.submit(op));
    device.run_until(Nanos(device.now().0 + 900_000));
    let off = device.power_cut();
    let journal = |off: &PoweredOff, place| {
        let geometry = off.config().geometry;
        off.nand().state(geometry.superblocks * geometry.superblock_units + place)
    };
    let states = [0, 1, 2, 3].map(|place| journal(&off, place));
    assert_eq!(states, [UnitState::Written, UnitState::Torn, UnitState::Written, UnitState::Blank]);
    let (mut device, report) = off.power_on();
    assert_eq!(report.journal_units, 1);
    assert!(is_there(&device, 0) && is_there(&device, 1), "neither flush had ended");
    for page in [2, 3] {
        alone(&mut device, &deallocate(page, 0));
        alone(&mut device, &flush(0));
    }
    let (device, report) = device.power_cut().power_on();
    assert_eq!(report.journal_units, 3);
    assert_eq!(
        [0, 1, 2, 3, 12].map(|page| is_there(&device, page)),
        [true, true, false, false, false]
    );
}

/// Reads keep one die from its programs while the others erase superblocks that have been
/// overwritten completely: flushed data is in NAND at every moment, in its old place or in its new
/// one.
#[test]
fn a_victim_is_not_erased_before_what_has_overwritten_it_is_safe() {
    const HOT_PAGES: u64 = 384;
    let changes = [&MAPPED[..], &MAP_ROOM, &[("gc.free_high", "70")]].concat();
    let config = small_config(Ratio::new(1, 4).expect("a ratio"), &changes);
    let geometry = config.geometry;
    let pages = geometry.logical_pages;
    let mut device = Device::with_contents(config).expect("it has a journal");
    let mut rng = Rng::new(1);
    let write = |page: u64| move |tag| op(OpKind::Write, page, 1, tag);
    for page in (0..pages).rev() {
        closed_loop(&mut device, 1, 1, write(page));
    }
    let on_the_die = |device: &Device<Contents>, page: u64| {
        let unit = device.ftl().unit_of(device.ftl().l2p.get(page));
        geometry.die_of_unit(unit) == 0
    };
    let mut waiting = 0;
    for round in 0..25 {
        alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
        let cold: Vec<u64> =
            (HOT_PAGES..pages).filter(|&page| on_the_die(&device, page)).take(500).collect();
        let mut hot: Vec<u64> = (0..HOT_PAGES).collect();
        hot.sort_by_cached_key(|_| rng.next_u64());
        let mut next = |tag: u32, rng: &mut Rng| match tag {
            0..16 => op(OpKind::Read, cold[rng.below(500) as usize], 1, tag),
            _ => op(OpKind::Write, hot.pop().unwrap_or_else(|| rng.below(HOT_PAGES)), 1, tag),
        };
        (0..32).for_each(|tag| device.submit(&next(tag, &mut rng)));
        let end_ns = device.now().0 + 5_000_000 + rng.below(10_000_000);
        let mut out = Vec::new();
        while device.now().0 < end_ns {
            device.reap(1, &mut out);
            out.drain(..).for_each(|end| device.submit(&next(end.tag, &mut rng)));
        }
        let states = device.ftl().states.iter().zip(&device.ftl().valid_pages);
        waiting += states.filter(|&state| state == (&SuperblockState::Victim, &0)).count();
        let (recovered, _) = device.power_cut().power_on();
        device = recovered;
        for page in 0..geometry.logical_pages {
            let physical = device.ftl().l2p.get(page);
            let spare = device.probe().nand().read_whole(physical);
            assert_eq!(spare.map(|spare| spare.logical), Some(page), "cut {round}");
        }
    }
    println!("{waiting} victims held nothing valid and were not erased yet when power went");
    assert!(waiting > 10, "{waiting}");
}

/// Drives to sabotage.
const LIVES: u64 = 800;

/// Number of the first drives that break a promise, among so many.
fn broken_lives(lives: u64, sabotage: Sabotage) -> (u64, String) {
    let mut broken = (0, String::new());
    for seed in 0..lives {
        let life = live(seed, Fate { cuts: 8, sabotage: Some(sabotage), ..USUAL });
        if let Some(life) = life.filter(|life| !life.report.is_kept()) {
            let Report { broken: pages, faults, .. } = life.report;
            broken = (broken.0 + 1, format!("{pages:?} {faults:?}"));
        }
    }
    println!("{} lives broken; the last: {}", broken.0, &broken.1[..broken.1.len().min(200)]);
    broken
}

#[test]
fn the_oracle_notices_a_recovery_that_ignores_the_order_of_writes() {
    assert!(broken_lives(LIVES, |off, _| damage::forget_sequences(off.nand_mut())).0 > 20);
}

#[test]
fn the_oracle_notices_victims_that_are_erased_before_their_data_is_safe() {
    let erase_early: Sabotage = |off, emptied| {
        for &superblock in emptied {
            for die in 0..off.config().geometry.dies {
                off.nand_mut().set_block(superblock, die, UnitState::Blank);
            }
        }
    };
    // Few lives lose their power between the two.
    assert!(broken_lives(2 * LIVES, erase_early).0 > 10);
}

#[test]
fn the_oracle_notices_a_lost_journal() {
    let lose_journal: Sabotage =
        |off, _| damage::lose_map(off.nand_mut(), |unit| matches!(unit, MapUnit::Journal { .. }));
    assert!(broken_lives(LIVES, lose_journal).0 > 20);
}

#[test]
fn the_oracle_notices_a_lost_checkpoint() {
    let lose_checkpoints: Sabotage =
        |off, _| damage::lose_map(off.nand_mut(), |unit| matches!(unit, MapUnit::Segment { .. }));
    assert!(broken_lives(LIVES, lose_checkpoints).0 > 5);
}

#[test]
fn the_oracle_notices_a_recovery_that_does_not_search() {
    let search_nothing: Sabotage = |off, _| damage::trust_anchors(off.nand_mut());
    assert!(broken_lives(LIVES, search_nothing).0 > 20);
}
