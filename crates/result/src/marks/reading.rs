//! Marks of runs that were written before there were any: a figure of an old run is called what its
//! name says for the same reasons as one of today, as far as its rows can be read.

use super::run;
use super::steady::{Before, SPANS_WRITTEN_MIN};
use crate::report::GRAPHED_PHASE;
use crate::rows::PhaseRows;
use crate::schema::{Finding, MarkKind, Phase, Run};
use crate::stats::consistency::{
    Circumstances, Consistency, configured_from_s, fresh_name, make_fresh,
};
use crate::stats::findings;

/// The order of a single pass into steady state, in the load of its phase.
const ONE_PASS: &str = "steady-state";

/// Judges the figures of a run that was read. `rows` reads those of a phase, or `None` if they
/// cannot be read. A run of today stays as it is, unless its writer died.
pub fn judge(run: &mut Run, rows: impl FnOnce(usize) -> Option<PhaseRows>) {
    for mark in &mut run.marks {
        // The kind of the time before there was one for it.
        if mark.kind == MarkKind::TwoRegimes && mark.text.starts_with("not steady") {
            mark.kind = MarkKind::NotSteady;
        }
    }
    let load = run.phases.iter().rposition(|phase| phase.name == GRAPHED_PHASE);
    if let Some(load) = load.filter(|_| is_unjudged(run))
        && let Some(rows) = rows(load)
    {
        judge_load(run, load, &rows);
    }
    let more = run::marks(run, &run.metrics, &run.marks);
    run.marks.extend(more);
}

/// Whether the run is of a version that gave steady figures whatever state a drive was in.
fn is_unjudged(run: &Run) -> bool {
    const STEADY: &str = "iops_steady_mean";
    let is_known = run.metrics.get(STEADY).is_some_and(Option::is_some);
    is_known && fresh_name(STEADY).is_some_and(|fresh| !run.metrics.contains_key(&fresh))
}

fn judge_load(run: &mut Run, load: usize, rows: &PhaseRows) {
    let circumstances = circumstances(run, load);
    let figures = Consistency::of(rows, configured_from_s(run)).judged(rows, circumstances);
    let Some(reason) = &figures.unsteady else { return };
    let is_old = |metric: &str| fresh_name(metric).is_some();
    run.marks.retain(|mark| mark.kind != MarkKind::NotSteady || !is_old(&mark.metric));
    make_fresh(&mut run.metrics, &mut run.marks, reason);
    let sentences = findings::consistency(run, rows, &figures);
    let is_said = |finding: &Finding| run.metrics.get(&finding.metric).is_some_and(Option::is_some);
    run.findings.retain(is_said);
    let fresh = sentences.into_iter().filter(|finding| finding.metric == "iops_fresh_mean");
    run.findings.splice(0..0, fresh);
}

/// Bytes that a phase counts as writes. A single pass into steady state stands for as many writes as
/// the rule wants: it leaves the blocks that they would leave.
pub fn written(run: &Run, phase: &Phase) -> u64 {
    let is_pass = phase.complete && phase.load.as_ref().is_some_and(|load| load.order == ONE_PASS);
    let of_rule = (SPANS_WRITTEN_MIN * run.span.span_bytes as f64) as u64;
    if is_pass { phase.bytes.max(of_rule) } else { phase.bytes }
}

/// The circumstances of the load at this place.
pub fn circumstances(run: &Run, load: usize) -> Circumstances {
    let before = run.phases[..load].iter().rev().take_while(|it| !it.name.starts_with("purge"));
    let writes = before.filter(|phase| phase.load.as_ref().is_none_or(|it| it.read_percent == 0));
    let written_bytes = writes.map(|phase| written(run, phase)).fold(0, u64::saturating_add);
    let span_bytes = Some(run.span.span_bytes);
    let complete = run.phases[load].complete;
    Circumstances { before: Before { written_bytes, span_bytes }, complete }
}
