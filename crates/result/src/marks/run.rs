//! Reasons against figures that lie in the run around them: it did not end, it used a part of the
//! drive, or the host had no time left.

use base::{Bytes, Nanos, TargetKind};

use super::{Reason, unwritten};
use crate::schema::{Finding, Mark, MarkKind, Metrics, NullLoad, Phase, Run, RunStatus};
use crate::stats::findings::count;

/// Share of the time of a phase from which on its busiest thread limits it, or its processors together.
pub const HOST_BUSY_SHARE_MIN: f64 = 0.95;

/// Share of the rate of a target without any work above which the host limits a drive.
pub const NULL_SHARE_MAX: f64 = 0.7;

/// The marks of these figures by the run around them; a figure that has a mark of a kind already
/// gets no other one.
pub fn marks(run: &Run, metrics: &Metrics, marks: &[Mark]) -> Vec<Mark> {
    let part = part(run);
    let of_metric = |(metric, value): (&String, &Option<f64>)| {
        let own = phases_of(&run.phases, metric);
        let of_value = [part.clone(), host(run, &own), unwritten::reason(run, &own)];
        let of_value = value.map(|_| of_value).into_iter().flatten();
        let reasons = of_value.chain([interruption(run, &own)]).flatten();
        let has = |kind| marks.iter().any(|mark| mark.metric == *metric && mark.kind == kind);
        let new = reasons.filter(|reason| !has(reason.kind));
        new.map(|reason| reason.mark(metric)).collect::<Vec<_>>()
    };
    metrics.iter().flat_map(of_metric).collect()
}

/// Indices of the phases behind `<test>.<step>.<figure>`: those of the step in every round. None
/// for a figure of the whole run.
pub fn phases_of(phases: &[Phase], metric: &str) -> Vec<usize> {
    let step = metric.split('.').nth(1).unwrap_or_default();
    let is_of = |phase: &Phase| {
        let rest = phase.name.strip_prefix(step);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(".r"))
    };
    (0..phases.len()).filter(|&phase| is_of(&phases[phase])).collect()
}

/// The sentences about figures that are complete, and one in place of the others.
pub fn findings(findings: Vec<Finding>, marks: &[Mark]) -> Vec<Finding> {
    let of = |metric: &str| {
        let is_it = |mark: &&Mark| mark.metric == metric && mark.kind == MarkKind::Interrupted;
        marks.iter().find(is_it)
    };
    let (cut, mut kept): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| of(&finding.metric).is_some());
    let reason = |Finding { metric, .. }| {
        let cause = &of(&metric)?.text;
        let text = format!("Nothing is said about what did not end: {cause}.");
        Some(Finding { text, metric })
    };
    kept.extend(cut.into_iter().next().and_then(reason));
    kept
}

/// The reason against a figure of these phases, or of the whole run, that did not end.
fn interruption(run: &Run, own: &[usize]) -> Option<Reason> {
    let is_cut = own.iter().any(|&phase| !run.phases[phase].complete);
    let text = match run.status {
        _ if is_cut => "its step did not end",
        _ if !own.is_empty() => return None,
        RunStatus::Complete => return None,
        RunStatus::Running => "the run has not ended",
        RunStatus::Interrupted => "the run was interrupted",
        RunStatus::Failed => "the run failed",
    };
    Some(Reason { kind: MarkKind::Interrupted, text: text.to_owned() })
}

/// The reason against figures of a part of a drive that is no spare-area variant of it.
fn part(run: &Run) -> Option<Reason> {
    let (span, capacity) = (run.span.span_bytes, run.target.capacity_bytes);
    let text = match (run.target.kind, run.span.base.as_str()) {
        (TargetKind::Imported | TargetKind::Null, _) => return None,
        (TargetKind::File, _) => format!("of a file of {}, not of a drive", Bytes(span).rounded()),
        (_, "bytes") if span < capacity => {
            format!(
                "of {} of the {} that the drive has",
                Bytes(span).rounded(),
                Bytes(capacity).rounded()
            )
        }
        _ => return None,
    };
    Some(Reason { kind: MarkKind::PartOfDrive, text })
}

/// The reason against figures of phases in which the host had no time left.
fn host(run: &Run, own: &[usize]) -> Option<Reason> {
    if run.target.is_simulated() {
        return None;
    }
    let all: Vec<_> = (0..run.phases.len()).collect();
    let phases = if own.is_empty() { &all } else { own };
    // Only where the share of a thread is told do processors without idle time tell a limit: else the load itself waits
    // by spinning.
    let told = phases.iter().map(|&phase| &run.phases[phase]);
    let told: Vec<_> = told.filter(|phase| phase.host_busy_share.is_some()).collect();
    let of_thread = |phase: &&Phase| phase.host_busy_share;
    let of_all = |phase: &&Phase| phase.host.and_then(|host| host.processors_busy_share);
    let busiest = |shares: Vec<f64>| {
        shares.into_iter().reduce(f64::max).filter(|share| *share >= HOST_BUSY_SHARE_MIN)
    };
    let thread = busiest(told.iter().filter_map(of_thread).collect());
    let processors = || busiest(told.iter().filter_map(of_all).collect());
    let text = match thread
        .map(|share| ("a thread of the load was busy", share))
        .or_else(|| Some(("the processors of the load had work", processors()?)))
    {
        Some((who, share)) => {
            let percent = 100.0 * share.min(1.0);
            format!("{who} for {percent:.0}% of the time: the host may be the limit")
        }
        None => phases.iter().find_map(|&phase| near_null(&run.phases[phase]))?,
    };
    Some(Reason { kind: MarkKind::HostLimited, text })
}

/// The words on a phase in which the drive was nearly as fast as no drive at all.
fn near_null(phase: &Phase) -> Option<String> {
    let NullLoad { ios, duration_ns } = phase.host?.null_load?;
    let iops = |ios: u64, ns: u64| ios as f64 / Nanos(ns.max(1)).as_secs_f64();
    let (of_drive, of_null) = (iops(phase.ios, phase.duration_ns), iops(ios, duration_ns));
    (of_drive > NULL_SHARE_MAX * of_null).then(|| {
        format!(
            "the drive did {} commands a second, and a target without any work (null) {} at the same load: the host may \
             be the limit",
            count(of_drive),
            count(of_null)
        )
    })
}
