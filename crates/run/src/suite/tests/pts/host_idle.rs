//! PTS host idle recovery: what does a drive make of pauses?
//!
//! Method (suite reference, section 9): precondition and 4 KiB random writes until steady; then, for pauses
//! of 5, 10, 15, 25 and 50 s, cycles of 5 s of writing and one pause. Ours: twelve cycles for each length,
//! and pauses are never shortened. How to read it: bursts after longer pauses that are faster than
//! the steady rate show a drive that cleans up while it is left alone.

use base::{Nanos, OpKind};
use load::{Order, Workload};
use result::schema::TableRow;
use result::stats::findings::percent;
use result::stats::steady::PTS_ROUNDS_MAX;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::pts::{
    self, Rounds, add_steady, beginning, conditions, of_rounds, shortened, step_length,
};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, Step, rates, steps};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-hir",
    question: "does the drive recover while the host is idle, and how much in which pause?",
    writes: true,
    params: &[
        pts::SHORTEN,
        pts::PRECONDITION,
        pts::QUEUE_DEPTH,
        Param { name: "burst", default: "5s", help: "writing in each cycle" },
        Param { name: "cycles", default: "12", help: "cycles for each length of pause" },
    ],
    procedure,
    figures,
};

const PAUSES_S: [u64; 5] = [5, 10, 15, 25, 50];
const STEADY: &str = "steady";
/// A burst above this share of the steady rate counts as recovered.
const RECOVERED_SHARE: f64 = 1.1;

fn burst_name(pause_s: u64) -> String {
    format!("wait{pause_s}")
}

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let (step, shorten) = step_length(params, site, pts::SIMULATED_SHORTEN)?;
    let burst = params.duration("burst")?;
    let cycles = params.count("cycles")?;
    let depth = params.queue_depth("queue_depth")?;
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, site.span_bytes);
    let mut list = beginning(params, site, true)?;
    let phases = vec![steps::for_time(STEADY, workload.clone(), step)];
    list.push(Step::Rounds { rounds_max: PTS_ROUNDS_MAX, phases, settled });
    for pause_s in PAUSES_S {
        let pause = Nanos(pause_s * Nanos::SECOND.0);
        let phases = vec![
            steps::idle(&format!("pause{pause_s}"), pause),
            steps::for_time(&burst_name(pause_s), workload.clone(), burst),
        ];
        list.push(Step::Rounds { rounds_max: cycles, phases, settled: |_| false });
    }
    let config = steps::config([
        ("step_ns", step.0.into()),
        ("shorten", shorten.into()),
        ("precondition", params.get::<u32>("precondition")?.into()),
        ("queue_depth", depth.into()),
        ("burst_s", steps::seconds(burst)),
        ("cycles", cycles.into()),
    ]);
    Ok(Procedure { config, steps: list, notes: shortened(shorten).into_iter().collect() })
}

fn tracked(measured: &Measured<'_>) -> Vec<f64> {
    of_rounds(measured, STEADY, |part| part.iops())
}

fn settled(measured: &Measured<'_>) -> bool {
    Rounds::of(&tracked(measured)).steady.is_some()
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let tracked = tracked(measured);
    let rounds = Rounds::of(&tracked);
    let base = rounds.mean(&tracked);
    figures.metrics.insert("pts-hir.steady.iops".to_owned(), base);
    let columns = [("bursts", "IOPS"), ("of steady", "%")];
    let mut table = rates::table("pauses", "PTS host idle recovery", "pause", &columns);
    let mut best: Option<(u64, f64)> = None;
    for pause_s in PAUSES_S {
        let bursts = of_rounds(measured, &burst_name(pause_s), |part| part.iops());
        let mean = (!bursts.is_empty()).then(|| bursts.iter().sum::<f64>() / bursts.len() as f64);
        let share = mean.zip(base).map(|(mean, base)| mean / base);
        figures.metrics.insert(format!("pts-hir.wait{pause_s}.iops"), mean);
        let values = vec![mean, share.map(|share| 100.0 * share)];
        table.rows.push(TableRow { label: format!("{pause_s} s"), values });
        let candidate = share.map(|share| (pause_s, share));
        best = best.into_iter().chain(candidate).max_by(|a, b| a.1.total_cmp(&b.1));
    }
    table.conditions = conditions(measured);
    figures.tables.push(table);
    add_steady(&mut figures, measured, ("4 KiB random writes", "IOPS"), &tracked, &rounds);
    if let Some((pause_s, share)) = best {
        let share_text = percent(share);
        let text = if share >= RECOVERED_SHARE {
            format!(
                "recovers while idle: bursts after pauses of {pause_s} s reach {share_text} of the steady rate"
            )
        } else {
            format!(
                "does not recover in pauses of up to 50 s: its best bursts reach {share_text} of the steady rate"
            )
        };
        let metric = format!("pts-hir.wait{pause_s}.iops");
        figures.findings.push(rates::finding(measured, &metric, &text));
    }
    figures
}
