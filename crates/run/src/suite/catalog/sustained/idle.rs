//! Idle time: what a pause gives back after torture, and the time to wake up.
//!
//! Method: purge; fill of the span; 4 KiB random writes over every LBA, QD 32, for `time` (the
//! fresh rate), for `torture`, and for `time` again (the tortured rate). Then each pause, followed
//! by the same writes for `time` and by a sequential burst for the fast cache; torture for `again`
//! comes before each further pause, so that no pause has the gain of the one before. Then single
//! reads of 4 KiB, each after the drive was alone for one of the `rests`, first with link and drive
//! kept awake, then with permission to rest. Interpretation: a pause gives back a share of the
//! difference between the fresh and the tortured rate. A median read after a rest that takes longer
//! than one of the awake drive is the time to wake up from the state that the drive reaches in such
//! a rest; a drive enters deeper states after longer rests.

use base::{Nanos, OpKind};
use load::jobs::{JobSpec, Jobs, Think};
use load::{Order, Workload};
use result::schema::{Finding, TableRow};
use result::stats::findings::{percent, time};
use result::stats::latency::PERCENTILES;
use target::Rest;

use super::pslc::{Fast, fast};
use crate::error::RunError;
use crate::params::{Param, Params};
use crate::recorder::LENGTH_MAX;
use crate::suite::keys::{Count, Duration, Pauses, QueueDepth, Region, settings};
use crate::suite::{
    Action, Chapter, Definition, Figures, Measurements, Notes, Part, PhaseSpec, ReviewEntry, Site,
    Step, TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "idle",
    heading: "Idle time",
    question: "what does a pause give back, and how long does the drive take to wake up?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry::quick(
            "torture=30s again=10s pauses=5s,30s time=5s burst_bytes=256MiB wakes=30 rests=10ms,1s",
        ),
    ],
    ..Definition::of::<Settings>(Chapter::Sustained, 4)
};

/// Zones of a burst: it has fewer bytes than a span, so that each zone still takes a while.
const BURST_ZONES: u64 = 200;
/// The reads of a drive that is kept awake.
const AWAKE: &str = "awake";

settings! {
    /// Lengths of torture, pauses and rests, and the work after them.
    struct Settings {
        torture: Duration = Param::new("torture", "20m", "random writes before the first pause");
        again: Duration = Param::new("again", "2m", "random writes before each further pause");
        pauses: Pauses = Param::new("pauses", "30s,5m,30m", "lengths of the pauses, in order");
        time: Duration = Param::new("time", "30s", "random writes after each pause");
        burst_bytes: Region = Param::new("burst_bytes", "4GiB", "sequential writes after that");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        wakes: Count = Param::new("wakes", "100", "reads after each kind of rest");
        rests: Pauses = Param::new("rests", "10ms,1s,15s", "time alone before each read");
    }
}

impl TestSettings for Settings {
    fn check(&mut self, params: &Params, _: &Site<'_>, _: &mut Notes) -> Result<(), RunError> {
        if self.pauses.contains(&Nanos(0)) {
            return Err(RunError::Usage(format!(
                "`--set pauses={}` has a pause of 0, which gives nothing back; expected lengths such as 30s",
                params.text("pauses")
            )));
        }
        let length = |rest: &Nanos| rest.0.saturating_mul(u64::from(self.wakes));
        match self.rests.iter().find(|rest| length(rest) > LENGTH_MAX.0) {
            None => Ok(()),
            Some(rest) => Err(RunError::Usage(format!(
                "`--set wakes={}` reads after a rest of {rest} each take more than the {} that a step may last; \
                 lower wakes or rests",
                params.text("wakes"),
                LENGTH_MAX
            ))),
        }
    }

    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let span = site.span_bytes;
        let writes = |name: &str, time: Nanos| {
            let depth = self.queue_depth;
            let random = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, span);
            steps::for_time(name, random, time)
        };
        let mut phases = vec![
            steps::purge(),
            site.fill("prepare", span),
            writes("fresh", self.time),
            writes("torture", self.torture),
            writes("tortured", self.time),
        ];
        for (number, &pause) in self.pauses.iter().enumerate() {
            if number > 0 {
                phases.push(writes(&format!("again_{pause}"), self.again));
            }
            phases.push(steps::idle(&format!("pause_{pause}"), pause));
            phases.push(writes(&writes_name(pause), self.time));
            let (block, depth) = (steps::LINEAR_BLOCK_BYTES, self.queue_depth);
            let bytes = self.burst_bytes;
            let burst = Workload::new(OpKind::Write, Order::SequentialOnce, block, depth, bytes);
            phases.push(steps::by_zone(&burst_name(pause), burst, BURST_ZONES));
        }
        if site.limits.rest {
            phases.push(steps::set_rest("keep_awake", Rest::Denied));
            phases.extend(self.rests.first().map(|rest| self.reads(AWAKE, *rest, span)));
            phases.push(steps::set_rest("allow_rest", Rest::Allowed));
        } else {
            notes.push(format!(
                "nothing can be switched here that lets {} sleep or keeps it awake: it rests as it was found",
                site.identity.name
            ));
        }
        phases.extend(self.rests.iter().map(|&rest| self.reads(&wake_name(rest), rest, span)));
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let mut after = rates::table("pauses", "After torture and a pause", "after", &PAUSES);
        for (phase, label) in [("fresh", "a fill"), ("tortured", "torture")] {
            let part = measured.complete(phase);
            rates::add_rates(&mut figures, &format!("idle.{phase}"), part);
            let values = vec![part.and_then(|part| part.iops()), None, None, None];
            after.rows.push(TableRow { label: label.to_owned(), values });
        }
        for &pause in &self.pauses {
            let (writes, burst) = (writes_name(pause), burst_name(pause));
            let part = measured.complete(&writes);
            rates::add_rates(&mut figures, &format!("idle.{writes}"), part);
            let regained = regained(measured, part);
            figures.metrics.insert(format!("idle.{writes}.regained_share"), regained);
            rates::add_rates(&mut figures, &format!("idle.{burst}"), measured.complete(&burst));
            let found = fast(measured, &burst);
            let [bytes, before, _] =
                Fast::add_to(found.as_ref(), &mut figures, &format!("idle.{burst}"));
            let percent = regained.map(|share| 100.0 * share);
            let values = vec![part.and_then(|part| part.iops()), percent, before, bytes];
            after.rows.push(TableRow { label: format!("a pause of {pause}"), values });
        }
        let mut wake = rates::table("wake", "Reads after a rest", "rest", &WAKE);
        let median_ns =
            |part: Option<Part<'_>>| part?.latencies().percentile_ns(PERCENTILES[0].share());
        let longest_ns = |part: Option<Part<'_>>| part?.latencies().max_ns();
        let awake = measured.complete(AWAKE);
        if awake.is_some() {
            rates::add_latencies(&mut figures, &format!("idle.{AWAKE}"), awake);
            let values = vec![median_ns(awake), longest_ns(awake), None];
            wake.rows.push(TableRow { label: "none, kept awake".to_owned(), values });
        }
        for &rest in &self.rests {
            let name = format!("idle.{}", wake_name(rest));
            let part = measured.complete(&wake_name(rest));
            rates::add_latencies(&mut figures, &name, part);
            let both = median_ns(awake).zip(median_ns(part));
            let wake_ns = both.map(|(awake, rested)| (rested - awake).max(0.0));
            figures.metrics.insert(format!("{name}.wake_ns"), wake_ns);
            let values = vec![median_ns(part), longest_ns(part), wake_ns];
            wake.rows.push(TableRow { label: rest.to_string(), values });
        }
        figures.findings.extend(self.recovery_sentence(measured, &figures));
        figures.findings.extend(self.wake_sentence(measured, &figures));
        figures.tables.extend([after, wake]);
        figures
    }
}

