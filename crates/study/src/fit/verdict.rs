//! The figures of the runs beside those of the best model, and the reason against that model.

use run::RunError;

use super::answer::{Refusal, Residual};
use super::bench::{Bench, Simulated};
use super::choices::with_latencies;
use super::figures::{self, LATENCIES, NOISE};
use super::guess::OTHER_SPARE;
use super::measured::Measurements;
use super::values::Point;

/// Difference of a figure over its noise that chance gives: one of tens of figures may differ by three
/// deviations.
const BY_CHANCE: f64 = 3.0;
/// The figures of runs beside those of a model.
pub(super) fn residuals(
    bench: &Bench<'_>,
    runs: &[&Measurements],
    simulated: &[Simulated],
    tolerance: f64,
) -> Vec<Residual> {
    let of = |(run, simulated): (&&Measurements, &Simulated)| {
        let residual = |(name, measured): (&String, &figures::Figure)| Residual {
            run: run.id.clone(),
            figure: name.clone(),
            measured: measured.value,
            model: simulated.figures.get(name).map(|it| it.value),
            permitted: permitted(
                bench,
                run,
                (name, measured.noise),
                tolerance * measured.noise / NOISE,
            ),
            held_out: run.held_out,
        };
        run.figures.iter().map(residual).collect::<Vec<_>>()
    };
    runs.iter().zip(simulated).flat_map(of).collect()
}

/// The latencies of the runs in steady state beside those of the model at a point. The search does not use them, for
/// they depend on the size of the drive; they tell two drives apart that have the same rates.
pub(super) fn of_latencies(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    point: &Point,
    tolerance: f64,
) -> Result<Vec<Residual>, RunError> {
    let settings = [bench.settings(point)];
    let mut found = Vec::new();
    for run in with_latencies(bench, runs) {
        let simulated = bench.at_own_size(run, &settings)?.remove(0);
        let pairs = LATENCIES.iter().zip(run.latencies.iter().zip(simulated.latencies));
        let checked = pairs.filter_map(|(latency, (measured, model))| {
            let of_kind = (latency.name, latency.noise);
            Some(Residual {
                run: run.id.clone(),
                figure: latency.name.to_owned(),
                measured: (*measured)?,
                model,
                permitted: permitted(bench, run, of_kind, tolerance * latency.wider?),
                held_out: false,
            })
        });
        found.extend(checked);
    }
    Ok(found)
}

/// The error that is permitted for a figure with the noise of its kind: that of the kind, or more where chance gives
/// more.
fn permitted(bench: &Bench<'_>, run: &Measurements, figure: (&str, f64), of_kind: f64) -> f64 {
    let (name, noise) = figure;
    of_kind.max(BY_CHANCE * bench.noise.of(&run.id, name, noise))
}

/// The reason against the model, if there is one.
pub(super) fn refusal(
    residuals: &[Residual],
    runs: &[&Measurements],
    has_cleaning: bool,
    tolerance: f64,
    simulated: &[Simulated],
) -> Option<Refusal> {
    if let Some(fault) = simulated.iter().find_map(|it| it.fault.as_ref()) {
        let message =
            format!("no model explains the runs: the best one cannot be simulated: {fault}");
        return Some(Refusal { reason: "no-model".to_owned(), message });
    }
    let used = residuals.iter().filter(|it| !it.held_out);
    let excess = |it: &&Residual| it.excess();
    let worst = used.max_by(|a, b| excess(a).total_cmp(&excess(b)))?;
    if excess(&worst) > 1.0 {
        let Residual { figure, run, measured, permitted, .. } = worst;
        let model = worst.model.map_or("none".to_owned(), short);
        let message = format!(
            "no model explains the runs: {figure} of {run} is {}, and the best model has {model}; expected at most \
             {:.0}% of difference",
            short(*measured),
            permitted * 100.0
        );
        return Some(Refusal { reason: "no-model".to_owned(), message });
    }
    let steady = |run: &&Measurements| Some((run.kept, run.figures.get("iops_steady_mean")?.value));
    let steady: Vec<(f64, f64)> = runs.iter().filter_map(steady).collect();
    let extent = |of: fn(&(f64, f64)) -> f64| {
        let all = steady.iter().map(of);
        all.fold((f64::MAX, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)))
    };
    let (shares, rates) = (extent(|it| it.0), extent(|it| it.1));
    let is_flat = rates.1 / rates.0 - 1.0 <= tolerance;
    (shares.1 - shares.0 > OTHER_SPARE && is_flat && !has_cleaning).then(|| Refusal {
        reason: "no-cleaning".to_owned(),
        message: format!(
            "no model explains the runs: the steady rate is the same at every spare area, within {:.0}%; cleaning \
             does not limit this target, as if its rate were throttled",
            tolerance * 100.0
        ),
    })
}

/// A number with four digits or more.
fn short(value: f64) -> String {
    if value < 1000.0 { format!("{value:.4}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reason against a model that explains these steady rates of a whole drive and of a part of it, and
    /// does not determine the spare area.
    fn reason(rates: [f64; 2]) -> Option<String> {
        let measured = |(kept, value): (f64, f64)| Measurements {
            id: "run".to_owned(),
            test: "consistency".parse().expect("a test"),
            settings: Vec::new(),
            capacity_bytes: 1 << 30,
            kept,
            scale: None,
            host: None,
            figures: figures::named("iops_steady_mean", value).into_iter().collect(),
            latencies: figures::Latencies::default(),
            held_out: false,
        };
        let runs = [(1.0, rates[0]), (0.75, rates[1])].map(measured);
        let residual = |value: f64| Residual {
            run: "run".to_owned(),
            figure: "iops_steady_mean".to_owned(),
            measured: value,
            model: Some(value),
            permitted: 0.05,
            held_out: false,
        };
        let runs: Vec<&Measurements> = runs.iter().collect();
        refusal(&rates.map(residual), &runs, false, 0.05, &[]).map(|it| it.reason)
    }

    #[test]
    fn rates_that_the_spare_area_changes_are_no_sign_of_a_throttle() {
        assert_eq!(reason([1000.0, 1040.0]).as_deref(), Some("no-cleaning"));
        assert_eq!(reason([1000.0, 1040.0 / 0.9]), None);
    }
}
