//! A scenario learned from a trace, for similar work, longer or scaled, without its addresses.
//!
//! It has one phase, and one program for each stream (process, disk, volume); those beyond the
//! first [`STREAMS_MAX`] form one program. Kept: counts, bytes, sizes of each program, its mix,
//! sequential share and region, the table and the mean of queue depths, the mean pause. Not kept:
//! order over time, hot spots within a region, compressibility.

use std::collections::BTreeMap;

use base::OpKind;

use super::scenario::{AppSpec, PhaseSpec, Scenario, TraceTotals};
use crate::trace::stats::{SEQUENTIAL_WINDOW, TraceStats};
use crate::trace::{Record, TraceError, TraceInfo};

/// Most distinct programs.
pub const STREAMS_MAX: usize = 16;

/// Most distinct sizes of a program; others count as the power of two below them.
const SIZES_MAX: usize = 48;

/// A pause of this length ends a burst.
const BURST_PAUSE_NS: u64 = 1_000_000;

const SPAN_BYTES_MIN: u64 = 1 << 30;

#[derive(Default)]
struct Program {
    ios: [u64; 2],
    sizes: [BTreeMap<u32, u64>; 2],
    sequential: u64,
    first: u64,
    end: u64,
    ends: Vec<u64>,
}

/// Learns from a trace, record by record.
#[derive(Default)]
pub struct Learner {
    stats: TraceStats,
    programs: BTreeMap<u32, Program>,
    others: Program,
    last_ns: u64,
    pauses: u64,
    pause_ns: u64,
}

impl Program {
    fn add(&mut self, record: &Record) {
        let kind = usize::from(record.op == OpKind::Write);
        if self.ios == [0, 0] {
            self.first = record.offset;
        }
        self.ios[kind] += 1;
        // Scenarios count in sectors.
        let len = (record.len.max(512) / 512 * 512).min(64 << 20);
        let sizes = &mut self.sizes[kind];
        let known = sizes.contains_key(&len) || sizes.len() < SIZES_MAX;
        *sizes.entry(if known { len } else { 1 << len.ilog2() }).or_default() += 1;
        self.sequential += u64::from(self.ends.contains(&record.offset));
        if self.ends.len() == SEQUENTIAL_WINDOW {
            self.ends.remove(0);
        }
        self.ends.push(record.end());
        self.first = self.first.min(record.offset);
        self.end = self.end.max(record.end());
    }

    fn spec(&self, name: String, span_bytes: u64) -> AppSpec {
        let all = self.ios[0] + self.ios[1];
        let part = |offset: u64| (offset as f64 / span_bytes as f64).clamp(0.0, 1.0);
        let begin = part(self.first).min(0.998);
        let sizes = |kind: usize| {
            let sizes = self.sizes[kind].iter();
            sizes.map(|(len, &count)| (format!("{len}B"), (count as f64).min(1e9))).collect()
        };
        AppSpec {
            name,
            weight: (all as f64).min(1e9),
            read_share: self.ios[0] as f64 / all as f64,
            read_sizes: sizes(0),
            write_sizes: sizes(1),
            sequential: self.sequential as f64 / all as f64,
            region: [begin, part(self.end).max(begin + 0.002)],
            hot: 1.0,
            unaligned: 0.0,
            physical_percent: 100,
        }
    }
}

impl Learner {
    /// Counts a record; only reads and writes contribute.
    pub fn add(&mut self, record: &Record) {
        if !record.moves_data() {
            return;
        }
        self.stats.add(record);
        let pause_ns = record.issue_ns.saturating_sub(self.last_ns);
        self.last_ns = record.issue_ns;
        if pause_ns >= BURST_PAUSE_NS {
            self.pauses += 1;
            self.pause_ns += pause_ns;
        }
        let known = self.programs.contains_key(&record.stream) || self.programs.len() < STREAMS_MAX;
        let program =
            if known { self.programs.entry(record.stream).or_default() } else { &mut self.others };
        program.add(record);
    }

    /// The scenario; `info` is that of the trace at its end.
    ///
    /// # Errors
    /// If there was no read and no write.
    pub fn scenario(&self, name: &str, info: &TraceInfo) -> Result<Scenario, TraceError> {
        let summary = self.stats.summary();
        let ios = summary.reads.ios + summary.writes.ios;
        if ios == 0 {
            let hint = format!("{} has no reads and no writes to learn from", info.source);
            return Err(TraceError::Usage(hint));
        }
        let depths = summary.queue_depth.as_ref();
        let published = TraceTotals {
            reads: summary.reads.ios,
            writes: summary.writes.ios,
            read_bytes: self.bytes(0),
            write_bytes: self.bytes(1),
            sequential_share: Some(summary.sequential_share),
            queue_depth_mean: depths.map(|depths| depths.mean),
            queue_depth_1_share: None,
            queue_depth_shares: depths.map(|depths| depths.shares),
            sizes: BTreeMap::new(),
        };
        let pause_ns = self.pause_ns / self.pauses.max(1);
        let phase = PhaseSpec {
            name: "work".to_owned(),
            weight: 1.0,
            queue_depth: depths.map_or(1.0, |depths| depths.mean.clamp(1.0, 256.0)),
            burst_ios: (ios as f64 / (self.pauses + 1) as f64).clamp(1.0, 1e4),
            pause: format!("{}us", (pause_ns / 1000).min(86_400_000_000)),
            apps: self.apps(info, summary.end_bytes.max(SPAN_BYTES_MIN)),
        };
        Ok(Scenario {
            name: name.to_owned(),
            source: format!("learned from the {} trace {}", info.origin.name(), info.source),
            span: format!("{}B", summary.end_bytes.clamp(SPAN_BYTES_MIN, 1 << 50)),
            queue_depth_max: depths.map_or(1, |depths| depths.max.clamp(1, 1024)),
            published,
            phases: vec![phase],
        })
    }

    /// Bytes in the sizes of the scenario.
    fn bytes(&self, kind: usize) -> u64 {
        let programs = self.programs.values().chain([&self.others]);
        let sizes = programs.flat_map(|program| &program.sizes[kind]);
        sizes.map(|(&len, count)| u64::from(len) * count).sum()
    }

    fn apps(&self, info: &TraceInfo, span_bytes: u64) -> Vec<AppSpec> {
        let name = |stream: u32| {
            let known = info.streams.get(stream as usize).filter(|name| !name.is_empty()).cloned();
            known.unwrap_or_else(|| format!("stream {stream}")).replace('/', " ")
        };
        let programs = self.programs.iter();
        let mut apps: Vec<_> =
            programs.map(|(&stream, program)| program.spec(name(stream), span_bytes)).collect();
        if self.others.ios != [0, 0] {
            apps.push(self.others.spec("others".to_owned(), span_bytes));
        }
        apps
    }
}
