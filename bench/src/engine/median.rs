//! The median of a sample, and its confidence interval.

use serde_json::{Value, json};

/// The median of a sample with the interval that contains the true median in 95 of 100 cases.
///
/// The interval lies between two of the values themselves, counted from both ends. It only assumes
/// that turns are independent: a value is above the true median as often as a coin shows heads (H.
/// A. David, "Order Statistics", chapter 7.1). Below six values even the outermost ones contain it
/// less often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Median {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Median {
    /// Median of at least one value.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let (count, middle) = (values.len(), values.len() / 2);
        let upper = values[middle];
        let value = if count % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) };
        let outside = left_out(count);
        Self { value, low: values[outside], high: values[count - 1 - outside] }
    }

    pub(crate) fn interval(&self) -> Value {
        json!([self.low, self.high])
    }
}

/// Number of values to omit at each end of `count` so that the rest contains the median in 95 of
/// 100 cases.
fn left_out(count: usize) -> usize {
    // The chance that `heads` coins of `count` show heads, and the sum of those so far.
    let (mut chance, mut below) = (0.5_f64.powi(count as i32), 0.0);
    let mut outside = 0;
    for heads in 0..count / 2 {
        below += chance;
        if 2.0 * below > 0.05 {
            break;
        }
        outside = heads;
        chance *= (count - heads) as f64 / (heads + 1) as f64;
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even() {
        let value = |values: &[f64]| Median::of(values.to_vec()).value;
        assert!((value(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((value(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    }

    /// From the tables of the sign test: of 12 values the third from each end, of 20 the sixth.
    #[test]
    fn the_interval_leaves_out_as_many_as_the_sign_test_allows() {
        let outside = [1, 2, 5, 6, 8, 9, 12, 20, 30].map(left_out);
        assert_eq!(outside, [0, 0, 0, 0, 0, 1, 2, 5, 9]);
        let median = Median::of((1..=12).map(f64::from).collect());
        assert_eq!(median, Median { value: 6.5, low: 3.0, high: 10.0 });
    }
}
