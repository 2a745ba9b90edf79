//! Values that are no continuous numbers: the dies of a channel, and the pacing.

use std::collections::BTreeMap;

use run::RunError;

use super::bench::{Bench, Simulated};
use super::figures::{LATENCIES, is_of_plain_reads};
use super::measured::Measurements;
use super::search::{Best, Problem, Reads};
use super::values::{PACING, PROGRAM, Point, READS, Settings};

/// Difference of two sums of squares that decides: two standard deviations.
pub(super) const DECIDES: f64 = 4.0;
/// Difference that rules out a number of dies by all figures: three standard deviations.
const DIES_DECIDE: f64 = 9.0;
/// Difference that rules it out by reads alone, before the search with all figures: ten standard deviations. The first
/// reads after writes wait for the end of cleaning, whose values are a guess then; that alone can make eight.
const READS_DECIDE: f64 = 100.0;
/// Most dies of a channel to try.
const DIES_MAX: u32 = 32;
/// Most that a single latency counts: the 99th percentile jumps where a hundredth of the writes wait.
const LATENCY_MAX: f64 = 9.0;
/// Fewest latencies that tell a pacing.
const LATENCIES_MIN: usize = 2;
/// The words for the pacing of a model.
pub(super) const PACINGS: [&str; 4] = ["proportional", "watermark", "token", "rate"];

/// The same drive with another number of dies: as much is written in the same time.
pub(super) fn with_dies(point: &Point, dies: u32) -> Point {
    let mut other = Point { dies, ..point.clone() };
    other.logs[PROGRAM] += (f64::from(dies) / f64::from(point.dies)).ln();
    other
}

/// The sum of squares up to which a number of dies explains the figures about as well as the best one. Figures that the
/// best one misses count less: what the model lacks may tell for one number or the other.
pub(super) fn about_as_well(least: f64, figures: usize) -> f64 {
    margin(least, figures, DIES_DECIDE)
}

fn margin(least: f64, figures: usize, decides: f64) -> f64 {
    least + decides * (least / figures as f64).max(1.0)
}

/// Dies of a channel that explain the reads without writes, the best one first; empty without reads, as
/// nothing else tells dies from their times. Values of writes stay where they are.
pub(super) fn dies(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    start: &Point,
) -> Result<Vec<Point>, RunError> {
    let has_reads = |run: &&Measurements| run.figures.keys().any(|name| is_of_plain_reads(name));
    let told: Vec<&Measurements> = runs.iter().copied().filter(has_reads).collect();
    if told.is_empty() {
        return Ok(Vec::new());
    }
    let names = || told.iter().flat_map(|run| run.figures.keys());
    let open = bench.open.clone();
    // A slow link is a latency or a time of the controller here.
    for (place, is_open) in bench.open.iter_mut().enumerate() {
        *is_open &= READS.contains(&place);
    }
    let found = climbed(bench, &told, start);
    bench.open = open;
    let mut found: Vec<Best> = found?.into_values().collect();
    found.sort_by(|a, b| a.misfit.total_cmp(&b.misfit));
    let most =
        margin(found[0].misfit, names().filter(|it| is_of_plain_reads(it)).count(), READS_DECIDE);
    found.retain(|it| it.misfit < most);
    Ok(found.into_iter().map(|it| it.point).collect())
}

/// The best points with numbers of dies around the best number.
fn climbed(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    start: &Point,
) -> Result<BTreeMap<u32, Best>, RunError> {
    let first = Problem::of(bench, runs, start.dies, Reads).solved(start)?;
    let mut found = BTreeMap::from([(start.dies, first.clone())]);
    let mut best = first;
    loop {
        let beside = [best.point.dies + 1, best.point.dies - 1];
        let mut fresh = beside.into_iter().filter(|it| !found.contains_key(it));
        let Some(dies) = fresh.find(|it| (1..=DIES_MAX).contains(it)) else { return Ok(found) };
        let start = with_dies(&best.point, dies);
        let other = Problem::of(bench, runs, dies, Reads).solved(&start)?;
        found.insert(dies, other.clone());
        if other.misfit < best.misfit {
            best = other;
        }
    }
}

/// The runs whose latencies can be compared with those of simulations. They depend on the size of the drive, so
/// that these simulations have the size of the run: of runs that are larger than other simulations, only the one of
/// least span is compared.
pub(super) fn with_latencies<'a>(
    bench: &Bench<'_>,
    runs: &[&'a Measurements],
) -> Vec<&'a Measurements> {
    let has_them = |run: &&Measurements| run.latencies.iter().flatten().count() >= LATENCIES_MIN;
    let mut told: Vec<&Measurements> = runs.iter().copied().filter(has_them).collect();
    if told.iter().any(|run| run.scale != Some(bench.scale)) {
        told.sort_by(|a, b| a.kept.total_cmp(&b.kept));
        told.truncate(1);
    }
    told
}

/// The misfits of the latencies in steady state with each pacing, the least first; empty for runs without them.
pub(super) fn pacings(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    point: &Point,
) -> Result<Vec<(f64, &'static str)>, RunError> {
    let told = with_latencies(bench, runs);
    let mut sums: BTreeMap<&'static str, f64> = BTreeMap::new();
    let mut without = Vec::new();
    for run in &told {
        let with = |pacing: &&str| {
            let mut settings = bench.settings(point);
            settings.insert(PACING.to_owned(), (*pacing).to_owned());
            settings
        };
        let candidates: Vec<Settings> = PACINGS.iter().map(with).collect();
        let simulated = bench.at_own_size(run, &candidates)?;
        for (pacing, simulated) in PACINGS.into_iter().zip(&simulated) {
            match latency_misfit(run, simulated) {
                Some(misfit) => *sums.entry(pacing).or_default() += misfit / told.len() as f64,
                None => without.push(pacing),
            }
        }
    }
    let mut ranked: Vec<_> = sums.into_iter().map(|(pacing, misfit)| (misfit, pacing)).collect();
    ranked.retain(|(_, pacing)| !without.contains(pacing));
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(ranked)
}

/// The misfit of a pacing in a ranking; 0 for one that is not in it.
pub(super) fn misfit_of(ranked: &[(f64, &str)], pacing: &str) -> f64 {
    ranked.iter().find(|it| it.1 == pacing).map_or(0.0, |it| it.0)
}

/// The pacing of a ranking that is clearly better than all others and has about the latencies of the runs.
pub(super) fn decided(ranked: &[(f64, &'static str)]) -> Option<&'static str> {
    match ranked {
        [(best, pacing), (second, _), ..] if second - best > DECIDES && *best < 2.0 * DECIDES => {
            Some(pacing)
        }
        _ => None,
    }
}

/// The squares of the differences of the latencies, or `None` if the model has no such pacing.
fn latency_misfit(run: &Measurements, simulated: &Simulated) -> Option<f64> {
    let pairs = run.latencies.iter().zip(simulated.latencies).zip(LATENCIES);
    let terms = pairs.filter_map(|((measured, model), latency)| {
        let measured = (*measured)?;
        let apart = |model: f64| ((model / measured).ln() / latency.noise).powi(2).min(LATENCY_MAX);
        Some(model.map_or(LATENCY_MAX, apart))
    });
    simulated.fault.is_none().then(|| terms.sum())
}
