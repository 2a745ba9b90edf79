//! Storage bench: real work, replayed. The common parts of `heavy` and `light` (AnandTech Storage
//! Bench 2011), `destroyer` (AnandTech Storage Bench 2013), and `replay` for any trace.
//!
//! The original traces were never published; these are synthesised to equal their published
//! statistics, and every result says so. Method: purge; fill the LBAs that the trace uses, or the
//! whole span, so that every read finds data; replay in the closed form ([`crate::replay`]). Nobody
//! published the state of the drive, so each bench is a test on a fresh drive, which holds the data
//! of the trace alone, and one on a full drive. The figures are those of the reviews: average data
//! rate over busy time (2011), average service time (2013), each for all, reads and writes; the time
//! from the begin to the end, further percentiles, the depth of the replay, lateness, and a table of
//! the scenario's groups. The idle policy is a part of every result, because it changes the rank of
//! drives that clean up when idle.

use std::collections::BTreeMap;

use base::{Bytes, OpKind, Ratio};
use load::trace::{Excerpt, Origin, TraceInfo};
use result::schema::{Finding, Table, TableColumn, TableRow};
use result::stats::latency::{self, Latencies, PERCENTILES};
use result::stats::notice::Notice;
use serde_json::Value;

use super::amplification;
use super::keys::{Entry, Key, Plain, Reading, entry, settings};
use super::measured::Part;
use super::{
    Action, Conditions, Figures, Headline, Keys, Measurements, Notes, PhaseSpec, Site, Step,
    TestSettings, steps,
};
use crate::error::RunError;
use crate::params::{Param, Params};
use crate::replay::{Form, Idle, Mapping, Meter, ReplaySpec, Total};

/// The reason why no trace accepts a rate.
pub(crate) const OWN_TIMES: &str = "the trace has times of its own, which `--set form=open` keeps";
/// Name of the measured phase.
const REPLAY: &str = "replay";

/// The end of a replay at the end of the trace.
const END: &str = "end";
/// The number of commands of a replay without a limit.
const ALL: &str = "all";
/// The depth of a replay that keeps the recorded one.
const RECORDED: &str = "recorded";
/// The depth of the benches, and the least one of other replays: a trace may not know its depths.
const QUEUE_DEPTH: u32 = 32;

/// The text of [`Fill::Trace`]: the default of a bench on a fresh drive.
pub(crate) const FRESH: &str = "trace";
/// The text of [`Fill::Span`]: the default of a bench on a full drive.
pub(crate) const FULL: &str = "true";

/// The parameters of a test, which differ in the defaults of trace, depth and fill alone.
pub(crate) const fn params(
    trace: &'static str,
    depth: &'static str,
    fill: &'static str,
) -> [Param; 15] {
    let mut params = [Param::new("", "", ""); 15];
    params.copy_from_slice(Settings::PARAMS);
    let mut at = 0;
    while at < params.len() {
        match params[at].name.as_bytes() {
            b"trace" => params[at].default = trace,
            b"queue_depth_max" => params[at].default = depth,
            b"fill" => params[at].default = fill,
            _ => {}
        }
        at += 1;
    }
    params
}

/// The number of waits that a person sees.
pub(crate) const WAITS: &str = "notice_waits";

/// The figures of a day of work that answer first, with the head and the title of its rate.
pub(crate) const fn headlines(
    short: &'static str,
    title: &'static str,
    waits: Headline,
) -> [Headline; 4] {
    [
        Headline::column("avg_data_rate_mb_per_s", ("Days of work, MB/s", short), title),
        waits,
        Headline::of_card("busy_time_s"),
        Headline::of_card("latency_ns_max"),
    ]
}

