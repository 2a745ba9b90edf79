//! Power: the power of a drive asleep, awake and at work.
//!
//! Method, after the reviews of AnandTech (2011 to 2014): purge; fill of the span of the random
//! writes; after `settle`, link and drive may rest and `rest` is measured (slumber: link power
//! management by host and drive, or the deepest power state); then they are kept awake and `rest`
//! is measured again (idle); then 128 KiB sequential writes at QD 1 over the whole span and 4 KiB
//! random writes at QD 32 for `time` each. Lengths and order are not from the reviews.
//!
//! Interpretation: a slumber of 500 to 1,000 mW hurts a notebook. Idle matters if link power
//! management is off, as in most desktops. Energy per GB compares drives of different speed: a
//! drive with more power may still need less energy for the same work. Peaks are single readings of
//! the meter; those of a simulated drive are whole seconds.

use base::OpKind;
use load::{Order, Workload};
use result::schema::{Finding, TableRow};
use result::stats::findings::percent;
use result::stats::power::{PowerDraw, drawn};
use target::{Rest, TargetError};

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::keys::{Duration, QueueDepth, Region, settings};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Headline, Measurements, Notes, Part, ReviewEntry, Site,
    Step, TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "power",
    heading: "Power",
    question: "what does the drive draw asleep, awake and at work?",
    closed_loop: Some("its figures are those of a drive that rests or works as fast as it can"),
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry::quick("settle=5s rest=10s time=20s random_span=1GiB"),
    ],
    headlines: &[
        Headline::column("power.idle.power_w_mean", ("Power", "At rest"), "Power at rest, awake"),
        Headline::column(
            "power.random_write.power_w_mean",
            ("Power", "At work"),
            "Power under random writes",
        ),
        Headline::of_card("power.slumber.power_w_mean"),
        Headline::of_card("power.sequential_write.power_w_mean"),
    ],
    charts: &[Chart::PowerBars],
    ..Definition::of::<Settings>(Chapter::Energy, 1)
};

/// From here on, a notebook's battery feels slumber, by the rule of the reviews.
const HURTS_W: f64 = 0.5;

/// The measured states: the phase, the phase before it that enables it, and words.
const STATES: [(&str, Option<&str>, &str); 4] = [
    ("slumber", Some("allow_rest"), "slumber"),
    ("idle", None, "idle"),
    ("sequential_write", None, "128 KiB sequential write"),
    ("random_write", None, "4 KiB random write"),
];

settings! {
    /// Lengths of the states, and the random writes.
    struct Settings {
        settle: Duration = Param::new("settle", "30s", "pause before each measured rest");
        rest: Duration = Param::new("rest", "60s", "length of slumber and idle");
        time: Duration = Param::new("time", "60s", "length of each kind of writing");
        random_span_bytes: Region = Param::new("random_span", "8GiB", "span of the random writes");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands outstanding, random");
    }
}

impl TestSettings for Settings {
    fn check(&mut self, _: &Params, site: &Site<'_>, _: &mut Notes) -> Result<(), RunError> {
        match site.limits.energy || site.has_meter {
            true => Ok(()),
            false => Err(no_meter(site).into()),
        }
    }

    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let (block, write, span) =
            (steps::LINEAR_BLOCK_BYTES, OpKind::Write, self.random_span_bytes);
        let sequential = Workload::new(write, Order::Sequential, block, 1, site.span_bytes);
        let random = Workload::new(write, Order::Uniform, 4096, self.queue_depth, span);
        let mut phases = vec![steps::purge(), site.fill("prepare", span)];
        if site.limits.rest {
            phases.push(steps::set_rest("allow_rest", Rest::Allowed));
            phases.push(steps::idle("settle_slumber", self.settle));
            phases.push(steps::idle("slumber", self.rest));
            phases.push(steps::set_rest("keep_awake", Rest::Denied));
        } else {
            notes.push(format!(
                "slumber is not measured: nothing can be switched here that lets {} sleep or keeps it awake; idle \
                 is as the drive was found",
                site.identity.name
            ));
        }
        phases.push(steps::idle("settle_idle", self.settle));
        phases.push(steps::idle("idle", self.rest));
        phases.push(steps::for_time("sequential_write", sequential, self.time));
        phases.push(steps::for_time("random_write", random, self.time));
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        figures(measured)
    }
}

fn no_meter(site: &Site<'_>) -> TargetError {
    let name = &site.identity.name;
    TargetError::Unsupported(if site.is_simulated() {
        format!("the model of {name} has no section [power], so nobody knows what it draws")
    } else {
        format!(
            "nothing tells what {name} draws: give --meter hwmon:NAME or --meter stream:PATH (docs/reference/power.md)"
        )
    })
}

/// The idle state, with the permissions of link and drive if these could be switched.
fn idle_words(measured: &Measurements<'_>) -> &'static str {
    let is_done = |phase| measured.complete(phase).is_some();
    match (is_done("keep_awake"), is_done("allow_rest")) {
        (true, _) => "idle, kept awake",
        (false, true) => "idle, allowed to rest",
        (false, false) => "idle, as the drive was found",
    }
}

/// One state with its power.
struct State<'a> {
    phase: &'static str,
    label: &'static str,
    part: Option<Part<'a>>,
    drawn: Option<PowerDraw>,
}

