//! Work that people feel: how long everyday loads take, in seconds.
//!
//! Method: purge; fill the part of the span that the loads read, so that every read finds data and the rest is
//! free; then each load to its end, after a pause of `gap` in which the drive settles. The loads are workloads
//! that come with ssdlab (`ssdlab workload show boot`), with the pauses of the processor in them. Loads that
//! only read come first, so that no write of another load is in their figures.
//!
//! Interpretation: seconds until a load is done, and commands that took 0.1 s or longer, which is what a person
//! notices; a difference below 0.1 s is none. Of a world that streams in, a frame is missed if its read takes
//! longer than the frame. The time in a day rests on assumed numbers of times, which the table has.

use base::{Bytes, Nanos, Ratio};
use load::Pacing;
use load::jobs::Jobs;
use load::spec::library;
use result::marks::Reason;
use result::marks::run::HOST_BUSY_SHARE_MIN;
use result::schema::{Mark, MarkKind, Metrics, TableRow};
use result::stats::findings::{count, time};
use result::stats::notice::Notice;
use serde_json::Value;

use crate::error::RunError;
use crate::params::Param;
use crate::suite::catalog::storage_bench::workload;
use crate::suite::keys::{Entry, Key, Pause, Reading, settings};
use crate::suite::{
    Chapter, Chart, Conditions, Definition, Figures, Headline, Measurements, Notes, Part,
    ReviewEntry, Site, Step, TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "feel",
    heading: "Work that people feel",
    question: "would I notice, in seconds of everyday work?",
    closed_loop: Some("its loads have a pace of their own"),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("part=1/10 gap=1s")],
    headlines: &[Headline::column(
        "feel.day.time_s",
        ("Felt", "A day"),
        "Time of everyday work in a day",
    )],
    charts: &[Chart::Felt { table: TABLE }],
    ..Definition::of::<Settings>(Chapter::Response, 7)
};

const TABLE: &str = "feel";

/// An everyday load.
struct Load {
    /// Name of its workload.
    name: &'static str,
    /// Times that a person does it in a day, assumed; or `None` if its figure is no time.
    a_day: Option<f64>,
}

/// The loads in order: those that only read come first.
static LOADS: [Load; 9] = [
    Load { name: "app-start", a_day: Some(30.0) },
    Load { name: "game-start", a_day: Some(2.0) },
    Load { name: "level-load", a_day: Some(10.0) },
    Load { name: "world-streaming", a_day: None },
    Load { name: "vm-resume", a_day: Some(1.0) },
    Load { name: "boot", a_day: Some(1.0) },
    Load { name: "compile", a_day: Some(10.0) },
    Load { name: "app-install", a_day: Some(0.2) },
    Load { name: "photo-import", a_day: Some(0.2) },
];

const COLUMNS: [(&str, &str); 6] = [
    ("time", "s"),
    ("waits of 0.1 s or longer", ""),
    ("missed frames", ""),
    ("missed", "%"),
    ("assumed a day", "times"),
    ("time in a day", "s"),
];

settings! {
    /// The loads and the pauses before them.
    struct Settings {
        loads: Loads = Param::new(
            "loads",
            "app-start,game-start,level-load,world-streaming,vm-resume,boot,compile,app-install,photo-import",
            "workloads, in order",
        ), with PART;
        gap: Pause = Param::new("gap", "60s", "pause before each load");
    }
}

const PART: Param =
    Param::new("part", "1", "part of the bytes, or of the time, of each load, such as 1/10");

/// The loads at the site.
struct Loads {
    part: Ratio,
    list: Vec<(&'static Load, Jobs)>,
}

impl Key for Loads {
    type Value = Self;

    fn read(Reading { name, params, site, notes }: Reading<'_>) -> Result<Self, RunError> {
        let names = params.words(name, &LOADS.each_ref().map(|load| load.name))?;
        let part: Ratio = params.get(PART.name)?;
        if part.of(PART_MIN) == 0 {
            return Err(RunError::Usage(format!(
                "`--set {}={}` leaves nothing to do; expected 1/{PART_MIN} to 1",
                PART.name,
                params.text(PART.name)
            )));
        }
        let of_name = |name: &String| LOADS.iter().find(|load| load.name == name.as_str());
        let chosen: Vec<_> = names.iter().filter_map(of_name).collect();
        let placed = chosen.iter().map(|&load| {
            let jobs =
                load.jobs(site).map_err(|error| too_small(&chosen, site).unwrap_or(error))?;
            Ok((load, shortened(jobs, part)))
        });
        let loads = Self { part, list: placed.collect::<Result<_, RunError>>()? };
        if !loads.are_whole() {
            notes.push(format!(
                "the time in a day is unknown: it needs every load in full ({}=1)",
                PART.name
            ));
        }
        Ok(loads)
    }
}

/// The smallest part is one in so many.
const PART_MIN: u64 = 1000;

impl Entry for Loads {
    fn entries(&self, name: &str) -> Vec<(String, Value)> {
        let names: Vec<_> = self.list.iter().map(|(load, _)| load.name).collect();
        steps::entries([(name, names.join(",").into()), (PART.name, self.part.to_string().into())])
    }
}

impl Loads {
    /// Whether every load is there, in full.
    fn are_whole(&self) -> bool {
        self.part == Ratio::ONE && self.list.len() == LOADS.len()
    }