settings! {
    /// A replay, and the steps before it.
    pub(crate) struct Settings {
        replay: Replay = Param::new(
            "trace",
            "",
            "a trace file of any format, or synth:SCENARIO[?seed=N]",
        ),
            with Param::new("part", "1", "synthesised traces: part of all totals, e.g. 1/100"),
            Param::new("from_time", "0s", "begin at this time of the trace, e.g. 2h"),
            Param::new("until", END, "end before this time of the trace, e.g. 150m"),
            Param::new("limit", ALL, "most commands of a pass"),
            Param::new("passes", "1", "passes through this part of the trace"),
            Param::new("idle", "cap:25ms", "pauses: real, none, or no longer than cap:25ms"),
            Param::new(
                "form",
                "closed",
                "closed: keep recorded queue depths; open: keep recorded times",
            ),
            Param::new(
                "mapping",
                "wrap",
                "addresses beyond the span: wrap, scale, or offset:BYTES (what is outside is left out)",
            ),
            Param::new("flush", "true", "issue flushes"),
            Param::new("trim", "true", "issue deallocations where the target can"),
            Param::new(
                "queue_depth_max",
                RECORDED,
                "most commands outstanding; recorded: in the closed form as deep as the trace, else 32",
            ),
            Param::new("transfer_max", "1MiB", "longest command; longer ones are split");
        purge: Plain<bool> = Param::new(
            "purge",
            "true",
            "bring the target to its fresh state first",
        );
        fill: Fill = Param::new(
            "fill",
            FULL,
            "write first: trace, the LBAs that the trace uses; true, the whole span; or false",
        );
    }
}

/// The part of the span that is written before the replay.
pub(crate) enum Fill {
    /// The LBAs that the trace uses; all of the span if their end is unknown.
    Trace,
    /// The whole span.
    Span,
    /// Nothing: reads of LBAs that the trace did not write find no data.
    Nothing,
}

impl Key for Fill {
    type Value = Self;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Self, RunError> {
        match params.text(name).as_str() {
            FRESH => Ok(Self::Trace),
            FULL => Ok(Self::Span),
            "false" => Ok(Self::Nothing),
            other => {
                let wanted = format!("`--set {name}={other}` must be {FRESH}, {FULL} or false");
                Err(RunError::Usage(wanted))
            }
        }
    }
}

entry! {
    Fill: |value| value.text(),
}

impl Fill {
    const fn text(&self) -> &'static str {
        match self {
            Self::Trace => FRESH,
            Self::Span => FULL,
            Self::Nothing => "false",
        }
    }
}

/// A replay, with the texts of its keys.
pub(crate) struct Replay {
    spec: ReplaySpec,
    /// Bytes from LBA 0 to the last one that the trace uses on the target, at most the span.
    reach_bytes: u64,
    /// Origin and source of the trace.
    origin: (Origin, String),
    /// Requested part of the totals of a synthesised trace.
    part: String,
    /// Requested idle policy.
    idle: String,
    /// Requested form of the replay.
    form: String,
    /// Requested mapping of the addresses.
    mapping: String,
}

impl Key for Replay {
    type Value = Self;

    fn read(Reading { params, site, notes, .. }: Reading<'_>) -> Result<Self, RunError> {
        let (spec, info) = opened(spec(params, site)?, params, site)?;
        notes.extend(info.warnings);
        notes.extend(folding(&spec, info.span_bytes));
        if params.get("trim")? && !spec.keep_trim {
            notes.push("the target cannot deallocate: deallocations are left out".to_owned());
        }
        let end = info.span_bytes.filter(|_| !matches!(spec.mapping, Mapping::Offset(_)));
        let reach = end.map_or(spec.span_bytes, |end| {
            end.next_multiple_of(steps::LINEAR_BLOCK_BYTES.into()).min(spec.span_bytes)
        });
        Ok(Self {
            spec,
            reach_bytes: reach,
            origin: (info.origin, info.source),
            part: params.text("part"),
            idle: params.text("idle"),
            form: params.text("form"),
            mapping: params.text("mapping"),
        })
    }
}

