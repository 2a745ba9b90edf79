//! Latency of one command at a time: what does a waiting person wait for?
//!
//! Method (ours): 4 KiB random reads, then random writes, then sequential writes of 4 KiB, at QD 1 within
//! 8 GiB, 60 s each, each on a purged drive on which they were written sequentially. How to read it: with one command outstanding IOPS
//! are only the inverse of the mean latency; the percentiles show what the mean hides. With a rate
//! (`--set rate=1000`) commands do not wait for the one before, and latencies count from when each was due.

use base::OpKind;
use load::{Order, Pacing, Workload};
use result::schema::TableRow;
use result::stats::findings;
use result::stats::latency::{self, Latencies, PERCENTILES, Percentile};

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, open_loop, rates, steps};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "latency",
    question: "how long does a single command take, and how long at worst?",
    writes: true,
    params: &[
        Param { name: "time", default: "60s", help: "length of each step" },
        Param { name: "random_span", default: "8GiB", help: "span of the commands, from LBA 0" },
        Param { name: "block", default: "4KiB", help: "size and alignment of the commands" },
        open_loop::RATE,
        Param {
            name: "queue_depth",
            default: "1",
            help: "commands kept outstanding; with a rate the most that may be, by default 32",
        },
    ],
    procedure,
    figures,
};

const STEPS: [(&str, OpKind, Order, &str); 3] = [
    ("random_read", OpKind::Read, Order::Uniform, "random read"),
    ("random_write", OpKind::Write, Order::Uniform, "random write"),
    ("sequential_write", OpKind::Write, Order::Sequential, "sequential write"),
];

/// The most commands outstanding where a rate is asked for and no depth: what SATA has.
const PACED_QUEUE_DEPTH: u32 = 32;

/// The figures of the table, by the end of their metric's name.
const COLUMNS: [&str; 6] = ["mean", "p50", "p99", "p999", "p9999", "max"];

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let time = params.duration("time")?;
    let (span, notes) = site.region(params, "random_span")?;
    let block = params.block_bytes("block")?;
    let pacing: Pacing = params.get("rate")?;
    let depth = queue_depth(params, site, pacing)?;
    let mut phases = Vec::new();
    for (name, kind, order, _) in STEPS {
        let workload = Workload::new(kind, order, block, depth, span);
        let step = steps::for_time(name, Workload { pacing, ..workload }, time);
        phases.extend(site.from_filled(span, step));
    }
    let config = steps::config([
        ("time_s", steps::seconds(time)),
        ("random_span_bytes", span.into()),
        ("block_bytes", block.into()),
        ("rate", pacing.to_string().into()),
        ("queue_depth", depth.into()),
    ]);
    Ok(Procedure { config, steps: phases.into_iter().map(Into::into).collect(), notes })
}

/// One command at a time, unless another depth is asked for. A schedule does not wait for the one before, so that it
/// may have several outstanding.
fn queue_depth(params: &Params, site: &Site<'_>, pacing: Pacing) -> Result<u32, RunError> {
    if pacing == Pacing::ClosedLoop || params.is_set("queue_depth") {
        return params.queue_depth("queue_depth");
    }
    Ok(PACED_QUEUE_DEPTH.min(site.limits.queue_depth_max))
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let pace = open_loop::pace_in_words(measured.run);
    let columns = COLUMNS.map(|column| (column, "ns"));
    let mut table = rates::table("latencies", &format!("Latency at {pace}"), "command", &columns);
    for (name, _, _, label) in STEPS {
        let metric = format!("latency.{name}");
        let part = measured.complete(name);
        rates::add_rates(&mut figures, &metric, part);
        rates::add_latencies(&mut figures, &metric, part);
        let value = |end: &str| {
            figures.metrics.get(&format!("{metric}.latency_ns_{end}")).copied().flatten()
        };
        let values = COLUMNS.map(value);
        if let Some(text) = part.and_then(|part| sentence(label, &pace, &part.latencies())) {
            let finding = rates::finding(measured, &format!("{metric}.latency_ns_mean"), &text);
            figures.findings.push(finding);
        }
        table.rows.push(TableRow { label: label.to_owned(), values: values.to_vec() });
    }
    figures.tables.push(table);
    figures
}

/// The mean, the rarest percentile that there are commands for, and the slowest command; `None` if none ended.
fn sentence(label: &str, pace: &str, latencies: &Latencies) -> Option<String> {
    let (mean, max) = (latencies.mean_ns()?, latencies.max_ns()?);
    let known = |percentile: &Percentile| {
        let ns = latencies.percentile_ns(percentile.share())?;
        Some(format!("in {} {}, ", findings::time(ns), percentile.cases))
    };
    let median = known(&PERCENTILES[0]).unwrap_or_default();
    let rarest = PERCENTILES[1..].iter().rev().find_map(known).unwrap_or_default();
    let [.., last] = PERCENTILES;
    let is_complete = latencies.percentile_ns(last.share()).is_some();
    let why = latency::too_few_words(latencies.commands());
    let why =
        if is_complete { String::new() } else { format!("; {why} for {} of them", last.words) };
    Some(format!(
        "answers a {label} at {pace} in {} on average, {median}{rarest}in {} at worst{why}",
        findings::time(mean),
        findings::time(max)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Histogram;

    fn sentence_of(commands: u64) -> String {
        let mut histogram = Histogram::new();
        histogram.record_bin(100_000, commands);
        sentence("random read", "QD 1", &Latencies::of_histogram(histogram)).unwrap_or_default()
    }

    #[test]
    fn a_sentence_names_the_rarest_case_that_there_are_commands_for() {
        let of_all = sentence_of(100_000);
        assert!(of_all.contains("in 9,999 of 10,000 cases, in"), "{of_all}");
        assert!(!of_all.contains("too few"), "{of_all}");
        let of_few = sentence_of(440);
        assert!(of_few.contains("half the time") && !of_few.contains("cases"), "{of_few}");
        assert!(
            of_few.ends_with("at worst; too few commands (440) for 99.99% of them"),
            "{of_few}"
        );
        let of_nine = sentence_of(9);
        assert!(!of_nine.contains("half the time"), "{of_nine}");
        assert_eq!(sentence_of(0), "");
    }
}
