//! Neighbours: the effect of a noisy job on a quiet one.
//!
//! Method: purge; a fill of the span and random writes until cleaning is steady (`precondition`); the
//! rate of 4 KiB random reads with a full queue; then a *quiet* job of such reads at `quiet` of that
//! rate, at random times (Poisson): first alone, and then beside a *noisy* job of each kind that issues
//! 1, 2, 4, 8 and 16 times as many commands, and at last as many as it can. A latency begins when its
//! command is due.
//!
//! Interpretation: `slowdown` is the 99th percentile of the quiet job beside the noise over the one
//! alone. A drive that is fair keeps it low as long as the sum of both is below its rate. The last
//! row is the neighbour who takes all that he gets.

use base::OpKind;
use load::{Order, Pacing, Workload};
use result::schema::{Finding, Table, TableRow};
use result::stats::findings::time;
use serde_json::Value;

use crate::error::RunError;
use crate::jobs::{JobSpec, Jobs};
use crate::params::Param;
use crate::suite::keys::{Duration, Entry, Key, Reading, depths_of_two, settings};
use crate::suite::precondition::{self, Preparation};
use crate::suite::{
    Action, Chapter, Chart, Conditions, Definition, Figures, Formula, Measurements, Notes, Part,
    PhaseSpec, ReviewEntry, Site, Step, TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "neighbours",
    heading: "Noisy neighbours",
    question: "what does a noisy job do to a quiet one?",
    closed_loop: Some("it sets the rates itself, as shares of the one that it finds"),
    reviews: &[ReviewEntry::alone(
        "time=3s ratios=1,8 noises=random_write",
        "other ratios and noises, percentiles of slow drives, and cleaning: it has 4 GiB",
    )],
    charts: &[
        Chart::Curves { table: "random_write", units: &["ns"], log_rows: false },
        Chart::Curves { table: "sequential_write", units: &["ns"], log_rows: false },
        Chart::Curves { table: "random_read", units: &["ns"], log_rows: false },
    ],
    ..Definition::of::<Settings>(Chapter::Response, 6)
};

const BLOCK_BYTES: u32 = 4096;
/// Names of the jobs.
const QUIET: &str = "quiet";
const NOISY: &str = "noisy";
/// Names of the steps without noise.
const SATURATED: &str = "saturated";
const ALONE: &str = "alone";

/// The noise.
const NOISES: [(&str, &str); 3] = [
    ("random_write", "4 KiB random writes"),
    ("sequential_write", "128 KiB sequential writes"),
    ("random_read", "4 KiB random reads"),
];

/// The rate of the noise: a multiple of the quiet one, or `None` for a full queue.
type Ratio = Option<u64>;

settings! {
    /// Rates and kinds.
    struct Settings {
        time: Duration = Param::new("time", "10s", "length of each step");
        quiet_percent: QuietPercent = Param::new(
            "quiet",
            "2",
            "rate of the quiet job, in percent of the reads with a full queue",
        );
        ratios: Ratios = Param::new(
            "ratios",
            "1,2,4,8,16",
            "commands of the noisy job for each of the quiet one, rising",
        );
        noises: Noises = Param::new(
            "noises",
            "random_write,sequential_write,random_read",
            "kinds of the noisy job, in order",
        );
        depths: Depths = Param::new(
            "queue_depth",
            "256",
            "most commands outstanding, a quarter of them of the quiet job; the default is the target's limit if \
             that is less",
        );
        preparation: Preparation4KiB = precondition::PRECONDITION, with precondition::RAW_CAPACITY;
    }
}

/// The rate of the quiet job.
enum QuietPercent {}

impl Key for QuietPercent {
    type Value = u32;
    const UNIT: &'static str = "_percent";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        let percent: u32 = params.get(name)?;
        if (1..=100).contains(&percent) {
            return Ok(percent);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={percent}` must lie between 1 and 100 percent of the saturated rate"
        )))
    }
}

/// Rising multiples.
enum Ratios {}

impl Key for Ratios {
    type Value = Vec<u64>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<u64>, RunError> {
        let ratios: Vec<u64> = params.list(name)?;
        if ratios.iter().all(|ratio| (1..=10_000).contains(ratio)) && ratios.is_sorted() {
            return Ok(ratios);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={}` cannot be used: expected rising multiples from 1 to 10,000, such as 1,4,16",
            params.text(name)
        )))
    }
}

