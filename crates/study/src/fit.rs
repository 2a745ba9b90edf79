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
mod guess;
mod imported;
mod least_squares;
mod measured;
mod noise;
mod search;
mod searched;
mod values;
mod verdict;

pub use answer::{Choice, Estimate, Fit, Refusal, Residual};
pub use closed_form::write_amplification;

use std::sync::atomic::AtomicBool;

use base::Ratio;
use result::import::IMPORTED;
use result::schema::Run;
use run::RunError;

use self::bench::Bench;
use self::choices::{DECIDES, misfit_of};
use self::figures::{Figures, NOISE};
use self::measured::Measurements;
use self::search::{Best, Problem, Sensitivity};
use self::searched::{Searched, persistent};
use self::values::{Base, HOST, PACING, PROGRAM, Point, SPARE, Settings, VALUES};
use session::pool::Limits;

/// Half of a 95% interval in standard deviations.
const INTERVAL: f64 = 1.96;
/// Difference of the sizes of two drives that are the same.
const SAME_SIZE: f64 = 0.02;

/// The name of the number of dies in an answer.
const DIES: &str = "dies_per_channel";

/// The question of a fit.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Runs of one drive.
    pub runs: &'a [Run],
    /// Runs of the same drive that the fit does not use, but predicts.
    pub hold_out: &'a [Run],
    /// The model that gives all other values: a built-in name, or the path of a file.
    pub base: &'a str,
    /// Names of values that are right in the base model and that the fit leaves alone, such as
    /// `dies_per_channel` or `pacing`.
    pub known: &'a [String],
    /// Simulated share of the drive.
    pub scale: Ratio,
    /// Relative error of a rate beyond which the model does not explain the runs. A figure of a kind with
    /// more noise than a rate has as much more, and each at least three times its measured noise.
    pub tolerance: f64,
    /// Seed of the simulations.
    pub seed: u64,
}

/// Fits a model; `ended` is called after each simulation.
///
/// # Errors
/// [`RunError::Usage`] for runs that are no runs of one drive, or no base model for it, or a name in
/// [`Question::known`] that is of no value; [`RunError::Target`] with [`target::TargetError::Interrupted`]
/// after a stop.
pub fn fit(
    question: &Question<'_>,
    limits: Limits,
    stop: &AtomicBool,
    ended: &(dyn Fn(usize) + Sync),
) -> Result<Fit, RunError> {
    let base = Base::read(question.base)?;
    let read = |runs: &[Run], held_out| -> Result<Vec<_>, RunError> {
        let (of_others, own): (Vec<_>, Vec<_>) =
            runs.iter().partition(|run| run.test.as_str() == IMPORTED);
        let own = own.into_iter().map(|run| Measurements::read(run, held_out));
        let mut all = own.collect::<Result<Vec<_>, _>>()?;
        all.extend(imported::read(&of_others, base.capacity_bytes, held_out)?);
        Ok(all)
    };
    let (used, held_out) = (read(question.runs, false)?, read(question.hold_out, true)?);
    let is_known = |name: &str| question.known.iter().any(|known| known == name);
    let has_open_host = base.has_open_host(&used, is_known) && !is_known(VALUES[HOST].name);
    check(&base, question, has_open_host, used.iter().chain(&held_out))?;
    let runs: Vec<&Measurements> = used.iter().collect();
    let told: Vec<&Figures> = used.iter().map(|run| &run.figures).collect();
    let open = |value| base.is_open(value, &told) && !is_known(value.name);
    let mut open: Vec<bool> = VALUES.iter().map(open).collect();
    open[HOST] &= has_open_host;
    let sizes = (question.scale, question.seed);
    let mut bench = Bench::new(&base, sizes, open, limits, (stop, ended))?;
    let asked = bench.open.clone();

    let choose = Choose { dies: !is_known(DIES), pacing: !is_known("pacing") };
    let found = found(&mut bench, &runs, &choose)?;
    let (best, told) = determined(&mut bench, &runs, found.best)?;

    let all: Vec<&Measurements> = used.iter().chain(&held_out).collect();
    let simulated = bench.at(std::slice::from_ref(&best.point), &all)?.remove(0);
    let mut residuals = verdict::residuals(&bench, &all, &simulated, question.tolerance);
    residuals.extend(verdict::of_latencies(&mut bench, &runs, &best.point, question.tolerance)?);
    let base_explains = base_explains(&mut bench, &runs, question.tolerance)?;
    let wide = spread(&residuals, &bench, &runs, &told);
    let estimates = estimates(&bench, &asked, &best.point, &told, (wide, &found.dies));
    let mut tests: Vec<String> = runs.iter().map(|run| run.test_name().to_owned()).collect();
    tests.sort();
    tests.dedup();
    let has_cleaning = told[SPARE].determined || is_known(VALUES[SPARE].name);
    let refusal = verdict::refusal(&residuals, &runs, has_cleaning, question.tolerance, &simulated);
    Ok(Fit {
        base: question.base.to_owned(),
        scale: question.scale.to_string(),
        estimates,
        choices: found.pacing.into_iter().collect(),
        residuals,
        settings: bench.settings(&best.point),
        base_explains,
        simulations: bench.simulations(),
        runs: question.runs.iter().map(|run| run.run_id.clone()).collect(),
        tests,
        refusal,
    })
}

