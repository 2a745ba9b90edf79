//! A drive model from measured runs of one drive.
//!
//! ```text
//! runs -> figures -> first guess (closed forms) -> search (simulations of a part of the drive)
//!     -> dies, pacing (a simulation of the size of the run) -> values that are determined -> answer
//! ```
//!
//! Every simulation is made once. The fit uses the runs' figures alone, and never those of the runs that
//! are held out. A model that misses a figure is an answer with a [`Refusal`].

mod answer;
mod bench;
mod choices;
mod closed_form;
mod figures;
mod imported;
mod measured;
mod search;
mod values;

pub use answer::{Choice, Estimate, Fit, Refusal, Residual};
pub use closed_form::write_amplification;

use std::sync::atomic::AtomicBool;

use base::Ratio;
use result::import::IMPORTED;
use result::schema::Run;
use run::RunError;

use self::bench::{Bench, Simulated};
use self::choices::DECIDES;
use self::figures::{FILL_RATE, Figures, NOISE};
use self::measured::Measured;
use self::search::{Best, Problem};
use self::values::{Base, LINK, PROGRAM, Point, READ, READ_COMMAND, SPARE, Settings, VALUES};
use crate::pool::Limits;

/// Half of a 95% interval in standard deviations.
const INTERVAL: f64 = 1.96;
/// Difference of the sizes of two drives that are the same.
const SAME_SIZE: f64 = 0.02;
/// Difference of two shares of the LBA space that must show in the steady rate.
const OTHER_SPARE: f64 = 0.05;

/// Most searches after the first one from the same start.
const RESTARTS: usize = 3;
/// Share of the sum of squares that a search must leave at most to be repeated.
const PAYS: f64 = 0.8;

/// The question of a fit.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Runs of one drive.
    pub runs: &'a [Run],
    /// Runs of the same drive that the fit does not use, but predicts.
    pub hold_out: &'a [Run],
    /// The model that gives all other values: a built-in name, or the path of a file.
    pub base: &'a str,
    /// Simulated share of the drive.
    pub scale: Ratio,
    /// Relative error of a rate beyond which the model does not explain the runs. A figure with more
    /// noise than a rate has as much more.
    pub tolerance: f64,
    /// Seed of the simulations.
    pub seed: u64,
}

/// Fits a model; `ended` is called after each simulation.
///
/// # Errors
/// [`RunError::Usage`] for runs that are no runs of one drive, or no base model for it;
/// [`RunError::Target`] with [`target::IoError::Interrupted`] after a stop.
pub fn fit(
    question: &Question<'_>,
    limits: Limits,
    stop: &AtomicBool,
    ended: &(dyn Fn(usize) + Sync),
) -> Result<Fit, RunError> {
    let base = Base::read(question.base)?;
    let read = |runs: &[Run], held_out| -> Result<Vec<_>, RunError> {
        let each = runs.iter().map(|run| match run.test.as_str() {
            IMPORTED => imported::read(run, base.capacity_bytes, held_out),
            _ => Ok(vec![Measured::read(run, held_out)?]),
        });
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    };
    let (used, held_out) = (read(question.runs, false)?, read(question.hold_out, true)?);
    check(&base, question, &used, &held_out)?;
    let runs: Vec<&Measured> = used.iter().collect();
    let told: Vec<&Figures> = used.iter().map(|run| &run.figures).collect();
    let open = VALUES.iter().map(|value| base.is_open(value, &told)).collect();
    let sizes = (question.scale, question.seed);
    let mut bench = Bench::new(&base, sizes, open, limits, (stop, ended))?;
    let asked = bench.open.clone();

    let best = best_of_starts(&mut bench, &runs, question.tolerance)?;
    let (best, mut dies_sure) = choices::dies(&mut bench, &runs, best)?;
    let (mut best, pacing) =
        with_pacing(&mut bench, &runs, best, good_misfit(&runs, question.tolerance))?;
    if pacing.value != base.pacing() {
        (best, dies_sure) = choices::dies(&mut bench, &runs, best)?;
    }
    let (best, told_values) = determined(&mut bench, &runs, best)?;

    let all: Vec<&Measured> = used.iter().chain(&held_out).collect();
    let simulated = bench.at(std::slice::from_ref(&best.point), &all)?.remove(0);
    let residuals = residuals(&all, &simulated, question.tolerance);
    let wide = spread(&residuals, &runs);
    let mut estimates = estimates(&bench, &asked, &best.point, &told_values, wide);
    if let Some(dies) = dies_estimate(&runs, &best.point, dies_sure) {
        let of_a_die = |it: &&mut Estimate| !dies_sure && OF_A_DIE.contains(&it.name.as_str());
        estimates.iter_mut().filter(of_a_die).for_each(unsure);
        estimates.push(dies);
    }
    let mut tests: Vec<String> = runs.iter().map(|run| run.test_name().to_owned()).collect();
    tests.sort();
    tests.dedup();
    let refusal = refusal(&residuals, &runs, &bench, question.tolerance, &simulated);
    Ok(Fit {
        base: question.base.to_owned(),
        scale: question.scale.to_string(),
        estimates,
        choices: vec![pacing],
        residuals,
        settings: bench.settings(&best.point),
        simulations: bench.simulations(),
        runs: question.runs.iter().map(|run| run.run_id.clone()).collect(),
        tests,
        refusal,
    })
}

