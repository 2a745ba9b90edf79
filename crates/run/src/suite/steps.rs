//! The vocabulary of tests: purge, fill, load, pass, pause.

use base::{Bytes, Data, Nanos, OpKind, Ratio};
use load::{Composite, Mix, Order, Pacing, Shares, Sizes, Workload};
use serde_json::Value;
use target::{Past, Rest};

use super::procedure::{Action, PhaseSpec, Step};
use crate::error::RunError;
use crate::params::{Param, Params};
use crate::recorder::Zones;

/// Size of the commands of fills and linear passes.
pub const LINEAR_BLOCK_BYTES: u32 = 128 << 10;
/// Outstanding commands of a fill: no figure depends on it, so it may be fast.
pub const FILL_QUEUE_DEPTH: u32 = 32;
/// The default kind of data; read by [`data`].
pub const DATA: Param =
    Param { name: "data", default: "incompressible", help: "or repeating, or e.g. 46%" };
/// A kind of data, with its text.
pub(crate) struct AskedData {
    /// The text, as results hold it.
    pub(crate) text: String,
    pub(crate) kind: Data,
}

/// Zones of a pass over a device, after HD Tach.
pub const ZONES: u64 = 500;

impl From<PhaseSpec> for Step {
    fn from(phase: PhaseSpec) -> Self {
        Self::Phase(phase)
    }
}

/// Brings the target to its fresh state.
pub fn purge() -> PhaseSpec {
    let what = "bring the target to its fresh state".to_owned();
    PhaseSpec { name: "purge".to_owned(), what, action: Action::Purge }
}

/// Brings a simulated drive to its fresh state, at a part of its size.
pub fn purge_to_scale(scale: Ratio) -> PhaseSpec {
    let what = format!("bring the drive to its fresh state, at {scale} of its size");
    PhaseSpec { name: "purge".to_owned(), what, action: Action::PurgeToScale(scale) }
}

/// Deallocates the first `len_bytes` of the target.
pub fn trim(name: &str, len_bytes: u64) -> PhaseSpec {
    let what = format!("deallocate (TRIM) {} from LBA 0 on", size(len_bytes));
    let action = Action::Deallocate { offset_bytes: 0, len_bytes };
    PhaseSpec { name: name.to_owned(), what, action }
}

/// Leaves the target alone.
pub fn idle(name: &str, duration: Nanos) -> PhaseSpec {
    let what = format!("leave the target alone for {duration}");
    PhaseSpec { name: name.to_owned(), what, action: Action::Idle(duration) }
}

/// Gives the target a past at once.
pub fn age(name: &str, past: Past) -> PhaseSpec {
    let what = format!("age the drive: {past}");
    PhaseSpec { name: name.to_owned(), what, action: Action::Age(past) }
}

/// Switches the permission of link and drive to rest.
pub fn set_rest(name: &str, rest: Rest) -> PhaseSpec {
    let what = match rest {
        Rest::AsFound => "let link and drive rest as they did before",
        Rest::Allowed => "let link and drive rest",
        Rest::Denied => "keep link and drive awake",
    };
    PhaseSpec { name: name.to_owned(), what: what.to_owned(), action: Action::SetRest(rest) }
}

/// Issues a workload until it ends by itself.
pub fn to_its_end(name: &str, workload: Workload) -> PhaseSpec {
    load(name, workload, None, None)
}

/// Issues a workload for a time.
pub fn for_time(name: &str, workload: Workload, duration: Nanos) -> PhaseSpec {
    load(name, workload, Some(duration), None)
}

/// Writes the first `span_bytes` in LBA order, so that every LBA holds data.
pub fn fill(name: &str, span_bytes: u64, depth: u32) -> PhaseSpec {
    let block = LINEAR_BLOCK_BYTES;
    let order = Order::SequentialOnce;
    to_its_end(name, Workload::new(OpKind::Write, order, block, depth, span_bytes))
}

/// A workload to its end, with a row for each of `zones` zones of its span.
pub fn by_zone(name: &str, workload: Workload, zones: u64) -> PhaseSpec {
    let total_bytes = workload.total_bytes().unwrap_or(workload.span_bytes);
    let block_bytes = u64::from(workload.block_bytes);
    let zone_bytes = total_bytes.div_ceil(zones).next_multiple_of(block_bytes);
    let zones = Zones { start_bytes: workload.span_offset_bytes, zone_bytes };
    load(name, workload, None, Some(zones))
}

/// A pass over the first `span_bytes` in the manner of HD Tach: 128 KiB, QD 1, LBA order, one row
/// for each 1/500.
pub fn linear_pass(name: &str, kind: OpKind, data: Data, span_bytes: u64) -> PhaseSpec {
    let workload = Workload::new(kind, Order::SequentialOnce, LINEAR_BLOCK_BYTES, 1, span_bytes);
    by_zone(name, Workload { data, ..workload }, ZONES)
}

fn load(
    name: &str,
    workload: Workload,
    duration: Option<Nanos>,
    zones: Option<Zones>,
) -> PhaseSpec {
    let what = in_words(&workload, duration);
    PhaseSpec { name: name.to_owned(), what, action: Action::Load { workload, duration, zones } }
}

