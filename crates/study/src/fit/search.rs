//! The search for the values: Levenberg and Marquardt's method in the form of MINPACK (Moré 1978) with
//! bounds, MPFIT (Markwardt 2009), from the crate `rmpfit`.
//!
//! The sum of squares has a term for each figure, `ln(model / measured) / noise`, and one for each value,
//! `ln(value / prior) / deviation`, so that a value without a say in any figure stays at its prior. It
//! was chosen over CMA-ES and Bayesian optimisers because the figures are smooth in the logarithms of few
//! values: a Jacobian costs one simulation for each value and run, all of them side by side, and tells at
//! once how well the figures determine each value.

use rmpfit::{MPConfig, MPError, MPFitter, MPMaxFev, MPPar, MPResult, MPSide};
use run::RunError;

use super::bench::{Bench, Simulated};
use super::figures::Figure;
use super::measured::Measured;
use super::values::{Point, VALUES};

/// Change of a logarithm that shows its effect on the figures.
const STEP: f64 = 0.1;
/// Share of its noise within which a figure cannot be explained any better.
const REACHED: f64 = 0.5;
/// The logarithm of model over measurement for a figure that the model does not have.
const ABSENT: f64 = 1.0;
/// Share of the deviation of a prior above which the figures do not determine a value.
const DETERMINED: f64 = 0.3;

/// A figure of one of the runs.
struct Row<'a> {
    run: usize,
    name: &'a str,
    measured: Figure,
}

/// The values of a model and the runs that they must explain.
pub(super) struct Problem<'a, 'b> {
    bench: &'a mut Bench<'b>,
    runs: &'a [&'a Measured],
    rows: Vec<Row<'a>>,
    prior: Vec<f64>,
    dies: u32,
    parameters: Vec<MPPar>,
    config: MPConfig,
    failure: Option<RunError>,
    /// The values without a say in any figure where the search began.
    idle: Vec<bool>,
    /// A point with every figure within its noise, where the search ends.
    reached: Option<Best>,
}

/// The terms of the sum at a point, and their derivatives by each value, `None` for one that stays.
type Effects = (Vec<f64>, Vec<Option<Vec<f64>>>);

/// The best point of a search.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) point: Point,
    /// Sum of the squares.
    pub(super) misfit: f64,
}