/// Refuses runs that are not of one drive of the size of the base model.
fn check(
    base: &Base,
    question: &Question<'_>,
    used: &[Measured],
    held_out: &[Measured],
) -> Result<(), RunError> {
    let usage = |fault: String| Err(RunError::Usage(fault));
    if used.is_empty() {
        return usage("no run to fit; expected the runs of one drive".to_owned());
    }
    let tolerance = question.tolerance;
    if !(NOISE..=1.0).contains(&tolerance) {
        return usage(format!("tolerance {tolerance}; expected {NOISE} to 1, such as 0.05 or 5%"));
    }
    for run in used.iter().chain(held_out) {
        let ratio = run.whole_bytes() / base.capacity_bytes as f64;
        if (ratio - 1.0).abs() > SAME_SIZE {
            return usage(format!(
                "run {} is of a drive of {}, and the base model has {}; expected a base model of its size",
                run.id,
                base::Bytes(run.whole_bytes() as u64).rounded(),
                base::Bytes(base.capacity_bytes).rounded(),
            ));
        }
    }
    Ok(())
}

/// The better of the searches from the closed forms and, if that misses a figure, from the base model.
fn best_of_starts(
    bench: &mut Bench<'_>,
    runs: &[&Measured],
    tolerance: f64,
) -> Result<Best, RunError> {
    let (dies, good) = (bench.base.dies(), good_misfit(runs, tolerance));
    let guess = first_guess(bench, runs)?;
    let best = persistent(bench, runs, dies, &guess, good)?;
    if best.misfit < good {
        return Ok(best);
    }
    let start = bench.base.point();
    let other = persistent(bench, runs, dies, &start, good)?;
    Ok(if other.misfit < best.misfit { other } else { best })
}

/// A sum of squares that explains the figures: an average of half the tolerance.
fn good_misfit(runs: &[&Measured], tolerance: f64) -> f64 {
    let figures: usize = runs.iter().map(|run| run.figures.len()).sum();
    figures as f64 * (tolerance / NOISE / 2.0).powi(2)
}

/// A search that begins again at its end, while that pays: a value without an effect at the start of a
/// search stays there, and has one elsewhere.
fn persistent(
    bench: &mut Bench<'_>,
    runs: &[&Measured],
    dies: u32,
    start: &Point,
    good: f64,
) -> Result<Best, RunError> {
    let mut best = Problem::new(bench, runs, dies).solved(start)?;
    for _ in 0..RESTARTS {
        if best.misfit < good {
            break;
        }
        let again = Problem::new(bench, runs, dies).solved(&best.point)?;
        let pays = again.misfit < best.misfit * PAYS;
        if again.misfit < best.misfit {
            best = again;
        }
        if !pays {
            break;
        }
    }
    Ok(best)
}

