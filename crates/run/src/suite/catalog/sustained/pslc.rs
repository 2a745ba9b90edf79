//! The fast cache: its size, and the part that a pause restores.
//!
//! Method: purge; `write_bytes` written sequentially, 128 KiB, QD 32, one point for each 1/500;
//! then pauses of growing length, each followed by `burst_bytes` more. The size of the cache is the
//! amount written before the first significant fall (change-point detection). Interpretation: no
//! fall means no cache, or one larger than `write_bytes`; the fast part of a burst is the part that
//! the pause has restored.

use base::OpKind;
use load::{Order, Workload};
use result::schema::TableRow;
use result::stats::changepoint::Shape;
use result::stats::findings::volume;

use crate::params::Param;
use crate::suite::keys::{Pauses, Region, settings};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step, TestSettings,
    open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pslc",
    heading: "Fast cache",
    question: "how large is the fast cache, and how soon is it back?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry::quick("write_bytes=4GiB burst_bytes=1GiB pauses=5s"),
    ],
    ..Definition::of::<Settings>(Chapter::Sustained, 2)
};

/// Zones of a burst: it has fewer bytes, so that each zone still takes a while.
const BURST_ZONES: u64 = 200;

settings! {
    /// Volumes of the writes and lengths of the pauses.
    struct Settings {
        write_bytes: Region = Param::new(
            "write_bytes",
            "64GiB",
            "written first, to fill the cache",
        );
        burst_bytes: Region = Param::new("burst_bytes", "16GiB", "written after each pause");
        pauses: Pauses = Param::new("pauses", "10s,60s,5m", "lengths of the pauses, in order");
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let write = |total_bytes: u64| {
            let (block, depth) = (steps::LINEAR_BLOCK_BYTES, site.fill_depth());
            let workload =
                Workload::new(OpKind::Write, Order::Sequential, block, depth, site.span_bytes);
            Workload { limit_bytes: Some(total_bytes), ..workload }
        };
        let first = steps::by_zone("write", write(self.write_bytes), steps::ZONES);
        let mut phases = vec![steps::purge(), first];
        for (number, pause) in (1_u64..).zip(&self.pauses) {
            let burst = write(self.burst_bytes);
            phases.push(steps::idle(&format!("pause_{number}"), *pause));
            phases.push(steps::by_zone(&burst_name(number), burst, BURST_ZONES));
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let columns = [("written fast", "bytes"), ("fast", "MB/s"), ("after that", "MB/s")];
        let mut table = rates::table("bursts", "Fast cache", "after", &columns);
        for (phase, label) in self.writes() {
            table.rows.push(row(&mut figures, measured, &phase, label));
        }
        figures.tables.push(table);
        figures
    }
}

impl Settings {
    /// The phases that write, each with a description of the treatment before it.
    fn writes(&self) -> Vec<(String, String)> {
        let bursts = (1_u64..).zip(&self.pauses).map(|(number, pause)| {
            (burst_name(number), format!("a pause of {} s", steps::seconds(*pause)))
        });
        std::iter::once(("write".to_owned(), "purge".to_owned())).chain(bursts).collect()
    }
}

fn burst_name(number: u64) -> String {
    format!("burst_{number}")
}

/// The figures of one phase that writes, and their row.
fn row(figures: &mut Figures, measured: &Measurements<'_>, phase: &str, label: String) -> TableRow {
    let found = fast(measured, phase);
    let values = Fast::add_to(found.as_ref(), figures, &format!("pslc.{phase}")).to_vec();
    rates::add_rates(figures, &format!("pslc.{phase}"), measured.complete(phase));
    if let Some(fast) = found {
        let metric = format!("pslc.{phase}.fast_bytes");
        figures.findings.push(rates::finding(measured, &metric, &sentence(&fast, &label)));
    }
    TableRow { label, values }
}

/// The bytes and rates of a phase before and after its fall.
pub(super) struct Fast {
    /// Bytes until the fall; `None` if there was none.
    pub(super) bytes: Option<f64>,
    /// Mean rate until then, in MB/s.
    pub(super) before: f64,
    /// Mean rate from there on; `None` if there was no fall.
    pub(super) after: Option<f64>,
}

impl Fast {
    /// Adds `<name>.fast_bytes`, `.fast_mb_per_s` and `.slow_mb_per_s`, and returns them.
    pub(super) fn add_to(
        found: Option<&Self>,
        figures: &mut Figures,
        name: &str,
    ) -> [Option<f64>; 3] {
        let values = [
            ("fast_bytes", found.and_then(|fast| fast.bytes)),
            ("fast_mb_per_s", found.map(|fast| fast.before)),
            ("slow_mb_per_s", found.and_then(|fast| fast.after)),
        ];
        let named = values.map(|(end, value)| (format!("{name}.{end}"), value));
        figures.metrics.extend(named);
        values.map(|(_, value)| value)
    }
}

/// The fast part of a complete phase by zones.
pub(super) fn fast(measured: &Measurements<'_>, phase: &str) -> Option<Fast> {
    let part = measured.complete(phase)?;
    let rates = part.row_mb_per_s();
    let fall = Shape::of(&rates).fall_start;
    let (before, after) = part.rows.seconds.split_at(fall.unwrap_or(part.rows.seconds.len()));
    let sum = |rows: &[result::rows::SecondRow]| {
        let bytes: u64 = rows.iter().flat_map(|row| row.bytes).sum();
        let ns: u64 = rows.iter().map(|row| row.duration_ns).sum();
        (bytes as f64, bytes as f64 * 1e3 / ns.max(1) as f64)
    };
    let (bytes, rate) = sum(before);
    Some(Fast { bytes: fall.map(|_| bytes), before: rate, after: fall.map(|_| sum(after).1) })
}

fn sentence(fast: &Fast, label: &str) -> String {
    let before = rates::mb_per_s(fast.before);
    match (fast.bytes, fast.after) {
        (Some(bytes), Some(after)) => format!(
            "writes {} at {before} after {label} before it falls to {}",
            volume(bytes),
            rates::mb_per_s(after)
        ),
        _ => format!("writes at {before} after {label} without a fall"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_fell_and_what_did_not() {
        let fast = Fast { bytes: Some(6e9), before: 450.0, after: Some(270.0) };
        let text = sentence(&fast, "purge");
        assert_eq!(text, "writes 6.0 GB at 450 MB/s after purge before it falls to 270 MB/s");
        let small = Fast { bytes: Some(32_243_712.0), before: 551.0, after: Some(270.0) };
        assert!(sentence(&small, "a pause of 5 s").starts_with("writes 32.2 MB at 551 MB/s after"));
        let even = Fast { bytes: None, before: 450.0, after: None };
        assert!(sentence(&even, "purge").ends_with("without a fall"));
    }
}
