//! PTS host idle recovery: the effect of pauses on a drive.
//!
//! Method (SNIA PTS, host idle recovery): precondition and 4 KiB random writes until steady; then,
//! for pauses of 5, 10, 15, 25 and 50 s, cycles of 5 s of writing and one pause. Differences:
//! twelve cycles for each length, and pauses are never shortened. Interpretation: if bursts after
//! longer pauses are faster than the steady rate, the drive cleans up while it is idle.

use base::{Nanos, OpKind};
use load::{Order, Workload};
use result::schema::{Finding, Mark, TableRow};
use result::stats::findings::percent;
use result::stats::steady::PTS_ROUNDS_MAX;

use crate::params::Param;
use crate::suite::keys::{Count, Duration, settings};
use crate::suite::pts::rounds::{Rounds, TrackedFigure, of_rounds, until_steady};
use crate::suite::pts::{self, Common};
use crate::suite::{
    Chapter, Definition, Figures, Formula, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pts-hir",
    heading: "SNIA PTS: host idle recovery",
    question: "does the drive recover while the host is idle, and how much in which pause?",
    closed_loop: Some(pts::DEPTHS),
    reviews: &[ReviewEntry::PTS],
    ..Definition::of::<Settings>(Chapter::Pts, 5)
};

const PAUSES_S: [u64; 5] = [5, 10, 15, 25, 50];
const STEADY: &str = "steady";
/// A burst above this share of the steady rate counts as recovered.
const RECOVERED_SHARE: f64 = 1.1;

fn burst_name(pause_s: u64) -> String {
    format!("wait{pause_s}")
}

settings! {
    /// Bursts and their number, after rounds until the drive is steady.
    struct Settings {
        common: Common = pts::SHORTEN, with pts::PRECONDITION, pts::QUEUE_DEPTH;
        burst: Duration = Param::new("burst", "5s", "writing in each cycle");
        cycles: Count = Param::new("cycles", "12", "cycles for each length of pause");
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let Common { step, queue_depth: depth, .. } = self.common;
        let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, site.span_bytes);
        let settled = until_steady(tracked);
        let phases = vec![steps::for_time(STEADY, workload.clone(), step)];
        let mut list = self.common.beginning(site, true);
        list.push(Step::Rounds { rounds_max: PTS_ROUNDS_MAX, phases, settled });
        for pause_s in PAUSES_S {
            let pause = Nanos(pause_s * Nanos::SECOND.0);
            let phases = vec![
                steps::idle(&format!("pause{pause_s}"), pause),
                steps::for_time(&burst_name(pause_s), workload.clone(), self.burst),
            ];
            let settled = Formula::new(|_| false);
            list.push(Step::Rounds { rounds_max: self.cycles, phases, settled });
        }
        list
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let tracked = tracked(measured);
        let rounds = Rounds::of(&tracked);
        let steady = rounds.steady.filter(|_| measured.obstacle_of_past().is_none());
        let steady_iops = steady.and_then(|_| rounds.mean(&tracked));
        figures.metrics.insert("pts-hir.steady.iops".to_owned(), steady_iops);
        let mut conditions = self.common.conditions(measured);
        conditions.insert("idle time".to_owned(), "as the rows say".to_owned());
        let columns = [("bursts", "IOPS"), ("of steady", "%")];
        let mut table = rates::table("pauses", "PTS host idle recovery", "pause", &columns);
        let mut best: Option<(u64, f64)> = None;
        for pause_s in PAUSES_S {
            let bursts = of_rounds(measured, &burst_name(pause_s), |part| part.iops());
            let mean =
                (!bursts.is_empty()).then(|| bursts.iter().sum::<f64>() / bursts.len() as f64);
            let share = mean.zip(steady_iops).map(|(mean, steady)| mean / steady);
            figures.metrics.insert(format!("pts-hir.wait{pause_s}.iops"), mean);
            let values = vec![mean, share.map(|share| 100.0 * share)];
            table.rows.push(TableRow { label: format!("{pause_s} s"), values });
            let candidate = share.map(|share| (pause_s, share));
            best = best.into_iter().chain(candidate).max_by(|a, b| a.1.total_cmp(&b.1));
        }
        table.conditions = conditions.clone();
        figures.tables.push(table);
        let (words, unit) = ("4 KiB random writes", "IOPS");
        let tracked = TrackedFigure { stage: "", words, unit, values: &tracked };
        tracked.add_to(&mut figures, measured, &conditions);
        let of_mean = figures.marks.iter().find(|mark| mark.metric == "pts-hir.steady_mean");
        let metric = "pts-hir.steady.iops".to_owned();
        let of_rate = of_mean.map(|mark| Mark { metric, ..mark.clone() });
        figures.marks.extend(of_rate);
        figures.findings.extend(best.map(|best| finding(measured, best)));
        figures
    }
}

fn tracked(measured: &Measurements<'_>) -> Vec<f64> {
    of_rounds(measured, STEADY, |part| part.iops())
}

/// The pause with the fastest bursts, and their share of the steady rate.
fn finding(measured: &Measurements<'_>, (pause_s, share): (u64, f64)) -> Finding {
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
    rates::finding(measured, &format!("pts-hir.wait{pause_s}.iops"), &text)
}