/// Whether the base model as it is explains the figures of the runs.
fn base_explains(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    tolerance: f64,
) -> Result<bool, RunError> {
    let found = std::mem::take(&mut bench.fixed);
    let simulated = bench.at(&[bench.base.point()], runs)?.remove(0);
    bench.fixed = found;
    let residuals = verdict::residuals(bench, runs, &simulated, tolerance);
    Ok(residuals.iter().all(|it| it.excess() <= 1.0))
}

/// Whether the fit must find the dies and the pacing.
struct Choose {
    dies: bool,
    pacing: bool,
}

/// The best point, and the values that are no continuous numbers.
struct Found {
    best: Best,
    /// The best point with each number of dies that explains the figures; empty if nothing tells them, or
    /// they are known.
    dies: Vec<Point>,
    /// The pacing, or `None` if it is known.
    pacing: Option<Choice>,
}

/// Finds pacing and dies by the figures that tell them alone, then all values.
fn found(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    choose: &Choose,
) -> Result<Found, RunError> {
    let mut start = guess::first(bench, runs)?;
    if choose.pacing && guessed_pacing(bench, runs, &start)? {
        start = guess::first(bench, runs)?;
    }
    noise::measure(bench, runs, &start)?;
    let mut starts = if choose.dies { choices::dies(bench, runs, &start)? } else { Vec::new() };
    let has_dies = !starts.is_empty();
    if !has_dies {
        starts.push(start);
    }
    let figures = runs.iter().map(|run| run.figures.len()).sum();
    let mut searched = Searched::new(figures);
    searched.all(bench, runs, &starts[..1])?;
    // Noise depends on the point: that of the first guess may be far away.
    noise::measure(bench, runs, &searched.best().point.clone())?;
    starts[0] = searched.best().point.clone();
    searched = Searched::new(figures);
    searched.all(bench, runs, &starts)?;
    searched.elsewhere(bench, runs, has_dies)?;
    let mut pacing = None;
    if choose.pacing {
        let before = bench.pacing().to_owned();
        let (best, choice) = with_pacing(bench, runs, searched.best().clone(), searched.good())?;
        pacing = Some(choice);
        if bench.pacing() == before {
            searched.add(best);
        } else {
            let others = searched.about_as_good(&best.point);
            searched = Searched::new(figures);
            searched.add(best);
            searched.all(bench, runs, &others)?;
            searched.elsewhere(bench, runs, has_dies)?;
        }
    }
    let dies = if has_dies { searched.dies() } else { Vec::new() };
    Ok(Found { best: searched.best().clone(), dies, pacing })
}

/// Takes the pacing with the latencies of the runs for the search, and tells whether it is another one than
/// before. Only where a simulation of the size of a run is as cheap as any other.
fn guessed_pacing(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    guess: &Point,
) -> Result<bool, RunError> {
    if runs.iter().any(|run| run.scale != Some(bench.scale)) {
        return Ok(false);
    }
    let ranked = choices::pacings(bench, runs, guess)?;
    let of_base = misfit_of(&ranked, bench.base.pacing());
    let other = ranked.first().filter(|best| best.0 < of_base - DECIDES);
    if let Some((_, pacing)) = other {
        bench.fixed.insert(PACING.to_owned(), (*pacing).to_owned());
    }
    Ok(other.is_some())
}

