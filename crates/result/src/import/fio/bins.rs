//! Histogram bins of fio.
//!
//! fio has 29 groups of 64 buckets. The first two groups are exact, and each further one covers the
//! next power of two; JSON+ names a bucket by its middle, a histogram log by its place. The bins of
//! ssdlab are at least as narrow, so that no latency moves by more than 1/128.

use std::collections::BTreeMap;

use base::Histogram;

/// Buckets of a group, as a power of two.
const GROUP_BITS: u32 = 6;
/// Buckets in all.
pub(super) const BUCKETS: usize = 29 << GROUP_BITS;

/// The histogram of bins by their middle.
pub(super) fn histogram(bins: &BTreeMap<u64, u64>) -> Histogram {
    let mut histogram = Histogram::new();
    bins.iter().for_each(|(middle_ns, count)| histogram.record_bin(*middle_ns, *count));
    histogram
}

/// The middle of a bucket in ns; `coarseness` halves the number of buckets that many times.
pub(super) fn middle_ns(bucket: usize, coarseness: u32) -> u64 {
    let (low, high) = (edge_ns(bucket << coarseness), edge_ns((bucket + 1) << coarseness));
    low.midpoint(high)
}

/// The lower edge of a bucket in ns.
fn edge_ns(bucket: usize) -> u64 {
    let (group, place) = ((bucket >> GROUP_BITS) as u32, (bucket & ((1 << GROUP_BITS) - 1)) as u64);
    if group <= 1 { bucket as u64 } else { ((1 << GROUP_BITS) + place) << (group - 1) }
}

/// The smallest middle that `percent` of the commands do not exceed, by the nearest rank, as fio
/// finds it; or `None` without commands.
pub(super) fn percentile_ns(bins: &BTreeMap<u64, u64>, percent: f64) -> Option<u64> {
    let all: u64 = bins.values().fold(0, |sum, count| sum.saturating_add(*count));
    let rank = (all as f64 * percent / 100.0).ceil().max(1.0);
    let mut below = 0.0;
    bins.iter().find_map(|(middle_ns, count)| {
        below += *count as f64;
        (below >= rank).then_some(*middle_ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buckets that JSON+ of fio 3.42 names: `stat.c`, `plat_idx_to_val`.
    #[test]
    fn buckets_lie_where_fio_has_them() {
        for (bucket, middle) in [(0, 0), (127, 127), (128, 129), (129, 131), (192, 258)] {
            assert_eq!(middle_ns(bucket, 0), middle, "{bucket}");
        }
        let last = middle_ns(BUCKETS - 1, 0);
        assert!((17_000_000_000..17_180_000_000).contains(&last), "{last}");
        assert_eq!(middle_ns(64, 1), 130);
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let bins = BTreeMap::from([(100, 50), (200, 49), (300, 1)]);
        for (percent, ns) in [(50.0, 100), (50.1, 200), (99.0, 200), (99.9, 300)] {
            assert_eq!(percentile_ns(&bins, percent), Some(ns), "{percent}");
        }
        assert_eq!(percentile_ns(&BTreeMap::new(), 50.0), None);
    }
}
