//! The search for the values: Gauss and Newton's method, within a region of trust and the limits of each value.
//!
//! The sum of squares has a term for each figure, `ln(model / measured) / noise`, and one for each value,
//! `ln(value / prior) / deviation`, so that a value without a say in any figure stays at its prior. It
//! was chosen over CMA-ES and Bayesian optimisers because the figures are smooth in the logarithms of few
//! values: the derivatives cost one simulation for each value and run, all of them side by side, and tell at
//! once how well the figures determine each value. The region of trust bounds the change of each logarithm by
//! itself: a latency that is a small part of all others has a small effect per percent, and a linear step would
//! take it far outside. The figures have kinks where another stage begins to limit them: the effect of a value is
//! measured on the side of the last step, upwards at first.

use std::collections::HashMap;

use run::RunError;

use super::bench::{Bench, Simulated};
use super::figures;
use super::least_squares::Linear;
use super::measured::Measurements;
use super::values::{Point, VALUES};

/// Change of a logarithm that shows its effect on the figures: large beside the noise of most figures.
const STEP: f64 = 0.2;
/// Change of a figure over its noise that shows an effect: chance alone reaches it once in twenty times.
const SHOWS: f64 = 2.0;
/// Share of its noise within which a figure cannot be explained any better.
const REACHED: f64 = 0.5;
/// Most steps of a search.
const STEPS: usize = 16;
/// Greatest changes of a logarithm in the first step: the best of these trials is taken.
const TRUSTED: f64 = 1.0;
/// Trials of a step as shares of the greatest change.
const TRIALS: [f64; 3] = [1.0, 0.3, 0.1];
/// The greatest change that is too small to go on.
const LEAST_CHANGE: f64 = 0.005;
/// Share of the sum that one of two steps in a row must take away: beyond this, simulations differ by
/// their seeds.
const GAIN: f64 = 0.02;
/// The logarithm of model over measurement for a figure that the model does not have.
const ABSENT: f64 = 1.0;
/// Share of the deviation of a prior above which the figures do not determine a value.
const DETERMINED: f64 = 0.3;

/// A figure of one of the runs.
struct Row<'a> {
    run: usize,
    name: &'a str,
    value: f64,
    noise: f64,
}

/// A choice of figures.
#[derive(Clone, Copy, Debug)]
pub(super) enum Figures {
    /// All of them.
    All,
    /// Those of reads without writes.
    Reads,
}
pub(super) use Figures::{All, Reads};

impl Figures {
    fn has(self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Reads => figures::is_of_plain_reads(name),
        }
    }
}

/// The values of a model and the runs that they must explain.
pub(super) struct Problem<'a, 'b> {
    bench: &'a mut Bench<'b>,
    runs: &'a [&'a Measurements],
    rows: Vec<Row<'a>>,
    prior: Vec<f64>,
    dies: u32,
    /// Limits of the logarithm of each value.
    limits: Vec<(f64, f64)>,
    /// Whether a value has no say in a run where the search began, by value and run.
    idle: Vec<Vec<bool>>,
}

/// The words of the figures about a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sensitivity {
    /// Deviation of its logarithm, for all values unknown.
    pub(super) error: f64,
    /// Whether the figures determine it.
    pub(super) determined: bool,
    /// Whether it has no say in any figure.
    pub(super) silent: bool,
}

/// The best point of a search.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) point: Point,
    /// Sum of the squares.
    pub(super) misfit: f64,
}

