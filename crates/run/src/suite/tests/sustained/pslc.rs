//! The fast cache: how much can be written before the drive slows down, and how much of that is back
//! after a pause?
//!
//! Method (ours): purge; `write_bytes` written sequentially, 128 KiB, QD 32, one point for each 1/500; then pauses
//! of growing length, each followed by `burst_bytes` more. The size of the cache is what was written
//! before the first significant fall (change-point detection). How to read it: no fall means no cache, or
//! one larger than `write_bytes`; what a burst writes fast is what the pause has brought back.

use base::OpKind;
use load::{Order, Workload};
use result::schema::TableRow;
use result::stats::changepoint::Shape;
use result::stats::findings::volume;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, rates, steps};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "pslc",
    question: "how large is the fast cache, and how soon is it back?",
    writes: true,
    params: &[
        Param { name: "write_bytes", default: "64GiB", help: "written first, to fill the cache" },
        Param { name: "burst_bytes", default: "16GiB", help: "written after each pause" },
        Param { name: "pauses", default: "10s,60s,5m", help: "lengths of the pauses, in order" },
    ],
    procedure,
    figures,
};

/// Zones of a burst: fewer bytes, so that each zone still takes a while.
const BURST_ZONES: u64 = 200;

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let (first, mut notes) = site.region(params, "write_bytes")?;
    let (burst, more) = site.region(params, "burst_bytes")?;
    notes.extend(more);
    let pauses = params.pauses("pauses")?;
    let write = |total_bytes: u64| {
        let (block, depth) = (steps::LINEAR_BLOCK_BYTES, site.fill_depth());
        let workload =
            Workload::new(OpKind::Write, Order::Sequential, block, depth, site.span_bytes);
        Workload { limit_bytes: Some(total_bytes), ..workload }
    };
    let mut phases = vec![steps::purge(), steps::by_zone("write", write(first), steps::ZONES)];
    for (number, pause) in (1..).zip(&pauses) {
        phases.push(steps::idle(&format!("pause_{number}"), *pause));
        phases.push(steps::by_zone(&format!("burst_{number}"), write(burst), BURST_ZONES));
    }
    let seconds: Vec<_> = pauses.iter().map(|pause| steps::seconds(*pause)).collect();
    let config = steps::config([
        ("write_bytes", first.into()),
        ("burst_bytes", burst.into()),
        ("pauses_s", seconds.into()),
    ]);
    Ok(Procedure { config, steps: phases.into_iter().map(Into::into).collect(), notes })
}

/// The bytes and rates of a phase before and after it slowed down.
struct Fast {
    /// Bytes until the fall; `None` where there was none.
    bytes: Option<f64>,
    /// Mean rate until then, in MB/s.
    before: f64,
    /// Mean rate from there on.
    after: Option<f64>,
}

fn fast(measured: &Measured<'_>, phase: &str) -> Option<Fast> {
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

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let columns = [("written fast", "bytes"), ("fast", "MB/s"), ("after that", "MB/s")];
    let mut table = rates::table("bursts", "Fast cache", "after", &columns);
    let pauses = measured.run.config.get("pauses_s").and_then(serde_json::Value::as_array);
    let pauses = pauses.into_iter().flatten().filter_map(serde_json::Value::as_u64);
    let bursts = (1_u64..).zip(pauses);
    let bursts = bursts.map(|(number, s)| (format!("burst_{number}"), format!("a pause of {s} s")));
    for (phase, label) in std::iter::once(("write".to_owned(), "purge".to_owned())).chain(bursts) {
        let found = fast(measured, &phase);
        let values = vec![
            found.as_ref().and_then(|fast| fast.bytes),
            found.as_ref().map(|fast| fast.before),
            found.as_ref().and_then(|fast| fast.after),
        ];
        for (end, value) in ["fast_bytes", "fast_mb_per_s", "slow_mb_per_s"].iter().zip(&values) {
            figures.metrics.insert(format!("pslc.{phase}.{end}"), *value);
        }
        rates::add_rates(&mut figures, &format!("pslc.{phase}"), measured.complete(&phase));
        if let Some(fast) = found {
            let metric = format!("pslc.{phase}.fast_bytes");
            figures.findings.push(rates::finding(measured, &metric, &sentence(&fast, &label)));
        }
        table.rows.push(TableRow { label, values });
    }
    figures.tables.push(table);
    figures
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
