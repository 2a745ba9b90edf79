//! Steady state of a tracked figure: the rule of the SNIA PTS, and a plain regression rule.
//!
//! Both examine a window of the last values. The PTS rule (Solid State Storage Performance Test
//! Specification, "steady state verification") demands values close together *and* without a trend.
//! The regression rule, which fio calls `iops_slope`, only demands no trend. [`super::changepoint`]
//! finds the regimes of a curve.

use super::summary::{Summary, mean};

/// Rounds in the window of the PTS.
pub const PTS_WINDOW: usize = 5;
/// The PTS gives up after this number of rounds.
pub const PTS_ROUNDS_MAX: u32 = 25;
/// Largest range of the window over its mean.
pub const PTS_RANGE_SHARE_MAX: f64 = 0.20;
/// Largest excursion of the regression line within the window over its mean.
pub const PTS_SLOPE_SHARE_MAX: f64 = 0.10;

/// A window of values and its statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Position of its first value.
    pub start: usize,
    /// Number of values.
    pub len: usize,
    /// Their mean.
    pub mean: f64,
    /// Largest minus smallest value.
    pub range: f64,
    /// Slope of the least-squares line, per value.
    pub slope: f64,
}

impl Window {
    /// The window of the last `len` of `values`; `None` if there are fewer, or less than two.
    pub fn last(values: &[f64], len: usize) -> Option<Self> {
        let start = values.len().checked_sub(len)?;
        let window = &values[start..];
        let Summary { mean, min, max, .. } = Summary::of(window)?;
        Some(Self { start, len, mean, range: max - min, slope: slope(window)? })
    }

    /// The rise or fall of the least-squares line from the first value to the last.
    pub fn slope_excursion(&self) -> f64 {
        self.slope.abs() * (self.len - 1) as f64
    }

    /// The rule of the PTS: range within 20% of the mean, excursion of the line within 10%.
    pub fn is_pts_steady(&self) -> bool {
        self.range <= PTS_RANGE_SHARE_MAX * self.mean
            && self.slope_excursion() <= PTS_SLOPE_SHARE_MAX * self.mean
    }

    /// The regression rule: the slope per value is below `share` of the mean.
    pub fn is_level(&self, share: f64) -> bool {
        self.slope.abs() < share * self.mean
    }
}

/// The first window of five rounds that is steady by the rule of the PTS, in the order of the
/// rounds; `None` if none of the first 25 rounds ends one.
pub fn pts_steady(rounds: &[f64]) -> Option<Window> {
    let rounds = &rounds[..rounds.len().min(PTS_ROUNDS_MAX as usize)];
    (PTS_WINDOW..=rounds.len())
        .filter_map(|end| Window::last(&rounds[..end], PTS_WINDOW))
        .find(Window::is_pts_steady)
}

/// Slope of the least-squares line through equally spaced values; `None` for less than two.
fn slope(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = (values.len() - 1) as f64 / 2.0;
    let mean = mean(values);
    let centred = values.iter().enumerate().map(|(x, y)| (x as f64 - middle, y - mean));
    let (products, squares) = centred.fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + x * y, xx + x * x));
    Some(products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_known_by_heart() {
        let window = Window::last(&[9.0, 1.0, 2.0, 3.0, 4.0, 5.0], 5).unwrap();
        assert_eq!((window.start, window.mean, window.range, window.slope), (1, 3.0, 4.0, 1.0));
        assert_eq!(window.slope_excursion(), 4.0);
        assert!(!window.is_pts_steady() && !window.is_level(0.01));
        assert_eq!(Window::last(&[1.0; 4], 5), None);
        assert_eq!(Window::last(&[1.0], 1), None);
    }

    #[test]
    fn either_half_of_the_rule_can_fail() {
        let steady = |values: &[f64]| Window::last(values, 5).unwrap().is_pts_steady();
        assert!(steady(&[100.0, 109.0, 95.0, 91.0, 105.0]), "scatter of 18% without a trend");
        assert!(!steady(&[100.0, 112.0, 88.0, 112.0, 88.0]), "scatter of 24%");
        assert!(!steady(&[100.0, 103.0, 106.0, 109.0, 112.0]), "a trend of 12%");
        assert!(steady(&[100.0, 102.0, 104.0, 106.0, 108.0]), "a trend of 8%");
        assert!(steady(&[0.0; 5]), "a dead drive is steady");
    }

    #[test]
    fn rounds_are_judged_as_they_come() {
        let mut rounds: Vec<f64> = (0..10).map(|round| 1000.0 - 80.0 * f64::from(round)).collect();
        assert_eq!(pts_steady(&rounds), None);
        rounds.extend([280.0; 5]);
        let window = pts_steady(&rounds).unwrap();
        assert_eq!((window.start, window.mean), (9, 280.0), "the first window that holds");
        let late: Vec<f64> =
            (0..22).map(|r| 1000.0 - 40.0 * f64::from(r)).chain([100.0; 9]).collect();
        assert_eq!(pts_steady(&late), None, "round 26 comes too late");
    }
}