impl<'a, 'b> Problem<'a, 'b> {
    /// The problem of all figures.
    pub(super) fn new(bench: &'a mut Bench<'b>, runs: &'a [&'a Measurements], dies: u32) -> Self {
        Self::of(bench, runs, dies, All)
    }

    /// The problem of some figures.
    pub(super) fn of(
        bench: &'a mut Bench<'b>,
        runs: &'a [&'a Measurements],
        dies: u32,
        chosen: Figures,
    ) -> Self {
        let noise = &bench.noise;
        let rows: Vec<Row<'a>> = runs
            .iter()
            .enumerate()
            .flat_map(|(run, it)| {
                it.figures.iter().map(move |(name, figure)| (run, it, name, figure))
            })
            .filter(|(_, _, name, _)| chosen.has(name))
            .map(|(run, it, name, figure)| Row {
                run,
                name,
                value: figure.value,
                noise: noise.of(&it.id, name, figure.noise),
            })
            .collect();
        let prior = bench.base.point().logs;
        let limits = (0..VALUES.len()).map(|place| bench.base.limits(place)).collect();
        let mut problem = Self { bench, runs, rows, prior, dies, limits, idle: Vec::new() };
        problem.idle = (0..VALUES.len()).map(|place| problem.without_say(place)).collect();
        problem
    }

    /// Whether no figure of a run can tell about a value, by run.
    fn without_say(&self, place: usize) -> Vec<bool> {
        let is_told = |run: usize| {
            self.rows.iter().any(|row| row.run == run && (VALUES[place].tells)(row.name))
        };
        (0..self.runs.len()).map(|run| !is_told(run)).collect()
    }

    /// The best point near one.
    pub(super) fn solved(mut self, start: &Point) -> Result<Best, RunError> {
        let inside = start.logs.iter().zip(&self.limits).enumerate();
        let inside = inside.map(
            |(place, (log, (low, high)))| {
                if self.bench.open[place] { log.clamp(*low, *high) } else { *log }
            },
        );
        let first = Point { logs: inside.collect(), dies: self.dies };
        let (mut best, mut is_reached) = self.tried(&[first])?;
        let (mut trusted, mut is_last) = (TRUSTED, false);
        let (mut sides, mut is_other_side) = ([STEP; VALUES.len()], false);
        let mut linear = None;
        for _ in 0..STEPS {
            if is_reached || trusted < LEAST_CHANGE || !self.bench.open.contains(&true) {
                break;
            }
            let near = match linear.take() {
                Some(near) => near,
                None => self.effects(&best.point.logs, &sides)?,
            };
            let trials = TRIALS.map(|share| self.stepped(&near, &best.point, trusted * share));
            let has_turned = turned(&mut sides, &best.point, &trials[0]);
            let (found, reaches) = self.tried(&trials)?;
            if found.misfit < best.misfit {
                let length = largest_change(&found.point, &best.point);
                let is_small = found.misfit > best.misfit * (1.0 - GAIN);
                (best, is_reached, trusted) = (found, reaches, (2.0 * length).max(LEAST_CHANGE));
                if is_small && is_last {
                    break;
                }
                (is_last, is_other_side) = (is_small && !has_turned, false);
            } else if has_turned && !is_other_side {
                // Effects on the side of this step differ: the next step takes those, once.
                is_other_side = true;
            } else {
                // Another step by the same derivatives, which is shorter than all of these.
                let longest = trials.iter().map(|it| largest_change(it, &best.point));
                trusted = longest.fold(0.0, f64::max).min(trusted) * TRIALS[2] * TRIALS[1];
                (linear, is_other_side) = (Some(near), false);
            }
        }
        Ok(best)
    }

    /// The point that a step by these derivatives reaches, with no logarithm changed by more than `trusted`.
    fn stepped(&self, near: &Linear, from: &Point, trusted: f64) -> Point {
        let limits = from.logs.iter().zip(&self.limits);
        let limits = limits.map(|(log, (low, high))| {
            ((low - log).max(-trusted).min(0.0), (high - log).min(trusted).max(0.0))
        });
        let step = near.step(&limits.collect::<Vec<_>>());
        let logs = from.logs.iter().zip(step).map(|(log, step)| log + step).collect();
        Point { logs, dies: self.dies }
    }

    /// The best of some points, and whether it explains every figure.
    fn tried(&mut self, points: &[Point]) -> Result<(Best, bool), RunError> {
        let terms = self.deviates(points)?;
        let sums = terms.iter().map(|terms| terms.iter().map(|it| it * it).sum::<f64>());
        let least = sums.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        let (index, misfit) = least.unwrap_or((0, f64::INFINITY));
        let reached = terms[index][..self.rows.len()].iter().all(|it| it.abs() < REACHED);
        Ok((Best { point: points[index].clone(), misfit }, reached))
    }

    /// The sums of squares at points.
    pub(super) fn misfits(mut self, points: &[Point]) -> Result<Vec<f64>, RunError> {
        let sum = |terms: Vec<f64>| terms.iter().map(|it| it * it).sum();
        Ok(self.deviates(points)?.into_iter().map(sum).collect())
    }

    /// The words of the figures about each open value beside all others. A value that they do not determine may be
    /// anywhere within its prior, so that its effect on the others is that of so large a change.
    pub(super) fn sensitivities(mut self, best: &Point) -> Result<Vec<Sensitivity>, RunError> {
        let near = vec![STEP; VALUES.len()];
        let mut linear = self.weaker_sides(best, &near)?;
        let is_silent = |column: &Option<Vec<f64>>| {
            column.iter().flatten().take(self.rows.len()).all(|slope| *slope == 0.0)
        };
        let silent: Vec<bool> = linear.columns.iter().map(is_silent).collect();
        let open: Vec<usize> = (0..VALUES.len()).filter(|it| self.bench.open[*it]).collect();
        let is_wide = |place: usize, error: f64| error >= VALUES[place].prior * DETERMINED;
        let errors = linear.deviations();
        let mut far = vec![0.0; VALUES.len()];
        for place in open.iter().copied().filter(|place| is_wide(*place, errors[*place])) {
            far[place] = VALUES[place].prior.max(STEP);
            self.idle[place] = self.without_say(place);
        }
        let columns = self.weaker_sides(best, &far)?.columns;
        for (place, column) in columns.into_iter().enumerate().filter(|it| far[it.0] > 0.0) {
            linear.columns[place] = column;
        }
        let errors = linear.deviations().into_iter().enumerate();
        let of = |(place, error)| Sensitivity {
            error,
            determined: open.contains(&place) && far[place] == 0.0 && !is_wide(place, error),
            silent: silent[place],
        };
        Ok(errors.map(of).collect())
    }

    /// The derivatives by changes of the values to both sides, the weaker one of each. A value tells only as much: a
    /// stage that is not the slowest one has an effect if it is slower, and none if it is faster.
    fn weaker_sides(&mut self, best: &Point, steps: &[f64]) -> Result<Linear, RunError> {
        let mut linear = self.effects(&best.logs, steps)?;
        let less: Vec<f64> = steps.iter().map(|step| -step).collect();
        let less = self.effects(&best.logs, &less)?.columns;
        linear.columns = linear.columns.into_iter().zip(less).map(weaker).collect();
        Ok(linear)
    }

    /// The terms of the sum at points.
    fn deviates(&mut self, points: &[Point]) -> Result<Vec<Vec<f64>>, RunError> {
        let simulated = self.bench.at(points, self.runs)?;
        let rows = |(point, simulated): (&Point, &Vec<Simulated>)| {
            let figure = |row: &Row<'_>| deviate(row, &simulated[row.run]);
            let priors = point.logs.iter().zip(&self.prior).zip(&VALUES);
            let priors = priors.map(|((log, prior), value)| (log - prior) / value.prior);
            self.rows.iter().map(figure).chain(priors).collect()
        };
        Ok(points.iter().zip(&simulated).map(rows).collect())
    }

    /// The terms at a point, and their derivatives by each open value with a step other than 0, of effects beyond
    /// chance: otherwise the seed would move a value without a say. A value without a say in a run is not
    /// simulated for it again.
    fn effects(&mut self, logs: &[f64], steps: &[f64]) -> Result<Linear, RunError> {
        let start = Point { logs: logs.to_owned(), dies: self.dies };
        let terms = self.deviates(std::slice::from_ref(&start))?.remove(0);
        let steps = steps.iter().enumerate().filter(|(_, step)| **step != 0.0);
        let moves: Vec<Move> =
            steps.filter_map(|(place, step)| self.moved(&start, place, *step)).collect();
        let pairs =
            moves.iter().flat_map(|it| it.runs.iter().map(|run| (&it.point, self.runs[*run])));
        let mut simulated = self.bench.of_pairs(&pairs.collect::<Vec<_>>())?.into_iter();
        let mut columns: Vec<_> = (0..VALUES.len()).map(|place| self.prior_column(place)).collect();
        for it in moves {
            let of_runs: HashMap<usize, Simulated> =
                it.runs.iter().copied().zip(simulated.by_ref()).collect();
            let slope = |(row, middle): (&Row<'_>, &f64)| {
                let Some(simulated) = of_runs.get(&row.run) else { return 0.0 };
                // A figure's term is in units of its noise.
                beyond_chance(deviate(row, simulated) - middle) / it.step
            };
            let slopes: Vec<f64> = self.rows.iter().zip(&terms).map(slope).collect();
            for run in it.runs {
                let of_run = self.rows.iter().zip(&slopes).filter(|(row, _)| row.run == run);
                self.idle[it.place][run] = of_run.map(|(_, slope)| slope).all(|it| *it == 0.0);
            }
            if let Some(column) = &mut columns[it.place] {
                column[..slopes.len()].copy_from_slice(&slopes);
            }
        }
        Ok(Linear { terms, columns })
    }

    /// The point beside one that shows the effect of a value, or `None` without a say.
    fn moved(&self, start: &Point, place: usize, step: f64) -> Option<Move> {
        let has_say = |run: &usize| self.bench.open[place] && !self.idle[place][*run];
        let runs: Vec<usize> = (0..self.runs.len()).filter(has_say).collect();
        let (low, high) = self.limits[place];
        let is_inside = (low..=high).contains(&(start.logs[place] + step));
        let step = if is_inside { step } else { -step };
        let mut point = start.clone();
        point.logs[place] += step;
        (!runs.is_empty()).then_some(Move { place, step, point, runs })
    }

    /// The derivatives of the priors by a value, or `None` for one that stays.
    fn prior_column(&self, place: usize) -> Option<Vec<f64>> {
        self.bench.open[place].then(|| {
            let mut column = vec![0.0; self.rows.len() + VALUES.len()];
            column[self.rows.len() + place] = 1.0 / VALUES[place].prior;
            column
        })
    }
}

