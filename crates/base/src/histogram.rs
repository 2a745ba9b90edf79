//! Latency histograms with a bounded relative error.
//!
//! A thin wrapper around `hdrhistogram` with two significant digits: a value is known to within
//! 1/128 (0.78%), the same resolution as fio's, over the whole range of `u64` nanoseconds up to one
//! day. The module exports plain `(lower edge, count)` pairs, so no reader of a result needs this
//! code.

use hdrhistogram::Histogram as Hdr;

use crate::units::Ratio;

/// Larger values count as this value: one day in nanoseconds.
pub const VALUE_NS_MAX: u64 = 86_400_000_000_000;

const SIGNIFICANT_DIGITS: u8 = 2;

/// Fewest values beyond a percentile. With fewer, it would only show where these few happened to
/// fall.
pub const BEYOND_MIN: u64 = 10;

/// Counts of latencies in nanoseconds.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Histogram {
    hdr: Hdr<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Vec<(u64, u64)>> for Histogram {
    /// The histogram of these bins, as [`Histogram::bins`] gave them.
    fn from(bins: Vec<(u64, u64)>) -> Self {
        let mut histogram = Self::new();
        bins.into_iter().for_each(|(lower_ns, count)| histogram.record_bin(lower_ns, count));
        histogram
    }
}

impl From<Histogram> for Vec<(u64, u64)> {
    fn from(histogram: Histogram) -> Self {
        histogram.bins().collect()
    }
}

impl Histogram {
    /// An empty histogram; about 50 KiB, allocated once, so recording never allocates.
    ///
    /// # Panics
    /// Never: the bounds are constants that `hdrhistogram` accepts.
    pub fn new() -> Self {
        let hdr = Hdr::new_with_bounds(1, VALUE_NS_MAX, SIGNIFICANT_DIGITS)
            .expect("constant bounds are valid");
        Self { hdr }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.hdr.saturating_record(value_ns);
    }

    /// Counts `count` values at the lower edge of a bin, as [`Histogram::bins`] gave them.
    pub fn record_bin(&mut self, lower_ns: u64, count: u64) {
        self.hdr.saturating_record_n(lower_ns, count);
    }

    /// Adds all counts of `other`.
    ///
    /// # Panics
    /// Never: all histograms share the same bounds.
    pub fn merge(&mut self, other: &Self) {
        self.hdr.add(&other.hdr).expect("all histograms share the same bounds");
    }

    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.hdr.reset();
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.hdr.len()
    }

    /// The value at or below which `share` of all values lies, as the highest value of its bin;
    /// `None` while empty. The rank is an exact integer, so no count slips at 99.95%.
    pub fn quantile(&self, share: Ratio) -> Option<u64> {
        let rank = self.count() - share.complement().of(self.count());
        let mut below = 0;
        self.hdr.iter_recorded().find_map(|bin| {
            below += bin.count_at_value();
            (below >= rank.max(1)).then(|| bin.value_iterated_to().min(self.hdr.max()))
        })
    }

    /// As [`Histogram::quantile`], with at least [`BEYOND_MIN`] values beyond it: p99 takes 1,000
    /// values; or `None` if there are fewer.
    pub fn percentile(&self, share: Ratio) -> Option<u64> {
        let beyond = share.complement().of(self.count());
        (beyond >= BEYOND_MIN).then(|| self.quantile(share)).flatten()
    }

    /// The largest recorded value, as the highest value of its bin; `None` while empty.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.hdr.max())
    }

    /// The mean of the bin midpoints; `None` while empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.hdr.mean())
    }

    /// All bins that hold something: lower edge in ns and count, in rising order.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.hdr
            .iter_recorded()
            .map(|bin| (self.hdr.lowest_equivalent(bin.value_iterated_to()), bin.count_at_value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quantile_is_within_the_promised_error(mut values in prop::collection::vec(1..=VALUE_NS_MAX, 1..200)) {
            let mut histogram = Histogram::new();
            for &value in &values {
                histogram.record(value);
            }
            values.sort_unstable();
            for (numerator, index) in [(0, 0), (1, values.len().div_ceil(2) - 1), (2, values.len() - 1)] {
                let exact = values[index];
                let got = histogram.quantile(Ratio::new(numerator, 2).unwrap()).unwrap();
                prop_assert!(got >= exact && got - exact <= exact / 128, "{} for {}", got, exact);
            }
        }

        #[test]
        fn bins_carry_every_count(values in prop::collection::vec(any::<u64>(), 0..200)) {
            let mut histogram = Histogram::new();
            for &value in &values {
                histogram.record(value);
            }
            let mut copy = Histogram::new();
            for (lower_ns, count) in histogram.bins() {
                copy.record_bin(lower_ns, count);
            }
            prop_assert_eq!(copy.count(), values.len() as u64);
            prop_assert!(copy.bins().eq(histogram.bins()));
        }
    }

    #[test]
    fn a_percentile_has_ten_values_beyond_it() {
        for (numerator, denominator, enough) in
            [(1, 2, 20), (99, 100, 1_000), (999, 1_000, 10_000), (9_999, 10_000, 100_000)]
        {
            let share = Ratio::new(numerator, denominator).unwrap();
            let mut histogram = Histogram::new();
            histogram.record_bin(1_000, enough - 1);
            assert_eq!(histogram.percentile(share), None, "{enough}");
            assert_eq!(histogram.quantile(share), histogram.max());
            histogram.record(1_000);
            assert_eq!(histogram.percentile(share), histogram.max(), "{enough}");
        }
    }

    #[test]
    fn empty_has_no_figures() {
        let histogram = Histogram::new();
        assert_eq!(histogram.quantile(Ratio::ONE), None);
        assert_eq!(histogram.max(), None);
        assert_eq!(histogram.bins().count(), 0);
    }
}
