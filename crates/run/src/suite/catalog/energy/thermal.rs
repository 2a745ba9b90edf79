//! Heat: the rate of a drive that works for an hour, and its temperature.
//!
//! Method (ours): purge; fill of the span; 128 KiB sequential writes at QD 32 over the whole span
//! for `time`, then 70% reads and 30% writes of 4 KiB at random, QD 32, for `mixed`; before each, the
//! drive cools down for `cool`. Rates come from the commands, power from the meter or the model, the
//! temperature from the model each second, or from the drive's own report every 10 s.
//!
//! Interpretation: the rate is cut into levels (change-point detection), each with the highest
//! temperature in it. A fall counts as throttling if the drive had warmed by 5 K before it, and does
//! not warm further after it (by 2 K at most): a limit holds the temperature. After another fall,
//! such as that at the end of a cache, the drive warms on. Energy for each GB written compares drives
//! of different speed.

use std::ops::Range;

use base::{Nanos, OpKind};
use load::{Mix, Order, Workload};
use result::schema::{Finding, Table, TableRow};
use result::stats::changepoint::{Regime, Shape, VALUES_MIN};
use result::stats::findings::percent;
use result::stats::power::drawn;

use crate::params::Param;
use crate::suite::keys::{Duration, Pause, QueueDepth, settings};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, Part, ReviewEntry, Site, Step, TestSettings,
    open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "thermal",
    heading: "Heat",
    question: "does the drive keep its rate when it is warm?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry { settings: "mixed=5m", ..ReviewEntry::FULL },
        ReviewEntry::quick("cool=10s time=60s mixed=30s"),
    ],
    ..Definition::of::<Settings>(Chapter::Energy, 2)
};

/// The kinds of work: the phase, and words.
const WORK: [(&str, &str); 2] =
    [("sequential_write", "128 KiB sequential write"), ("mixed", "4 KiB random, 70% reads")];
/// A level of a table below this share of the one before it is a fall.
const FALL_SHARE: f64 = 0.9;
/// Warmth in kelvin that throttling needs, and the rise that it permits.
const WARMED_K: f64 = 5.0;
const HELD_K: f64 = 2.0;
/// Parts of the phase at its begin and end whose rates are compared.
const PARTS: usize = 10;
/// Seconds at the begin of a phase: a drive reports its temperature every 10 s.
const FIRST_S: u64 = 15;
/// Millikelvin of 0 degrees Celsius.
const ZERO_C_MK: f64 = 273_150.0;

settings! {
    /// Lengths of the work.
    struct Settings {
        cool: Pause = Param::new("cool", "10m", "pause before each kind of work");
        time: Duration = Param::new("time", "60m", "length of the sequential writes");
        mixed: Duration = Param::new("mixed", "60m", "length of the mixed work");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let (depth, span) = (self.queue_depth, site.span_bytes);
        let block = steps::LINEAR_BLOCK_BYTES;
        let sequential = Workload::new(OpKind::Write, Order::Sequential, block, depth, span);
        let random = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, span);
        let mixed = Workload { mix: Mix::ReadPercent(70), ..random };
        if !(site.limits.energy || site.has_meter) {
            notes.push("nothing tells the power: there are no figures for each watt".to_owned());
        }
        if self.time.min(self.mixed).0 < VALUES_MIN as u64 * Nanos::SECOND.0 {
            notes.push(format!(
                "work of less than {VALUES_MIN} s has one level of its rate, its mean: a fall by heat is not told"
            ));
        }
        steps::once([
            steps::purge(),
            site.fill("prepare", span),
            steps::idle("cool_first", self.cool),
            steps::for_time(WORK[0].0, sequential, self.time),
            steps::idle("cool_again", self.cool),
            steps::for_time(WORK[1].0, mixed, self.mixed),
        ])
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let mut table = rates::table("heat", "Heat", "work", &COLUMNS);
        let mut levels = rates::table("levels", "Levels of the rate", "from second", &LEVELS);
        for (phase, label) in WORK {
            let part = measured.complete(phase);
            let name = format!("thermal.{phase}");
            rates::add_rates(&mut figures, &name, part);
            let power = part.and_then(|part| drawn(&part.rows.seconds));
            let mean_w = power.map(|drawn| drawn.mean_w);
            let rate = part.and_then(|part| part.mb_per_s());
            let j_per_gb = power.zip(rate).and_then(|(power, rate)| power.j_per_gb(rate));
            let hottest = part.and_then(|part| hottest_c(measured, part, 0..u64::MAX));
            let kept = part.and_then(kept_share);
            for (end, value) in
                [("power_w_mean", mean_w), ("temperature_c_max", hottest), ("kept_share", kept)]
            {
                figures.metrics.insert(format!("{name}.{end}"), value);
            }
            if phase == WORK[0].0 {
                figures.metrics.insert(format!("{name}.energy_j_per_gb"), j_per_gb);
            }
            let values = vec![rate, kept.map(|share| 100.0 * share), hottest, mean_w, j_per_gb];
            table.rows.push(TableRow { label: label.to_owned(), values });
            let throttle_s = part.and_then(|part| add_levels(&mut levels, measured, part, label));
            figures.metrics.insert(format!("{name}.throttle_s"), throttle_s);
            figures.findings.extend(sentence(measured, &name, label, kept, hottest, throttle_s));
        }
        figures.tables.extend([table, levels]);
        figures
    }
}

