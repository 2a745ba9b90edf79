//! The changes of level in a series: the regimes of a run, its fall and its steady state.
//!
//! Method: the series is averaged into at most 200 blocks, so that a drive that alternates between
//! 0 and 80,000 IOPS from second to second shows its level, not its stutter. The logarithm of the
//! blocks is cut into segments by optimal partitioning (Jackson et al. 2005): the least sum of
//! squares around the segment means plus a penalty for each cut. The penalty follows the noise
//! between neighbouring blocks, less its largest jumps, which are the changes looked for. Each cut
//! is then moved to the second where it fits the unaveraged series best. Blocks hide swings of a few values, so steady
//! state after a change begins only where these have ended.

#[cfg(test)]
mod oracle;

use std::ops::Range;

use super::summary::{Summary, mean};

/// Largest number of blocks for the averages.
const BLOCKS_MAX: usize = 200;
/// Shorter series have no regimes.
pub const VALUES_MIN: usize = 20;
/// A segment is at least this share of all blocks long ...
const SEGMENT_SHARE_MIN: usize = 50;
/// ... and at least this many blocks, so that one stall is no regime.
const SEGMENT_BLOCKS_MIN: usize = 3;
/// Noise below 2% is not worth a cut, however regular the series.
const NOISE_MIN: f64 = 0.02;
/// Levels closer than this many standard errors of their means may be the same.
const STANDARD_ERRORS_MIN: f64 = 5.0;
/// Cost of a cut in units of noise variance x ln(blocks); 2 would be the Bayesian criterion for
/// independent noise, and neighbouring seconds of a drive are not independent.
const PENALTY_FACTOR: f64 = 6.0;
/// Silence counts as this share of the mean, so that its logarithm stays finite.
const SILENCE_SHARE: f64 = 0.01;
/// A level below this share of the highest level so far is a fall.
const FALL_SHARE: f64 = 0.8;
/// Levels closer together than this share count as the same.
pub(super) const SAME_LEVEL_SHARE: f64 = 0.15;
/// Scatter may widen that share up to this one.
const SAME_LEVEL_SHARE_MAX: f64 = 0.35;
/// Levels that turn up or down this many times are waves.
const WAVE_TURNS_MIN: usize = 4;
/// Steady state must last this share of the series: 1/10.
const STEADY_SHARE_MIN: usize = 10;
/// Swings may move the start of steady state by this share of what follows it: 1/20.
const SWING_SHARE_MAX: usize = 20;
/// Half the width of the band of the later half, in standard deviations; swings leave this band.
const SWING_STDDEVS: f64 = 4.0;
/// Least half width of that band, as a share of the mean; the band also contains all values.
const SWING_SHARE_MIN: f64 = 0.05;

/// A part of a series with one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Regime {
    /// Positions in the series.
    pub values: Range<usize>,
    /// Mean of the values there.
    pub level: f64,
}

/// The shape of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// All regimes in order; they cover the series. Empty for a series that is too short.
    pub regimes: Vec<Regime>,
    /// Position at which the first significant drop from the initial level begins; `None` for a
    /// series without one.
    pub fall_start: Option<usize>,
    /// Position from which the series keeps its final levels; 0 for a constant series, `None` for
    /// one that does not settle.
    pub steady_start: Option<usize>,
}

impl Shape {
    /// The shape of a series of rates, which must not be negative.
    pub fn of(values: &[f64]) -> Self {
        let mut regimes = regimes(values);
        let settled = steady_start(values, &regimes);
        // In a series that is the same throughout, a trough is part of the pattern, no fall.
        let falls = settled != Some(0);
        let fall_start = fall_start(&regimes).filter(|_| falls);
        let steady_start = settled.map(|start| start + swings(values, start));
        if let Some(start) = steady_start {
            regimes = cut_at(values, &regimes, start);
        }
        Self { regimes, fall_start, steady_start }
    }

    /// Mean of the series from the start of a regime to the end; `None` if no regime begins there.
    pub fn level_from(&self, start: usize) -> Option<f64> {
        let from = self.regimes.iter().position(|regime| regime.values.start == start)?;
        let (sum, length) =
            self.regimes[from..].iter().fold((0.0, 0.0), |(sum, length), regime| {
                let values = regime.values.len() as f64;
                (sum + regime.level * values, length + values)
            });
        Some(sum / length)
    }
}

