//! A workload of one's own: the jobs of a workload file, or one that comes with ssdlab.
//!
//! Method: purge; fill the part that the jobs use, so that every read finds data; the jobs, at the same time or
//! in their order (docs/reference/workloads.md). Interpretation: each job has its rates and latencies, and `all` is the sum. A
//! job that ends earlier than the others has the rates of its own time, so they do not add up to those of the sum.

use base::text::close_to;
use base::{Nanos, OpKind};
use device::host::small_file;
use load::jobs::{JobSpec, Jobs};
use load::spec::{ALL, WorkloadFile, WorkloadSite, library};
use result::rows::SecondRow;
use result::schema::{Mark, Table, TableRow};
use result::stats::findings::time;
use result::stats::latency::{self, PERCENTILES, Percentile};
use serde_json::Value;
use target::TargetError;

use crate::error::RunError;
use crate::params::Param;
use crate::suite::amplification;
use crate::suite::keys::{Entry, Key, Plain, Reading, settings};
use crate::suite::rates::{self, mb_per_s};
use crate::suite::{
    Action, Chapter, Conditions, Definition, Figures, Measurements, Notes, Part, PhaseSpec,
    ReviewEntry, Site, Step, TestSettings, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "workload",
    heading: "Workload",
    question: "how does it do the work of these jobs?",
    closed_loop: Some("its jobs have rates of their own"),
    reviews: &[ReviewEntry::alone(
        "duration=60s",
        "a steady state, the rest of the drive, and jobs that begin after a minute: it has 4 GiB",
    )],
    ..Definition::of::<Settings>(Chapter::StorageBench, 8)
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

settings! {
    /// The jobs at the site.
    struct Settings {
        file: JobsFile = Param::new(
            "workload",
            "",
            "a workload file, or one of `ssdlab list workloads`; also --workload",
        ), with Param::new(
            "duration",
            "file",
            "time after which every job ends, such as 60s, or that of the file",
        );
        purge: Plain<bool> = Param::new("purge", "true", "purge first");
        fill: Plain<bool> = Param::new("fill", "true", "write what the jobs use first");
    }
}

/// The jobs of a workload file at the site.
struct JobsFile {
    name: String,
    text: String,
    jobs: Jobs,
}

impl Key for JobsFile {
    type Value = Self;

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<Self, RunError> {
        let name = params.text(name);
        let text = text_of(&name)?;
        let is_set = params.text("duration") != "file";
        let duration = is_set.then(|| params.duration("duration")).transpose()?;
        let jobs = jobs_of(&name, &text, duration, site)?;
        Ok(Self { name, text, jobs })
    }
}

impl Entry for JobsFile {
    fn entries(&self, _: &str) -> Vec<(String, Value)> {
        let JobsFile { name, text, jobs } = self;
        steps::entries([
            ("workload", name.clone().into()),
            ("file", text.clone().into()),
            ("duration_s", jobs.duration.map(Nanos::as_secs_f64).into()),
        ])
    }
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        Conditions::from([("workload".to_owned(), self.file.name.clone())])
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let load = phase(LOAD, &self.file.jobs);
        let workloads = self.file.jobs.jobs.iter().map(|job| &job.workload);
        let reach = workloads.map(|workload| workload.span_offset_bytes + workload.span_bytes);
        let purge = self.purge.then(steps::purge);
        let fill = self.fill.then(|| site.fill("fill", reach.max().unwrap_or(site.span_bytes)));
        steps::once(purge.into_iter().chain(fill).chain([load]))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let mut columns = vec![("rate", "MB/s"), ("commands", "IOPS")];
        columns.extend(LATENCIES.map(|end| (end, "ns")));
        let mut table = rates::table("jobs", "Jobs", "job", &columns);
        let mut counts = rates::table("commands", "Commands of the jobs", "job", &COUNTS);
        let jobs = self.file.jobs.jobs.iter().map(|job| job.name.as_str());
        // A job that ended within its warm-up has no figures, and the sum of such jobs has none.
        let has_length = |part: &Part<'_>| part.phase.duration_ns > 0;
        let parts: Vec<_> =
            jobs.map(|name| (name, measured.complete_job(LOAD, name).filter(has_length))).collect();
        let has_figures = parts.iter().any(|(_, part)| part.is_some());
        let sum = measured.complete(LOAD).filter(|_| has_figures);
        for (name, part) in parts.into_iter().chain([(ALL, sum)]) {
            add(&mut figures, &mut table, name, part);
            counts.rows.push(TableRow { label: name.to_owned(), values: counts_of(part) });
        }
        amplification::add_inside(&mut figures, "workload.all.", measured, sum);
        let phase = sum.map(|part| part.phase);
        figures.marks.extend(latency::marks_of_unwritten(phase, &figures.metrics));
        self.mark_early_ends(&mut figures, measured);
        figures.tables = vec![table, counts];
        if let Some(text) = sum.and_then(|part| self.sentence(part)) {
            figures.findings.push(rates::finding(measured, "workload.all.iops", &text));
        }
        figures
    }
}

