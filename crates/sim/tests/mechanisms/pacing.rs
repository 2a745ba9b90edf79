//! Does each pacing policy demand the work in its description? Formulas of the three questions,
//! without a drive around them.

use sim::ftl::pacing::{Level, Pacing, PacingKind};

const FREE_LOW: u32 = 3;
const FREE_HIGH: u32 = 11;
const SUPERBLOCK_PAGES: u32 = 512;

fn policy(kind: PacingKind) -> Pacing {
    Pacing::new(kind, FREE_LOW, FREE_HIGH)
}

fn level(writable_pages: u64, victim_valid_pages: u32) -> Level {
    Level { writable_pages, superblock_pages: SUPERBLOCK_PAGES, victim_valid_pages }
}

/// Sum of owed pages for this number of units of four pages at one level.
fn owed(kind: PacingKind, level: Level, units: u64) -> u64 {
    let mut policy = policy(kind);
    (0..units).map(|_| policy.owed_pages(level, 4)).sum()
}

/// A straight line from none at `free_high` to 32 pages per page at `free_low`, and not beyond; a
/// fraction counts as a page once per unit.
#[test]
fn in_proportion_means_a_straight_line_between_the_levels() {
    let at = |superblocks: u64, pages: u64| {
        owed(PacingKind::Proportional, level(superblocks * 512 + pages, 0), 1)
    };
    assert_eq!([at(12, 0), at(11, 0), at(3, 0), at(2, 0), at(0, 0)], [0, 0, 128, 128, 128]);
    for eighths in 0..=8 {
        assert_eq!(at(11 - eighths, 0), eighths * 32 * 4 / 8);
    }
    // 8 x 512 pages below the level are 128 pages, so 32 are one; less is rounded up.
    assert_eq!([at(10, 511), at(10, 481), at(10, 480), at(10, 479)], [1, 1, 1, 2]);
}

/// A victim with v of S pages valid gives S - v pages for v moves: v / (S - v) per page, a quarter
/// more below the middle of the levels and a quarter less above, none from `free_high` on.
/// Fractions add up.
#[test]
fn the_token_has_the_price_of_the_victim_in_hand() {
    let (middle, high) = (7 * 512, 11 * 512);
    for valid in [0, 1, 100, 256, 400, 511] {
        for (writable, quarters) in [(0, 5), (middle - 1, 5), (middle, 3), (high - 1, 3), (high, 0)]
        {
            let units = 1_000;
            let measured = owed(PacingKind::Token, level(writable, valid), units);
            let price = units * 4 * u64::from(valid) * quarters / (4 * u64::from(512 - valid));
            let difference = measured.abs_diff(price);
            assert!(difference <= 1, "{valid} valid, {writable} writable: {measured}, not {price}");
        }
    }
}

/// Four pages per page below `free_high`, none above; at `free_low` the host stops until one superblock more is erased.
#[test]
fn the_background_has_its_share_and_then_stops_the_host_for_one_superblock() {
    let high = u64::from(FREE_HIGH * SUPERBLOCK_PAGES);
    let at = |writable| owed(PacingKind::Background, level(writable, 0), 1);
    assert_eq!([at(high), at(high - 1), at(0)], [0, 16, 16]);
    let mut policy = policy(PacingKind::Background);
    assert!(policy.host_may_open(FREE_LOW + 1) && !policy.must_collect(FREE_LOW));
    assert!(!policy.host_may_open(FREE_LOW) && policy.must_collect(FREE_LOW));
    assert!(!policy.must_collect(FREE_LOW + 1) && policy.host_may_open(FREE_LOW + 1));
}

/// Policies with continuous payment stop the host at `free_low` and collect there without a debt; the rate collects
/// without one up to `free_high`.
#[test]
fn the_host_waits_at_the_low_level() {
    for kind in [PacingKind::Proportional, PacingKind::Token, PacingKind::Rate] {
        let mut policy = policy(kind);
        for free in 0..20 {
            let is_ahead = kind == PacingKind::Rate && free < FREE_HIGH;
            let must_collect = free <= FREE_LOW || is_ahead;
            assert_eq!(policy.must_collect(free), must_collect, "{kind:?}, {free}");
            assert_eq!(policy.host_may_open(free), free > FREE_LOW, "{kind:?}, {free}");
        }
    }
}

/// The lazy policy does nothing down to `free_low`, and then stops the host until there are
/// `free_high`.
#[test]
fn a_watermark_stops_the_world_from_the_low_level_up_to_the_high_one() {
    let mut policy = policy(PacingKind::Watermark);
    assert_eq!(policy.owed_pages(level(0, 511), 4), 0);
    assert!((FREE_LOW + 1..20).rev().all(|free| policy.host_may_open(free)));
    assert!(!policy.must_collect(FREE_LOW), "nobody has asked for a superblock yet");
    assert!(!policy.host_may_open(FREE_LOW));
    assert!(
        (FREE_LOW..FREE_HIGH).all(|free| policy.must_collect(free) && !policy.host_may_open(free))
    );
    assert!(!policy.must_collect(FREE_HIGH) && policy.host_may_open(FREE_HIGH));
    assert!(policy.host_may_open(FREE_LOW + 1) && !policy.must_collect(FREE_LOW + 1));
}
