//! Performance consistency: does the drive keep its pace once it must clean up after itself?
//!
//! Method (suite reference, section 1): purge; fill the whole tested span sequentially, so that every LBA holds
//! data; then 4 KB random writes over the span at QD 32 for 2,000 s, one sample a second. How to
//! read it: a fast start while spare blocks last, a fall when every write needs cleaning first, then
//! a band whose height is the steady state and whose thickness is the inconsistency. The one-hour
//! form of 2015 is `--set duration=3600s --set steady_from=3200s`.

use std::collections::BTreeMap;

use base::{Bytes, Data, Nanos, OpKind};
use load::{Order, Workload};
use result::rows::PhaseRows;
use result::schema::Run;
use result::stats::{consistency::Consistency, findings};

use super::{Action, Figures, PhaseSpec};
use crate::error::RunError;
use crate::params::{Param, Params};

/// The question, in one sentence.
pub const QUESTION: &str =
    "does the drive keep its pace once it must clean up after itself, or does it stall?";

/// Name of the measured phase.
pub const LOAD: &str = "load";

/// Parameters.
pub const PARAMS: &[Param] = &[
    Param { name: "duration", default: "2000s", help: "length of the load" },
    Param { name: "steady_from", default: "1400s", help: "where steady state begins" },
    Param { name: "queue_depth", default: "32", help: "commands kept outstanding by the load" },
    Param { name: "block", default: "4KiB", help: "size and alignment of the random writes" },
    Param {
        name: "fill_block",
        default: "128KiB",
        help: "size of the sequential writes of the fill",
    },
    Param { name: "purge", default: "true", help: "bring the target to its fresh state first" },
    Param { name: "fill", default: "true", help: "write the whole span before the load" },
];

struct Settings {
    duration: Nanos,
    steady_from: Nanos,
    queue_depth: u32,
    block_bytes: u32,
    fill_block_bytes: u32,
    purge: bool,
    fill: bool,
}

fn block_bytes(params: &Params, name: &str) -> Result<u32, RunError> {
    let Bytes(bytes) = params.get(name)?;
    let valid = u32::try_from(bytes).ok().filter(|bytes| (512..=32 << 20).contains(bytes));
    valid.ok_or_else(|| {
        RunError::Usage(format!("`--set {name}={bytes}` must lie between 512 and 32MiB"))
    })
}

fn settings(params: &Params) -> Result<Settings, RunError> {
    let settings = Settings {
        duration: params.get("duration")?,
        steady_from: params.get("steady_from")?,
        queue_depth: params.get("queue_depth")?,
        block_bytes: block_bytes(params, "block")?,
        fill_block_bytes: block_bytes(params, "fill_block")?,
        purge: params.get("purge")?,
        fill: params.get("fill")?,
    };
    let weeks = Nanos(30 * 86_400 * Nanos::SECOND.0);
    if settings.duration < Nanos::SECOND || settings.duration > weeks {
        let text = settings.duration;
        return Err(RunError::Usage(format!(
            "`--set duration={text}` must lie between 1s and 30d: there is one sample a second"
        )));
    }
    Ok(settings)
}

pub(super) fn config(params: &Params) -> Result<BTreeMap<String, serde_json::Value>, RunError> {
    let Settings { duration, steady_from, queue_depth, block_bytes, fill_block_bytes, purge, fill } =
        settings(params)?;
    let values = [
        ("duration_s", (duration.0 / Nanos::SECOND.0).into()),
        ("steady_from_s", (steady_from.0 / Nanos::SECOND.0).into()),
        ("queue_depth", queue_depth.into()),
        ("block_bytes", block_bytes.into()),
        ("fill_block_bytes", fill_block_bytes.into()),
        ("purge", purge.into()),
        ("fill", fill.into()),
    ];
    Ok(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub(super) fn phases(params: &Params, span_bytes: u64) -> Result<Vec<PhaseSpec>, RunError> {
    let settings = settings(params)?;
    let write = |order, block_bytes, queue_depth| Workload {
        kind: OpKind::Write,
        data: Data::Incompressible,
        block_bytes,
        span_offset_bytes: 0,
        span_bytes,
        order,
        queue_depth,
    };
    let mut phases = Vec::new();
    if settings.purge {
        let what = "bring the target to its fresh state".to_owned();
        phases.push(PhaseSpec { name: "purge", what, action: Action::Purge });
    }
    if settings.fill {
        let block = Bytes(u64::from(settings.fill_block_bytes));
        let what = format!("write the whole span in LBA order, {block}, QD 32, incompressible");
        let workload = write(Order::SequentialOnce, settings.fill_block_bytes, 32);
        let action = Action::Load { workload, duration: None };
        phases.push(PhaseSpec { name: "fill", what, action });
    }
    let what = format!(
        "{} random writes over the whole span, uniform, QD {}, incompressible, for {}",
        Bytes(u64::from(settings.block_bytes)),
        settings.queue_depth,
        settings.duration
    );
    let workload = write(Order::Uniform, settings.block_bytes, settings.queue_depth);
    let action = Action::Load { workload, duration: Some(settings.duration) };
    phases.push(PhaseSpec { name: LOAD, what, action });
    Ok(phases)
}

pub(super) fn figures(run: &Run, rows: &PhaseRows) -> Figures {
    let steady_from_s = run.config.get("steady_from_s").and_then(serde_json::Value::as_u64);
    let steady_from_s = u32::try_from(steady_from_s.unwrap_or_default()).unwrap_or(u32::MAX);
    let mut figures = Consistency::of(rows, steady_from_s);
    let load = run.phases.iter().rfind(|phase| phase.name == LOAD);
    let mean = load
        .filter(|load| load.duration_ns > 0)
        .map(|load| load.ios as f64 / Nanos(load.duration_ns).as_secs_f64());
    figures.metrics.insert("iops_mean".to_owned(), mean);
    let findings = findings::consistency(run, rows, &figures);
    Figures { metrics: figures.metrics, findings, warnings: figures.warnings }
}
