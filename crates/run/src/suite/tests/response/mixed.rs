//! Reads and writes at the same time: what do writes do to reads?
//!
//! Method (ours, after later suites): 4 KiB random commands at QD 32 within 16 GiB, with 100% reads, 90% and so on
//! down to 0%, 30 s each, each on a purged drive on which the 16 GiB were written sequentially. How to read it: on a bathtub curve
//! (high at both ends, low between) reads wait behind programs and erases of the writes. With a rate
//! (`--set rate=1000`) IOPS are those asked for as long as the drive keeps up, and the percentiles say what
//! the demand feels.

use base::OpKind;
use load::{Mix, Order, Pacing, Shares, Workload};
use result::schema::TableRow;
use result::stats::findings::count;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, open_loop, rates, steps};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "mixed",
    question: "how fast is the drive when it reads and writes at the same time?",
    writes: true,
    params: &[
        Param { name: "time", default: "30s", help: "length of each step" },
        Param { name: "random_span", default: "16GiB", help: "span of the commands, from LBA 0" },
        Param { name: "block", default: "4KiB", help: "size and alignment of the commands" },
        Param { name: "queue_depth", default: "32", help: "commands kept outstanding" },
        open_loop::RATE,
        Param {
            name: "read_percents",
            default: "100,90,80,70,60,50,40,30,20,10,0",
            help: "shares of reads, in order",
        },
        Param {
            name: "trim_percent",
            default: "0",
            help: "share of deallocations in all commands, beside reads and writes",
        },
        Param { name: "flush_percent", default: "0", help: "share of flushes, the same" },
        steps::DATA,
    ],
    procedure,
    figures,
};

/// The latencies of the table: ends of their metrics' names, with words.
const LATENCIES: [(&str, &str); 6] = [
    ("latency_ns_mean_read", "read mean"),
    ("latency_ns_p50_read", "read median"),
    ("latency_ns_p99_read", "read p99"),
    ("latency_ns_mean_write", "write mean"),
    ("latency_ns_p50_write", "write median"),
    ("latency_ns_p99_write", "write p99"),
];

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let time = params.duration("time")?;
    let (span, notes) = site.region(params, "random_span")?;
    let block = params.block_bytes("block")?;
    let depth = params.queue_depth("queue_depth")?;
    let pacing: Pacing = params.get("rate")?;
    let percents: Vec<u8> = params.list("read_percents")?;
    let (trims, flushes): (u8, u8) = (params.get("trim_percent")?, params.get("flush_percent")?);
    let data = steps::data(params, "data")?;
    let mut phases = Vec::new();
    for &percent in &percents {
        let workload = Workload::new(OpKind::Write, Order::Uniform, block, depth, span);
        let workload = Workload { mix: mix(percent, trims, flushes), data, pacing, ..workload };
        let step = steps::for_time(&format!("read{percent}"), workload, time);
        phases.extend(site.from_filled(span, step));
    }
    let config = steps::config([
        ("time_s", steps::seconds(time)),
        ("random_span_bytes", span.into()),
        ("block_bytes", block.into()),
        ("queue_depth", depth.into()),
        ("rate", pacing.to_string().into()),
        ("read_percents", percents.into()),
        ("trim_percent", trims.into()),
        ("flush_percent", flushes.into()),
        ("data", params.text("data").into()),
    ]);
    Ok(Procedure { config, steps: phases.into_iter().map(Into::into).collect(), notes })
}

/// Reads and writes, with trims and flushes among them where they are wanted.
const fn mix(read_percent: u8, deallocate_percent: u8, flush_percent: u8) -> Mix {
    if deallocate_percent == 0 && flush_percent == 0 {
        return Mix::ReadPercent(read_percent);
    }
    Mix::Shares(Shares { flush_percent, deallocate_percent, read_percent })
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let latencies = LATENCIES.map(|(_, words)| (words, "ns"));
    let columns = [[("all", "IOPS"), ("rate", "MB/s")].as_slice(), &latencies].concat();
    let mut table = rates::table("shares", "Mixed reads and writes", "reads", &columns);
    let percents = measured.run.config.get("read_percents").and_then(serde_json::Value::as_array);
    for percent in percents.into_iter().flatten().filter_map(serde_json::Value::as_u64) {
        let part = measured.complete(&format!("read{percent}"));
        let metric = format!("mixed.read{percent}");
        rates::add_rates(&mut figures, &metric, part);
        rates::add_latencies_by_kind(&mut figures, &metric, part);
        let value = |end: &str| figures.metrics.get(&format!("{metric}.{end}")).copied().flatten();
        let ends = ["iops", "mb_per_s"].into_iter().chain(LATENCIES.map(|(end, _)| end));
        let values = ends.map(value).collect();
        table.rows.push(TableRow { label: format!("{percent}%"), values });
    }
    let known = table.rows.iter().filter_map(|row| Some((row.label.as_str(), row.values[0]?)));
    if let Some((label, iops)) = known.min_by(|a, b| a.1.total_cmp(&b.1)) {
        let text = format!("is slowest with {label} reads, at {} IOPS", count(iops));
        let metric = format!("mixed.read{}.iops", label.trim_end_matches('%'));
        figures.findings.push(rates::finding(measured, &metric, &text));
    }
    figures.tables.push(table);
    figures
}
