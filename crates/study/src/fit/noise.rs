//! The noise of figures: simulations of models that are nearly the same, with several seeds, together
//! with the noise that one expects of their kind.

use run::RunError;

use super::bench::{Bench, Simulated};
use super::figures::{self, LATENCIES};
use super::measured::Measurements;
use super::values::{Point, SPARE};

/// Steps of the logarithm of the spare area from the point, each with a seed of its own. A steady rate can change by
/// several percent from one superblock to the next: seeds alone do not show this noise.
const STEPS: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];
/// Length of a step.
const STEP: f64 = 0.03;
/// The expected noise counts as much as one more seed: figures that do not depend on the seed at all are not
/// exact, because the drive is not the model, and some seeds of the steady state may agree by chance.
/// Reads have half of it: of 20 simulated drives, their rates differed by 0.1 to 0.2% (root mean square),
/// steady rates of writes by 0.5 to 1.3%.
const OF_READS: f64 = 0.5;

/// Measures the noise of all figures around a point.
pub(super) fn measure(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    point: &Point,
) -> Result<(), RunError> {
    let step = if bench.open[SPARE] { STEP } else { 0.0 };
    let points = STEPS.map(|steps| {
        let mut other = point.clone();
        other.logs[SPARE] += steps * step;
        other
    });
    let around = bench.with_seeds(&points, runs)?;
    for (place, run) in runs.iter().enumerate() {
        let of_run: Vec<&Simulated> = around.iter().map(|them| &them[place]).collect();
        for (name, figure) in &run.figures {
            let share = if figures::is_of_plain_reads(name) { OF_READS } else { 1.0 };
            let of = |it: &&Simulated| Some(it.figures.get(name)?.value);
            let noise = together(figure.noise * share, &logarithms(&of_run, of));
            bench.noise.set(&run.id, name, noise);
        }
        for (place, latency) in LATENCIES.iter().enumerate() {
            let of = |it: &&Simulated| it.latencies[place];
            let noise = together(latency.noise, &logarithms(&of_run, of));
            bench.noise.set(&run.id, latency.name, noise);
        }
    }
    Ok(())
}

/// The logarithms of a figure with their steps.
fn logarithms(
    around: &[&Simulated],
    figure: impl Fn(&&Simulated) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let pairs = STEPS.into_iter().zip(around);
    pairs.filter_map(|(step, it)| Some((step, figure(it)?.ln()))).collect()
}

/// The noise of a difference from the logarithms of a figure beside a straight line, and the one that is expected.
fn together(expected: f64, logarithms: &[(f64, f64)]) -> f64 {
    if logarithms.len() < 3 {
        return expected;
    }
    let count = logarithms.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logarithms.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|it| it.0), mean(|it| it.1));
    let product: f64 = logarithms.iter().map(|it| (it.0 - x) * (it.1 - y)).sum();
    let slope = product / logarithms.iter().map(|it| (it.0 - x).powi(2)).sum::<f64>();
    let beside = logarithms.iter().map(|it| (it.1 - y - slope * (it.0 - x)).powi(2));
    // Of two values that differ at random the difference has twice the variance. The line takes two values.
    ((expected.powi(2) + 2.0 * beside.sum::<f64>()) / (count - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_is_that_beside_a_line_or_a_part_of_the_expected_one() {
        let at = |values: [f64; 5]| STEPS.into_iter().zip(values).collect::<Vec<_>>();
        let alike = together(0.01, &at([5.0, 5.1, 5.2, 5.3, 5.4]));
        assert!((alike - 0.01 / 2.0).abs() < 1e-9, "{alike}");
        // Two deviations of 0.1 from the line leave a sum of squares of 0.02 and little more.
        let apart = together(0.01, &at([5.0, 5.1, 5.0, 4.9, 5.0]));
        assert!((0.05..0.1).contains(&apart), "{apart}");
        assert!((together(0.01, &[(0.0, 5.0), (1.0, 6.0)]) - 0.01).abs() < 1e-12);
    }
}