/// The closed forms: the ratio of two steady rates gives the spare area, the fill the program time, and
/// reads at most depth the read time, each if nothing else limits it.
fn first_guess(bench: &mut Bench<'_>, runs: &[&Measured]) -> Result<Point, RunError> {
    let mut guess = bench.base.point();
    let steady = |run: &&&Measured| run.figures.contains_key("iops_steady_mean");
    let rate = |run: &Measured| run.figures["iops_steady_mean"].value;
    let slow = runs.iter().filter(steady).max_by(|a, b| a.kept.total_cmp(&b.kept));
    let fast = runs.iter().filter(steady).min_by(|a, b| a.kept.total_cmp(&b.kept));
    if let (Some(slow), Some(fast)) = (slow, fast)
        && slow.kept - fast.kept > OTHER_SPARE
    {
        let ratio = rate(fast) / rate(slow);
        guess.logs[SPARE] = closed_form::spare_of_ratio(slow.kept, fast.kept, ratio).ln();
    }
    let simulated = bench.at(std::slice::from_ref(&guess), runs)?.remove(0);
    for (place, is_of, exponent) in LIMITED {
        let pairs = runs.iter().zip(&simulated).flat_map(|(run, simulated)| {
            let named = run.figures.iter().filter(|(name, _)| is_of(name));
            named.filter_map(|(name, it)| Some((it.value, simulated.figures.get(name)?.value)))
        });
        let highest = pairs.max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((measured, model)) = highest {
            guess.logs[place] += exponent * (model / measured).ln();
        }
    }
    Ok(guess)
}

/// The place of a value, the figures that it limits, and the sign of its effect.
type Limit = (usize, fn(&str) -> bool, f64);

/// The stages that limit a figure.
const LIMITED: [Limit; 4] = [
    (PROGRAM, |name| name == FILL_RATE, 1.0),
    (READ, is_random_read_rate, 1.0),
    (READ_COMMAND, is_random_read_rate, 1.0),
    (LINK, |name| name == "corners.sequential_read.iops", -1.0),
];

fn is_random_read_rate(name: &str) -> bool {
    figures::is_of_reads(name) && name.ends_with(".iops") && !name.contains("sequential")
}

/// The pacing of the model, and the best point with it.
fn with_pacing(
    bench: &mut Bench<'_>,
    runs: &[&Measured],
    best: Best,
    good: f64,
) -> Result<(Best, Choice), RunError> {
    let of_base = bench.base.pacing().to_owned();
    let found = choices::pacing(bench, runs, &best.point)?.map(str::to_owned);
    let mut best = best;
    let mut value = found.clone().unwrap_or(of_base.clone());
    if value != of_base {
        best = paced(bench, runs, &best.point, &value, good)?;
    }
    if best.misfit > good {
        for pacing in choices::PACINGS {
            let other = paced(bench, runs, &best.point, pacing, good)?;
            if other.misfit < best.misfit - DECIDES {
                (best, value) = (other, pacing.to_owned());
            }
        }
    }
    let determined = found.is_some_and(|found| found == value);
    bench.fixed = Settings::new();
    if determined || value != of_base {
        bench.fixed.insert(PACING.to_owned(), value.clone());
    }
    Ok((best, Choice { name: "pacing".to_owned(), key: PACING.to_owned(), value, determined }))
}

/// Key of the pacing in a model.
const PACING: &str = "gc.pacing";

/// The best point near one with a pacing.
fn paced(
    bench: &mut Bench<'_>,
    runs: &[&Measured],
    start: &Point,
    pacing: &str,
    good: f64,
) -> Result<Best, RunError> {
    bench.fixed = Settings::from([(PACING.to_owned(), pacing.to_owned())]);
    persistent(bench, runs, start.dies, start, good)
}

/// Values whose prior explains the figures as well return to it, and the search goes on for the others.
/// Values that the figures only tell together stay where the search put them, and are not determined.
fn determined(
    bench: &mut Bench<'_>,
    runs: &[&Measured],
    mut best: Best,
) -> Result<(Best, Told), RunError> {
    loop {
        let dies = best.point.dies;
        let (dropped, errors) = Problem::new(bench, runs, dies).undetermined(&best.point)?;
        if dropped.is_empty() {
            return Ok((best, Told { errors, unsure: Vec::new() }));
        }
        let (open, prior) = (bench.open.clone(), bench.base.point());
        let mut start = best.point.clone();
        for place in &dropped {
            bench.open[*place] = false;
            start.logs[*place] = prior.logs[*place];
        }
        let other = Problem::new(bench, runs, dies).solved(&start)?;
        if other.misfit > best.misfit + DECIDES {
            bench.open = open;
            let errors = Problem::new(bench, runs, dies).all_deviations(&best.point)?;
            return Ok((best, Told { errors, unsure: dropped }));
        }
        best = other;
    }
}

/// The words of the figures about the values.
struct Told {
    /// Deviations of the logarithms, by place.
    errors: Vec<f64>,
    /// Places of the values that the figures tell only together with others.
    unsure: Vec<usize>,
}

