//! The rows of `series.parquet` and `latency.parquet`, as a run hands them over.

use base::{Histogram, OpKind, TelemetryRow};

/// One second of one phase, or one zone of a pass over the address space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecondRow {
    /// Index of the interval from the start of the phase; a second without a completion has a row, too.
    pub second: u32,
    /// Start, ns from the start of the phase.
    pub start_ns: u64,
    /// True length of the interval: rates divide by this.
    pub duration_ns: u64,
    /// Completed commands by kind, in the order of [`OpKind::ALL`].
    pub ios: [u64; 4],
    /// Bytes moved by kind.
    pub bytes: [u64; 4],
    /// Failed commands.
    pub errors: u64,
    /// First byte of the zone, in a phase that has a row for each zone and not for each second.
    pub offset_bytes: Option<u64>,
    /// Median latency of the commands that ended in this second.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile.
    pub latency_ns_p99: Option<u64>,
    /// Largest.
    pub latency_ns_max: Option<u64>,
    /// Mean power that a meter read, in µW.
    pub power_uw_mean: Option<u64>,
    /// Highest reading.
    pub power_uw_max: Option<u64>,
    /// The drive's inner life, for simulated drives.
    pub telemetry: Option<TelemetryRow>,
}

/// The latencies of one kind of command in one second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyRow {
    /// Second of the phase.
    pub second: u32,
    /// Kind of command.
    pub op: OpKind,
    /// Lower edge of the bin.
    pub lower_ns: u64,
    /// Commands in the bin.
    pub count: u64,
}

/// All that one phase measured.
#[derive(Clone, Debug, Default)]
pub struct PhaseRows {
    /// One row a second, without gaps.
    pub seconds: Vec<SecondRow>,
    /// Histogram bins that hold something, by second.
    pub latencies: Vec<LatencyRow>,
}

impl PhaseRows {
    /// The latency distribution of one kind of command over a range of seconds.
    #[must_use]
    pub fn histogram(&self, op: OpKind, seconds: std::ops::Range<u32>) -> Histogram {
        let mut histogram = Histogram::new();
        for row in &self.latencies {
            if row.op == op && seconds.contains(&row.second) {
                histogram.record_bin(row.lower_ns, row.count);
            }
        }
        histogram
    }
}
