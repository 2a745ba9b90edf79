//! Sustained writes: the pace that is left when the fast caches are used up and the drive is full,
//! and its return after idle time.
//!
//! Method (after the write saturation and cache recovery of Tom's Hardware, which writes for 15
//! minutes): purge; one sequential write of the whole span, 128 KiB, QD 32, one point for each
//! 1/500; then, on the full drive, pauses of 30 s, 1, 5 and 30 minutes, each followed by
//! `burst_bytes` over other data of that pass. Interpretation: the first fall is the end of the
//! fast cache (change-point detection), the last tenth of the pass is the rate of long copies. A
//! pause helps if a burst is faster than that. Pauses come after each other, so that a later one
//! also has what the earlier ones regained and their bursts did not use.

use base::{Nanos, OpKind};
use load::{Order, Workload};
use result::schema::{Finding, TableRow};
use result::stats::findings::percent;
use result::stats::mixture::{Mixture, Rate};

use super::pslc::{Fast, fast};
use crate::params::Param;
use crate::suite::keys::{Content, Pauses, QueueDepth, Region, settings};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "sustained",
    heading: "Sustained writes",
    question: "how fast are writes once the fast caches are used up and the drive is full, and how \
               soon does a pause help?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("burst_bytes=256MiB pauses=5s")],
    charts: &[Chart::Curves { table: "recovery", units: &["MB/s"], log_rows: false }],
    ..Definition::of::<Settings>(Chapter::Sustained, 3)
};

/// The pass over the span.
const WRITE: &str = "write";
/// Zones of a burst: it has fewer bytes, so that each zone still takes a while.
const BURST_ZONES: u64 = 200;

