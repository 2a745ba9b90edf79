//! The tests of the SNIA Solid State Storage Performance Test Specification (PTS), and what they share.
//!
//! Order of every test: purge; workload-independent precondition (the span written twice in LBA order,
//! 128 KiB); the test's own rounds, which are its workload-dependent precondition, until the tracked
//! figure is steady over five rounds (25 at most); figures from those five. A step lasts a minute. On
//! simulated drives steps are shortened to 1/60 by default, which every result says, and a random pass
//! of the span comes before them; `--set shorten=1` gives full length.

pub(crate) mod intensity;

use std::collections::BTreeMap;

use base::{Nanos, OpKind};
use load::{Mix, Order, Workload};
use result::schema::{Table, TableRow};
use result::stats::steady::{PTS_ROUNDS_MAX, Window, pts_steady};

use super::{Figures, Measured, Part, PhaseSpec, Procedure, Site, Step, rates, steps};
use crate::error::RunError;
use crate::params::{Param, Params};

/// How often a simulated drive's minute is divided where nobody says otherwise.
pub(crate) const SIMULATED_SHORTEN: u64 = 60;
const STEP: Nanos = Nanos(60 * Nanos::SECOND.0);

/// Name of the phase of random writes before shortened rounds.
const RANDOM_PASS: &str = "precondition_random";

pub(crate) const SHORTEN: Param = Param {
    name: "shorten",
    default: "auto",
    help: "divides the minute of each step; auto: 60 for simulated drives, else 1",
};
pub(crate) const PRECONDITION: Param =
    Param { name: "precondition", default: "2", help: "sequential writes of the span beforehand" };
pub(crate) const QUEUE_DEPTH: Param =
    Param { name: "queue_depth", default: "32", help: "commands kept outstanding" };

/// A cell of a matrix: share of reads and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) read_percent: u8,
    pub(crate) block_bytes: u32,
}

impl Cell {
    /// The phase of a round without its number, and the step in metrics: `read65_8KiB`.
    pub(crate) fn name(self) -> String {
        format!("read{}_{}", self.read_percent, self.block())
    }

    fn block(self) -> String {
        base::Bytes(self.block_bytes.into()).to_string()
    }

    fn mix(self) -> Mix {
        match self.read_percent {
            100 => Mix::One(OpKind::Read),
            0 => Mix::One(OpKind::Write),
            percent => Mix::ReadPercent(percent),
        }
    }
}

/// The common parts of the tests with a matrix of cells.
pub(crate) struct Matrix<'a> {
    pub(crate) cells: &'a [Cell],
    pub(crate) order: Order,
    pub(crate) queue_depth: u32,
    pub(crate) settled: fn(&Measured<'_>) -> bool,
}

/// Nothing changes in a drive after so many passes.
const PRECONDITION_MAX: u32 = 100;

/// How long a step is, and by how much that is shortened: on simulated drives by `simulated` unless the
/// user says otherwise.
pub(crate) fn step_length(
    params: &Params,
    site: &Site<'_>,
    simulated: u64,
) -> Result<(Nanos, u64), RunError> {
    let text = params.text("shorten");
    let shorten = match text.as_str() {
        "auto" if site.is_simulated() => simulated,
        "auto" => 1,
        _ => params.get("shorten")?,
    };
    if !(1..=60).contains(&shorten) {
        return Err(RunError::Usage(format!(
            "`--set shorten={text}` must lie between 1 and 60: a step has at least one second"
        )));
    }
    Ok((Nanos(STEP.0 / shorten), shorten))
}

/// Says that the steps are shorter than the specification wants.
pub(crate) fn shortened(shorten: u64) -> Option<String> {
    (shorten > 1).then(|| {
        format!(
            "steps last 1/{shorten} of the specification's minute; `--set shorten=1` gives full length"
        )
    })
}

/// Purge and workload-independent precondition. Where `random_follows` and minutes have become seconds,
/// the rounds are too short to use up the spare blocks themselves, so that an all too even beginning
/// would pass for steady state: one random pass of the span then comes before them (ours).
pub(crate) fn beginning(
    params: &Params,
    site: &Site<'_>,
    random_follows: bool,
) -> Result<Vec<Step>, RunError> {
    let times: u32 = params.get("precondition")?;
    if times > PRECONDITION_MAX {
        return Err(RunError::Usage(format!(
            "`--set precondition={times}` must lie between 0 and {PRECONDITION_MAX}: so often the span is written, and the \
             specification asks for 2"
        )));
    }
    let (_, shorten) = step_length(params, site, SIMULATED_SHORTEN)?;
    let span_bytes = site.span_bytes;
    let mut phases = vec![steps::purge()];
    phases.extend((1..=times).map(|time| site.fill(&format!("precondition_{time}"), span_bytes)));
    if random_follows && shorten > 1 {
        phases.push(random_pass(site));
    }
    Ok(phases.into_iter().map(Into::into).collect())
}

