//! Values that are no continuous numbers: the dies of a channel, and the pacing.

use run::RunError;

use super::bench::{Bench, Simulated};
use super::figures::is_of_reads;
use super::measured::Measured;
use super::search::{Best, Problem};
use super::values::{PROGRAM, Point, Settings};

/// Difference of two sums of squares that decides: two standard deviations.
pub(super) const DECIDES: f64 = 4.0;
/// Most dies of a channel to try.
const DIES_MAX: u32 = 32;
/// Relative difference of two tails of latency that is none: they differ by the seed.
const TAIL_NOISE: f64 = 0.25;
/// The words for the pacing of a model.
pub(super) const PACINGS: [&str; 4] = ["proportional", "watermark", "token", "rate"];

/// The best number of dies of a channel, from the best point of another one on; and whether the figures
/// determine it. Without reads nothing tells dies from their program time.
pub(super) fn dies(
    bench: &mut Bench<'_>,
    runs: &[&Measured],
    mut best: Best,
) -> Result<(Best, bool), RunError> {
    let reads = runs.iter().any(|run| run.figures.keys().any(|name| is_of_reads(name)));
    if !reads {
        return Ok((best, false));
    }
    let mut both = [f64::INFINITY; 2];
    for (side, step) in [1_i64, -1].into_iter().enumerate() {
        loop {
            let dies = i64::from(best.point.dies) + step;
            let Some(dies) = u32::try_from(dies).ok().filter(|it| (1..=DIES_MAX).contains(it))
            else {
                break;
            };
            let mut start = best.point.clone();
            // As much is written in the same time.
            start.logs[PROGRAM] += (f64::from(dies) / f64::from(start.dies)).ln();
            let start = Point { dies, ..start };
            let other = Problem::new(bench, runs, dies).solved(&start)?;
            both[side] = other.misfit - best.misfit;
            if other.misfit > best.misfit - DECIDES {
                break;
            }
            // The number left behind is worse by as much.
            both[1 - side] = best.misfit - other.misfit;
            best = other;
        }
    }
    let is_sure = both.iter().all(|worse| *worse > DECIDES);
    Ok((best, is_sure))
}

/// The pacing whose tails of latency are those of a run, if any is clearly better than all others.
/// Tails depend on the size of the drive, so that this simulation has the size of the run.
pub(super) fn pacing(
    bench: &mut Bench<'_>,
    runs: &[&Measured],
    point: &Point,
) -> Result<Option<&'static str>, RunError> {
    let with_tails = runs.iter().filter(|run| run.tails.iter().all(Option::is_some));
    let Some(run) = with_tails.min_by(|a, b| a.kept.total_cmp(&b.kept)) else { return Ok(None) };
    let with = |pacing: &&str| {
        let mut settings = bench.settings(point);
        settings.insert("gc.pacing".to_owned(), (*pacing).to_owned());
        settings
    };
    let candidates: Vec<Settings> = PACINGS.iter().map(with).collect();
    let simulated = bench.at_own_size(run, &candidates)?;
    let mut ranked: Vec<_> = simulated
        .iter()
        .zip(PACINGS)
        .filter_map(|(simulated, pacing)| Some((tail_misfit(run, simulated)?, pacing)))
        .collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(match ranked[..] {
        [(best, pacing), (second, _), ..] if second - best > DECIDES && best < 2.0 * DECIDES => {
            Some(pacing)
        }
        _ => None,
    })
}

/// The squares of the differences of the tails, or `None` if the model has no such pacing.
fn tail_misfit(run: &Measured, simulated: &Simulated) -> Option<f64> {
    let pairs = run.tails.iter().zip(simulated.tails);
    let terms: Option<Vec<f64>> = pairs
        .map(|(measured, model)| Some(((model? / (*measured)?).ln() / TAIL_NOISE).powi(2)))
        .collect();
    terms.map(|terms| terms.iter().sum())
}