impl<'a, 'b> Problem<'a, 'b> {
    pub(super) fn new(bench: &'a mut Bench<'b>, runs: &'a [&'a Measured], dies: u32) -> Self {
        let row = |(run, it): (usize, &'a &'a Measured)| {
            it.figures.iter().map(move |(name, measured)| Row { run, name, measured: *measured })
        };
        let rows = runs.iter().enumerate().flat_map(row).collect();
        let prior = bench.base.point().logs;
        let parameter = |place: usize| {
            let (low, high) = bench.base.limits(place);
            let mut parameter = MPPar::new();
            parameter.fixed = !bench.open[place];
            (parameter.limited_low, parameter.limited_up) = (!parameter.fixed, !parameter.fixed);
            (parameter.limit_low, parameter.limit_up) = (low, high);
            parameter.side = MPSide::User;
            parameter
        };
        let parameters = (0..VALUES.len()).map(parameter).collect();
        let mut config = MPConfig::new();
        // Beyond this, simulations differ by their seeds.
        (config.ftol, config.xtol, config.gtol) = (0.05, 0.002, 1e-3);
        (config.max_iter, config.max_fev) = (8, MPMaxFev::Limited(16));
        config.step_factor = 1.0;
        Self {
            bench,
            runs,
            rows,
            prior,
            dies,
            parameters,
            config,
            failure: None,
            idle: vec![false; VALUES.len()],
            reached: None,
        }
    }

    /// The best point near one.
    pub(super) fn solved(mut self, start: &Point) -> Result<Best, RunError> {
        let mut logs = self.inside(&start.logs);
        let first = self.tried(&logs)?.1;
        if self.reached.is_some() || !self.bench.open.contains(&true) {
            return Ok(self.reached.unwrap_or(first));
        }
        match self.mpfit(&mut logs) {
            Ok(status) => {
                Ok(Best { point: Point { logs, dies: self.dies }, misfit: status.best_norm })
            }
            Err(_) => self.reached.ok_or_else(|| {
                self.failure.unwrap_or_else(|| {
                    RunError::Usage("the search for the values of the model failed".to_owned())
                })
            }),
        }
    }

    /// The terms at a point, and their sum; notes whether the point explains every figure.
    fn tried(&mut self, logs: &[f64]) -> Result<(Vec<f64>, Best), RunError> {
        let point = Point { logs: logs.to_owned(), dies: self.dies };
        let terms = self.deviates(std::slice::from_ref(&point))?.remove(0);
        let best = Best { point, misfit: terms.iter().map(|it| it * it).sum() };
        if terms[..self.rows.len()].iter().all(|it| it.abs() < REACHED) {
            self.reached = Some(best.clone());
        }
        Ok((terms, best))
    }

    /// The values with a say that the figures do not determine beside the others, the least determined
    /// first; and the deviations of the logarithms of the others.
    pub(super) fn undetermined(mut self, best: &Point) -> Result<(Vec<usize>, Vec<f64>), RunError> {
        let columns = self.effects(&best.logs)?.1;
        let mut free = self.bench.open.clone();
        let mut dropped = Vec::new();
        loop {
            let errors = deviations(&columns, &free, self.rows.len() + VALUES.len());
            let share = |place: &usize| errors[*place] / VALUES[*place].prior;
            let worst = (0..VALUES.len()).filter(|place| free[*place]);
            let worst = worst.max_by(|a, b| share(a).total_cmp(&share(b)));
            match worst.filter(|place| share(place) > DETERMINED) {
                Some(place) => {
                    free[place] = false;
                    dropped.push(place);
                }
                None => return Ok((dropped, errors)),
            }
        }
    }

    /// The deviations of the logarithms of all open values beside each other.
    pub(super) fn all_deviations(mut self, best: &Point) -> Result<Vec<f64>, RunError> {
        let columns = self.effects(&best.logs)?.1;
        Ok(deviations(&columns, &self.bench.open, self.rows.len() + VALUES.len()))
    }

    fn inside(&self, logs: &[f64]) -> Vec<f64> {
        let limited = |(log, limits): (&f64, &MPPar)| {
            if limits.fixed { *log } else { log.clamp(limits.limit_low, limits.limit_up) }
        };
        logs.iter().zip(&self.parameters).map(limited).collect()
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

    /// The terms at a point, and their derivatives by each open value. An effect below the noise of its
    /// figure counts as none: otherwise the seed would move a value without a say.
    fn effects(&mut self, logs: &[f64]) -> Result<Effects, RunError> {
        let has_say = |place: &usize| self.bench.open[*place] && !self.idle[*place];
        let open: Vec<usize> = (0..VALUES.len()).filter(has_say).collect();
        let mut points = vec![Point { logs: logs.to_owned(), dies: self.dies }];
        let mut steps = Vec::new();
        for place in &open {
            let mut moved = points[0].clone();
            let up = logs[*place] + STEP <= self.parameters[*place].limit_up;
            let step = if up { STEP } else { -STEP };
            moved.logs[*place] += step;
            points.push(moved);
            steps.push(step);
        }
        let mut terms = self.deviates(&points)?;
        let middle = terms.remove(0);
        let mut columns: Vec<_> = (0..VALUES.len()).map(|place| self.prior_column(place)).collect();
        for ((place, step), moved) in open.into_iter().zip(steps).zip(terms) {
            let slope = |(index, (moved, middle)): (usize, (&f64, &f64))| {
                // A figure's term is in units of its noise.
                let is_noise = index < self.rows.len() && (moved - middle).abs() < 1.0;
                if is_noise { 0.0 } else { (moved - middle) / step }
            };
            columns[place] = Some(moved.iter().zip(&middle).enumerate().map(slope).collect());
        }
        for (idle, column) in self.idle.iter_mut().zip(&columns) {
            *idle = column.iter().flatten().take(self.rows.len()).all(|slope| *slope == 0.0);
        }
        Ok((middle, columns))
    }

    /// The derivatives by a value without a say, or `None` for one that stays.
    fn prior_column(&self, place: usize) -> Option<Vec<f64>> {
        self.bench.open[place].then(|| {
            let mut column = vec![0.0; self.rows.len() + VALUES.len()];
            column[self.rows.len() + place] = 1.0 / VALUES[place].prior;
            column
        })
    }
}