/// Refuses runs that are not of one drive of the size of the base model.
fn check<'a>(
    base: &Base,
    question: &Question<'_>,
    has_open_host: bool,
    runs: impl Iterator<Item = &'a Measurements>,
) -> Result<(), RunError> {
    let usage = |fault: String| Err(RunError::Usage(fault));
    let is_value = |name: &str| VALUES.iter().any(|value| value.name == name);
    let others = [DIES, "pacing"];
    let is_free = |name: &&String| !is_value(name) && !others.contains(&name.as_str());
    if let Some(name) = question.known.iter().find(is_free) {
        let names = VALUES.iter().map(|value| value.name).chain(others).collect::<Vec<_>>();
        return usage(format!("known value `{name}`; expected one of {}", names.join(", ")));
    }
    if question.runs.is_empty() {
        return usage("no run to fit; expected the runs of one drive".to_owned());
    }
    let tolerance = question.tolerance;
    if !(NOISE..=1.0).contains(&tolerance) {
        return usage(format!("tolerance {tolerance}; expected {NOISE} to 1, such as 0.05 or 5%"));
    }
    for run in runs {
        let ratio = run.whole_bytes() / base.capacity_bytes as f64;
        if (ratio - 1.0).abs() > SAME_SIZE {
            return usage(format!(
                "run {} is of a drive of {}, and the base model has {}; expected a base model of its size",
                run.id,
                base::Bytes(run.whole_bytes() as u64).rounded(),
                base::Bytes(base.capacity_bytes).rounded(),
            ));
        }
        if let Some(depth) = run.depth().filter(|depth| *depth > base.depth) {
            return usage(format!(
                "run {} has figures with {depth} commands outstanding, and the base model takes {} at a time; expected \
                 a base model with as deep a queue (`interface.kind`, `interface.queue_depth`)",
                run.id, base.depth,
            ));
        }
        let other = run.host.as_ref().filter(|host| **host != base.host && !has_open_host);
        if let Some(host) = other {
            return usage(format!(
                "run {} is of a drive behind the host `{host}`, and the base model stands behind `{}`; expected the \
                 same host (`host` of the model), or three depths with a latency of the drive known \
                 (`write_latency_ns`), which tell its time",
                run.id, base.host,
            ));
        }
    }
    Ok(())
}

/// The pacing of the model, and the best point with it. A search with another pacing begins at the best point; one that
/// failed from a worse point is tried again, if the latencies speak for it.
fn with_pacing(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    mut best: Best,
    good: f64,
) -> Result<(Best, Choice), RunError> {
    let of_base = bench.base.pacing().to_owned();
    let mut value = bench.pacing().to_owned();
    let mut ranked = choices::pacings(bench, runs, &best.point)?;
    // Pacings that were tried at all, and from the best point so far.
    let (mut tried, mut from_here) = (vec![value.clone()], vec![value.clone()]);
    loop {
        let is_better = |name: &str| {
            let is_ranked = ranked.iter().any(|it| it.1 == name);
            is_ranked && misfit_of(&ranked, name) < misfit_of(&ranked, &value) - DECIDES
        };
        let is_next = |name: &&str| {
            let is_fresh = |tried: &[String]| !tried.iter().any(|it| it == name);
            is_fresh(&from_here) && (is_better(name) || best.misfit > good && is_fresh(&tried))
        };
        let Some(pacing) = choices::PACINGS.into_iter().find(is_next) else { break };
        tried.push(pacing.to_owned());
        from_here.push(pacing.to_owned());
        let before = bench.fixed.clone();
        bench.fixed.insert(PACING.to_owned(), pacing.to_owned());
        let other = persistent(bench, runs, &best.point, good)?;
        // Latencies only add to the sum: simulating them is no use where the figures alone decide.
        let bound = best.misfit + misfit_of(&ranked, &value) - DECIDES;
        let of_other = if other.misfit < bound {
            choices::pacings(bench, runs, &other.point)?
        } else {
            Vec::new()
        };
        if other.misfit + misfit_of(&of_other, pacing) < bound {
            (best, value, ranked) = (other, pacing.to_owned(), of_other);
            from_here = vec![value.clone()];
        } else {
            bench.fixed = before;
        }
    }
    let determined = choices::decided(&ranked).is_some_and(|it| it == value);
    if !determined && value == of_base {
        bench.fixed = Settings::new();
    } else {
        bench.fixed.insert(PACING.to_owned(), value.clone());
    }
    Ok((best, Choice { name: "pacing".to_owned(), key: PACING.to_owned(), value, determined }))
}