    /// End of the part of the span that the loads read.
    fn read_bytes(&self) -> u64 {
        let jobs = self.list.iter().flat_map(|(_, jobs)| &jobs.jobs).map(|job| &job.workload);
        let reading = jobs.filter(|workload| workload.mix.read_percent() > 0);
        let ends = reading.map(|workload| workload.span_offset_bytes + workload.span_bytes);
        ends.max().unwrap_or(0)
    }
}

impl Load {
    /// Its name in figures and phases.
    fn step(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Its jobs at the site.
    fn jobs(&self, site: &Site<'_>) -> Result<Jobs, RunError> {
        workload::jobs_of(self.name, library::built_in(self.name).unwrap_or_default(), None, site)
    }
}

/// The error of a span with too little room for the loads, or `None` if no span is large enough.
fn too_small(loads: &[&Load], site: &Site<'_>) -> Option<RunError> {
    let mut spans = (0..SPAN_STEPS_MAX).map(|doublings| SPAN_BYTES_MIN << doublings);
    let fits = |span_bytes: u64| {
        let site = Site { span_bytes, ..*site };
        loads.iter().all(|load| load.jobs(&site).is_ok())
    };
    let needed = spans.find(|&span_bytes| span_bytes > site.span_bytes && fits(span_bytes))?;
    Some(RunError::Usage(format!(
        "a span of {} has too little room for the loads of `feel`; expected {} or more (--span, or a larger target)",
        steps::size(site.span_bytes),
        Bytes(needed)
    )))
}

/// Spans that are tried: 1 MiB and its doublings, up to 1 PiB.
const SPAN_BYTES_MIN: u64 = 1 << 20;
const SPAN_STEPS_MAX: u32 = 31;

/// The jobs with a part of their bytes and times.
fn shortened(mut jobs: Jobs, part: Ratio) -> Jobs {
    let time = |time: Option<Nanos>| time.map(|Nanos(ns)| Nanos(part.of(ns)));
    jobs.duration = time(jobs.duration);
    for job in &mut jobs.jobs {
        job.duration = time(job.duration);
        let block = u64::from(job.workload.block_bytes);
        let limit = job.workload.limit_bytes;
        job.workload.limit_bytes = limit.map(|bytes| part.of(bytes).max(block));
    }
    jobs
}

/// Length of a frame of these jobs, in ns; or `None` if their commands have no due times.
fn frame_ns(jobs: &Jobs) -> Option<u64> {
    jobs.jobs.iter().find_map(|job| match job.workload.pacing {
        Pacing::Fixed { rate_iops } => Some(Nanos::SECOND.0 / rate_iops),
        _ => None,
    })
}

/// Missed frames, and all.
fn missed(part: Part<'_>, frame_ns: u64) -> (u64, u64) {
    let latencies = part.latencies();
    let late = latencies.histogram().bins().filter(|(lower_ns, _)| *lower_ns >= frame_ns);
    let without_room = part.phase.ios_not_issued;
    let late: u64 = late.map(|(_, frames)| frames).sum();
    (late + without_room, latencies.commands() + without_room)
}

/// The share of a second in which the processors of the host had work, or `None` if they had time left all along.
fn full_share(part: Part<'_>) -> Option<f64> {
    part.phase.host?.busiest_second_share.filter(|share| *share >= HOST_BUSY_SHARE_MIN)
}

/// The marks of waits and of missed frames for which the host may be the reason: its processors were full.
fn host_marks(part: Option<Part<'_>>, metrics: &Metrics, prefix: &str) -> Vec<Mark> {
    let Some(share) = part.and_then(full_share) else { return Vec::new() };
    let text = format!(
        "the processors of the load had work for {:.0}% of a second of it: the host may be the reason",
        100.0 * share
    );
    let late = metrics.iter().filter(|(_, value)| value.is_some_and(|value| value > 0.0));
    let late = late.filter(|(metric, _)| {
        metric.strip_prefix(prefix).is_some_and(|end| end == "waits" || end.starts_with("missed"))
    });
    let reason = Reason { kind: MarkKind::HostLimited, text };
    late.map(|(metric, _)| reason.mark(metric)).collect()
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        let filled = steps::size(self.loads.read_bytes());
        let filled = ("filled".to_owned(), format!("the first {filled}, the rest is free"));
        [filled, (PART.name.to_owned(), self.loads.part.to_string())].into()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let fill = site.fill("fill", self.loads.read_bytes());
        let loads = self.loads.list.iter().flat_map(|(load, jobs)| {
            let step = load.step();
            [steps::idle(&format!("pause_{step}"), self.gap), workload::phase(&step, jobs)]
        });
        steps::once([steps::purge(), fill].into_iter().chain(loads))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let mut table = rates::table(TABLE, DEFINITION.heading, "load", &COLUMNS);
        let mut day_s = self.loads.are_whole().then_some(0.0);
        for (load, jobs) in &self.loads.list {
            let step = load.step();
            let part = measured.complete(&step);
            let waits = part.map(|part| Notice::of(part.rows, true).waits as f64);
            let mut add = |end: &str, value| {
                figures.metrics.insert(format!("feel.{step}.{end}"), value);
            };
            add("waits", waits);
            let values = if let Some(frame_ns) = frame_ns(jobs) {
                let frames = part.map(|part| missed(part, frame_ns));
                let missed = frames.map(|(missed, _)| missed as f64);
                let share = frames.filter(|(_, all)| *all > 0);
                let share = share.map(|(missed, all)| missed as f64 / all as f64);
                add("missed_frames", missed);
                add("missed_frames_share", share);
                [None, waits, missed, share.map(|share| 100.0 * share), None, None]
            } else {
                let time_s = part.map(|part| part.phase.duration_ns as f64 / 1e9);
                add("time_s", time_s);
                let a_day = load.a_day.filter(|_| self.loads.part == Ratio::ONE);
                let in_day_s = time_s.zip(a_day).map(|(time_s, times)| time_s * times);
                day_s = day_s.zip(in_day_s).map(|(sum, one)| sum + one);
                [time_s, waits, None, None, a_day, in_day_s]
            };
            figures.marks.extend(host_marks(part, &figures.metrics, &format!("feel.{step}.")));
            let label = load.name.replace('-', " ");
            table.rows.push(TableRow { label, values: values.to_vec() });
        }
        figures.metrics.insert("feel.day.time_s".to_owned(), day_s);
        let values = vec![None, None, None, None, None, day_s];
        table.rows.push(TableRow { label: "a day".to_owned(), values });
        figures.tables.push(table);
        if let Some(text) = self.sentence(measured) {
            figures.findings.push(rates::finding(measured, "feel.level_load.time_s", &text));
        }
        figures
    }
}

impl Settings {
    /// The loads that tell drives apart, or not; `None` if a part of a load was done.
    fn sentence(&self, measured: &Measurements<'_>) -> Option<String> {
        if self.loads.part != Ratio::ONE {
            return None;
        }
        let done = |step: &str| Some(time(measured.complete(step)?.phase.duration_ns as f64));
        let (start, level) = (done("app_start")?, done("level_load")?);
        let frame = self.loads.list.iter().find_map(|(load, jobs)| Some((load, frame_ns(jobs)?)));
        let frames = frame.and_then(|(load, frame_ns)| {
            let part = measured.complete(&load.step())?;
            Some((missed(part, frame_ns), full_share(part)))
        });
        let frames = frames.map_or_else(String::new, |((missed, all), full)| {
            let host = match full.filter(|_| missed > 0) {
                Some(_) => ", while the processors of the host were full",
                None => "",
            };
            let missed = if missed == 0 { "none".to_owned() } else { missed.to_string() };
            format!(", and misses {missed} of {} frames of a moving world{host}", count(all as f64))
        });
        Some(format!("starts an application in {start}, loads a level in {level}{frames}"))
    }
}

#[cfg(test)]
mod tests {
    use result::rows::PhaseRows;
    use result::schema::{HostUse, Phase};

    use super::*;

    #[test]
    fn what_comes_late_on_a_full_host_carries_its_mark() {
        let metrics: Metrics = [
            ("feel.world_streaming.missed_frames", Some(3.0)),
            ("feel.world_streaming.missed_frames_share", Some(0.1)),
            ("feel.world_streaming.waits", Some(0.0)),
            ("feel.boot.waits", Some(2.0)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let marked = |share: f64| {
            let host = HostUse { busiest_second_share: Some(share), ..HostUse::default() };
            let (phase, rows) =
                (Phase { host: Some(host), ..Phase::default() }, PhaseRows::default());
            let part = Part { phase: &phase, rows: &rows };
            let marks = host_marks(Some(part), &metrics, "feel.world_streaming.");
            marks.into_iter().map(|mark| (mark.metric, mark.kind)).collect::<Vec<_>>()
        };
        let full = ["missed_frames", "missed_frames_share"]
            .map(|end| (format!("feel.world_streaming.{end}"), MarkKind::HostLimited));
        assert_eq!(marked(1.0), full);
        assert_eq!(marked(0.9), []);
    }
}