const COLUMNS: [(&str, &str); 5] = [
    ("rate", "MB/s"),
    ("kept at the end", "%"),
    ("hottest", "C"),
    ("power", "W"),
    ("energy", "J/GB"),
];
const LEVELS: [(&str, &str); 2] = [("rate", "MB/s"), ("hottest", "C")];

/// The rate of the last part over that of the first.
fn kept_share(part: Part<'_>) -> Option<f64> {
    let rates = part.row_mb_per_s();
    let length = rates.len() / PARTS;
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    (length > 0)
        .then(|| mean(&rates[rates.len() - length..]) / mean(&rates[..length]))
        .filter(|share| share.is_finite())
}

/// The temperatures in some seconds of a phase, in degrees Celsius: of the model, or of the drive's
/// own report.
fn temperatures_c(measured: &Measurements<'_>, part: Part<'_>, seconds: &Range<u64>) -> Vec<f64> {
    let rows = part.rows.seconds.iter().filter(|row| seconds.contains(&u64::from(row.second)));
    let of_model = rows.filter_map(|row| row.telemetry).map(|inside| inside.temperature_mk);
    let of_model: Vec<f64> =
        of_model.filter(|&mk| mk > 0).map(|mk| (mk as f64 - ZERO_C_MK) / 1e3).collect();
    if !of_model.is_empty() {
        return of_model;
    }
    let end = part.phase.duration_ns / Nanos::SECOND.0;
    let second = |at_ns: u64| Some(at_ns.checked_sub(part.phase.start_ns)? / Nanos::SECOND.0);
    let samples = measured.run.health.iter().flat_map(|health| &health.samples);
    let inside = samples
        .filter(|sample| second(sample.at_ns).is_some_and(|at| at <= end && seconds.contains(&at)));
    inside.filter_map(|sample| sample.temperature_c).map(f64::from).collect()
}

fn hottest_c(measured: &Measurements<'_>, part: Part<'_>, seconds: Range<u64>) -> Option<f64> {
    temperatures_c(measured, part, &seconds).into_iter().reduce(f64::max)
}

/// Adds the levels of the rate of a phase, and returns the second in which heat first lowered it;
/// `None` if it never did.
fn add_levels(
    table: &mut Table,
    measured: &Measurements<'_>,
    part: Part<'_>,
    label: &str,
) -> Option<f64> {
    let (mut throttle_s, mut before, mut hottest) = (None, None::<f64>, None::<f64>);
    let first = temperatures_c(measured, part, &(0..FIRST_S)).into_iter().reduce(f64::min);
    let rates = part.row_mb_per_s();
    let mut regimes = Shape::of(&rates).regimes;
    if regimes.is_empty() && !rates.is_empty() {
        let level = rates.iter().sum::<f64>() / rates.len() as f64;
        regimes.push(Regime { values: 0..rates.len(), level });
    }
    for regime in regimes {
        let seconds = regime.values.start as u64..regime.values.end as u64;
        let start = seconds.start;
        let here = hottest_c(measured, part, seconds);
        let fell = before.is_some_and(|before| regime.level < FALL_SHARE * before);
        let warmed = hottest.zip(first).is_some_and(|(hot, first)| hot >= first + WARMED_K);
        let held = hottest.zip(here).is_some_and(|(hot, here)| here <= hot + HELD_K);
        if fell && warmed && held {
            throttle_s = throttle_s.or(Some(start as f64));
        }
        let values = vec![Some(regime.level), here];
        table.rows.push(TableRow { label: format!("{label}, {start}"), values });
        (before, hottest) =
            (Some(regime.level), [hottest, here].into_iter().flatten().reduce(f64::max));
    }
    throttle_s
}

fn sentence(
    measured: &Measurements<'_>,
    name: &str,
    label: &str,
    kept: Option<f64>,
    hottest: Option<f64>,
    throttle_s: Option<f64>,
) -> Option<Finding> {
    // A fresh drive loses rate under random writes, warm or not.
    // A small drive warms sooner, so that it may be limited before the first second.
    let kept = kept.filter(|_| measured.scaled().is_none());
    let kept = kept.filter(|_| label == WORK[0].1 || hottest.is_some())?;
    let step = name.trim_start_matches("thermal.");
    let is_short = measured.part(step).is_none_or(|part| part.rows.seconds.len() < VALUES_MIN);
    let heat = match (hottest, throttle_s) {
        (Some(c), Some(s)) => format!(
            ", at up to {c:.0} degrees Celsius; its rate first falls with heat after {s:.0} s"
        ),
        (Some(c), None) if is_short => format!(", at up to {c:.0} degrees Celsius"),
        (Some(c), None) => format!(", at up to {c:.0} degrees Celsius, without a fall by heat"),
        (None, _) => "; its temperature is unknown".to_owned(),
    };
    let text = format!("has {} of its first rate at the end of the {label}{heat}", percent(kept));
    Some(rates::finding(measured, &format!("{name}.kept_share"), &text))
}
