//! Fill level: how full may a drive be?
//!
//! Method: for each level a purge, and a sequential write of that share of the span. 4 KiB random
//! writes over all of it follow: as many as use up the free space, `overwrites` times its size, then
//! the measured ones; then bursts with a pause before each, of which the last is measured; then
//! single commands (QD 1), and a sequential write into the free part. All of that once with the rest of the drive free
//! (`trimmed`) and once with data in it that stay (`written`): then the level is only the part that
//! is in use. Interpretation: free space is spare area that the host lends to the drive, if the
//! drive knows of it. `kept_level_share` is the level up to which a drive keeps 80% of its rate at
//! 50%; `turn_level_share` is the level after the steepest fall.
//!
//! On a simulated drive the test simulates a part of the drive by default (`scale`). Pauses, bursts
//! and their share of the spare area are those of the whole, so that they are as much shorter; a
//! firmware that waits before it collects still waits its whole time.

use base::{Nanos, OpKind};
use load::{Order, Workload};
use result::schema::{Finding, TableRow};
use result::stats::findings::count;

use crate::error::RunError;
use crate::params::Param;
use crate::suite::amplification::Amplification;
use crate::suite::drive_share::{self, ShareOfDrive};
use crate::suite::keys::{Content, Count, Duration, Key, Pause, QueueDepth, Reading, settings};
use crate::suite::{
    Chapter, Chart, Conditions, Definition, Figures, Measurements, Notes, PhaseSpec, ReviewEntry,
    Site, Step, TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "fill-level",
    heading: "Fill level",
    question: "how full may I fill the drive?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry { settings: "levels=25,50,75,90,100 overwrites=1", ..ReviewEntry::FULL },
        ReviewEntry {
            whole: true,
            ..ReviewEntry::alone(
                "levels=50,90 rest=trimmed overwrites=1 time=10s pause=0s",
                "the levels between, the rest of the drive with data, pauses, and maybe the steady state. It writes the \
                 whole target four times",
            )
        },
    ],
    charts: &[Chart::Curves { table: "levels", units: &["IOPS", "MB/s", "ns"], log_rows: false }],
    ..Definition::of::<Settings>(Chapter::SteadyState, 4)
};

/// Filled parts end at a multiple of this, so that the commands of all steps are aligned.
const BOUNDARY_BYTES: u64 = 1 << 20;
/// The level that others are compared with.
const BASE_LEVEL: u64 = 50;
/// The share of its rate that a drive keeps up to a level that is not too full.
const KEPT_SHARE: f64 = 0.8;
/// The sequential write takes this part of the span at most.
const FREE_WRITE_PERCENT: u64 = 5;
/// Bursts after a pause; the last one is measured.
const BURSTS: u32 = 3;
/// The states of the rest of the drive, with the ends of the names of steps.
const RESTS: [&str; 2] = ["trimmed", "written"];

settings! {
    /// Levels, states and lengths.
    struct Settings {
        levels: Levels = Param::new(
            "levels",
            "10,25,50,75,85,90,95,100",
            "filled part in percent of the span, rising",
        );
        rest: Rests = Param::new("rest", "trimmed,written", "state of the LBAs beyond the filled part");
        overwrites: Count = Param::new(
            "overwrites",
            "2",
            "writes before the measured ones, in sizes of the filled part",
        );
        time: Duration = Param::new("time", "30s", "length of each measured step");
        burst: Duration = Param::new("burst", "50s", "length of a burst after a pause");
        pause: Pause = Param::new("pause", "10s", "pause before each burst; 0s leaves them out");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        simulated: ShareOfDrive = drive_share::SCALE;
        data: Content = steps::DATA;
    }
}

/// Filled shares of the span.
enum Levels {}