impl Entry for Replay {
    fn entries(&self, _: &str) -> Vec<(String, Value)> {
        let Self { spec, origin: (origin, source), part, idle, form, mapping, .. } = self;
        steps::entries([
            ("trace", spec.trace.clone().into()),
            ("part", part.clone().into()),
            ("from_time_ns", spec.excerpt.from.0.into()),
            ("until_ns", spec.excerpt.until.map(|until| until.0).into()),
            ("limit", spec.excerpt.limit.into()),
            ("passes", spec.excerpt.passes.get().into()),
            ("trace_origin", origin.name().into()),
            ("trace_source", source.clone().into()),
            ("idle", idle.clone().into()),
            ("form", form.clone().into()),
            ("mapping", mapping.clone().into()),
            ("flush", spec.keep_flush.into()),
            ("trim", spec.keep_trim.into()),
            ("queue_depth_max", spec.queue_depth_max.into()),
            ("transfer_bytes_max", spec.transfer_bytes_max.into()),
        ])
    }
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        let Replay { idle, part, .. } = &self.replay;
        let own = [("idle time", &**idle), ("part", part), ("fill", self.fill.text())];
        let own = own.map(|(label, text)| (label, text.to_owned()));
        own.into_iter()
            .chain(self.replay.excerpt_text().map(|text| ("excerpt", text)))
            .map(|(label, text)| (label.to_owned(), text))
            .collect()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let Replay { spec, origin: (origin, source), form, idle, .. } = &self.replay;
        let what = format!("replay the {} trace {source}, {form} form, idle {idle}", origin.name());
        let action = Action::Replay(spec.clone());
        let replay = PhaseSpec { name: REPLAY.to_owned(), what, action };
        let purge = self.purge.then(steps::purge);
        let bytes = match self.fill {
            Fill::Trace => Some(self.replay.reach_bytes),
            Fill::Span => Some(site.span_bytes),
            Fill::Nothing => None,
        };
        let fill = bytes.map(|bytes| site.fill("fill", bytes));
        steps::once(purge.into_iter().chain(fill).chain([replay]))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let (Some(part), Some(meter)) = (measured.part(REPLAY), measured.replay) else {
            return Figures::default();
        };
        let mut figures = metrics(part, meter);
        amplification::add_inside(&mut figures, "", measured, Some(part));
        let marks = latency::marks_of_unwritten(Some(part.phase), &figures.metrics);
        figures.marks.extend(marks);
        figures.findings = self.replay.finding(meter).into_iter().chain(folded(meter)).collect();
        figures.tables = [Some(kinds(part, meter)), groups(meter)].into_iter().flatten().collect();
        figures
    }
}

impl Replay {
    /// The part of the trace in words, or `None` if it is the whole trace.
    fn excerpt_text(&self) -> Option<String> {
        let Excerpt { from, until, limit, passes } = self.spec.excerpt;
        let until = until.map_or_else(|| END.to_owned(), |until| until.to_string());
        let limit = limit.map_or_else(|| ALL.to_owned(), |limit| limit.to_string());
        (!self.spec.excerpt.is_whole())
            .then(|| format!("{from} to {until}, {limit} commands, passes: {passes}"))
    }

    fn finding(&self, meter: &Meter) -> Option<Finding> {
        let all = &meter.totals.all;
        let (rate, service) = (all.mb_per_s()?, all.service_us()?);
        let text = format!(
            "{rate:.1} MB/s on average over {:.1} s of busy time, {service:.0} us mean service time: {} commands and {} of the \
             {} trace {} (idle {}).",
            all.busy_ns as f64 / 1e9,
            all.ios,
            steps::size(all.bytes),
            self.origin.0.name(),
            self.spec.trace,
            self.idle,
        );
        Some(Finding { text, metric: "avg_data_rate_mb_per_s".to_owned() })
    }
}

/// Opens the trace, so that a wrong name is an error before any change.
fn opened(
    mut spec: ReplaySpec,
    params: &Params,
    site: &Site<'_>,
) -> Result<(ReplaySpec, TraceInfo), RunError> {
    let mut feed = spec.feed().map_err(|error| as_typed(error, &spec, params))?;
    let info = feed.info();
    spec.check_content(&mut feed)?;
    let is_as_recorded = keeps_recorded_depth(params) && spec.form == Form::Closed;
    let deepest = spec.survey(is_as_recorded)?;
    if is_as_recorded {
        let most = site.limits.queue_depth_max;
        spec.queue_depth_max = deepest.max(QUEUE_DEPTH).min(most).min(RECORDED_DEPTH_MAX);
    }
    spec.moved_bytes = info.published.as_ref().map(|p| (p.read_bytes, p.write_bytes));
    Ok((spec, info))
}