/// Kinds of the noisy job.
enum Noises {}

impl Key for Noises {
    type Value = Vec<String>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<String>, RunError> {
        params.words(name, &NOISES.map(|(name, _)| name))
    }
}

/// The depths of both jobs.
struct Depths {
    quiet: u32,
    noisy: u32,
}

impl Key for Depths {
    type Value = Self;

    fn read(reading: Reading<'_>) -> Result<Self, RunError> {
        let [quiet, noisy] = depths_of_two(reading, "two jobs")?;
        Ok(Self { quiet, noisy })
    }
}

impl Entry for Depths {
    fn entries(&self, _: &str) -> Vec<(String, Value)> {
        steps::entries([
            ("quiet_queue_depth", self.quiet.into()),
            ("noisy_queue_depth", self.noisy.into()),
        ])
    }
}

/// Writes of 4 KiB before the measurement.
enum Preparation4KiB {}

impl Key for Preparation4KiB {
    type Value = Preparation;

    fn read(Reading { params, site, notes, .. }: Reading<'_>) -> Result<Preparation, RunError> {
        Preparation::read(params, site, BLOCK_BYTES, notes)
    }
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        let rates = format!(
            "quiet job: {}% of the saturated rate at random times (Poisson); noisy job: multiples of that",
            self.quiet_percent
        );
        [("commands a second".to_owned(), rates)].into()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let span = site.span_bytes;
        let quiet = self.workload(QUIET, span);
        let full = Workload { queue_depth: self.depths.quiet + self.depths.noisy, ..quiet.clone() };
        let mut list = steps::once([steps::purge(), site.fill("fill", span)]);
        list.extend(self.preparation.phases().map(Step::Phase));
        list.push(steps::for_time(SATURATED, full, self.time).into());
        list.push(self.step(ALONE, &quiet, None));
        for noise in &self.noises {
            let noisy = self.workload(noise, span);
            for ratio in self.all_ratios() {
                list.push(self.step(&step_name(noise, ratio), &quiet, Some((&noisy, ratio))));
            }
        }
        list
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        rates::add_rates(&mut figures, "neighbours.saturated", measured.complete(SATURATED));
        let alone = measured.complete_job(ALONE, QUIET);
        rates::add_latencies(&mut figures, "neighbours.alone", alone);
        for (noise, words) in NOISES {
            if self.noises.iter().any(|asked| asked == noise) {
                let table = self.table(&mut figures, measured, (noise, words), alone);
                figures.tables.push(table);
                figures.findings.extend(sentence(measured, noise, words, alone));
            }
        }
        rates::mark_unprepared(&mut figures, measured);
        figures
    }
}

fn step_name(noise: &str, ratio: Ratio) -> String {
    match ratio {
        Some(ratio) => format!("{noise}_x{ratio}"),
        None => format!("{noise}_full"),
    }
}

impl Settings {
    /// The multiples, and at last the full queue.
    fn all_ratios(&self) -> impl Iterator<Item = Ratio> {
        self.ratios.iter().copied().map(Some).chain([None])
    }

    /// The commands of the quiet job, or of a kind of noise.
    fn workload(&self, job: &str, span_bytes: u64) -> Workload {
        let (kind, order, block) = match job {
            "random_write" => (OpKind::Write, Order::Uniform, BLOCK_BYTES),
            "sequential_write" => (OpKind::Write, Order::Sequential, steps::LINEAR_BLOCK_BYTES),
            _ => (OpKind::Read, Order::Uniform, BLOCK_BYTES),
        };
        let depth = if job == QUIET { self.depths.quiet } else { self.depths.noisy };
        Workload::new(kind, order, block, depth, span_bytes)
    }

