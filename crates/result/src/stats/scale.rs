//! Figures of a simulated drive below full size (`scale=`): do they hold at full size?
//!
//! The [catalogue](crate::metrics) answers that for every metric. For two kinds of figures the
//! answer depends on the step: did the drive clean up during it, and was it fresh before? A figure
//! that does not hold keeps its value and gets a mark. A sentence about it makes room for one that
//! names the reason.

use base::{Identity, Ratio, TelemetryRow};

use crate::marks::run::phases_of;
use crate::metrics::{Scaling, find};
use crate::rows::PhaseRows;
use crate::schema::{Finding, Mark, MarkKind, Metrics, Phase, Run};

/// Beginnings of the names of phases that bring a drive into steady state.
const SETTLING: [&str; 2] = ["precondition", "saturate"];
/// Beginning of the names of phases that make a drive fresh.
const PURGE: &str = "purge";

/// Beginnings of the names of figures of an order to a zone: a smaller drive has smaller zones.
const ZONE_ORDERS: [&str; 2] = ["zones.reset_", "zones.finish_"];

/// A run on a drive below full size.
#[derive(Clone, Copy, Debug)]
pub struct ScaledRun<'a> {
    scale: Ratio,
    phases: &'a [Phase],
    /// The rows of each phase.
    rows: &'a [PhaseRows],
}

impl<'a> ScaledRun<'a> {
    /// The run with the rows of its phases, or `None` if its target has full size.
    pub fn of(run: &'a Run, rows: &'a [PhaseRows]) -> Option<Self> {
        run.target.scale().map(|scale| Self { scale, phases: &run.phases, rows })
    }

    /// Whether the figure holds at full size.
    pub fn keeps(&self, metric: &str) -> bool {
        if ZONE_ORDERS.iter().any(|begin| metric.starts_with(begin)) {
            return false;
        }
        let mut phases = self.phases_of(metric).into_iter();
        match find(metric).map_or(Scaling::Lost, |row| row.scaling) {
            Scaling::Kept => true,
            Scaling::KeptWhenSteady => !phases.any(|phase| self.is_unsettled(phase)),
            Scaling::KeptWithoutCleaning => {
                !phases.any(|phase| self.has(phase, |row| row.erased_superblocks + moved(row)))
            }
            Scaling::Lost => false,
        }
    }

    /// The marks of the known figures that do not hold.
    pub fn marks(&self, metrics: &Metrics) -> Vec<Mark> {
        let known = metrics.iter().filter(|(_, value)| value.is_some());
        let lost = known.filter(|(metric, _)| !self.keeps(metric));
        let text = format!("at scale {}: not that of the whole drive", self.scale);
        let mark = |(metric, _): (&String, _)| Mark {
            metric: metric.clone(),
            kind: MarkKind::Scale,
            text: text.clone(),
            levels: None,
        };
        lost.map(mark).collect()
    }

    /// The sentences about figures that hold, and one in place of the others. A sentence about a
    /// figure without a value stays: the drive at full size has none either.
    pub fn findings(&self, findings: Vec<Finding>, metrics: &Metrics) -> Vec<Finding> {
        let is_known = |metric: &str| metrics.get(metric).is_some_and(Option::is_some);
        let (lost, mut kept): (Vec<_>, Vec<_>) = findings
            .into_iter()
            .partition(|finding| is_known(&finding.metric) && !self.keeps(&finding.metric));
        let reason = |Finding { metric, .. }| Finding { text: self.reason(), metric };
        kept.extend(lost.into_iter().next().map(reason));
        kept
    }

    /// The reason for missing sentences.
    fn reason(&self) -> String {
        format!(
            "The simulated drive has {} of its full size and keeps only rates, shares and write \
             amplification in steady state: its evenness, rare latencies, times until a change and \
             amounts are not those of the whole drive, so nothing is said about them.",
            self.scale
        )
    }

    /// Indices of the phases behind a figure; all for a figure of the whole run.
    fn phases_of(&self, metric: &str) -> Vec<usize> {
        let own = phases_of(self.phases, metric);
        if own.is_empty() { (0..self.phases.len()).collect() } else { own }
    }

    /// Whether a phase began on a drive that was not in steady state, and cleaning began during it.
    /// A pass by zones is in proportion to the size.
    fn is_unsettled(&self, phase: usize) -> bool {
        let is_a =
            |names: &[&str], phase: &&Phase| names.iter().any(|name| phase.name.starts_with(name));
        let since_purge =
            self.phases[..phase].iter().rev().take_while(|phase| !is_a(&[PURGE], phase));
        let is_settled = since_purge.into_iter().any(|phase| is_a(&SETTLING, &phase));
        let rows = self.rows.get(phase).map_or(&[][..], |rows| &rows.seconds);
        let is_pass = rows.iter().any(|row| row.offset_bytes.is_some());
        !is_settled && !is_pass && self.has(phase, moved)
    }

    /// Whether any row of a phase counts something.
    fn has(&self, phase: usize, count: impl Fn(&TelemetryRow) -> u64) -> bool {
        let rows = self.rows.get(phase).map_or(&[][..], |rows| &rows.seconds);
        rows.iter().filter_map(|row| row.telemetry.as_ref()).any(|row| count(row) > 0)
    }
}

/// The scale as a condition of figures in a table, or `None` for a target of full size.
pub fn condition(target: &Identity) -> Option<String> {
    let scale = target.scale()?;
    Some(format!(
        "{scale}: evenness, rare latencies, times until a change and amounts are not those of the \
         whole drive"
    ))
}

/// Pages that the drive moved by itself.
fn moved(row: &TelemetryRow) -> u64 {
    row.gc_moved_pages + row.folded_pages
}
