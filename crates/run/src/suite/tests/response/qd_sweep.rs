//! Queue depth: how much does the drive gain from more commands at a time, and what does it cost?
//!
//! Method (ours; readers asked for more than QD 32): 4 KiB random reads, then writes, within 8 GiB that
//! were written sequentially, at QD 1, 2, 4 … 256; reads for 10 s each. Writes change the drive: at each depth they
//! begin on a purged and filled drive and move as many bytes as at any other, so that no depth has more of the fresh
//! spare area than another. How to read it: IOPS rise while dies are idle and flatten when all are busy; from there
//! on only the latency rises. Depths above what a target takes at a time are reported as not supported.

use base::OpKind;
use load::{Order, Workload};
use result::schema::TableRow;
use result::stats::findings::count;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, rates, steps};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "qd-sweep",
    question: "how much does the drive gain from more commands at a time?",
    writes: true,
    params: &[
        Param { name: "time", default: "10s", help: "length of each step of reads" },
        Param { name: "write_bytes", default: "1GiB", help: "written in each step of writes" },
        Param { name: "random_span", default: "8GiB", help: "span of the commands, from LBA 0" },
        Param { name: "block", default: "4KiB", help: "size and alignment of the commands" },
        Param {
            name: "queue_depths",
            default: "1,2,4,8,16,32,64,128,256",
            help: "depths, in order",
        },
        steps::DATA,
    ],
    procedure,
    figures,
};

const KINDS: [OpKind; 2] = [OpKind::Read, OpKind::Write];

fn step(kind: OpKind, depth: u64) -> String {
    format!("{}_qd{depth}", kind.name())
}

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let time = params.duration("time")?;
    let (span, mut notes) = site.region(params, "random_span")?;
    let block = params.block_bytes("block")?;
    let data = steps::data(params, "data")?;
    let depths: Vec<u32> = params.list("queue_depths")?;
    let (possible, too_deep) = site.depths(params, "queue_depths")?;
    notes.extend(too_deep);
    let (write_bytes, fewer) = site.region(params, "write_bytes")?;
    notes.extend(fewer);
    let random =
        |kind, depth| Workload { data, ..Workload::new(kind, Order::Uniform, block, depth, span) };
    let mut phases = vec![steps::purge(), site.fill("prepare", span)];
    for &depth in &possible {
        let name = step(OpKind::Read, depth.into());
        phases.push(steps::for_time(&name, random(OpKind::Read, depth), time));
    }
    for &depth in &possible {
        let writes = random(OpKind::Write, depth);
        let writes = Workload { limit_bytes: Some(write_bytes), ..writes };
        let name = step(OpKind::Write, depth.into());
        phases.extend(site.from_filled(span, steps::to_its_end(&name, writes)));
    }
    let config = steps::config([
        ("time_s", steps::seconds(time)),
        ("write_bytes", write_bytes.into()),
        ("random_span_bytes", span.into()),
        ("block_bytes", block.into()),
        ("queue_depths", depths.into()),
        ("data", params.text("data").into()),
    ]);
    Ok(Procedure { config, steps: phases.into_iter().map(Into::into).collect(), notes })
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let columns = [("read", "IOPS"), ("write", "IOPS"), ("read p99", "ns"), ("write p99", "ns")];
    let mut table = rates::table("depths", "Queue depth", "queue depth", &columns);
    let depths = measured.run.config.get("queue_depths").and_then(serde_json::Value::as_array);
    for depth in depths.into_iter().flatten().filter_map(serde_json::Value::as_u64) {
        let parts = KINDS.map(|kind| (step(kind, depth), measured.complete(&step(kind, depth))));
        for (name, part) in &parts {
            rates::add_rates(&mut figures, &format!("qd-sweep.{name}"), *part);
            rates::add_latencies(&mut figures, &format!("qd-sweep.{name}"), *part);
        }
        let iops = parts.iter().map(|(_, part)| part.and_then(|part| part.iops()));
        let p99 = |name: &str| {
            let metric = format!("qd-sweep.{name}.latency_ns_p99");
            figures.metrics.get(&metric).copied().flatten()
        };
        let latency = parts.iter().map(|(name, _)| p99(name));
        table
            .rows
            .push(TableRow { label: depth.to_string(), values: iops.chain(latency).collect() });
    }
    for (column, verb) in [(0, "reads"), (1, "writes")] {
        let values: Vec<_> =
            table.rows.iter().filter_map(|row| Some((&row.label, row.values[column]?))).collect();
        let best = values.iter().map(|(_, iops)| *iops).fold(0.0, f64::max);
        let enough = values.iter().find(|(_, iops)| *iops >= 0.9 * best && best > 0.0);
        if let (Some((first, low)), Some((depth, _))) = (values.first(), enough) {
            let text = format!(
                "does {} random {verb} a second at QD {first} and up to {}; QD {depth} is enough for nine \
                 tenths of that",
                count(*low),
                count(best)
            );
            let metric = format!("qd-sweep.{}_qd{depth}.iops", verb.trim_end_matches('s'));
            figures.findings.push(rates::finding(measured, &metric, &text));
        }
    }
    figures.tables.push(table);
    figures
}