impl Settings {
    /// Marks the figures of jobs that ended long before their time, and of the sum if all did.
    fn mark_early_ends(&self, figures: &mut Figures, measured: &Measurements<'_>) {
        let is_early = |job: &JobSpec| {
            let part = measured.complete_job(LOAD, &job.name);
            part.is_some_and(|part| {
                let length = Nanos(part.phase.duration_ns);
                job.early_end(self.file.jobs.duration, length).is_some()
            })
        };
        let mut names: Vec<&str> = Vec::new();
        names.extend(self.file.jobs.jobs.iter().filter(|job| is_early(job)).map(|job| &*job.name));
        if names.len() == self.file.jobs.jobs.len() {
            names.push(ALL);
        }
        for name in names {
            let prefix = format!("workload.{name}.");
            let known = figures.metrics.iter().filter(|(_, value)| value.is_some());
            let of_job = known.filter(|(metric, _)| metric.starts_with(&prefix));
            let mark = |(metric, _): (&String, &Option<f64>)| Mark {
                text: "the job ended long before the time that it was given".to_owned(),
                ..latency::too_few(metric, 0)
            };
            figures.marks.extend(of_job.map(mark).collect::<Vec<_>>());
        }
    }

    fn sentence(&self, sum: Part<'_>) -> Option<String> {
        let p99 = sum.latencies().percentile_ns(P99.share());
        let latency =
            p99.map_or_else(String::new, |ns| format!(", 99% of them within {}", time(ns)));
        Some(format!(
            "does the work of `{}` at {:.0} IOPS and {}{latency}",
            self.file.name,
            sum.iops()?,
            mb_per_s(sum.mb_per_s()?)
        ))
    }
}

/// The jobs of a workload file at the site; `duration` replaces that of the file.
///
/// # Errors
/// [`RunError::Usage`] for a file that cannot be, or not here.
pub(crate) fn jobs_of(
    name: &str,
    text: &str,
    duration: Option<Nanos>,
    site: &Site<'_>,
) -> Result<Jobs, RunError> {
    let place = WorkloadSite {
        span_bytes: site.span_bytes,
        queue_depth_max: site.limits.queue_depth_max,
        logical_block_bytes: site.limits.logical_block_bytes,
    };
    let unusable = |error| RunError::Usage(format!("workload `{name}`: {error}"));
    let mut file = WorkloadFile::parse(text).map_err(unusable)?;
    if let Some(duration) = duration {
        file.duration = Some(duration.to_string());
    }
    let jobs = file.jobs(&place).map_err(unusable)?;
    check_placement(name, &jobs, site)?;
    Ok(jobs)
}

/// A phase that issues the commands of these jobs.
pub(crate) fn phase(name: &str, jobs: &Jobs) -> PhaseSpec {
    let words = jobs.jobs.iter().map(|job| format!("{}: {}", job.name, in_words(job)));
    let what = words.collect::<Vec<_>>().join("; ");
    PhaseSpec { name: name.to_owned(), what, action: Action::Jobs(jobs.clone()) }
}

/// Refuses jobs with a placement handle that the target does not have.
fn check_placement(name: &str, jobs: &Jobs, site: &Site<'_>) -> Result<(), RunError> {
    let handles = site.limits.placement_handles;
    let beyond = jobs.jobs.iter().find(|job| u32::from(job.workload.placement) >= handles.max(1));
    let Some(job) = beyond else { return Ok(()) };
    let (handle, target) = (job.workload.placement, &site.identity.name);
    if handles > 1 {
        return Err(RunError::Usage(format!(
            "workload `{name}`: job `{}` has placement = {handle}, and {target} has the handles 0 to {}",
            job.name,
            handles - 1
        )));
    }
    Err(TargetError::Unsupported(format!(
        "workload `{name}`: job `{}` has placement = {handle}, and {target} has no placement handles (FDP); leave \
         placement away, or use a drive with handles (/dev/ngXnY of a drive with FDP; of a model: interface.placement_handles)",
        job.name
    ))
    .into())
}

/// The figures of a job or of the sum, and its row.
fn add(figures: &mut Figures, table: &mut Table, name: &str, part: Option<Part<'_>>) {
    let metric = format!("workload.{name}");
    rates::add_rates(figures, &metric, part);
    rates::add_latencies(figures, &metric, part);
    let value = |end: &str| figures.value(&format!("{metric}.{end}"));
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
            "workload `{name}` cannot be read: {error}{}; without a file there are {}",
            close_to(name, library::BUILT_IN.map(|(name, _)| name)),
            known()
        ))
    })
}