/// A point beside another one, where a single value differs.
struct Move {
    place: usize,
    step: f64,
    point: Point,
    /// The runs in which the value has a say.
    runs: Vec<usize>,
}

/// The derivatives of smaller size of two of one value.
fn weaker((one, other): (Option<Vec<f64>>, Option<Vec<f64>>)) -> Option<Vec<f64>> {
    let weaker = |(one, other): (f64, f64)| {
        let size = if one * other > 0.0 { one.abs().min(other.abs()) } else { 0.0 };
        size.copysign(one)
    };
    Some(one?.into_iter().zip(other?).map(weaker).collect())
}

/// The part of a change, in units of its noise, that chance does not give: none of one below [`SHOWS`], almost all
/// of a large one.
fn beyond_chance(change: f64) -> f64 {
    change * (1.0 - (SHOWS / change).powi(2)).max(0.0)
}

fn deviate(row: &Row<'_>, simulated: &Simulated) -> f64 {
    let model = simulated.figures.get(row.name).filter(|_| simulated.fault.is_none());
    let logarithm = model.map_or(ABSENT, |model| (model.value / row.value).ln());
    logarithm / row.noise
}

/// Turns the side on which the effect of each value is measured to that of a step, and tells whether any turned. A
/// stage that begins to limit a figure on one side has no effect on the other one.
fn turned(sides: &mut [f64], from: &Point, to: &Point) -> bool {
    let mut has_turned = false;
    for (side, (from, to)) in sides.iter_mut().zip(from.logs.iter().zip(&to.logs)) {
        let step = to - from;
        if step * *side < 0.0 {
            *side = -*side;
            has_turned = true;
        }
    }
    has_turned
}