settings! {
    /// Volumes of the writes and lengths of the pauses.
    struct Settings {
        burst_bytes: Region = Param::new("burst_bytes", "16GiB", "written after each pause");
        pauses: Pauses = Param::new("pauses", "30s,1m,5m,30m", "lengths of the pauses, in order");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        data: Content = steps::DATA;
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let span = site.span_bytes;
        let whole = self.writes(Order::SequentialOnce, span);
        let mut phases = vec![steps::purge(), steps::by_zone(WRITE, whole, steps::ZONES)];
        for (number, pause) in (0_u64..).zip(&self.pauses) {
            phases.push(steps::idle(&format!("pause_{pause}"), *pause));
            // Other data each time, so that no burst overwrites what the one before left in a cache.
            let places = (span / self.burst_bytes).max(1);
            let span_offset_bytes = number % places * self.burst_bytes;
            let burst = self.writes(Order::SequentialOnce, self.burst_bytes);
            let burst = Workload { span_offset_bytes, ..burst };
            phases.push(steps::by_zone(&burst_name(*pause), burst, BURST_ZONES));
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let first = fast(measured, WRITE);
        let end = end_rate(&mut figures, measured);
        let mut write = rates::table("write", "Sustained writes", "pass", &COLUMNS);
        let values = add_step(&mut figures, measured, WRITE, first.as_ref());
        write.rows.push(TableRow {
            label: "whole span".to_owned(),
            values: values.into_iter().chain([end]).collect(),
        });
        let mut recovery = rates::table(
            "recovery",
            "Recovery on the full drive",
            "seconds of idle time",
            &RECOVERY,
        );
        for &pause in &self.pauses {
            let name = burst_name(pause);
            let burst = fast(measured, &name);
            let [bytes, before, after] = add_step(&mut figures, measured, &name, burst.as_ref());
            let mean = measured.complete(&name).and_then(|part| part.mb_per_s());
            let share = regained(first.as_ref(), end, mean);
            figures.metrics.insert(format!("sustained.{name}.regained_share"), share);
            let label = pause.as_secs_f64().to_string();
            recovery.rows.push(TableRow { label, values: vec![mean, before, after, bytes] });
        }
        figures.findings.extend(whole_sentence(measured, first.as_ref(), end));
        figures.findings.extend(self.recovery_sentence(measured, &figures));
        figures.tables.extend([write, recovery]);
        figures
    }
}

const COLUMNS: [(&str, &str); 4] =
    [("written fast", "bytes"), ("fast", "MB/s"), ("after that", "MB/s"), ("last tenth", "MB/s")];
const RECOVERY: [(&str, &str); 4] =
    [("burst", "MB/s"), ("fast part", "MB/s"), ("after that", "MB/s"), ("written fast", "bytes")];

impl Settings {
    fn writes(&self, order: Order, span_bytes: u64) -> Workload {
        let (block, depth) = (steps::LINEAR_BLOCK_BYTES, self.queue_depth);
        let workload = Workload::new(OpKind::Write, order, block, depth, span_bytes);
        Workload { data: self.data.kind, ..workload }
    }

    /// The shortest pause that restores most of the fast rate, or what the longest one restores.
    fn recovery_sentence(&self, measured: &Measurements<'_>, figures: &Figures) -> Option<Finding> {
        let share = |pause: &Nanos| {
            let metric = format!("sustained.{}.regained_share", burst_name(*pause));
            figures.value(&metric).map(|share| (metric, share))
        };
        let enough = self.pauses.iter().find(|pause| share(pause).is_some_and(|(_, s)| s >= 0.9));
        let pause = enough.or(self.pauses.last())?;
        let (metric, regained) = share(pause)?;
        let burst = steps::size(self.burst_bytes);
        let text = format!(
            "regains {} of the difference between its fast and its last rate, for {burst}, after pauses up \
             to {pause}",
            percent(regained)
        );
        Some(rates::finding(measured, &metric, &text))
    }
}

fn burst_name(pause: Nanos) -> String {
    format!("burst_{pause}")
}

/// Rate and fast part of a step as metrics; returns bytes written fast, and rates before and after
/// the fall.
fn add_step(
    figures: &mut Figures,
    measured: &Measurements<'_>,
    step: &str,
    found: Option<&Fast>,
) -> [Option<f64>; 3] {
    let name = format!("sustained.{step}");
    rates::add_rates(figures, &name, measured.complete(step));
    Fast::add_to(found, figures, &name)
}

/// MB/s over the last tenth of the pass, as a metric with its mark.
fn end_rate(figures: &mut Figures, measured: &Measurements<'_>) -> Option<f64> {
    let metric = format!("sustained.{WRITE}.end_mb_per_s");
    let rows = measured.complete(WRITE).map_or(&[][..], |part| &part.rows.seconds);
    let last = &rows[rows.len() - rows.len() / 10..];
    let bytes: u64 = last.iter().flat_map(|row| row.bytes).sum();
    let ns: u64 = last.iter().map(|row| row.duration_ns).sum();
    let rate = (ns > 0).then(|| bytes as f64 * 1e3 / ns as f64);
    let mixture = Mixture::of(last, Rate::MbPerS);
    figures.marks.extend(mixture.map(|mixture| mixture.mark(&metric, Rate::MbPerS)));
    figures.metrics.insert(metric, rate);
    rate
}

/// The regained share of the difference between the first rate and the last one; `None` if they do
/// not differ, so that nothing was lost.
fn regained(first: Option<&Fast>, end: Option<f64>, burst: Option<f64>) -> Option<f64> {
    let (fast, end, burst) = (first?.before, end?, burst?);
    first?.bytes?;
    (fast > end).then(|| ((burst - end) / (fast - end)).clamp(0.0, 1.0))
}

fn whole_sentence(
    measured: &Measurements<'_>,
    first: Option<&Fast>,
    end: Option<f64>,
) -> Option<Finding> {
    let (first, end) = (first?, rates::mb_per_s(end?));
    let text = match first.bytes {
        Some(bytes) => format!(
            "writes {} at {}, and the last tenth of itself at {end}",
            result::stats::findings::volume(bytes),
            rates::mb_per_s(first.before)
        ),
        None => format!("keeps its rate until it is full: the last tenth comes at {end}"),
    };
    Some(rates::finding(measured, &format!("sustained.{WRITE}.end_mb_per_s"), &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pause_regains_is_a_share_of_what_was_lost() {
        let fell = Fast { bytes: Some(6e9), before: 500.0, after: Some(200.0) };
        assert_eq!(regained(Some(&fell), Some(100.0), Some(300.0)), Some(0.5));
        assert_eq!(regained(Some(&fell), Some(100.0), Some(90.0)), Some(0.0));
        assert_eq!(regained(Some(&fell), Some(100.0), Some(510.0)), Some(1.0));
        let even = Fast { bytes: None, before: 500.0, after: None };
        assert_eq!(regained(Some(&even), Some(499.0), Some(500.0)), None, "nothing was lost");
        assert_eq!(regained(None, Some(100.0), Some(300.0)), None);
    }
}