/// As many bytes as the span holds, written 4 KiB at random.
pub(crate) fn random_pass(site: &Site<'_>) -> PhaseSpec {
    let depth = site.fill_depth();
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, site.span_bytes);
    let workload = Workload { limit_bytes: Some(site.span_bytes), ..workload };
    steps::to_its_end(RANDOM_PASS, workload)
}

/// A test of rounds over a matrix.
pub(crate) fn procedure(
    params: &Params,
    site: &Site<'_>,
    matrix: &Matrix<'_>,
) -> Result<Procedure, RunError> {
    let (step, shorten) = step_length(params, site, SIMULATED_SHORTEN)?;
    let mut notes: Vec<String> = shortened(shorten).into_iter().collect();
    let mut phases = Vec::new();
    for cell in matrix.cells {
        if cell.block_bytes < site.limits.logical_block_bytes {
            notes.push(site.too_small(cell.block_bytes));
            continue;
        }
        phases.push(cell_phase(*cell, matrix, site.span_bytes, step));
    }
    notes.dedup();
    let mut list = beginning(params, site, matrix.order == Order::Uniform)?;
    list.push(Step::Rounds { rounds_max: PTS_ROUNDS_MAX, phases, settled: matrix.settled });
    let config = steps::config([
        ("step_ns", step.0.into()),
        ("shorten", shorten.into()),
        ("precondition", params.get::<u32>("precondition")?.into()),
        ("queue_depth", matrix.queue_depth.into()),
    ]);
    Ok(Procedure { config, steps: list, notes })
}

fn cell_phase(cell: Cell, matrix: &Matrix<'_>, span_bytes: u64, step: Nanos) -> PhaseSpec {
    let Matrix { order, queue_depth, .. } = *matrix;
    let workload = Workload::new(OpKind::Write, order, cell.block_bytes, queue_depth, span_bytes);
    steps::for_time(&cell.name(), Workload { mix: cell.mix(), ..workload }, step)
}

/// The value of a step in each round so far, round 1 first.
pub(crate) fn of_rounds(
    measured: &Measured<'_>,
    step: &str,
    value: impl Fn(Part<'_>) -> Option<f64>,
) -> Vec<f64> {
    let parts = measured.parts().filter(|part| {
        let name = part.phase.name.rsplit_once(".r");
        part.phase.complete && name.is_some_and(|(name, _)| name == step)
    });
    parts.filter_map(value).collect()
}

/// The window that the figures rest on: the steady one, or the last rounds where there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    pub(crate) steady: Option<Window>,
    /// Positions of the rounds.
    from: usize,
    to: usize,
}

impl Rounds {
    pub(crate) fn of(tracked: &[f64]) -> Self {
        let steady = pts_steady(tracked);
        let (from, to) = match steady {
            Some(window) => (window.start, window.start + window.len),
            None => (tracked.len().saturating_sub(5), tracked.len()),
        };
        Self { steady, from, to }
    }

    /// Mean over the window.
    pub(crate) fn mean(&self, values: &[f64]) -> Option<f64> {
        let window = values.get(self.from..self.to.min(values.len()))?;
        (!window.is_empty()).then(|| window.iter().sum::<f64>() / window.len() as f64)
    }

    /// Largest value in the window.
    pub(crate) fn max(&self, values: &[f64]) -> Option<f64> {
        values.get(self.from..self.to.min(values.len()))?.iter().copied().reduce(f64::max)
    }
}

/// Metrics, a table, a sentence or a warning about the tracked figure and its steady state.
pub(crate) fn add_steady(
    figures: &mut Figures,
    measured: &Measured<'_>,
    what: (&str, &str),
    tracked: &[f64],
    rounds: &Rounds,
) {
    add_stage(figures, measured, "", what, tracked, rounds);
}