/// The greatest difference of a logarithm at two points.
fn largest_change(one: &Point, other: &Point) -> f64 {
    one.logs.iter().zip(&other.logs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_within_the_noise_shows_no_effect_and_a_large_one_nearly_all() {
        for change in [0.0, 1.0, -1.9, 2.0] {
            assert!(beyond_chance(change).abs() < 1e-9, "{change}");
        }
        assert!((beyond_chance(-4.0) + 3.0).abs() < 1e-9);
        assert!((beyond_chance(100.0) / 100.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn effects_are_measured_on_the_side_of_the_last_step() {
        let point = |logs: [f64; 3]| Point { logs: logs.to_vec(), dies: 1 };
        let (from, to) = (point([0.0, 1.0, 2.0]), point([-0.1, 1.1, 2.0]));
        let mut sides = [STEP, STEP, -STEP];
        assert!(turned(&mut sides, &from, &to));
        assert_eq!(sides, [-STEP, STEP, -STEP]);
        assert!(!turned(&mut sides, &from, &to));
    }

    #[test]
    fn a_value_tells_as_much_as_its_weaker_side() {
        let column = |slopes: [f64; 4]| Some(slopes.to_vec());
        let found = weaker((column([5.0, -5.0, 5.0, 0.0]), column([3.0, -8.0, -1.0, 9.0])));
        assert_eq!(found, column([3.0, -5.0, 0.0, 0.0]));
        assert_eq!(weaker((None, None)), None);
    }
}