const PAUSES: [(&str, &str); 4] = [
    ("random writes", "IOPS"),
    ("regained", "%"),
    ("burst", "MB/s"),
    ("burst written fast", "bytes"),
];
const WAKE: [(&str, &str); 3] = [("median", "ns"), ("longest", "ns"), ("to wake up", "ns")];

impl Settings {
    /// Single reads, each after a rest of this length.
    fn reads(&self, name: &str, rest: Nanos, span_bytes: u64) -> PhaseSpec {
        let reads = Workload::new(OpKind::Read, Order::Uniform, 4096, 1, span_bytes);
        let workload = Workload { limit_bytes: Some(4096 * u64::from(self.wakes)), ..reads };
        let what = format!("{}, each after a rest of {rest}", steps::in_words(&workload, None));
        let job = JobSpec {
            name: "reads".to_owned(),
            workload,
            seed: None,
            after: Vec::new(),
            delay: rest,
            duration: None,
            warm_up: Nanos(0),
            think: Some(Think { pause: rest, every: 1 }),
        };
        let action = Action::Jobs(Jobs { jobs: vec![job], duration: None });
        PhaseSpec { name: name.to_owned(), what, action }
    }

    fn recovery_sentence(&self, measured: &Measurements<'_>, figures: &Figures) -> Option<Finding> {
        let longest = *self.pauses.iter().max()?;
        let metric = format!("idle.{}.regained_share", writes_name(longest));
        let share = figures.value(&metric)?;
        let text = format!(
            "regains {} of the random writes that torture took, in a pause of {longest}",
            percent(share)
        );
        Some(rates::finding(measured, &metric, &text))
    }

    fn wake_sentence(&self, measured: &Measurements<'_>, figures: &Figures) -> Option<Finding> {
        let of = |rest: &Nanos| {
            let metric = format!("idle.{}.wake_ns", wake_name(*rest));
            figures.value(&metric).map(|ns| (metric, ns, *rest))
        };
        let (metric, ns, rest) =
            self.rests.iter().filter_map(of).max_by(|a, b| a.1.total_cmp(&b.1))?;
        let text = format!("takes {} to wake up after a rest of {rest}", time(ns));
        Some(rates::finding(measured, &metric, &text))
    }
}

fn writes_name(pause: Nanos) -> String {
    format!("writes_{pause}")
}

fn burst_name(pause: Nanos) -> String {
    format!("burst_{pause}")
}

fn wake_name(rest: Nanos) -> String {
    format!("wake_{rest}")
}

/// The share of the loss by torture that the writes of `part` have again; `None` if torture took
/// less than a tenth of the rate.
fn regained(measured: &Measurements<'_>, part: Option<Part<'_>>) -> Option<f64> {
    let iops = |phase: &str| measured.complete(phase)?.iops();
    share(iops("fresh")?, iops("tortured")?, part?.iops()?)
}

fn share(fresh: f64, tortured: f64, now: f64) -> Option<f64> {
    (tortured < 0.9 * fresh).then(|| ((now - tortured) / (fresh - tortured)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_regains_a_share_of_a_loss_and_nothing_without_a_loss() {
        assert_eq!(share(1000.0, 200.0, 600.0), Some(0.5));
        assert_eq!(share(1000.0, 200.0, 100.0), Some(0.0));
        assert_eq!(share(1000.0, 200.0, 2000.0), Some(1.0));
        assert_eq!(share(1000.0, 950.0, 1000.0), None);
    }
}
