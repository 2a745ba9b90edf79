//! Performance consistency: does the drive keep its pace once it must clean up after itself?
//!
//! Method (suite reference, section 1): purge; fill the whole tested span sequentially, so that every LBA holds
//! data (or precondition it in one pass, see [`crate::suite::precondition`]); then 4 KB random writes over the span at QD 32 for 2,000 s, one sample a second. How to
//! read it: a fast start while spare blocks last, a fall when every write needs cleaning first, then
//! a band whose height is the steady state and whose thickness is the inconsistency. The one-hour
//! form of 2015 is `--set duration=3600s --set steady_from=3200s`. With a rate (`--set rate=1000`) the
//! load is an open loop: the graph then shows whether the drive keeps up with a demand, and latencies
//! count from when a command was due, so that a stall is felt by all that should have come meanwhile.

use base::{Nanos, OpKind};
use load::{Order, Pacing, Workload};
use result::stats::notice::{self, Notice};
use result::stats::{consistency::Consistency, findings, latency};

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::precondition::{self, OnePass};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, open_loop, steps};

/// Name of the measured phase.
const LOAD: &str = "load";

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "consistency",
    question: "does the drive keep its pace once it must clean up after itself, or does it stall?",
    writes: true,
    params: &[
        Param { name: "duration", default: "2000s", help: "length of the load" },
        Param { name: "steady_from", default: "1400s", help: "where steady state begins" },
        Param { name: "queue_depth", default: "32", help: "commands kept outstanding by the load" },
        open_loop::RATE,
        Param { name: "block", default: "4KiB", help: "size and alignment of the random writes" },
        Param {
            name: "fill_block",
            default: "128KiB",
            help: "size of the sequential writes of the fill",
        },
        Param {
            name: "data",
            default: "incompressible",
            help: "content of fill (in LBA order) and load; or repeating, or e.g. 46%",
        },
        Param { name: "purge", default: "true", help: "bring the target to its fresh state first" },
        Param { name: "fill", default: "true", help: "write the whole span before the load" },
        Param {
            name: "precondition",
            default: "fill",
            help: "how: `fill` in LBA order, or `one-pass` into the steady state of random writes",
        },
        precondition::RAW_CAPACITY,
    ],
    procedure,
    figures,
};

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let duration = params.duration("duration")?;
    let steady_from: Nanos = params.get("steady_from")?;
    if params.is_set("steady_from") && steady_from >= duration {
        return Err(RunError::Usage(format!(
            "`--set steady_from={steady_from}` leaves nothing of the {duration} that are measured; expected less than \
             that, or a longer --set duration="
        )));
    }
    let queue_depth = params.queue_depth("queue_depth")?;
    let pacing: Pacing = params.get("rate")?;
    let (block, fill_block) = (params.block_bytes("block")?, params.block_bytes("fill_block")?);
    let (purge, fill): (bool, bool) = (params.get("purge")?, params.get("fill")?);
    let data = steps::data(params, "data")?;
    let write = |order, block_bytes, queue_depth| {
        let write = OpKind::Write;
        let workload = Workload::new(write, order, block_bytes, queue_depth, site.span_bytes);
        Workload { data, ..workload }
    };
    let mut phases = Vec::new();
    if purge {
        phases.push(steps::purge());
    }
    let one_pass = one_pass(params, site, block)?;
    if let Some(pass) = &one_pass {
        phases.push(pass.phase.clone());
    } else if fill {
        let workload = write(Order::SequentialOnce, fill_block, site.fill_depth());
        phases.push(steps::to_its_end("fill", workload));
    }
    let workload = Workload { pacing, ..write(Order::Uniform, block, queue_depth) };
    phases.push(steps::for_time(LOAD, workload, duration));
    let mut config = steps::config([
        ("duration_s", steps::seconds(duration)),
        ("steady_from_s", steps::seconds(steady_from)),
        ("queue_depth", queue_depth.into()),
        ("rate", pacing.to_string().into()),
        ("block_bytes", block.into()),
        ("fill_block_bytes", fill_block.into()),
        ("data", params.text("data").into()),
        ("purge", purge.into()),
        ("fill", (fill && one_pass.is_none()).into()),
        ("precondition", params.text("precondition").into()),
    ]);
    config.extend(one_pass.iter().map(|pass| ("log_bytes".to_owned(), pass.log_bytes.into())));
    let notes = one_pass.into_iter().map(|pass| pass.note).collect();
    let steps = phases.into_iter().map(Into::into).collect();
    Ok(Procedure { config, steps, notes })
}

/// The pass into steady state, where it is wanted.
fn one_pass(
    params: &Params,
    site: &Site<'_>,
    block_bytes: u32,
) -> Result<Option<OnePass>, RunError> {
    let precondition = params.text("precondition");
    match precondition.as_str() {
        "fill" => precondition::raw_capacity(params).map(|_| None),
        precondition::ONE_PASS => OnePass::new(params, site, block_bytes).map(Some),
        _ => Err(RunError::Usage(format!(
            "`--set precondition={precondition}` must be fill or {}",
            precondition::ONE_PASS
        ))),
    }
}

fn figures(measured: &Measured<'_>) -> Figures {
    let Some(load) = measured.part(LOAD) else { return Figures::default() };
    let steady_from_s = u32::try_from(measured.config_u64("steady_from_s")).unwrap_or(u32::MAX);
    let mut figures = Consistency::of(load.rows, steady_from_s)
        .with_busy_shares(load.rows, &measured.run.target.details);
    figures.metrics.insert("iops_mean".to_owned(), load.iops());
    let mut findings = findings::consistency(measured.run, load.rows, &figures);
    let notice = Notice::of(load.rows, notice::is_paced(measured.run));
    findings.extend(notice.finding());
    for (name, value) in notice.metrics() {
        figures.metrics.insert(name.to_owned(), value);
    }
    let Consistency { metrics, mut marks, warnings, .. } = figures;
    marks.extend(latency::marks_of_end(load.phase, &metrics, "latency_"));
    Figures { metrics, marks, findings, warnings, ..Figures::default() }
}