/// The error of a trace by the name that the user gave, without the scale that the part adds to it.
fn as_typed(error: RunError, spec: &ReplaySpec, params: &Params) -> RunError {
    let trace = params.text("trace");
    if trace == spec.trace {
        return error;
    }
    let whole = ReplaySpec { trace: trace.clone(), ..spec.clone() };
    whole.feed().err().unwrap_or_else(|| {
        let part = params.text("part");
        let text = format!(
            "`--set part={part}` leaves too little of {trace}; expected a larger part, up to 1"
        );
        RunError::Usage(text)
    })
}

/// The warning that the trace extends beyond the span of the replay, with the treatment; `None` if
/// it does not, or its size is unknown before its end.
fn folding(spec: &ReplaySpec, trace_bytes: Option<u64>) -> Option<String> {
    let trace_bytes = trace_bytes.filter(|&bytes| bytes > spec.span_bytes)?;
    let how = folded_how(spec)?;
    Some(format!(
        "the trace reaches to {} and the replay uses {}: {how}",
        steps::size(trace_bytes),
        steps::size(spec.span_bytes)
    ))
}

/// The treatment of addresses beyond the span, or `None` if they are omitted.
fn folded_how(spec: &ReplaySpec) -> Option<&'static str> {
    match spec.mapping {
        Mapping::Wrap => Some(
            "addresses beyond wrap around (modulo the span) onto those of other data; a larger target, or \
             mapping=scale, keeps their order",
        ),
        Mapping::Scale => Some(
            "addresses are scaled down, so that neighbours fall together; a larger target keeps them apart",
        ),
        Mapping::Offset(_) => None,
    }
}

fn spec(params: &Params, site: &Site<'_>) -> Result<ReplaySpec, RunError> {
    let (depth, transfer) = (queue_depth_max(params, site)?, transfer_max(params, site)?);
    let block_bytes = site.limits.logical_block_bytes;
    let trim: bool = params.get("trim")?;
    Ok(ReplaySpec {
        trace: trace_name(params)?,
        excerpt: excerpt(params)?,
        moved_bytes: None,
        idle: params.get::<Idle>("idle")?,
        form: params.get::<Form>("form")?,
        mapping: params.get::<Mapping>("mapping")?,
        span_bytes: site.span_bytes,
        queue_depth_max: depth,
        transfer_bytes_max: transfer,
        block_bytes,
        keep_flush: params.get("flush")?,
        keep_trim: trim && site.limits.deallocate,
    })
}

/// The part of the trace.
fn excerpt(params: &Params) -> Result<Excerpt, RunError> {
    let excerpt = Excerpt {
        from: params.get("from_time")?,
        until: if params.text("until") == END { None } else { Some(params.get("until")?) },
        limit: if params.text("limit") == ALL { None } else { Some(params.get("limit")?) },
        passes: params.get("passes")?,
    };
    let Excerpt { from, until, limit, .. } = excerpt;
    if until.is_some_and(|until| until <= from) {
        let until = params.text("until");
        return Err(RunError::Usage(format!(
            "`--set until={until}` must be later than from_time, {from}"
        )));
    }
    if limit == Some(0) {
        return Err(RunError::Usage(format!("`--set limit=0` must be 1 or more, or {ALL}")));
    }
    Ok(excerpt)
}

/// Most commands outstanding of a replay that is as deep as its trace: each may need a buffer of the
/// longest command.
const RECORDED_DEPTH_MAX: u32 = 1024;

fn keeps_recorded_depth(params: &Params) -> bool {
    params.text("queue_depth_max") == RECORDED
}

/// Most outstanding commands; only the default adapts to a target with a lower limit.
fn queue_depth_max(params: &Params, site: &Site<'_>) -> Result<u32, RunError> {
    let (name, most) = ("queue_depth_max", site.limits.queue_depth_max);
    if keeps_recorded_depth(params) {
        return Ok(QUEUE_DEPTH.min(most));
    }
    let depth = params.queue_depth(name)?;
    if depth > most && params.is_set(name) {
        return Err(RunError::Usage(format!(
            "`--set {name}={depth}` is more than the {most} commands that {} takes at a time; lower it with \
             --set {name}={most}",
            site.identity.name
        )));
    }
    Ok(depth.min(most))
}

