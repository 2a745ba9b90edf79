//! Do superblocks over a part of the dies lie, fill and erase where they should?

use std::ops::Range;

use base::{Nanos, Op, OpKind, Ratio, Rng};
use sim::ftl::StreamId;
use sim::{Device, Probe};

use crate::common::{alone, closed_loop, op, small, small_config};

/// The dies on which each superblock was erased.
#[derive(Default)]
struct Erases(Vec<(u32, u32)>);

impl Probe for Erases {
    fn die_erased(&mut self, superblock: u32, die: u32) {
        self.0.push((superblock, die));
    }
}

#[test]
fn a_superblock_is_erased_on_the_dies_of_its_group_and_on_no_other() {
    let config = small_config(Ratio::ONE, &[("nand.die_groups", "2")]);
    let mut device = Device::with_probe(config, Erases::default());
    let geometry = device.config().geometry;
    let pages = geometry.logical_pages;
    let mut rng = Rng::new(1);
    closed_loop(&mut device, 32, 4 * pages, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
    let erases = &device.probe().0;
    assert!(erases.len() > 100, "{} erases", erases.len());
    for &(superblock, die) in erases {
        assert_eq!(die / (geometry.dies / 2), superblock % 2, "superblock {superblock}");
    }
    device.check().unwrap();
}

/// The victims of garbage collection, and the unit that came to NAND last.
#[derive(Default)]
struct Victims {
    superblocks: Vec<u32>,
    programmed: u32,
}

impl Probe for Victims {
    fn victim(&mut self, superblock: u32) {
        self.superblocks.push(superblock);
    }

    fn programmed(&mut self, unit: u32) {
        self.programmed = unit;
    }
}

const COMMAND: u64 = 6_000;
const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;
/// A page over the link, and over a channel.
const LINK: u64 = 8_000;
const CHANNEL: u64 = 10_000;
/// A page from NAND: command, array, channel, link.
const READ: u64 = 5_000 + 50_000 + CHANNEL + LINK;
/// A unit of four pages from the write buffer to NAND: channel, array.
const TO_NAND: u64 = 4 * CHANNEL + PROGRAM;

/// The die on which a page lies.
fn die_of(device: &Device<Victims>, page: u64) -> u32 {
    let ftl = device.ftl();
    ftl.geometry.die_of_unit(ftl.unit_of(ftl.l2p.get(page)))
}

/// Writes four pages to NAND, and returns how long that takes.
fn write_through(device: &mut Device<Victims>, page: u64) -> u64 {
    alone(device, &Op { fua: true, ..op(OpKind::Write, page, 4, 0) })
}

/// A drive of which everything holds data, and then the units of one group are overwritten in order until garbage
/// collection begins. So the first victims are superblocks of that group without a valid page. Their erases begin in the
/// moment in which a unit is placed, one after the other, on dies that have nothing else to do.
struct AtErase {
    device: Device<Victims>,
    group: Range<u32>,
    /// The die that programs the unit, and erases after that.
    busy_die: u32,
    /// The end of the first and of the last erase on the other dies of the group.
    first_end_ns: u64,
    end_ns: u64,
    /// Further pages to overwrite.
    pages: std::vec::IntoIter<u64>,
}

impl AtErase {
    fn new() -> Self {
        let config = small_config(Ratio::ONE, &[("nand.die_groups", "2")]);
        let mut device = Device::with_probe(config, Victims::default());
        let geometry = device.config().geometry;
        let units = geometry.logical_pages / 4;
        (0..units).for_each(|unit| _ = write_through(&mut device, 4 * unit));
        let group = geometry.dies_of(0);
        let of_group = |page: &u64| group.contains(&die_of(&device, *page));
        let pages: Vec<u64> = (0..units).map(|unit| 4 * unit).filter(of_group).collect();
        let mut pages = pages.into_iter();
        let (mut sent, mut placed) = (0, 0);
        while device.probe().superblocks.is_empty() {
            (sent, placed) = (device.now().0, pages.next().expect("the group is large"));
            write_through(&mut device, placed);
        }
        let victims = &device.probe().superblocks;
        assert!(victims.iter().all(|victim| geometry.dies_of(*victim) == group), "{victims:?}");
        let first_end_ns = sent + COMMAND + 4 * LINK + ERASE;
        let end_ns = first_end_ns + (victims.len() as u64 - 1) * ERASE;
        let busy_die = die_of(&device, placed);
        Self { device, group, busy_die, first_end_ns, end_ns, pages }
    }

    /// Whether a page comes to NAND at this very moment.
    fn comes_to_nand_at(&mut self, page: u64, time_ns: u64) -> bool {
        let device = &mut self.device;
        let unit = device.ftl().unit_of(device.ftl().l2p.get(page));
        [time_ns - 1, time_ns].map(|ns| {
            device.run_until(Nanos(ns));
            device.probe().programmed == unit
        }) == [false, true]
    }
}

#[test]
fn an_erase_delays_reads_of_its_own_group_of_dies_only_to_the_nanosecond() {
    let AtErase { mut device, group, busy_die, first_end_ns, .. } = AtErase::new();
    let pages = device.config().geometry.logical_pages;
    let on = |device: &Device<Victims>, is_wanted: &dyn Fn(u32) -> bool| {
        let page = (0..pages).step_by(4).find(|&page| is_wanted(die_of(device, page)));
        op(OpKind::Read, page.expect("every die holds data"), 1, 0)
    };
    let other = on(&device, &|die| !group.contains(&die));
    assert_eq!(alone(&mut device, &other), READ, "beside the erase");
    let own = on(&device, &|die| group.contains(&die) && die != busy_die);
    let sent = device.now().0;
    let end = sent + alone(&mut device, &own);
    assert_eq!(end, first_end_ns + 50_000 + CHANNEL + LINK, "behind the erase in progress");
    device.check().unwrap();
}

/// The units of a row follow each other over the link and go to one die each.
#[test]
fn an_erase_delays_programs_of_its_own_group_of_dies_only_to_the_nanosecond() {
    let mut state = AtErase::new();
    let sent = state.device.now().0;
    let pages: Vec<u64> = state.pages.by_ref().take(3).collect();
    for (tag, &page) in (0..).zip(&pages) {
        state.device.submit(&op(OpKind::Write, page, 4, tag));
    }
    let arrivals = (1..).map(|units| sent + COMMAND + 4 * LINK * units);
    state.device.run_until(Nanos(sent + COMMAND + 12 * LINK));
    let dies = pages.iter().map(|page| die_of(&state.device, *page));
    let (behind, beside): (Vec<_>, Vec<_>) = pages
        .iter()
        .zip(arrivals)
        .zip(dies.collect::<Vec<_>>())
        .partition(|(_, die)| state.group.contains(die));
    for ((page, arrival), die) in &beside {
        assert!(state.comes_to_nand_at(**page, arrival + TO_NAND), "die {die}, beside the erase");
    }
    let [((page, _), die)] = behind[..] else { panic!("one of three dies is of the group") };
    assert_ne!(die, state.busy_die);
    assert!(state.comes_to_nand_at(*page, state.end_ns + TO_NAND), "behind all erases");
    state.device.check().unwrap();
}

#[test]
fn a_stream_writes_on_all_dies_at_once() {
    let [whole, halves, singles] = ["1", "2", "4"].map(|groups| {
        let mut device = small(&[("nand.die_groups", groups)]);
        let unit_pages = u64::from(device.config().geometry.unit_pages);
        let stripe = unit_pages * u64::from(device.config().geometry.dies);
        // Neighbouring units lie on different channels.
        let pair = alone(&mut device, &op(OpKind::Write, 0, 2 * unit_pages, 0));
        device.run_until(crate::common::secs(1));
        let read_pair = alone(&mut device, &op(OpKind::Read, 0, 2 * unit_pages, 0));
        device.run_until(crate::common::secs(2));
        let rest =
            alone(&mut device, &op(OpKind::Write, 2 * unit_pages, stripe - 2 * unit_pages, 0));
        device.run_until(crate::common::secs(3));
        [pair, read_pair, rest, alone(&mut device, &op(OpKind::Read, 0, stripe, 0))]
    });
    assert_eq!((halves, singles), (whole, whole), "every die holds one unit");
}

/// Pages that the host placed next after a page was moved.
#[derive(Default)]
struct AfterMove {
    superblock_pages: u64,
    /// The group of the page placed last, if it was a moved one.
    moved_in: Option<u64>,
    in_that_group: u64,
    in_the_other: u64,
}

impl Probe for AfterMove {
    fn placed(&mut self, stream: StreamId, _: u64, physical: u64) {
        let group = physical / self.superblock_pages % 2;
        if stream.is_moved() {
            self.moved_in = Some(group);
        } else if let Some(moved_in) = self.moved_in.take() {
            self.in_that_group += u64::from(moved_in == group);
            self.in_the_other += u64::from(moved_in != group);
        }
    }
}

#[test]
fn the_host_goes_on_in_the_group_that_does_not_clean() {
    let [one, own] = ["all", "per-group"].map(|victims| {
        let changes = [
            ("nand.die_groups", "2"),
            ("gc.victims", victims),
            ("gc.quantum_bytes", "8_000_000"),
            ("nand.blocks_per_plane", "640"),
        ];
        let config = small_config(Ratio::ONE, &changes);
        let superblock_pages = config.geometry.superblock_pages().into();
        let probe = AfterMove { superblock_pages, ..AfterMove::default() };
        let mut device = Device::with_probe(config, probe);
        let pages = device.config().geometry.logical_pages;
        let mut rng = Rng::new(1);
        closed_loop(&mut device, 32, 4 * pages, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
        device.check().unwrap();
        let AfterMove { in_that_group, in_the_other, .. } = *device.probe();
        println!(
            "{victims}: {in_that_group} in the group of the move, {in_the_other} in the other"
        );
        in_the_other as f64 / (in_that_group + in_the_other) as f64
    });
    assert!(own > 0.7 && own > one + 0.2, "{own} with victims of their own, {one} without");
}

#[test]
fn groups_that_clean_for_themselves_are_few_and_keep_their_data() {
    let own = ("gc.victims", "per-group");
    let refusal = |changes: &[(&str, &str)]| {
        let words = refusal(&[&[own], changes].concat());
        assert!(words.contains("gc.victims") && words.contains("per-group"), "{words}");
        words
    };
    let alone = refusal(&[]);
    assert!(alone.contains("it needs 2 to 8 groups of dies, and nand.die_groups is 1"), "{alone}");
    let many = refusal(&[("nand.die_groups", "16"), ("nand.dies_per_channel", "8")]);
    assert!(many.contains("and nand.die_groups is 16"), "{many}");
    let groups = ("nand.die_groups", "2");
    let cold = refusal(&[groups, ("streams.cold", "survivor")]);
    assert!(cold.contains("it must be all with [streams]"), "{cold}");
    let worn = [("wear_leveling.allocation", "least-worn"), ("wear_leveling.spread_max", "2")];
    let worn = refusal(&[&[groups], &worn[..]].concat());
    assert!(worn.contains("it must be all with [wear_leveling]"), "{worn}");
    let refresh = [
        ("housekeeping.refresh_after_ns", "1_000_000_000_000"),
        ("housekeeping.refresh_pages_per_s", "10"),
    ];
    let old = refusal(&[&[groups], &refresh[..]].concat());
    assert!(old.contains("it must be all with housekeeping.refresh_after_ns"), "{old}");
    let tight = self::refusal(&[own, groups, ("gc.free_high", "80")]);
    assert!(tight.contains("2 x gc.free_high + 8 = 168"), "{tight}");
}

/// The refusal of a small drive with changes.
fn refusal(changes: &[(&str, &str)]) -> String {
    let changes: Vec<_> = changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let model = sim::Model::load("small", crate::common::SMALL, &changes).unwrap();
    model.resolve(Ratio::ONE).unwrap_err().to_string()
}

#[test]
fn an_impossible_number_of_groups_is_refused() {
    let odd = refusal(&[("nand.die_groups", "3")]);
    assert!(odd.contains("nand.die_groups") && odd.contains("it must divide the 4 dies"), "{odd}");
    let parity = refusal(&[("nand.die_groups", "2"), ("parity.stripe_units", "4")]);
    assert!(parity.contains("it must be 1 with [parity]"), "{parity}");
}