fn deviate(row: &Row<'_>, simulated: &Simulated) -> f64 {
    let model = simulated.figures.get(row.name).filter(|_| simulated.fault.is_none());
    let logarithm = model.map_or(ABSENT, |model| (model.value / row.measured.value).ln());
    logarithm / row.measured.noise
}

impl MPFitter for Problem<'_, '_> {
    fn eval(&mut self, logs: &[f64], deviates: &mut [f64]) -> MPResult<()> {
        match self.tried(logs) {
            Ok((terms, _)) => deviates.copy_from_slice(&terms),
            Err(error) => self.failure = Some(error),
        }
        // An error is the only way to end the search.
        let ends = self.failure.is_some() || self.reached.is_some();
        if ends { Err(MPError::Eval) } else { Ok(()) }
    }

    fn number_of_points(&self) -> usize {
        self.rows.len() + VALUES.len()
    }

    fn config(&self) -> &MPConfig {
        &self.config
    }

    fn parameters(&self) -> &[MPPar] {
        &self.parameters
    }

    fn jacobian(
        &mut self,
        logs: &[f64],
        deviates: &mut [f64],
        derivatives: &mut [Option<Vec<f64>>],
    ) -> MPResult<()> {
        match self.effects(logs) {
            Ok((middle, columns)) => {
                deviates.copy_from_slice(&middle);
                give(&columns, derivatives);
            }
            Err(error) => {
                self.failure = Some(error);
                return Err(MPError::Eval);
            }
        }
        Ok(())
    }
}

/// Copies the derivatives to the places where MPFIT wants them.
fn give(columns: &[Option<Vec<f64>>], derivatives: &mut [Option<Vec<f64>>]) {
    for (wanted, column) in derivatives.iter_mut().zip(columns) {
        if let (Some(wanted), Some(column)) = (wanted, column) {
            wanted.copy_from_slice(column);
        }
    }
}

/// The standard deviations of the values that are free, from the derivatives of all terms: MPFIT's
/// covariance of a linear problem.
fn deviations(columns: &[Option<Vec<f64>>], free: &[bool], rows: usize) -> Vec<f64> {
    struct Linear<'a> {
        columns: &'a [Option<Vec<f64>>],
        parameters: Vec<MPPar>,
        config: MPConfig,
        rows: usize,
    }

    impl MPFitter for Linear<'_> {
        fn eval(&mut self, _: &[f64], deviates: &mut [f64]) -> MPResult<()> {
            deviates.fill(1.0);
            Ok(())
        }

        fn number_of_points(&self) -> usize {
            self.rows
        }

        fn config(&self) -> &MPConfig {
            &self.config
        }

        fn parameters(&self) -> &[MPPar] {
            &self.parameters
        }

        fn jacobian(
            &mut self,
            _: &[f64],
            deviates: &mut [f64],
            derivatives: &mut [Option<Vec<f64>>],
        ) -> MPResult<()> {
            deviates.fill(1.0);
            give(self.columns, derivatives);
            Ok(())
        }
    }

    let parameter = |free: &bool| {
        let mut parameter = MPPar::new();
        parameter.fixed = !free;
        parameter.side = MPSide::User;
        parameter
    };
    let mut config = MPConfig::new();
    config.max_iter = 0;
    let parameters = free.iter().map(parameter).collect();
    let mut linear = Linear { columns, parameters, config, rows };
    let fitted = linear.mpfit(&mut vec![0.0; free.len()]);
    fitted.map_or_else(|_| vec![0.0; free.len()], |status| status.xerror)
}
