//! The first guess: closed forms, then the best of some spare areas on simulations of the steady state.

use run::RunError;

use super::bench::Bench;
use super::closed_form::{spare_of_ratio, write_amplification};
use super::figures::{self, FILL_RATE};
use super::measured::Measurements;
use super::search::{All, Problem};
use super::values::{LINK, PROGRAM, Point, READ, READ_COMMAND, RELOCATE, SPARE, WRITE_COMMAND};

/// Difference of two shares of the LBA space that must show in the steady rate.
pub(super) const OTHER_SPARE: f64 = 0.05;
/// Name of a steady rate of writes.
const STEADY: &str = "iops_steady_mean";
/// Effective spare areas to begin with, beside that of the closed form.
const SPARES: [f64; 5] = [0.07, 0.11, 0.16, 0.22, 0.3];
/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;

/// The ratio of two steady rates gives the spare area, the fill the program time, reads and fresh
/// writes at most depth their times, each if nothing else limits it. Two rates of a drive that its
/// processor limits have another ratio: then several spare areas are simulated.
pub(super) fn first(bench: &mut Bench<'_>, runs: &[&Measurements]) -> Result<Point, RunError> {
    let mut guess = bench.base.point();
    let steady: Vec<&Measurements> =
        runs.iter().copied().filter(|run| run.figures.contains_key(STEADY)).collect();
    let slow = steady.iter().max_by(|a, b| a.kept.total_cmp(&b.kept));
    let fast = steady.iter().min_by(|a, b| a.kept.total_cmp(&b.kept));
    let spares = slow.zip(fast).filter(|(slow, fast)| slow.kept - fast.kept > OTHER_SPARE);
    if let Some((slow, fast)) = spares.filter(|_| bench.open[SPARE]) {
        guess.logs[SPARE] = spare_of_ratio(slow.kept, fast.kept, rate(fast) / rate(slow)).ln();
    }
    limited(bench, runs, &mut guess)?;
    let fresh = runs.iter().any(|run| run.figures.keys().any(|name| is_fresh_write_rate(name)));
    if spares.is_none() || !fresh || !bench.open[SPARE] {
        return Ok(guess);
    }
    let mut starts = Vec::new();
    for spare in SPARES.map(f64::ln).into_iter().chain([guess.logs[SPARE]]) {
        let mut start = guess.clone();
        start.logs[SPARE] = spare;
        starts.extend(of_moved_pages(&start, &steady).filter(|_| bench.open[RELOCATE]));
        starts.push(start);
    }
    let misfits = Problem::of(bench, &steady, guess.dies, All).misfits(&starts)?;
    let best = misfits.into_iter().zip(starts).min_by(|a, b| a.0.total_cmp(&b.0));
    Ok(best.map_or(guess, |(_, start)| start))
}

fn rate(run: &Measurements) -> f64 {
    run.figures[STEADY].value
}

/// The point with the time for moving a page that explains the steady rates if the processor limits
/// them, or `None` if they are not below that of fresh writes.
fn of_moved_pages(start: &Point, steady: &[&Measurements]) -> Option<Point> {
    let (spare, write_ns) = (start.logs[SPARE].exp(), start.logs[WRITE_COMMAND].exp());
    let alpha = 1.0 / (1.0 - spare);
    let terms = steady.iter().map(|run| {
        let moved = write_amplification(alpha / run.kept) - 1.0;
        (moved * (SECOND_NS / rate(run) - write_ns), moved * moved)
    });
    let (product, square) = terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1));
    let relocate_ns = product / square;
    (relocate_ns.is_finite() && relocate_ns > 1.0).then(|| {
        let mut point = start.clone();
        point.logs[RELOCATE] = relocate_ns.ln();
        point
    })
}

/// Moves the values of the stages that limit a figure.
fn limited(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    guess: &mut Point,
) -> Result<(), RunError> {
    let simulated = bench.at(std::slice::from_ref(guess), runs)?.remove(0);
    for (place, is_of, exponent) in LIMITED {
        let pairs = runs.iter().zip(&simulated).flat_map(|(run, simulated)| {
            let named = run.figures.iter().filter(|(name, _)| is_of(name));
            named.filter_map(|(name, it)| Some((it.value, simulated.figures.get(name)?.value)))
        });
        let highest = pairs.max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((measured, model)) = highest.filter(|_| bench.open[place]) {
            guess.logs[place] += exponent * (model / measured).ln();
        }
    }
    Ok(())
}

/// The place of a value, the figures that it limits, and the sign of its effect.
type Limit = (usize, fn(&str) -> bool, f64);

/// The stages that limit a figure.
const LIMITED: [Limit; 5] = [
    (PROGRAM, |name| name == FILL_RATE, 1.0),
    (READ, is_random_read_rate, 1.0),
    (READ_COMMAND, is_random_read_rate, 1.0),
    (WRITE_COMMAND, is_fresh_write_rate, 1.0),
    (LINK, |name| name == "corners.sequential_read.iops", -1.0),
];

fn is_random_read_rate(name: &str) -> bool {
    figures::is_of_plain_reads(name) && name.ends_with(".iops") && !name.contains("sequential")
}

/// Whether a figure is the rate of random writes that the cache takes.
fn is_fresh_write_rate(name: &str) -> bool {
    name.starts_with("qd-sweep.write_qd") && name.ends_with(".iops")
}