/// Values without a say in any figure return to their prior, if the figures are explained about as well
/// there: all of them, or else each that can.
fn determined(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    best: Best,
) -> Result<(Best, Vec<Sensitivity>), RunError> {
    let told = Problem::new(bench, runs, best.point.dies).sensitivities(&best.point)?;
    let silent: Vec<usize> = (0..VALUES.len()).filter(|place| told[*place].silent).collect();
    let figures = runs.iter().map(|run| run.figures.len()).sum::<usize>() as f64;
    // One deviation of a sum of squares by chance.
    let most = best.misfit + (2.0 * figures).sqrt() * (best.misfit / figures).max(1.0);
    let mut now = best;
    let each = silent.iter().map(|place| vec![*place]);
    for places in [silent.clone()].into_iter().chain(each) {
        let (open, mut point) = (bench.open.clone(), now.point.clone());
        for place in places {
            bench.open[place] = false;
            point.logs[place] = bench.base.point().logs[place];
        }
        let problem = Problem::new(bench, runs, point.dies);
        let misfit = problem.misfits(std::slice::from_ref(&point))?[0];
        if misfit < most {
            now = Best { point, misfit };
        } else {
            bench.open = open;
        }
    }
    Ok((now, told))
}

/// Width of the intervals over that of the noise, from the residuals: each value that the figures
/// determine takes one of them.
fn spread(
    residuals: &[Residual],
    bench: &Bench<'_>,
    runs: &[&Measurements],
    told: &[Sensitivity],
) -> f64 {
    let noise = |it: &Residual| {
        let run =
            runs.iter().find(|run| run.id == it.run && run.figures.contains_key(&it.figure))?;
        Some(bench.noise.of(&run.id, &it.figure, run.figures[&it.figure].noise))
    };
    let used = residuals.iter().filter(|it| !it.held_out);
    let squares: Vec<f64> = used.filter_map(|it| Some((it.error() / noise(it)?).powi(2))).collect();
    let free = squares.len().saturating_sub(told.iter().filter(|it| it.determined).count());
    (squares.iter().sum::<f64>() / free.max(1) as f64).sqrt().max(1.0)
}

/// The estimates; `wide` is the width of the intervals over that of the noise, `dies` has a point for each number of
/// dies that explains the figures.
fn estimates(
    bench: &Bench<'_>,
    asked: &[bool],
    point: &Point,
    told: &[Sensitivity],
    (wide, dies): (f64, &[Point]),
) -> Vec<Estimate> {
    let factor = |place: usize| (INTERVAL * told[place].error * wide).exp();
    let of_dies = |place: usize| dies.len() > 1 && OF_A_DIE.contains(&VALUES[place].name);
    let of = |place: usize| {
        let determined = told[place].determined && !of_dies(place);
        let (name, key) = (VALUES[place].name, VALUES[place].key);
        estimate((name, key), point.logs[place].exp(), determined.then(|| factor(place)))
    };
    let mut all: Vec<_> = (0..VALUES.len()).filter(|place| asked[*place]).map(of).collect();
    if asked[PROGRAM] {
        let channels = bench.base.channels();
        let rate = |it: &Point| f64::from(it.dies) * channels * 1e9 / it.logs[PROGRAM].exp();
        let told = told[PROGRAM].determined.then(|| factor(PROGRAM));
        let mut programs = estimate(PROGRAMS, rate(point), told);
        // Another number of dies may explain the figures with another rate.
        for other in dies.iter().map(rate) {
            programs.low = programs.low.zip(told).map(|(low, factor)| low.min(other / factor));
            programs.high = programs.high.zip(told).map(|(high, factor)| high.max(other * factor));
        }
        all.push(programs);
    }
    if !dies.is_empty() {
        let key = "nand.dies_per_channel";
        all.push(estimate((DIES, key), point.dies.into(), (dies.len() == 1).then_some(1.0)));
    }
    all
}