    /// The quiet job, alone or beside a noisy one; its rate is known when the step begins.
    fn step(&self, name: &str, quiet: &Workload, noise: Option<(&Workload, Ratio)>) -> Step {
        let (time, share) = (self.time, f64::from(self.quiet_percent) / 100.0);
        let beside = match noise {
            None => "alone".to_owned(),
            Some((_, Some(ratio))) => {
                format!("beside {ratio} times as many commands of the noisy job")
            }
            Some((_, None)) => "beside a noisy job with a full queue".to_owned(),
        };
        let what = format!(
            "the quiet job at {}% of the rate of `{SATURATED}`, {beside}, for {time}",
            self.quiet_percent
        );
        let name = name.to_owned();
        let (quiet, noise) = (quiet.clone(), noise.map(|(noisy, ratio)| (noisy.clone(), ratio)));
        let phase = move |iops: f64| {
            let rate_iops = (iops * share).round().max(1.0) as u64;
            let at = |rate_iops, workload: &Workload| Workload {
                pacing: Pacing::Poisson { rate_iops },
                ..workload.clone()
            };
            let mut jobs = vec![JobSpec::new(QUIET, at(rate_iops, &quiet))];
            jobs.extend(noise.iter().map(|(noisy, ratio)| {
                let workload = ratio.map_or_else(
                    || noisy.clone(),
                    |ratio| at(rate_iops.saturating_mul(ratio), noisy),
                );
                JobSpec::new(NOISY, workload)
            }));
            let action = Action::Jobs(Jobs { jobs, duration: Some(time) });
            PhaseSpec { name: name.clone(), what: what.clone(), action }
        };
        let planned = phase(1.0);
        let actual = Formula::new(move |measured: &Measurements<'_>| {
            phase(measured.complete(SATURATED).and_then(|part| part.iops()).unwrap_or(1.0))
        });
        Step::Adapted { planned, actual }
    }

    /// The figures beside one kind of noise, a row for each of its rates.
    fn table(
        &self,
        figures: &mut Figures,
        measured: &Measurements<'_>,
        (noise, words): (&str, &str),
        alone: Option<Part<'_>>,
    ) -> Table {
        let title = format!("A quiet job beside {words}");
        let mut table = rates::table(noise, &title, "noisy commands for each quiet one", &COLUMNS);
        let values = row(alone, None, alone);
        table.rows.push(TableRow { label: "0".to_owned(), values: values.to_vec() });
        for ratio in self.all_ratios() {
            let step = step_name(noise, ratio);
            let (quiet, noisy) =
                (measured.complete_job(&step, QUIET), measured.complete_job(&step, NOISY));
            rates::add_latencies(figures, &format!("neighbours.{step}"), quiet);
            let values = row(quiet, noisy, alone);
            figures.metrics.insert(format!("neighbours.{step}.slowdown"), values[4]);
            let label = ratio.map_or_else(|| "full queue".to_owned(), |ratio| ratio.to_string());
            table.rows.push(TableRow { label, values: values.to_vec() });
        }
        table
    }
}

const COLUMNS: [(&str, &str); 5] = [
    ("quiet, mean", "ns"),
    ("quiet, p99", "ns"),
    ("quiet", "IOPS"),
    ("noisy", "IOPS"),
    ("slowdown", "times"),
];

fn p99(part: Option<Part<'_>>) -> Option<f64> {
    part?.latencies().percentile_ns(base::Ratio::new(99, 100)?)
}

fn row(
    quiet: Option<Part<'_>>,
    noisy: Option<Part<'_>>,
    alone: Option<Part<'_>>,
) -> [Option<f64>; 5] {
    let iops = |part: Option<Part<'_>>| part.and_then(|part| part.iops());
    let slowdown = p99(quiet).zip(p99(alone)).map(|(beside, alone)| beside / alone);
    let mean = quiet.and_then(|part| part.latency_ns_mean());
    [mean, p99(quiet), iops(quiet), iops(noisy), slowdown]
}

/// The quiet job alone, and beside the full queue.
fn sentence(
    measured: &Measurements<'_>,
    noise: &str,
    words: &str,
    alone: Option<Part<'_>>,
) -> Option<Finding> {
    let step = step_name(noise, None);
    let (alone, beside) = (p99(alone)?, p99(measured.complete_job(&step, QUIET))?);
    let text = format!(
        "answers 99% of the reads of a quiet job within {}, and within {} beside a full queue of {words}",
        time(alone),
        time(beside)
    );
    Some(rates::finding(measured, &format!("neighbours.{step}.slowdown"), &text))
}
