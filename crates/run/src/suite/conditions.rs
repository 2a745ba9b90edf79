//! The conditions of a test's figures, for every table that does not state them itself.
//!
//! They come from the steps themselves, so that no test can forget one: span, outstanding commands,
//! kind of data and idle time of the measured phases; purge method and "simulated" from the run. A
//! test adds the conditions that its steps do not contain.

use std::collections::BTreeSet;

use base::Data;
use load::{Pacing, Workload};
use result::schema::Run;
use result::stats::scale;

use super::{Action, Conditions, PhaseSpec, Procedure, Step, steps};
use crate::replay::{Form, ReplaySpec};

/// Beginnings of the names of preparing phases: their depth and data belong to no figure.
const PREPARATIONS: [&str; 4] = ["purge", "fill", "prepare", "precondition"];

/// Labels for which the SNIA specification has other words: a table with its word needs no second
/// one.
const SYNONYMS: [(&str, &str); 2] = [("QD", "outstanding commands"), ("span", "active range")];

/// The conditions known before the start.
pub fn planned(procedure: &Procedure) -> Conditions {
    let phases = procedure.steps.iter().flat_map(Step::phases);
    let measured: Vec<_> = phases.filter(|phase| !prepares(phase)).collect();
    let workloads: Vec<&Workload> =
        measured.iter().flat_map(|phase| phase.action.workloads()).collect();
    let replays: Vec<&ReplaySpec> = measured
        .iter()
        .filter_map(|phase| match &phase.action {
            Action::Replay(replay) => Some(replay),
            _ => None,
        })
        .collect();
    let writes = workloads.iter().filter(|workload| workload.mix.writes());
    let depths = workloads.iter().map(|workload| depth(workload));
    let depths: BTreeSet<_> = depths.chain(replays.iter().map(|replay| replayed(replay))).collect();
    let paced = workloads.iter().filter(|workload| workload.pacing != Pacing::ClosedLoop);
    let rates: BTreeSet<_> = paced.map(|workload| workload.pacing.to_string()).collect();
    let spans = workloads.iter().map(|workload| workload.span_bytes);
    let spans: BTreeSet<u64> =
        spans.chain(replays.iter().map(|replay| replay.span_bytes)).collect();
    let kinds = writes.map(|workload| data_words(workload.data));
    let recorded = replays.iter().map(|_| RECORDED_DATA.to_owned());
    let kinds: BTreeSet<_> = kinds.chain(recorded).collect();
    let words = |list: Vec<String>| (!list.is_empty()).then(|| list.join(", "));
    let of_steps = [
        ("QD", words(depths.into_iter().map(|(_, words)| words).collect())),
        ("commands a second", words(rates.into_iter().collect())),
        ("span", words(spans.into_iter().map(steps::size).collect())),
        ("data", words(kinds.into_iter().collect())),
        ("idle time", Some(idle_words(&measured))),
    ];
    let of_steps =
        of_steps.into_iter().filter_map(|(label, value)| Some((label.to_owned(), value?)));
    of_steps.chain(procedure.conditions.clone()).collect()
}

/// The conditions in a table, and the common conditions that it lacks.
pub fn of_table(own: &Conditions, common: &Conditions) -> Conditions {
    let is_told = |label: &str| {
        SYNONYMS.iter().any(|(name, synonym)| *name == label && own.contains_key(*synonym))
    };
    let mut all = common.clone();
    all.retain(|label, _| !is_told(label));
    all.extend(own.clone());
    all
}

/// The conditions known from the run, added to the planned ones.
pub fn of_run(planned: &Conditions, run: &Run) -> Conditions {
    let purge = run.purge.as_ref().and_then(|purge| purge.method.clone());
    let purge = purge.unwrap_or_else(|| "none".to_owned());
    let simulated = if run.target.is_simulated() { "yes" } else { "no" };
    let mut conditions = planned.clone();
    conditions.insert("purge".to_owned(), purge);
    conditions.insert("simulated".to_owned(), simulated.to_owned());
    let scale = scale::condition(&run.target).map(|scale| ("scale".to_owned(), scale));
    conditions.extend(scale);
    if let Some(sample) = &run.data_sample {
        let share = 100.0 * sample.unwritten_share();
        let blocks = format!("{share:.0}% of {} sampled", sample.reads);
        conditions.insert("blocks without data".to_owned(), blocks);
    }
    if let Some(state) = run.target.details.get("write_cache") {
        conditions.insert("write cache".to_owned(), state.clone());
    }
    conditions
}

fn prepares(phase: &PhaseSpec) -> bool {
    PREPARATIONS.iter().any(|name| phase.name.starts_with(name))
}

/// The depth, for sorting, and its meaning.
fn depth(workload: &Workload) -> (u32, String) {
    let Workload { queue_depth, pacing, .. } = workload;
    let most = if *pacing == Pacing::ClosedLoop { "" } else { "at most " };
    (*queue_depth, format!("{most}{queue_depth}"))
}

/// The most commands outstanding of a replay, and its words.
fn replayed(replay: &ReplaySpec) -> (u32, String) {
    let most = replay.queue_depth_max;
    let words = match replay.form {
        Form::Closed => "as recorded",
        Form::Open => "as the recorded times make it",
    };
    (most, format!("{words}, at most {most}"))
}

/// The kind of data of a trace's writes.
const RECORDED_DATA: &str = "as recorded, else incompressible";

fn data_words(data: Data) -> String {
    match data {
        Data::Incompressible => "incompressible".to_owned(),
        Data::Repeating => "repeating".to_owned(),
        Data::Compressible { physical_percent } => format!("shrinks to {physical_percent}%"),
    }
}

/// The pauses of a procedure.
fn idle_words(measured: &[&PhaseSpec]) -> String {
    let pauses: BTreeSet<_> = measured
        .iter()
        .filter_map(|phase| match phase.action {
            Action::Idle(duration) => Some(duration),
            _ => None,
        })
        .collect();
    if pauses.is_empty() {
        return "none".to_owned();
    }
    pauses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