impl Key for Levels {
    type Value = Vec<u64>;
    const UNIT: &'static str = "_percent";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<u64>, RunError> {
        let levels: Vec<u64> = params.list(name)?;
        let is_usable = |level: &u64| (1..=100).contains(level);
        if levels.iter().all(is_usable) && levels.is_sorted_by(|a, b| a < b) {
            return Ok(levels);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={}` cannot be used: expected rising percents of the span from 1 to 100, such as 50,75,100",
            params.text(name)
        )))
    }
}

/// States of the rest of the drive.
enum Rests {}

impl Key for Rests {
    type Value = Vec<String>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<String>, RunError> {
        params.words(name, &RESTS)
    }
}

/// A level with the state of the rest of the drive.
#[derive(Clone, Copy)]
struct State {
    level: u64,
    is_written: bool,
}

impl State {
    /// A full drive has no rest.
    const fn new(level: u64, is_written: bool) -> Self {
        Self { level, is_written: is_written && level < 100 }
    }

    fn step(self, step: &str) -> String {
        format!("{step}_{}{}", self.level, if self.is_written { "_written" } else { "" })
    }

    fn metric(self, step: &str, end: &str) -> String {
        format!("fill-level.{}.{end}", self.step(step))
    }
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        self.simulated.conditions()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        steps::once(self.states().flat_map(|state| self.at(site, state)))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        for state in self.states() {
            self.add_state(&mut figures, measured, state);
        }
        let columns = SOURCES.map(|(words, unit, ..)| (words, unit));
        let mut table = rates::table("levels", "Speed by fill level", "filled", &columns);
        table.rows.extend(self.levels.iter().map(|&level| row(&figures, level)));
        for rest in &self.rest {
            let points = self.points(&figures, rest);
            let name = |end: &str| format!("fill-level.{rest}.{end}");
            figures.metrics.insert(name("kept_level_share"), kept(&points).map(share));
            figures.metrics.insert(name("turn_level_share"), turn(&points).map(share));
        }
        figures.findings.extend(self.sentence(measured, &figures));
        figures.tables.push(table);
        figures
    }
}

/// The columns of the table: words, unit, whether the rest is written, step and end of the figure.
const SOURCES: [(&str, &str, bool, &str, &str); 10] = [
    ("random write, rest trimmed", "IOPS", false, "random_write", "iops"),
    ("the same after pauses", "IOPS", false, "paused_write", "iops"),
    ("random write, rest written", "IOPS", true, "random_write", "iops"),
    ("the same after pauses", "IOPS", true, "paused_write", "iops"),
    ("random write, rest trimmed", "WAF", false, "random_write", "waf"),
    ("random write, rest written", "WAF", true, "random_write", "waf"),
    ("random write, p99", "ns", false, "random_write", "latency_ns_p99"),
    ("read, QD 1, mean", "ns", false, "single_read", "latency_ns_mean"),
    ("write, QD 1, mean", "ns", false, "single_write", "latency_ns_mean"),
    ("sequential write into free space", "MB/s", false, "sequential_write", "mb_per_s"),
];
/// The measured steps.
const STEPS: [&str; 5] =
    ["random_write", "paused_write", "single_read", "single_write", "sequential_write"];

impl Settings {
    /// Each level with each state of the rest; a full drive has no rest.
    fn states(&self) -> impl Iterator<Item = State> {
        self.rest.iter().flat_map(|rest| {
            let is_first = rest == &self.rest[0];
            let levels = self.levels.iter().filter(move |level| is_first || **level < 100);
            levels.map(move |&level| State::new(level, rest == RESTS[1]))
        })
    }

    fn filled_bytes(&self, level: u64) -> u64 {
        let span = self.simulated.span_bytes;
        let exact = u128::from(span) * u128::from(level) / 100;
        let bytes = u64::try_from(exact).unwrap_or(span) / BOUNDARY_BYTES * BOUNDARY_BYTES;
        bytes.max(BOUNDARY_BYTES.min(span))
    }

    fn at(&self, site: &Site<'_>, state: State) -> Vec<PhaseSpec> {
        let span = self.simulated.span_bytes;
        let filled = self.filled_bytes(state.level);
        let depth = self.queue_depth;
        let random = |kind, depth| {
            let workload = Workload::new(kind, Order::Uniform, 4096, depth, filled);
            Workload { data: self.data.kind, ..workload }
        };
        // Free space is used up first.
        let free = if state.is_written { 0 } else { (span - filled) / 4 * 5 };
        let settling = Workload {
            limit_bytes: Some(filled.saturating_mul(self.overwrites.into()).saturating_add(free)),
            ..random(OpKind::Write, depth)
        };
        let timed = |step: &str, workload, time| steps::for_time(&state.step(step), workload, time);
        let mut phases = vec![
            self.simulated.purge(),
            site.fill(&state.step("fill"), if state.is_written { span } else { filled }),
            steps::to_its_end(&state.step("precondition"), settling),
            timed("random_write", random(OpKind::Write, depth), self.time),
        ];
        // Times of a part, whose spare area is as much smaller.
        let part = |time: Nanos| Nanos(self.simulated.scale.of(time.0).max(1));
        for burst in (1..=BURSTS).filter(|_| self.pause > Nanos(0)) {
            let name =
                if burst == BURSTS { "paused_write".to_owned() } else { format!("burst_{burst}") };
            phases.push(steps::idle(&state.step(&format!("pause_{burst}")), part(self.pause)));
            phases.push(timed(&name, random(OpKind::Write, depth), part(self.burst)));
        }
        phases.push(timed("single_read", random(OpKind::Read, 1), self.time));
        phases.push(timed("single_write", random(OpKind::Write, 1), self.time));
        let most = span / 100 * FREE_WRITE_PERCENT / BOUNDARY_BYTES * BOUNDARY_BYTES;
        let free = (span - filled).min(most.max(BOUNDARY_BYTES)) / BOUNDARY_BYTES * BOUNDARY_BYTES;
        if free > 0 && !state.is_written {
            let (block, order) = (steps::LINEAR_BLOCK_BYTES, Order::SequentialOnce);
            let write = Workload::new(OpKind::Write, order, block, depth, free);
            let write = Workload { span_offset_bytes: filled, data: self.data.kind, ..write };
            phases.push(steps::to_its_end(&state.step("sequential_write"), write));
        }
        phases
    }

    /// The figures of one level and state.
    fn add_state(&self, figures: &mut Figures, measured: &Measurements<'_>, state: State) {
        for step in STEPS {
            let Some(part) = measured.complete(&state.step(step)) else { continue };
            let name = format!("fill-level.{}", state.step(step));
            rates::add_rates(figures, &name, Some(part));
            rates::add_latencies(figures, &name, Some(part));
            if step == "random_write" {
                let filled = self.filled_bytes(state.level);
                let settling = measured.complete(&state.step("precondition"));
                let found =
                    settling.map(|before| Amplification::of(measured, filled, before, part));
                Amplification::add_to(found, figures, &name);
                rates::mark_unsteady(figures, measured, &name, Some(part));
            }
        }
    }

    /// The steady rates by level, rising, with this state of the rest.
    fn points(&self, figures: &Figures, rest: &str) -> Vec<(u64, f64)> {
        let iops = |&level: &u64| {
            let state = State::new(level, rest == RESTS[1]);
            figures.value(&state.metric("random_write", "iops")).map(|iops| (level, iops))
        };
        self.levels.iter().filter_map(iops).collect()
    }

    /// Random writes over half of the drive and over the fullest level, and the level to stop at.
    fn sentence(&self, measured: &Measurements<'_>, figures: &Figures) -> Option<Finding> {
        let points = self.points(figures, &self.rest[0]);
        let (base, last) = (base(&points)?, *points.last()?);
        let (half, full) = (count(base.1), count(last.1));
        let most = if last.0 == 100 { "all of it".to_owned() } else { format!("{}%", last.0) };
        let text =
            format!("does {half} random writes a second over half of it, and {full} over {most}");
        let text = match kept(&points)? {
            level if level == last.0 => text,
            level => format!("{text}; it keeps 80% of the former up to {level}%"),
        };
        let state = State::new(last.0, self.rest[0] == RESTS[1]);
        (last.0 > base.0)
            .then(|| rates::finding(measured, &state.metric("random_write", "iops"), &text))
    }
}

/// The rate at the level that others are compared with.
fn base(points: &[(u64, f64)]) -> Option<(u64, f64)> {
    points.iter().copied().find(|(level, _)| *level == BASE_LEVEL)
}

/// The highest level before the first one above 50% that does not keep the rate at 50%.
fn kept(points: &[(u64, f64)]) -> Option<u64> {
    let (_, rate) = base(points)?;
    let above = points.iter().filter(|(level, _)| *level >= BASE_LEVEL);
    above.take_while(|(_, iops)| *iops >= KEPT_SHARE * rate).last().map(|(level, _)| *level)
}

/// The level after the steepest fall between neighbours, or `None` if every fall is small.
fn turn(points: &[(u64, f64)]) -> Option<u64> {
    let ratios = points.windows(2).map(|pair| (pair[1].0, pair[1].1 / pair[0].1));
    let steepest = ratios.min_by(|a, b| f64::total_cmp(&a.1, &b.1))?;
    (steepest.1 < KEPT_SHARE).then_some(steepest.0)
}

fn share(level: u64) -> f64 {
    level as f64 / 100.0
}

fn row(figures: &Figures, level: u64) -> TableRow {
    let value = |&(_, _, is_written, step, end): &(&str, &str, bool, &str, &str)| {
        let state = State::new(level, is_written);
        figures.value(&state.metric(step, end))
    };
    TableRow { label: format!("{level}%"), values: SOURCES.iter().map(value).collect() }
}