/// The description of a workload, with all parameters that affect its figures.
pub(crate) fn in_words(workload: &Workload, duration: Option<Nanos>) -> String {
    let longest = Bytes(u64::from(workload.block_bytes));
    let block = match &workload.order {
        Order::Composite(Composite { sizes: [(smallest, _), ..], .. }) => {
            format!("{} to {longest}", Bytes(u64::from(*smallest)))
        }
        _ => match &workload.sizes {
            Some(sizes) => mixed_sizes(sizes),
            None => longest.to_string(),
        },
    };
    let kind = match workload.mix {
        Mix::One(OpKind::Read) => "reads".to_owned(),
        Mix::One(OpKind::Write) => "writes".to_owned(),
        Mix::One(OpKind::Flush) => "flushes".to_owned(),
        Mix::One(OpKind::Deallocate) => "deallocations".to_owned(),
        Mix::ReadPercent(percent) => format!("commands, {percent}% of them reads"),
        Mix::Shares(Shares { flush_percent, deallocate_percent, reads, writes }) => format!(
            "commands, {deallocate_percent}% of them deallocations, {flush_percent}% flushes, the others reads and \
             writes by {reads}:{writes}"
        ),
    };
    let order = match &workload.order {
        Order::SequentialOnce | Order::Sequential => "sequential".to_owned(),
        Order::Uniform => "random".to_owned(),
        Order::OnePass { .. } => "steady-state".to_owned(),
        Order::Composite(_) => "composite random".to_owned(),
        pattern => pattern.to_string(),
    };
    let data = match (workload.mix.writes(), workload.data) {
        (false, _) => String::new(),
        (true, Data::Incompressible) => ", incompressible".to_owned(),
        (true, Data::Repeating) => ", repeating data".to_owned(),
        (true, Data::Compressible { physical_percent }) => {
            format!(", data that shrinks to {physical_percent}%")
        }
    };
    let limit = match (duration, workload.limit_bytes) {
        (Some(duration), _) => format!(", for {duration}"),
        (None, Some(bytes)) if bytes != workload.span_bytes => format!(", {} in all", size(bytes)),
        (None, _) => String::new(),
    };
    let (depth, span) = (workload.queue_depth, size(workload.span_bytes));
    let pace = match workload.pacing {
        Pacing::ClosedLoop => format!("QD {depth}"),
        Pacing::Fixed { rate_iops } => format!("{rate_iops} a second, at most QD {depth}"),
        Pacing::Poisson { rate_iops } => {
            format!("{rate_iops} a second at random (Poisson), at most QD {depth}")
        }
        pacing @ (Pacing::Bursts { .. } | Pacing::Ramp { .. }) => {
            format!("{pacing}, at most QD {depth}")
        }
    };
    format!("{block} {order} {kind} within {span}, {pace}{data}{limit}")
}

/// Lengths with their shares: `4KiB 80%, 64KiB 20%`.
fn mixed_sizes(sizes: &Sizes) -> String {
    let total: u64 = sizes.weighted().iter().map(|(_, weight)| u64::from(*weight)).sum();
    let share = |(bytes, weight): &(u32, u32)| {
        let percent = (100.0 * f64::from(*weight) / total as f64).round();
        format!("{} {percent}%", Bytes(u64::from(*bytes)))
    };
    sizes.weighted().iter().map(share).collect::<Vec<_>>().join(", ")
}

/// The size of a span in decimal units, like the amount of writes beside it.
pub(crate) fn size(bytes: u64) -> String {
    Bytes(bytes).rounded()
}

/// Entries of a resolved configuration.
pub(crate) fn entries<const N: usize>(entries: [(&str, Value); N]) -> Vec<(String, Value)> {
    entries.map(|(name, value)| (name.to_owned(), value)).into()
}

/// A time in whole seconds, for configurations.
pub(crate) const fn seconds(duration: Nanos) -> u64 {
    duration.0 / Nanos::SECOND.0
}

/// Steps that run once, one after the other.
pub(crate) fn once(phases: impl IntoIterator<Item = PhaseSpec>) -> Vec<Step> {
    phases.into_iter().map(Step::Phase).collect()
}

/// The kind of data in a parameter: `incompressible`, `repeating`, or its size after compression
/// such as `46%`.
pub(crate) fn data(params: &Params, name: &str) -> Result<AskedData, RunError> {
    let text = params.text(name);
    let kind = parse_data(name, &text)?;
    Ok(AskedData { text, kind })
}

fn parse_data(name: &str, text: &str) -> Result<Data, RunError> {
    let percent =
        || text.strip_suffix('%')?.parse().ok().filter(|percent| (1..=100).contains(percent));
    match (text, percent()) {
        ("incompressible", _) => Ok(Data::Incompressible),
        ("repeating", _) => Ok(Data::Repeating),
        (_, Some(physical_percent)) => Ok(Data::Compressible { physical_percent }),
        _ => Err(RunError::Usage(format!(
            "`--set {name}={text}` must be incompressible, repeating, or the size after compression from \
             1% to 100%"
        ))),
    }
}
