//! A workload of one's own: the jobs of a workload file, or one that comes with ssdlab.
//!
//! Method: purge; fill the part that the jobs use, so that every read finds data; the jobs, at the same time or
//! in their order (docs/workloads.md). Interpretation: each job has its rates and latencies, and `all` is the sum. A
//! job that ends earlier than the others has the rates of its own time, so they do not add up to those of the sum.

use base::{Nanos, OpKind};
use device::host::small_file;
use load::jobs::{JobSpec, Jobs};
use load::spec::{ALL, Place, WorkloadFile, library};
use result::rows::SecondRow;
use result::schema::{Table, TableRow};
use result::stats::findings::time;
use result::stats::latency::{PERCENTILES, Percentile};

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::rates::{self, mb_per_s};
use crate::suite::{
    Action, Chapter, Conditions, Config, Definition, Figures, Measured, Notes, Part, PhaseSpec,
    Procedure, Site, Step, TestSettings, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "workload",
    heading: "Workload",
    question: "how does it do the work of these jobs?",
    chapter: Chapter::StorageBench,
    place: 5,
    writes: true,
    params: &[
        Param {
            name: "workload",
            default: "",
            help: "a workload file, or one of `ssdlab list workloads`; also --workload",
        },
        Param {
            name: "duration",
            default: "file",
            help: "time after which every job ends, such as 60s, or that of the file",
        },
        Param { name: "purge", default: "true", help: "purge first" },
        Param { name: "fill", default: "true", help: "write what the jobs use first" },
    ],
    closed_loop: Some("its jobs have rates of their own"),
    reviews: &[],
    charts: &[],
    procedure: Procedure::of::<Settings>,
};

/// Name of the measured phase.
const LOAD: &str = "load";
/// The percentile of the sentence.
const P99: &Percentile = &PERCENTILES[1];
/// The figures of the table behind the rates, by the end of their metric's name.
const LATENCIES: [&str; 5] = ["mean", "p50", "p99", "p999", "max"];

/// The columns of the table of counts, in the order of [`counts_of`].
const COUNTS: [(&str, &str); 6] = [
    ("reads", ""),
    ("writes", ""),
    ("flushes", ""),
    ("deallocations", ""),
    ("read", "B"),
    ("written", "B"),
];

/// The jobs at the site.
struct Settings {
    name: String,
    /// The text of the file.
    text: String,
    jobs: Jobs,
    purge: bool,
    fill: bool,
}

impl TestSettings for Settings {
    fn read(params: &Params, site: &Site<'_>, _: &mut Notes) -> Result<Self, RunError> {
        let name = params.text("workload");
        let text = text_of(&name)?;
        let place = Place {
            span_bytes: site.span_bytes,
            queue_depth_max: site.limits.queue_depth_max,
            logical_block_bytes: site.limits.logical_block_bytes,
        };
        let unusable = |error| RunError::Usage(format!("workload `{name}`: {error}"));
        let mut file = WorkloadFile::parse(&text).map_err(unusable)?;
        if params.text("duration") != "file" {
            file.duration = Some(params.duration("duration")?.to_string());
        }
        let jobs = file.jobs(&place).map_err(unusable)?;
        let (purge, fill) = (params.get("purge")?, params.get("fill")?);
        Ok(Self { name, text, jobs, purge, fill })
    }

    fn config(&self) -> Config {
        steps::config([
            ("workload", self.name.clone().into()),
            ("file", self.text.clone().into()),
            ("duration_s", self.jobs.duration.map(Nanos::as_secs_f64).into()),
            ("purge", self.purge.into()),
            ("fill", self.fill.into()),
        ])
    }

    fn conditions(&self) -> Conditions {
        Conditions::from([("workload".to_owned(), self.name.clone())])
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let words = self.jobs.jobs.iter().map(|job| format!("{}: {}", job.name, in_words(job)));
        let what = words.collect::<Vec<_>>().join("; ");
        let action = Action::Jobs(self.jobs.clone());
        let load = PhaseSpec { name: LOAD.to_owned(), what, action };
        let workloads = self.jobs.jobs.iter().map(|job| &job.workload);
        let reach = workloads.map(|workload| workload.span_offset_bytes + workload.span_bytes);
        let purge = self.purge.then(steps::purge);
        let fill = self.fill.then(|| site.fill("fill", reach.max().unwrap_or(site.span_bytes)));
        steps::once(purge.into_iter().chain(fill).chain([load]))
    }