/// An estimate with an interval of a factor to both sides, or without one.
fn estimate((name, key): (&str, &str), value: f64, factor: Option<f64>) -> Estimate {
    Estimate {
        name: name.to_owned(),
        key: key.to_owned(),
        value,
        low: factor.map(|factor| value / factor),
        high: factor.map(|factor| value * factor),
        determined: factor.is_some(),
    }
}

/// Values that scale with the number of dies: unknown dies leave them unknown.
const OF_A_DIE: [&str; 2] = ["program_ns", "read_ns"];
/// Multi-plane programs a second of all dies, which writes determine where they leave dies and program time open; and
/// the keys behind it.
const PROGRAMS: (&str, &str) = ("programs_per_s", "nand.dies_per_channel / nand.program_ns");

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    const BASE: &str = "intel-ssd-750-400gb";

    fn asked_with(known: &[String]) -> String {
        let scale = "1/1024".parse().expect("a ratio");
        let question = Question {
            runs: &[],
            hold_out: &[],
            base: BASE,
            known,
            scale,
            tolerance: 0.05,
            seed: 1,
        };
        let answer = fit(&question, Limits::new(Some(1)), &AtomicBool::new(false), &|_| ());
        answer.expect_err("there is no run").to_string()
    }

    #[test]
    fn a_known_value_must_be_one_of_the_fit() {
        let message = asked_with(&["dies".to_owned()]);
        assert!(message.contains("known value `dies`"), "{message}");
        assert!(
            message.contains("program_ns") && message.contains("dies_per_channel"),
            "{message}"
        );
        for name in ["dies_per_channel", "pacing", "read_ns"] {
            let message = asked_with(slice::from_ref(&name.to_owned()));
            assert!(message.contains("no run to fit"), "{message}");
        }
    }

    /// The estimates by name where all values are determined and these numbers of dies, with as many programs a second
    /// of a die, explain the figures.
    fn named(dies: &[u32]) -> Vec<Estimate> {
        let base = Base::read(BASE).expect("a model");
        let (stop, open) = (AtomicBool::new(false), vec![true; VALUES.len()]);
        let scale = "1/1024".parse().expect("a ratio");
        let limits = Limits::new(Some(1));
        let bench = Bench::new(&base, (scale, 1), open.clone(), limits, (&stop, &|_| ()));
        let told = Sensitivity { error: 0.01, determined: true, silent: false };
        let told = vec![told; VALUES.len()];
        let mut point = base.point();
        (point.dies, point.logs[PROGRAM]) = (5, 1_000_000_f64.ln());
        let dies: Vec<_> = dies.iter().map(|dies| Point { dies: *dies, ..point.clone() }).collect();
        estimates(&bench.expect("a drive"), &open, &point, &told, (1.0, &dies))
    }

    #[test]
    fn programs_a_second_are_determined_where_the_dies_are_open() {
        let by_name = |all: &[Estimate], name: &str| {
            all.iter().find(|it| it.name == name).cloned().expect("it is asked")
        };
        let open = named(&[5, 6]);
        for name in ["program_ns", "read_ns", DIES] {
            assert!(!by_name(&open, name).determined, "{name}");
        }
        let rate = by_name(&open, "programs_per_s");
        let channels = Base::read(BASE).expect("a model").channels();
        assert!((rate.value / (5_000.0 * channels) - 1.0).abs() < 1e-9, "{rate:?}");
        let (low, high) = (rate.low.expect("an interval"), rate.high.expect("an interval"));
        assert!(low < rate.value && 1.2 * rate.value < high, "{rate:?}");
        let one = named(&[5]);
        for name in ["program_ns", "read_ns", DIES, "programs_per_s"] {
            assert!(by_name(&one, name).determined, "{name}");
        }
    }
}