fn residuals(runs: &[&Measured], simulated: &[Simulated], tolerance: f64) -> Vec<Residual> {
    let of = |(run, simulated): (&&Measured, &Simulated)| {
        let residual = |(name, measured): (&String, &figures::Figure)| Residual {
            run: run.id.clone(),
            figure: name.clone(),
            measured: measured.value,
            model: simulated.figures.get(name).map(|it| it.value),
            permitted: tolerance * measured.noise / NOISE,
            held_out: run.held_out,
        };
        run.figures.iter().map(residual).collect::<Vec<_>>()
    };
    runs.iter().zip(simulated).flat_map(of).collect()
}

/// Width of the intervals over that of the noise of simulations, from the residuals.
fn spread(residuals: &[Residual], runs: &[&Measured]) -> f64 {
    let noise = |it: &Residual| {
        let run = runs.iter().find(|run| run.id == it.run);
        run.and_then(|run| run.figures.get(&it.figure)).map(|figure| figure.noise)
    };
    let used = residuals.iter().filter(|it| !it.held_out);
    let squares: Vec<f64> = used.filter_map(|it| Some((it.error() / noise(it)?).powi(2))).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt().max(1.0)
}

fn estimates(
    bench: &Bench<'_>,
    asked: &[bool],
    point: &Point,
    told: &Told,
    wide: f64,
) -> Vec<Estimate> {
    let of = |place: usize| {
        let value = point.logs[place].exp();
        let determined = bench.open[place] && !told.unsure.contains(&place);
        let factor = (INTERVAL * told.errors[place] * wide).exp();
        Estimate {
            name: VALUES[place].name.to_owned(),
            key: VALUES[place].key.to_owned(),
            value,
            low: determined.then_some(value / factor),
            high: determined.then_some(value * factor),
            determined,
        }
    };
    (0..VALUES.len()).filter(|place| asked[*place]).map(of).collect()
}

/// Values that scale with the number of dies: unknown dies leave them unknown.
const OF_A_DIE: [&str; 2] = ["program_ns", "read_ns"];

fn unsure(estimate: &mut Estimate) {
    (estimate.low, estimate.high, estimate.determined) = (None, None, false);
}

/// The dies of a channel: an estimate of a whole number.
fn dies_estimate(runs: &[&Measured], point: &Point, determined: bool) -> Option<Estimate> {
    let told = runs.iter().any(|run| run.figures.keys().any(|name| figures::is_of_reads(name)));
    told.then(|| Estimate {
        name: "dies_per_channel".to_owned(),
        key: "nand.dies_per_channel".to_owned(),
        value: point.dies.into(),
        low: determined.then_some(point.dies.into()),
        high: determined.then_some(point.dies.into()),
        determined,
    })
}

/// The reason against the model, if there is one.
fn refusal(
    residuals: &[Residual],
    runs: &[&Measured],
    bench: &Bench<'_>,
    tolerance: f64,
    simulated: &[Simulated],
) -> Option<Refusal> {
    if let Some(fault) = simulated.iter().find_map(|it| it.fault.as_ref()) {
        let message =
            format!("no model explains the runs: the best one cannot be simulated: {fault}");
        return Some(Refusal { reason: "no-model".to_owned(), message });
    }
    let used = residuals.iter().filter(|it| !it.held_out);
    let excess = |it: &&Residual| it.error().abs() / it.permitted;
    let worst = used.max_by(|a, b| excess(a).total_cmp(&excess(b)))?;
    if excess(&worst) > 1.0 {
        let Residual { figure, run, measured, permitted, .. } = worst;
        let model = worst.model.map_or("none".to_owned(), |model| format!("{model:.4}"));
        let message = format!(
            "no model explains the runs: {figure} of {run} is {measured:.4}, and the best model has {model}; \
             expected at most {:.0}% of difference",
            permitted * 100.0
        );
        return Some(Refusal { reason: "no-model".to_owned(), message });
    }
    let shares: Vec<f64> = runs
        .iter()
        .filter(|run| run.figures.contains_key("iops_steady_mean"))
        .map(|run| run.kept)
        .collect();
    let (low, high) =
        shares.iter().fold((1.0, 0.0), |(low, high), share| (share.min(low), share.max(high)));
    (high - low > OTHER_SPARE && !bench.open[SPARE]).then(|| Refusal {
        reason: "no-cleaning".to_owned(),
        message: format!(
            "no model explains the runs: the steady rate is the same at every spare area, within {:.0}%; cleaning \
             does not limit this target, as if its rate were throttled",
            tolerance * 100.0
        ),
    })
}