/// Cuts a series of rates into parts of one level each.
pub fn regimes(values: &[f64]) -> Vec<Regime> {
    if values.len() < VALUES_MIN {
        return Vec::new();
    }
    let width = values.len().div_ceil(BLOCKS_MAX);
    let blocks = log_blocks(values, width);
    let segment_min = SEGMENT_BLOCKS_MIN.max(blocks.len() / SEGMENT_SHARE_MIN);
    let cuts = optimal_cuts(&blocks, segment_min, penalty(&blocks));
    let cuts: Vec<usize> = cuts.into_iter().map(|cut| cut * width).collect();
    let refined = refine(values, &cuts, width * (segment_min + 1));
    regimes_between(values, &drop_needless(values, refined))
}

/// Drops cuts between levels that do not differ: a cut that moved may remove the reason for its
/// neighbour. It drops the least significant cut and weighs the rest again, so that a fragment
/// joins the more similar side.
fn drop_needless(values: &[f64], mut cuts: Vec<usize>) -> Vec<usize> {
    loop {
        let regimes = regimes_between(values, &cuts);
        let need = regimes.windows(2).map(|pair| difference(values, &pair[0], &pair[1]));
        let least = need.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        match least {
            Some((index, need)) if need < 1.0 => cuts.remove(index),
            _ => return cuts,
        };
    }
}

/// Distance of two levels, in units that their scatter and the least noise explain.
fn difference(values: &[f64], a: &Regime, b: &Regime) -> f64 {
    let variance_of_mean = |regime: &Regime| {
        let stddev = Summary::of(&values[regime.values.clone()]).and_then(|s| s.stddev);
        stddev.unwrap_or(0.0).powi(2) / regime.values.len() as f64
    };
    let scatter = STANDARD_ERRORS_MIN * (variance_of_mean(a) + variance_of_mean(b)).sqrt();
    (a.level - b.level).abs() / scatter.max(NOISE_MIN * a.level.max(b.level)).max(f64::MIN_POSITIVE)
}

/// Logarithms of the means of blocks of `width` values.
fn log_blocks(values: &[f64], width: usize) -> Vec<f64> {
    let silence = SILENCE_SHARE * mean(values);
    let log = |mean: f64| if silence > 0.0 { (mean + silence).ln() } else { 0.0 };
    values.chunks(width).map(|block| log(mean(block))).collect()
}

/// The least gain that justifies a cut.
fn penalty(blocks: &[f64]) -> f64 {
    let mut jumps: Vec<f64> = blocks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    jumps.sort_by(f64::total_cmp);
    // The largest jumps are the changes themselves; what is left is noise.
    let kept = &jumps[..jumps.len() - (jumps.len() / 20).max(5).min(jumps.len() / 4)];
    let variance = mean(&kept.iter().map(|jump| jump * jump / 2.0).collect::<Vec<_>>());
    PENALTY_FACTOR * variance.max(NOISE_MIN * NOISE_MIN) * (blocks.len() as f64).ln()
}

/// Sums that give the cost of any segment in constant time.
struct Costs {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Costs {
    fn new(values: &[f64]) -> Self {
        // Around the mean, so that the difference of large sums keeps its digits.
        let center = mean(values);
        let running = |f: fn(f64) -> f64| {
            let sums = values.iter().scan(0.0, |sum, value| {
                *sum += f(value - center);
                Some(*sum)
            });
            std::iter::once(0.0).chain(sums).collect()
        };
        Self { sums: running(|x| x), squares: running(|x| x * x) }
    }

