//! Transfer sizes, ATTO style: how large must a transfer be for full speed?
//!
//! Method (suite reference, section 5): powers of two from 0.5 KiB to 8 MiB, sequential, QD 4, within
//! 256 MiB, written and then read once for each size, on a purged drive on which they were written before; repeating data unless `data` says otherwise. The length
//! is ours: each size moves the whole 256 MiB once. How to read it: two curves that rise with the
//! size and flatten at the speed of the link; the knee shows the cost of a command. Sizes below the
//! logical block or above the longest command of a target are reported as not supported.

use base::{Bytes, OpKind};
use load::{Order, Workload};
use result::schema::TableRow;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, rates, steps};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "sweep",
    question: "how large must a transfer be for full speed?",
    writes: true,
    params: &[
        Param { name: "sweep_span", default: "256MiB", help: "bytes moved for each size" },
        Param { name: "queue_depth", default: "4", help: "commands kept outstanding" },
        Param { name: "data", default: "repeating", help: "repeating, incompressible or e.g. 46%" },
    ],
    procedure,
    figures,
};

const SMALLEST_BYTES: u32 = 512;
const LARGEST_BYTES: u32 = 8 << 20;

fn sizes() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(SMALLEST_BYTES), |size| Some(size * 2))
        .take_while(|size| *size <= LARGEST_BYTES)
}

/// Name of a step: `write_4KiB`.
fn step(kind: OpKind, block_bytes: u32) -> String {
    format!("{}_{}", kind.name(), Bytes(block_bytes.into()))
}

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let (span, mut notes) = site.region(params, "sweep_span")?;
    let depth = params.queue_depth("queue_depth")?;
    let data = steps::data(params, "data")?;
    let (smallest, largest) = (site.limits.logical_block_bytes, site.limits.transfer_bytes_max);
    let mut phases = Vec::new();
    for block in sizes() {
        if block < smallest {
            notes.push(site.too_small(block));
            continue;
        }
        if block > largest || u64::from(block) > span {
            let (block, span) = (Bytes(block.into()), Bytes(span));
            let largest = Bytes(largest.into());
            notes.push(format!(
                "transfers of {block} are not supported: the target takes {largest} in one command \
                 and the span is {span}"
            ));
            continue;
        }
        let once = |kind| {
            let workload = Workload::new(kind, Order::Sequential, block, depth, span);
            let workload = Workload { data, limit_bytes: Some(span), ..workload };
            steps::to_its_end(&step(kind, block), workload)
        };
        phases.extend(site.from_filled(span, once(OpKind::Write)));
        phases.push(once(OpKind::Read));
    }
    let config = steps::config([
        ("sweep_span_bytes", span.into()),
        ("queue_depth", depth.into()),
        ("data", params.text("data").into()),
    ]);
    Ok(Procedure { config, steps: phases.into_iter().map(Into::into).collect(), notes })
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let columns = [("read", "MB/s"), ("write", "MB/s")];
    let mut table = rates::table("sizes", "Transfer sizes", "transfer size", &columns);
    for block in sizes() {
        let mut values = Vec::new();
        for kind in [OpKind::Read, OpKind::Write] {
            let name = step(kind, block);
            let part = measured.complete(&name);
            rates::add_rates(&mut figures, &format!("sweep.{name}"), part);
            values.push(part.and_then(|part| part.mb_per_s()));
        }
        table.rows.push(TableRow { label: Bytes(block.into()).to_string(), values });
    }
    for (column, verb) in [(0, "reads"), (1, "writes")] {
        let rates: Vec<_> = table
            .rows
            .iter()
            .filter_map(|row| Some((row.label.clone(), row.values[column]?)))
            .collect();
        let best = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        let knee = rates.iter().find(|(_, rate)| *rate >= 0.9 * best);
        if let Some((label, _)) = knee.filter(|_| best > 0.0) {
            let text = format!(
                "{verb} at up to {} and needs transfers of {label} for nine tenths of that",
                rates::mb_per_s(best)
            );
            let metric = format!("sweep.{}_{label}.mb_per_s", verb.trim_end_matches('s'));
            figures.findings.push(rates::finding(measured, &metric, &text));
        }
    }
    figures.tables.push(table);
    figures
}