/// The same for a stage of a test that has several: its metrics are `<test>.<stage>.rounds` and so on.
pub(crate) fn add_stage(
    figures: &mut Figures,
    measured: &Measured<'_>,
    stage: &str,
    what: (&str, &str),
    tracked: &[f64],
    rounds: &Rounds,
) {
    let dot = if stage.is_empty() { "" } else { "." };
    let test = &format!("{}{dot}{stage}", measured.run.test);
    let (what, unit) = what;
    let steady = rounds.steady;
    for (name, value) in [
        ("rounds", Some(tracked.len() as f64)),
        ("steady_from_round", steady.map(|window| (window.start + 1) as f64)),
        ("steady_mean", steady.map(|window| window.mean)),
        ("steady_range_share", steady.map(|window| window.range / window.mean)),
        ("steady_slope_share", steady.map(|window| window.slope_excursion() / window.mean)),
    ] {
        figures.metrics.insert(format!("{test}.{name}"), value);
    }
    let (underscore, comma) = if stage.is_empty() { ("", "") } else { ("_", ", ") };
    let name = format!("rounds{underscore}{stage}");
    let title = format!("Steady state convergence{comma}{stage}");
    let mut table = rates::table(&name, &title, "round", &[(what, unit)]);
    table.conditions = conditions(measured);
    table.rows = (1..)
        .zip(tracked)
        .map(|(round, value): (u32, _)| TableRow {
            label: round.to_string(),
            values: vec![Some(*value)],
        })
        .collect();
    figures.tables.push(table);
    if let Some(window) = steady {
        let text = format!(
            "is in steady state from round {} to {}: {what} within {:.0}% (20 allowed), trend {:.1}% (10 \
             allowed)",
            window.start + 1,
            window.start + window.len,
            100.0 * window.range / window.mean,
            100.0 * window.slope_excursion() / window.mean
        );
        let metric = format!("{test}.steady_from_round");
        figures.findings.push(rates::finding(measured, &metric, &text));
    } else if tracked.len() >= PTS_ROUNDS_MAX as usize {
        figures.warnings.push(format!(
            "no steady state within {PTS_ROUNDS_MAX} rounds; the figures are those of the last five"
        ));
    }
}

/// The writes before the rounds, in the words of the conditions.
fn precondition_words(measured: &Measured<'_>) -> String {
    let times = measured.config_u64("precondition");
    let sequential = (times > 0).then(|| format!("{times} x 128KiB sequential"));
    let random = measured.part(RANDOM_PASS).map(|_| "1 x 4KiB random".to_owned());
    let parts: Vec<String> = sequential.into_iter().chain(random).collect();
    if parts.is_empty() { "none but the test's own".to_owned() } else { parts.join(", ") }
}

/// The conditions that every table of the specification must carry.
pub(crate) fn conditions(measured: &Measured<'_>) -> BTreeMap<String, String> {
    let run = measured.run;
    let purge = run.purge.as_ref().and_then(|purge| purge.method.clone());
    let cache = run.target.details.get("write_cache").cloned();
    let step = Nanos(measured.config_u64("step_ns"));
    let most = measured.config_u64("queue_depth");
    let outstanding =
        if intensity::varies(measured) { format!("1 to {most}") } else { most.to_string() };
    let access = intensity::access_words(measured).map(|words| ("access", words));
    let pauses = run.test == super::tests::pts::host_idle::DEFINITION.name;
    let idle = if pauses { "as the rows say" } else { "none" };
    let simulated = if run.target.is_simulated() { "yes" } else { "no" };
    [
        ("purge", purge.unwrap_or_else(|| "none".to_owned())),
        ("active range", format!("LBA 0 to {}", steps::size(run.span.span_bytes))),
        ("active range amount", "100% of it".to_owned()),
        ("precondition", precondition_words(measured)),
        ("outstanding commands", outstanding),
        ("data", "incompressible".to_owned()),
        ("write cache", cache.unwrap_or_else(|| "as found".to_owned())),
        ("idle time", idle.to_owned()),
        ("step", step.to_string()),
        ("simulated", simulated.to_owned()),
    ]
    .into_iter()
    .chain(access)
    .map(|(label, value)| (label.to_owned(), value))
    .collect()
}

/// A matrix of values: one row a size, one column a share of reads.
pub(crate) fn matrix_table(
    measured: &Measured<'_>,
    (name, title, unit): (&str, &str, &str),
    cells: &[Cell],
    value: impl Fn(Cell) -> Option<f64>,
) -> Table {
    let mut sizes: Vec<u32> = cells.iter().map(|cell| cell.block_bytes).collect();
    let mut percents: Vec<u8> = cells.iter().map(|cell| cell.read_percent).collect();
    sizes.sort_unstable();
    sizes.dedup();
    percents.sort_unstable();
    percents.dedup();
    percents.reverse();
    let names: Vec<_> = percents.iter().map(|read| format!("{read}/{}", 100 - read)).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), unit)).collect();
    let mut table = rates::table(name, title, "block size", &columns);
    for block_bytes in sizes {
        let cell = |read_percent: &u8| Cell { read_percent: *read_percent, block_bytes };
        let values = percents.iter().map(|percent| value(cell(percent))).collect();
        let label = base::Bytes(block_bytes.into()).to_string();
        table.rows.push(TableRow { label, values });
    }
    table.conditions = conditions(measured);
    table
}
