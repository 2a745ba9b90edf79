//! The rows of `series.parquet` and `latency.parquet`, as a run delivers them.

use std::collections::BTreeMap;

use base::{Histogram, OpKind, Ratio, TelemetryRow};

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
    /// Median latency of the commands that ended in this second, in the last row also of those that ended
    /// after the phase; or `None` if they were fewer than 20.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile, or `None` if they were fewer than 1,000.
    pub latency_ns_p99: Option<u64>,
    /// Largest, or `None` if there were none.
    pub latency_ns_max: Option<u64>,
    /// Mean power from a meter, in µW.
    pub power_uw_mean: Option<u64>,
    /// Highest reading.
    pub power_uw_max: Option<u64>,
    /// Telemetry of a simulated drive.
    pub telemetry: Option<TelemetryRow>,
}

impl SecondRow {
    /// Adds the counts of another part of the same interval; percentiles do not add up and stay.
    pub fn add_counts(&mut self, other: &Self) {
        (self.second, self.start_ns) = (other.second, other.start_ns);
        self.duration_ns = self.duration_ns.max(other.duration_ns);
        for kind in 0..self.ios.len() {
            self.ios[kind] += other.ios[kind];
            self.bytes[kind] += other.bytes[kind];
        }
        self.errors += other.errors;
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
    }
}

/// The latencies of one kind of command in one second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyRow {
    /// Second of the phase; the first one of several that share a histogram in a very long phase.
    pub second: u32,
    /// Kind of command.
    pub op: OpKind,
    /// Lower edge of the bin.
    pub lower_ns: u64,
    /// Commands in the bin.
    pub count: u64,
}

/// All measurements of one phase.
#[derive(Clone, Debug, Default)]
pub struct PhaseRows {
    /// One row per second, without gaps.
    pub seconds: Vec<SecondRow>,
    /// Non-empty histogram bins, by second.
    pub latencies: Vec<LatencyRow>,
}

impl PhaseRows {
    /// The measurements of several threads in the same phase, as one: counts and histogram bins are
    /// added, percentiles come from the bins.
    pub fn merged(parts: &[Self]) -> Self {
        let length = parts.iter().map(|part| part.seconds.len()).max().unwrap_or(0);
        let mut seconds = vec![SecondRow::default(); length];
        let mut bins: BTreeMap<(u32, usize, u64), u64> = BTreeMap::new();
        for part in parts {
            seconds.iter_mut().zip(&part.seconds).for_each(|(sum, row)| sum.add_counts(row));
            for row in &part.latencies {
                *bins.entry((row.second, row.op.index(), row.lower_ns)).or_default() += row.count;
            }
        }
        let bins = bins.into_iter().map(|((second, op, lower_ns), count)| LatencyRow {
            second,
            op: OpKind::ALL[op],
            lower_ns,
            count,
        });
        let mut merged = Self { seconds, latencies: bins.collect() };
        merged.find_percentiles(0);
        merged
    }

    /// Counts latencies of commands that ended after the last second into its histogram,
    /// percentiles and maximum. Its counts of commands and bytes stay unchanged.
    pub fn count_late(&mut self, late: &[(OpKind, u64)]) {
        let Some(last) = self.seconds.last_mut() else { return };
        let longest = late.iter().map(|(_, latency_ns)| *latency_ns).max();
        last.latency_ns_max = last.latency_ns_max.max(longest);
        let second = last.second;
        let from = self.latencies.partition_point(|bin| bin.second < second);
        let mut by_kind = OpKind::ALL.map(|_| Histogram::new());
        for bin in self.latencies.drain(from..) {
            by_kind[bin.op.index()].record_bin(bin.lower_ns, bin.count);
        }
        for (op, latency_ns) in late {
            by_kind[op.index()].record(*latency_ns);
        }
        for (op, histogram) in OpKind::ALL.into_iter().zip(&by_kind) {
            let bins = histogram.bins();
            let bins = bins.map(|(lower_ns, count)| LatencyRow { second, op, lower_ns, count });
            self.latencies.extend(bins);
        }
        self.find_percentiles(from);
    }

    /// Percentiles of each second from its bins, in the order of the seconds, beginning with the
    /// bin at `from`.
    fn find_percentiles(&mut self, from: usize) {
        let share =
            |numerator, denominator| Ratio::new(numerator, denominator).unwrap_or(Ratio::ONE);
        for bins in self.latencies[from..].chunk_by(|a, b| a.second == b.second) {
            let mut all = Histogram::new();
            bins.iter().for_each(|bin| all.record_bin(bin.lower_ns, bin.count));
            if let Some(row) = self.seconds.get_mut(bins[0].second as usize) {
                row.latency_ns_p50 = all.percentile(share(1, 2));
                row.latency_ns_p99 = all.percentile(share(99, 100));
            }
        }
    }

    /// The latency distribution of one kind of command over a range of seconds.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One second of writes with these latencies.
    fn part(latencies_ns: &[u64]) -> PhaseRows {
        let mut histogram = Histogram::new();
        latencies_ns.iter().for_each(|&ns| histogram.record(ns));
        let count = latencies_ns.len() as u64;
        let row = SecondRow {
            duration_ns: 1_000_000_000,
            ios: [0, count, 0, 0],
            bytes: [0, count * 4096, 0, 0],
            latency_ns_max: latencies_ns.iter().max().copied(),
            ..SecondRow::default()
        };
        let bins = histogram.bins().map(|(lower_ns, count)| LatencyRow {
            second: 0,
            op: OpKind::Write,
            lower_ns,
            count,
        });
        PhaseRows { seconds: vec![row], latencies: bins.collect() }
    }

    #[test]
    fn merged_rows_are_those_that_one_thread_would_have_written() {
        let (fast, slow) = (vec![1_000; 1_500], vec![90_000; 500]);
        let merged = PhaseRows::merged(&[part(&fast), part(&slow)]);
        let mut one = part(&[fast, slow].concat());
        one.find_percentiles(0);
        assert_eq!(merged.seconds, one.seconds);
        assert_eq!(merged.latencies, one.latencies);
        assert!(merged.seconds[0].latency_ns_p50 < Some(1_010));
        assert!(merged.seconds[0].latency_ns_p99 >= Some(90_000));
        assert_eq!(merged.histogram(OpKind::Write, 0..1).count(), 2_000);
    }

    #[test]
    fn late_ends_count_into_latencies_and_into_no_counts() {
        let mut rows = part(&[1_000; 30]);
        rows.find_percentiles(0);
        rows.count_late(&[(OpKind::Write, 7_000_000_000), (OpKind::Read, 5_000)]);
        let row = &rows.seconds[0];
        assert_eq!((row.ios, row.latency_ns_max), ([0, 30, 0, 0], Some(7_000_000_000)));
        assert!(row.latency_ns_p50 < Some(1_010));
        let counts = [OpKind::Read, OpKind::Write].map(|op| rows.histogram(op, 0..1).count());
        assert_eq!(counts, [1, 31]);
    }

    #[test]
    fn a_part_that_ended_sooner_is_counted_where_it_was() {
        let mut longer = part(&[1_000]);
        longer.seconds.push(SecondRow { second: 1, duration_ns: 7, ..SecondRow::default() });
        let merged = PhaseRows::merged(&[part(&[2_000]), longer]);
        let ios: Vec<_> = merged.seconds.iter().map(|row| row.ios[1]).collect();
        assert_eq!(ios, [2, 0]);
        assert_eq!((merged.seconds[1].second, merged.seconds[1].duration_ns), (1, 7));
        assert!(PhaseRows::merged(&[]).seconds.is_empty());
    }
}
