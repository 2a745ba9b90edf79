//! Mean, spread and extremes of a set of values.

/// The usual figures of a set of at least one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Sample standard deviation (n - 1), as pandas and spreadsheets give it; `None` for one value.
    pub stddev: Option<f64>,
}

impl Summary {
    /// The figures of `values`; `None` if there are none. Two passes keep the digits of a small
    /// spread around a large mean.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len();
        let mean = mean(values);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            count,
            mean,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            stddev: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()),
        })
    }

    /// Coefficient of variation, standard deviation / mean; `None` if the mean is zero.
    pub fn cv(&self) -> Option<f64> {
        self.stddev.map(|stddev| stddev / self.mean).filter(|cv| cv.is_finite())
    }

    /// Mean / standard deviation, the second "consistency" number of 2015; `None` if nothing
    /// varies.
    pub fn mean_over_stddev(&self) -> Option<f64> {
        self.stddev.map(|stddev| self.mean / stddev).filter(|ratio| ratio.is_finite())
    }
}

/// The mean of `values`, or 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Share of `values` strictly below `limit`, 0 to 1; `None` if there are none.
pub fn share_below(values: &[f64], limit: f64) -> Option<f64> {
    let below = values.iter().filter(|&&value| value < limit).count();
    (!values.is_empty()).then(|| below as f64 / values.len() as f64)
}

/// The value at or below which `share` (0 to 1) of all values lie; `None` if there are none.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_set_known_by_heart() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((summary.count, summary.mean, summary.min, summary.max), (8, 5.0, 2.0, 9.0));
        assert!((summary.stddev.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn unknown_is_none_and_never_infinite() {
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[3.0]).unwrap();
        assert_eq!((one.stddev, one.cv(), one.mean_over_stddev()), (None, None, None));
        let flat = Summary::of(&[3.0, 3.0]).unwrap();
        assert_eq!((flat.cv(), flat.mean_over_stddev()), (Some(0.0), None));
        let dead = Summary::of(&[0.0, 0.0]).unwrap();
        assert_eq!((dead.cv(), dead.mean_over_stddev()), (None, None));
        assert_eq!((share_below(&[], 1.0), quantile(&[], 0.5)), (None, None));
    }

    #[test]
    fn quantiles_and_shares_count_values() {
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5), Some(5.0));
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 1.0), Some(10.0));
        assert_eq!(share_below(&values, 4.0), Some(0.3));
    }
}