/// The longest command, in whole blocks; only the default adapts to a target with a lower limit.
fn transfer_max(params: &Params, site: &Site<'_>) -> Result<u32, RunError> {
    let (name, limits) = ("transfer_max", site.limits);
    let (transfer, block) = (params.block_bytes(name)?, limits.logical_block_bytes);
    let fits = transfer <= limits.transfer_bytes_max && transfer.is_multiple_of(block);
    if !fits && params.is_set(name) {
        return Err(RunError::Usage(format!(
            "`--set {name}={transfer}` does not fit {}; expected a multiple of its blocks of {block} bytes, and \
             no more than {} bytes",
            site.identity.name, limits.transfer_bytes_max
        )));
    }
    Ok((transfer.min(limits.transfer_bytes_max) / block * block).max(block))
}

/// The name of the trace, with the requested part of it.
fn trace_name(params: &Params) -> Result<String, RunError> {
    let trace = params.text("trace");
    if trace.is_empty() {
        let hint = "name the trace: --set trace=FILE or --set trace=synth:heavy-2011";
        return Err(RunError::Usage(hint.to_owned()));
    }
    let part: Ratio = params.get("part")?;
    if part == Ratio::ONE {
        return Ok(trace);
    }
    if !trace.starts_with("synth:") || trace.contains("scale=") {
        return Err(RunError::Usage(format!(
            "`--set part={}` is for synthesised traces without a scale of their own, not for {trace}",
            params.text("part")
        )));
    }
    let separator = if trace.contains('?') { '&' } else { '?' };
    Ok(format!("{trace}{separator}scale={part}"))
}

/// The figures of the reviews: of all commands, of reads and of writes.
fn metrics(part: Part<'_>, meter: &Meter) -> Figures {
    let (mut metrics, mut marks) = (BTreeMap::new(), Vec::new());
    let totals = &meter.totals;
    for (suffix, total) in [("", totals.all), ("_read", totals.reads), ("_write", totals.writes)] {
        let busy_s = (total.ios > 0).then_some(total.busy_ns as f64 / 1e9);
        metrics.insert(format!("avg_data_rate_mb_per_s{suffix}"), total.mb_per_s());
        metrics.insert(format!("busy_time_s{suffix}"), busy_s);
        metrics.insert(format!("avg_service_time_us{suffix}"), total.service_us());
    }
    let latencies = part.latencies();
    latencies.add_to(&mut metrics, &mut marks, "latency_ns", "");
    for (suffix, op) in [("_read", OpKind::Read), ("_write", OpKind::Write)] {
        part.latencies_of(op).add_to(&mut metrics, &mut marks, "latency_ns", suffix);
    }
    // Null in the closed form, whose latencies are these times.
    let device = Latencies::of_histogram(meter.device_latency.clone());
    device.add_to(&mut metrics, &mut marks, "device_latency_ns", "");
    let lateness = Latencies::of_histogram(meter.lateness.clone());
    lateness.add_to(&mut metrics, &mut marks, "issue_lateness_ns", "");
    marks.extend(latency::marks_of_end(part.phase, &metrics, "latency_ns"));
    // The pace of a trace is not that of the drive, but its waits are.
    let waits = Notice::of(part.rows, true).metrics().into_iter().take(2);
    metrics.extend(waits.map(|(name, value)| (name.to_owned(), value)));
    let completion_s = part.phase.duration_ns as f64 / 1e9;
    metrics.insert("completion_time_s".to_owned(), Some(completion_s));
    metrics.insert("queue_depth_mean".to_owned(), meter.depth_mean());
    metrics.insert("queue_depth_1_share".to_owned(), meter.depth_1_share());
    metrics.insert("address_folded_share".to_owned(), meter.folded_share());
    Figures { metrics, marks, ..Figures::default() }
}

/// The warning that the trace did not fit, if it did not.
fn folded(meter: &Meter) -> Option<Finding> {
    let share = meter.folded_share().filter(|&share| share > 0.0)?;
    let text = format!(
        "The trace needs more addresses than the replay had: {:.1}% of its commands ({} of {}) fell on addresses of \
         other data, so locality and footprint are not those of the trace.",
        share * 100.0,
        meter.changes.folded_ios,
        meter.changes.placed_ios
    );
    Some(Finding { text, metric: "address_folded_share".to_owned() })
}