    /// Sum of squares around the mean of `start..end`.
    fn of(&self, start: usize, end: usize) -> f64 {
        let sum = self.sums[end] - self.sums[start];
        let squares = self.squares[end] - self.squares[start];
        (squares - sum * sum / (end - start) as f64).max(0.0)
    }
}

/// The cuts with the least cost, by dynamic programming over the position of the last cut.
fn optimal_cuts(blocks: &[f64], segment_min: usize, penalty: f64) -> Vec<usize> {
    let costs = Costs::new(blocks);
    let mut best = vec![f64::INFINITY; blocks.len() + 1];
    let mut last_cut = vec![0; blocks.len() + 1];
    best[0] = -penalty;
    for end in segment_min..=blocks.len() {
        for start in 0..=end - segment_min {
            let cost = best[start] + costs.of(start, end) + penalty;
            if cost < best[end] {
                (best[end], last_cut[end]) = (cost, start);
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = last_cut[blocks.len()];
    while end > 0 {
        cuts.push(end);
        end = last_cut[end];
    }
    cuts.reverse();
    cuts
}

/// Moves each cut by up to `reach` to the position where the means of its two sides fit best.
fn refine(values: &[f64], cuts: &[usize], reach: usize) -> Vec<usize> {
    let costs = Costs::new(values);
    let mut refined: Vec<usize> = Vec::new();
    for (index, &cut) in cuts.iter().enumerate() {
        let start = refined.last().copied().unwrap_or(0);
        let end = cuts.get(index + 1).copied().unwrap_or(values.len());
        let from = cut.saturating_sub(reach).max(start + 1);
        let to = (cut + reach).min(end - 1);
        let cost = |at: &usize| costs.of(start, *at) + costs.of(*at, end);
        let best = (from..=to).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        refined.push(best.unwrap_or(cut));
    }
    refined
}

fn regimes_between(values: &[f64], cuts: &[usize]) -> Vec<Regime> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([values.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| Regime { values: start..end, level: mean(&values[start..end]) })
        .collect()
}

/// The start of the first regime well below the highest before it. A fall in several steps begins
/// with the first of them.
fn fall_start(regimes: &[Regime]) -> Option<usize> {
    let mut top = 0;
    for (index, regime) in regimes.iter().enumerate() {
        if regime.level >= regimes[top].level {
            top = index;
        } else if regime.level < regimes[top].level * FALL_SHARE {
            let clearly_below =
                |r: &&Regime| r.level < regimes[top].level * (1.0 - SAME_LEVEL_SHARE);
            let steps = regimes[top + 1..index].iter().rev().take_while(clearly_below).count();
            return Some(regimes[index - steps].values.start);
        }
    }
    None
}

/// The start of the first regime from which the series keeps its final form: every quarter has the
/// same level, and every early level appears again later.
fn steady_start(values: &[f64], regimes: &[Regime]) -> Option<usize> {
    let length_min = (values.len() / STEADY_SHARE_MIN).max(VALUES_MIN / 4);
    let settles = |index: usize| {
        let start = regimes[index].values.start;
        values.len() - start >= length_min
            && quarters_agree(&values[start..], allowed_share(&regimes[index..]))
            && early_comes_again(&regimes[index..])
    };
    (0..regimes.len()).find(|&index| settles(index)).map(|index| regimes[index].values.start)
}

/// Number of values from `start` that still swing: up to the last one near it outside the band of
/// the later half. None in a constant series, where an outlier is no part of a change.
fn swings(values: &[f64], start: usize) -> usize {
    let steady = &values[start..];
    let (early, late) = steady.split_at(steady.len() / 2);
    let Some(late) = Summary::of(late).filter(|_| start > 0) else { return 0 };
    let room = (SWING_STDDEVS * late.stddev.unwrap_or(0.0)).max(SWING_SHARE_MIN * late.mean);
    let band = late.min.min(late.mean - room)..=late.max.max(late.mean + room);
    let near = &early[..early.len().min(steady.len() / SWING_SHARE_MAX)];
    near.iter().rposition(|value| !band.contains(value)).map_or(0, |last| last + 1)
}

/// The regimes with one more cut, so that one of them begins at `start`.
fn cut_at(values: &[f64], regimes: &[Regime], start: usize) -> Vec<Regime> {
    let mut cuts: Vec<usize> = regimes.iter().map(|regime| regime.values.start).collect();
    cuts.push(start);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.retain(|&cut| cut > 0);
    regimes_between(values, &cuts)
}

/// Permitted difference between quarters. Waves do not fit evenly into quarters, so alternating
/// levels get a wider limit; a slope does not.
fn allowed_share(regimes: &[Regime]) -> f64 {
    let turns = |three: &&[Regime]| {
        (three[1].level - three[0].level) * (three[2].level - three[1].level) < 0.0
    };
    let waves = regimes.windows(3).filter(turns).count() >= WAVE_TURNS_MIN;
    if waves { SAME_LEVEL_SHARE_MAX } else { SAME_LEVEL_SHARE }
}

fn quarters_agree(values: &[f64], share: f64) -> bool {
    let Some(whole) = Summary::of(values) else { return false };
    let quarter = values.len().div_ceil(4);
    let scatter = 3.0 * whole.stddev.unwrap_or(0.0) / (quarter as f64).sqrt();
    let allowed = scatter.min(SAME_LEVEL_SHARE_MAX * whole.mean).max(share * whole.mean);
    values.chunks(quarter).all(|part| (mean(part) - whole.mean).abs() <= allowed)
}

/// Whether each level of the first half lies within those of the second half.
fn early_comes_again(regimes: &[Regime]) -> bool {
    let (Some(first), Some(last)) = (regimes.first(), regimes.last()) else { return false };
    let middle = usize::midpoint(first.values.start, last.values.end);
    let late_from =
        regimes.partition_point(|regime| regime.values.start < middle).min(regimes.len() - 1);
    let (early, late) = regimes.split_at(late_from);
    let lowest = late.iter().map(|r| r.level).fold(f64::INFINITY, f64::min);
    let highest = late.iter().map(|r| r.level).fold(0.0, f64::max);
    let band = lowest * (1.0 - SAME_LEVEL_SHARE)..=highest * (1.0 + SAME_LEVEL_SHARE);
    early.iter().all(|regime| band.contains(&regime.level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;
    use proptest::prelude::*;

    /// A factor around 1, evenly spread over +- `spread`.
    fn noise(rng: &mut Rng, spread: f64) -> f64 {
        1.0 + spread * (rng.below(2_001) as f64 / 1_000.0 - 1.0)
    }

    fn series(seconds: usize, level: impl Fn(usize) -> f64, spread: f64) -> Vec<f64> {
        let mut rng = Rng::new(1);
        (0..seconds).map(|s| level(s) * noise(&mut rng, spread)).collect()
    }

    fn step(at: usize) -> impl Fn(usize) -> f64 {
        move |s| if s < at { 71_000.0 } else { 12_000.0 }
    }

    fn assert_near(got: Option<usize>, want: usize, within: usize) {
        assert!(got.is_some_and(|got| got.abs_diff(want) <= within), "{got:?}, expected {want}");
    }

    #[test]
    fn a_flat_series_has_no_fall_and_is_steady_at_once() {
        for (level, spread) in [(12_000.0, 0.0), (12_000.0, 0.05), (12_000.0, 0.6), (0.0, 0.0)] {
            for seconds in [20, 60, 2_000] {
                let shape = Shape::of(&series(seconds, |_| level, spread));
                assert_eq!(shape.fall_start, None, "{level} {spread} {seconds}");
                assert_eq!(shape.steady_start, Some(0), "{level} {spread} {seconds}");
            }
        }
    }

    #[test]
    fn a_step_is_found_to_the_second() {
        for at in [5, 40, 312, 1_000, 1_700] {
            let shape = Shape::of(&series(2_000, step(at), 0.0));
            assert_eq!((shape.fall_start, shape.steady_start), (Some(at), Some(at)));
            assert!((shape.level_from(at).unwrap() - 12_000.0).abs() < 1e-6);
            assert_eq!(shape.level_from(at + 1), None);
        }
        let short = Shape::of(&series(60, step(17), 0.0));
        assert_eq!((short.fall_start, short.steady_start), (Some(17), Some(17)));
    }

    #[test]
    fn noise_hardly_moves_a_step() {
        for spread in [0.05, 0.3, 0.8] {
            let shape = Shape::of(&series(2_000, step(312), spread));
            assert_near(shape.fall_start, 312, 3);
            assert_near(shape.steady_start, 312, 3);
        }
    }

    #[test]
    fn a_step_up_is_no_fall() {
        let shape = Shape::of(&series(2_000, |s| if s < 200 { 8e3 } else { 3e4 }, 0.1));
        assert_eq!(shape.fall_start, None);
        assert_near(shape.steady_start, 200, 3);
    }

    #[test]
    fn a_ramp_falls_where_it_starts_and_is_steady_where_it_ends() {
        let ramp = |s: usize| 71_000.0 - 59_000.0 * (s.clamp(300, 700) - 300) as f64 / 400.0;
        let shape = Shape::of(&series(2_000, ramp, 0.05));
        assert_near(shape.fall_start, 330, 60);
        assert_near(shape.steady_start, 680, 60);
    }

    #[test]
    fn a_ramp_without_end_never_settles() {
        let shape = Shape::of(&series(2_000, |s| 71_000.0 - 34.0 * s as f64, 0.05));
        assert!(shape.fall_start.is_some());
        assert_eq!(shape.steady_start, None);
    }

    #[test]
    fn ringing_that_dies_away_settles_when_it_has() {
        let wave = |s: usize| (s.saturating_sub(300) as f64 / 40.0).cos();
        let ring = |s: usize| 12_000.0 * (1.0 + 3.0 * wave(s) * (-(s as f64) / 300.0).exp());
        let shape =
            Shape::of(&series(2_000, |s| if s < 300 { 7e4 } else { ring(s).max(0.0) }, 0.05));
        assert_near(shape.fall_start, 300, 10);
        let settled = shape.steady_start.expect("settles");
        assert!((400..1_100).contains(&settled), "{settled}");
    }

    #[test]
    fn waves_that_never_end_are_a_steady_pattern() {
        let shape = Shape::of(&series(2_000, |s| if s / 100 % 2 == 0 { 8e4 } else { 1e4 }, 0.05));
        assert_eq!((shape.fall_start, shape.steady_start), (None, Some(0)));
    }

    #[test]
    fn alternation_between_nothing_and_everything_is_one_regime() {
        let even = Shape::of(&series(2_000, |s| if s % 2 == 0 { 0.0 } else { 8e4 }, 0.0));
        assert_eq!((even.fall_start, even.steady_start), (None, Some(0)));
        let mut rng = Rng::new(3);
        let random: Vec<f64> =
            (0..2_000).map(|_| if rng.chance(1, 2) { 0.0 } else { 8e4 }).collect();
        let shape = Shape::of(&random);
        assert_eq!((shape.fall_start, shape.steady_start), (None, Some(0)));
    }

    #[test]
    fn a_fall_into_alternation_is_found() {
        let mut rng = Rng::new(4);
        let values: Vec<f64> = (0..2_000)
            .map(|s| match s {
                0..250 => 8e4 * noise(&mut rng, 0.02),
                _ if rng.chance(2, 3) => 0.0,
                _ => 6e4,
            })
            .collect();
        let shape = Shape::of(&values);
        assert_near(shape.fall_start, 250, 5);
        assert_near(shape.steady_start, 250, 5);
    }

    #[test]
    fn one_stall_is_no_regime() {
        let stall = |s: usize| if s == 900 { 0.0 } else { 12_000.0 };
        let shape = Shape::of(&series(2_000, stall, 0.05));
        assert_eq!((shape.fall_start, shape.steady_start), (None, Some(0)));
    }

    #[test]
    fn swings_after_a_fall_are_not_yet_steady() {
        // A drive that cleans in large strides: 9,600, 17,500, 13,900, and even only from 42 s on.
        let level = |s: usize| match s {
            0..=2 => 90_000.0,
            4 => 9_603.0,
            27 => 17_490.0,
            31 | 41 => 13_944.0,
            _ => 15_000.0,
        };
        let values = series(2_000, level, 0.01);
        let shape = Shape::of(&values);
        assert_eq!((shape.fall_start, shape.steady_start), (Some(3), Some(42)));
        let level = shape.level_from(42).expect("a regime begins there");
        assert!((level / 15_000.0 - 1.0).abs() < 0.002, "{level}");
        assert_eq!(shape.regimes.last().map(|regime| regime.values.end), Some(2_000));
    }

    #[test]
    fn what_comes_again_or_comes_late_is_no_swing() {
        let stalls = |s: usize| {
            if s < 300 {
                7e4
            } else if s.is_multiple_of(60) {
                0.0
            } else {
                12_000.0
            }
        };
        assert_eq!(Shape::of(&series(2_000, stalls, 0.05)).steady_start, Some(300));
        let late = |s: usize| if s == 900 { 0.0 } else { step(300)(s) };
        assert_eq!(Shape::of(&series(2_000, late, 0.05)).steady_start, Some(300));
    }

    #[test]
    fn a_fall_just_before_the_end_leaves_no_steady_state() {
        let shape = Shape::of(&series(2_000, step(1_900), 0.05));
        assert_near(shape.fall_start, 1_900, 3);
        assert_eq!(shape.steady_start, None);
    }

    #[test]
    fn too_short_a_series_says_nothing() {
        assert_eq!(Shape::of(&[]), Shape::default());
        assert_eq!(Shape::of(&[7e4; 19]), Shape::default());
    }

    proptest! {
        #[test]
        fn regimes_cover_any_series_once(values in prop::collection::vec(0.0..1e6_f64, 20..500)) {
            let regimes = regimes(&values);
            let mut end = 0;
            for regime in &regimes {
                prop_assert_eq!(regime.values.start, end);
                prop_assert!(!regime.values.is_empty() && regime.level.is_finite());
                end = regime.values.end;
            }
            prop_assert_eq!(end, values.len());
        }

        #[test]
        fn random_steps_are_found(at in 50_usize..1_700, low in 0.05..0.6_f64, seed: u64) {
            let mut rng = Rng::new(seed);
            let values: Vec<f64> = (0..2_000)
                .map(|s| if s < at { 1.0 } else { low } * 7e4 * noise(&mut rng, 0.3))
                .collect();
            let shape = Shape::of(&values);
            prop_assert!(shape.fall_start.is_some_and(|got| got.abs_diff(at) < 12), "{:?}", shape);
            // Chance may keep one shortest segment apart from the rest.
            prop_assert!(shape.steady_start.is_some_and(|got| got.abs_diff(at) <= 40), "{:?}", shape);
        }
    }
}