impl State<'_> {
    /// Joules per gigabyte.
    fn j_per_gb(&self) -> Option<f64> {
        self.drawn?.j_per_gb(self.part?.mb_per_s()?)
    }

    fn metric(&self, end: &str) -> String {
        format!("power.{}.{end}", self.phase)
    }
}

fn states<'a>(measured: &Measurements<'a>) -> [State<'a>; 4] {
    STATES.map(|(phase, needs, label)| {
        let possible = needs.is_none_or(|needs| measured.complete(needs).is_some());
        let part = measured.complete(phase).filter(|_| possible);
        let label = if phase == "idle" { idle_words(measured) } else { label };
        State { phase, label, part, drawn: part.and_then(|part| drawn(&part.rows.seconds)) }
    })
}

fn figures(measured: &Measurements<'_>) -> Figures {
    let mut figures = Figures::default();
    let columns = [("mean", "W"), ("peak", "W"), ("energy", "J/GB"), ("rate", "MB/s")];
    let mut table = rates::table("power", "Power", "state", &columns);
    let states = states(measured);
    for state in &states {
        let works = state.part.is_some_and(|part| part.phase.ios > 0);
        let rate = state.part.filter(|_| works).and_then(|part| part.mb_per_s());
        let (mean, max) = (state.drawn.map(|d| d.mean_w), state.drawn.map(|d| d.max_w));
        for (end, value) in [("power_w_mean", mean), ("power_w_max", max)] {
            figures.metrics.insert(state.metric(end), value);
        }
        if state.phase.ends_with("write") {
            figures.metrics.insert(state.metric("energy_j_per_gb"), state.j_per_gb());
            rates::add_rates(&mut figures, &format!("power.{}", state.phase), state.part);
        }
        let values = vec![mean, max, state.j_per_gb(), rate];
        table.rows.push(TableRow { label: state.label.to_owned(), values });
        figures.warnings.extend(state.drawn.and_then(|drawn| gaps(state.label, drawn)));
    }
    table.conditions = conditions(measured);
    figures.tables.push(table);
    figures.findings = findings(measured, &states);
    figures
}

fn gaps(label: &str, drawn: PowerDraw) -> Option<String> {
    (drawn.known_share < 0.99).then(|| {
        format!(
            "{label}: the power is known for {} of the time, no more",
            percent(drawn.known_share)
        )
    })
}

/// The conditions on which a figure of power depends.
fn conditions(measured: &Measurements<'_>) -> std::collections::BTreeMap<String, String> {
    let switched = |phase: &str| measured.complete(phase).map(|part| part.phase.what.clone());
    let span = |name: &str| measured.part(name).map(|part| part.phase.what.clone());
    let meter = measured.run.environment.get("meter").cloned();
    let own = "the simulated drive's own account; peaks are whole seconds";
    [
        ("meter", Some(meter.unwrap_or_else(|| own.to_owned()))),
        ("slumber", switched("allow_rest")),
        ("idle", Some(idle_words(measured).trim_start_matches("idle, ").to_owned())),
        ("sequential write", span("sequential_write")),
        ("random write", span("random_write")),
    ]
    .into_iter()
    .filter_map(|(label, value)| Some((label.to_owned(), value?)))
    .collect()
}

fn findings(measured: &Measurements<'_>, states: &[State<'_>; 4]) -> Vec<Finding> {
    let [slumber, idle, sequential, random] = states;
    let about = |state: &State<'_>, text: String| {
        rates::finding(measured, &state.metric("power_w_mean"), &text)
    };
    let rest = [
        slumber.drawn.map(|drawn| about(slumber, slumber_words(drawn.mean_w))),
        idle.drawn
            .map(|drawn| about(idle, format!("draws {} {}", watts(drawn.mean_w), idle.label))),
    ];
    let work = [sequential, random].map(|state| {
        let (drawn, energy_j) = (state.drawn?, state.j_per_gb()?);
        let (mean, peak) = (watts(drawn.mean_w), watts(drawn.max_w));
        let text = format!(
            "draws {mean} on average and {peak} at most in {}s, {energy_j:.1} J for each GB",
            state.label
        );
        Some(about(state, text))
    });
    rest.into_iter().chain(work).flatten().collect()
}

fn slumber_words(mean_w: f64) -> String {
    let rule = if mean_w < HURTS_W {
        "below the 500 mW from which a notebook's battery feels it"
    } else {
        "which a notebook's battery feels: 500 mW and more do"
    };
    format!("draws {} in slumber, {rule}", watts(mean_w))
}

/// A power, for sentences.
fn watts(power_w: f64) -> String {
    if power_w < 1.0 { format!("{:.0} mW", power_w * 1e3) } else { format!("{power_w:.2} W") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_that_is_hardly_known_is_not_called_unknown() {
        let drawn = |known_share| PowerDraw { mean_w: 1.0, max_w: 2.0, known_share };
        let text = |share| gaps("slumber", drawn(share)).unwrap_or_default();
        assert_eq!(text(0.5), "slumber: the power is known for 50% of the time, no more");
        assert_eq!(
            text(0.0004),
            "slumber: the power is known for less than 0.1% of the time, no more"
        );
        assert_eq!(text(0.995), "");
    }
}