fn column(name: &str, unit: &str) -> TableColumn {
    TableColumn { name: name.to_owned(), unit: unit.to_owned() }
}

/// The figures in a table, one row for each kind of command.
fn kinds(part: Part<'_>, meter: &Meter) -> Table {
    let row = |label: &str, total: &Total, latencies: &Latencies| {
        let busy_s = (total.ios > 0).then_some(total.busy_ns as f64 / 1e9);
        let values = [total.mb_per_s(), busy_s, total.service_us()];
        let shares = PERCENTILES[..3].iter().map(|percentile| percentile.share());
        let percentiles = shares.map(|share| latencies.percentile_ns(share));
        TableRow {
            label: label.to_owned(),
            values: values.into_iter().chain(percentiles).collect(),
        }
    };
    let totals = &meter.totals;
    Table {
        name: "kinds".to_owned(),
        title: "Reads and writes".to_owned(),
        row_name: "commands".to_owned(),
        columns: vec![
            column("average data rate", "MB/s"),
            column("busy time", "s"),
            column("average service time", "us"),
            column("median", "ns"),
            column("p99", "ns"),
            column("p99.9", "ns"),
        ],
        rows: vec![
            row("all", &totals.all, &part.latencies()),
            row("reads", &totals.reads, &part.latencies_of(OpKind::Read)),
            row("writes", &totals.writes, &part.latencies_of(OpKind::Write)),
        ],
        conditions: BTreeMap::new(),
    }
}

/// The groups of a scenario, where the trace has any.
fn groups(meter: &Meter) -> Option<Table> {
    if meter.groups.is_empty() {
        return None;
    }
    let values = |total: &Total| [total.mb_per_s(), total.service_us()];
    let row = |(name, totals): &(String, crate::replay::Totals)| {
        let busy_s = Some(totals.all.busy_ns as f64 / 1e9);
        let values = [&totals.all, &totals.reads, &totals.writes].into_iter().flat_map(values);
        TableRow { label: name.clone(), values: values.chain([busy_s]).collect() }
    };
    Some(Table {
        name: "groups".to_owned(),
        title: "By kind of work".to_owned(),
        row_name: "kind of work".to_owned(),
        columns: vec![
            column("average data rate", "MB/s"),
            column("average service time", "us"),
            column("read data rate", "MB/s"),
            column("read service time", "us"),
            column("write data rate", "MB/s"),
            column("write service time", "us"),
            column("busy time", "s"),
        ],
        rows: meter.groups.iter().map(row).collect(),
        conditions: BTreeMap::new(),
    })
}

/// The changes of a replay, in sentences for the reader of its result.
pub fn remarks(feed: &crate::replay::Feed, spec: &ReplaySpec) -> Vec<String> {
    let changes = feed.changes();
    let block = Bytes(spec.block_bytes.into());
    let mut remarks = feed.problems().sentences();
    for (count, what) in [
        (
            changes.aligned_ios,
            format!("commands were not multiples of {block} and were widened to whole blocks"),
        ),
        (
            changes.split_ios,
            format!(
                "commands were longer than {} and were split",
                Bytes(spec.transfer_bytes_max.into())
            ),
        ),
        (
            changes.folded_ios,
            format!(
                "of {} commands lay where the span of {} has no room: {}",
                changes.placed_ios,
                Bytes(spec.span_bytes),
                folded_how(spec).unwrap_or_default()
            ),
        ),
        (
            if spec.form == Form::Closed { changes.shallow_ios } else { 0 },
            format!(
                "commands were recorded at a greater depth than the {} commands outstanding of this replay (up to {}), and \
                 were issued no deeper",
                spec.queue_depth_max, changes.deepest
            ),
        ),
        (changes.outside_ios, "commands lay outside the span and were left out".to_owned()),
        (changes.dropped_ios, "flushes and deallocations were left out".to_owned()),
    ] {
        if count > 0 {
            remarks.push(format!("{count} {what}"));
        }
    }
    if feed.depth_unknown() && spec.form == Form::Closed {
        let remark = "the trace does not know queue depths; its commands waited for their recorded pauses alone";
        remarks.push(remark.to_owned());
    }
    remarks
}