    fn figures(&self, measured: &Measured<'_>) -> Figures {
        let mut figures = Figures::default();
        let mut columns = vec![("rate", "MB/s"), ("commands", "IOPS")];
        columns.extend(LATENCIES.map(|end| (end, "ns")));
        let mut table = rates::table("jobs", "Jobs", "job", &columns);
        let mut counts = rates::table("commands", "Commands of the jobs", "job", &COUNTS);
        let jobs = self.jobs.jobs.iter().map(|job| job.name.as_str());
        let parts = jobs.map(|name| (name, measured.complete_job(LOAD, name)));
        let sum = measured.complete(LOAD);
        for (name, part) in parts.chain([(ALL, sum)]) {
            add(&mut figures, &mut table, name, part);
            counts.rows.push(TableRow { label: name.to_owned(), values: counts_of(part) });
        }
        figures.tables = vec![table, counts];
        if let Some(text) = sum.and_then(|part| self.sentence(part)) {
            figures.findings.push(rates::finding(measured, "workload.all.iops", &text));
        }
        figures
    }
}

impl Settings {
    fn sentence(&self, sum: Part<'_>) -> Option<String> {
        let p99 = sum.latencies().percentile_ns(P99.share());
        let latency =
            p99.map_or_else(String::new, |ns| format!(", 99% of them within {}", time(ns)));
        Some(format!(
            "does the work of `{}` at {:.0} IOPS and {}{latency}",
            self.name,
            sum.iops()?,
            mb_per_s(sum.mb_per_s()?)
        ))
    }
}

/// The figures of a job or of the sum, and its row.
fn add(figures: &mut Figures, table: &mut Table, name: &str, part: Option<Part<'_>>) {
    let metric = format!("workload.{name}");
    rates::add_rates(figures, &metric, part);
    rates::add_latencies(figures, &metric, part);
    let value = |end: &str| figures.metrics.get(&format!("{metric}.{end}")).copied().flatten();
    let latencies = LATENCIES.map(|end| value(&format!("latency_ns_{end}")));
    let values = [value("mb_per_s"), value("iops")].into_iter().chain(latencies).collect();
    table.rows.push(TableRow { label: name.to_owned(), values });
}

/// Commands of each kind that ended within the job, and the bytes that they moved.
fn counts_of(part: Option<Part<'_>>) -> Vec<Option<f64>> {
    let seconds = part.map(|part| &part.rows.seconds);
    let sum = |value: fn(&SecondRow) -> u64| {
        seconds.map(|seconds| seconds.iter().map(value).sum::<u64>() as f64)
    };
    vec![
        sum(|row| row.ios[OpKind::Read.index()]),
        sum(|row| row.ios[OpKind::Write.index()]),
        sum(|row| row.ios[OpKind::Flush.index()]),
        sum(|row| row.ios[OpKind::Deallocate.index()]),
        sum(|row| row.bytes[OpKind::Read.index()]),
        sum(|row| row.bytes[OpKind::Write.index()]),
    ]
}

/// A job with everything that affects its figures.
fn in_words(job: &JobSpec) -> String {
    let mut words = steps::in_words(&job.workload, job.duration);
    if let Some(think) = job.think {
        words += &format!(", a pause of {} after {} commands", think.pause, think.every);
    }
    if job.workload.fua_percent > 0 {
        words += &format!(", {}% of the writes forced (FUA)", job.workload.fua_percent);
    }
    if job.workload.placement > 0 {
        words += &format!(", placement handle {}", job.workload.placement);
    }
    if let Some(every) = job.workload.flush_every {
        words += &format!(", a flush after {every} writes");
    }
    if job.delay.0 > 0 {
        words += &format!(", {} later", job.delay);
    }
    words
}

/// The text of a workload file, or of a workload that comes with ssdlab.
///
/// # Errors
/// [`RunError::Usage`] if there is neither, or the file cannot be read.
pub fn text_of(name: &str) -> Result<String, RunError> {
    if let Some(text) = library::built_in(name) {
        return Ok(text.to_owned());
    }
    let known = || library::BUILT_IN.map(|(name, _)| name).join(", ");
    if name.is_empty() {
        let hint = format!("name the workload: --workload FILE, or one of {}", known());
        return Err(RunError::Usage(hint));
    }
    small_file::read(name.as_ref()).map_err(|error| {
        RunError::Usage(format!(
            "workload `{name}` cannot be read: {error}; without a file there are {}",
            known()
        ))
    })
}
