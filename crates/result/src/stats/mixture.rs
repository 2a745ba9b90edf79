//! Two regimes under one mean: a mean over a change of level describes neither side of it.
//!
//! Method: the change points of the rate ([`Shape`]). A series that is not constant is cut at the
//! change with the largest contrast between the means before and after. Levels closer than 15%
//! count as one.

use super::changepoint::{SAME_LEVEL_SHARE, Shape};
use super::rates::{full_intervals, iops, mb_per_s, seconds};
use super::words::{count, time};
use crate::rows::SecondRow;
use crate::schema::{Mark, MarkKind, Metrics};

/// The means before and after a change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// Mean rate before the change.
    pub before: f64,
    /// Mean rate from the change on.
    pub after: f64,
    /// Start of the row in which the new level begins, in ns from the start of the phase.
    pub change_ns: u64,
}

/// The unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Commands per second.
    Iops,
    /// Decimal megabytes per second.
    MbPerS,
}

impl Rate {
    fn of(self, row: &SecondRow) -> Option<f64> {
        match self {
            Self::Iops => iops(row),
            Self::MbPerS => mb_per_s(row),
        }
    }

    fn words(self, rate: f64) -> String {
        match self {
            Self::Iops => format!("{} IOPS", count(rate)),
            Self::MbPerS if rate < 10.0 => format!("{rate:.1} MB/s"),
            Self::MbPerS => format!("{} MB/s", count(rate)),
        }
    }

    /// Mean over rows of any length.
    fn mean(self, rows: &[&SecondRow]) -> f64 {
        let time_s: f64 = rows.iter().map(|row| seconds(row.duration_ns)).sum();
        let done: f64 =
            rows.iter().filter_map(|row| Some(self.of(row)? * seconds(row.duration_ns))).sum();
        done / time_s.max(f64::MIN_POSITIVE)
    }
}

impl Mixture {
    /// The two regimes under the mean over `rows`; or `None` if there is one.
    pub fn of(rows: &[SecondRow], rate: Rate) -> Option<Self> {
        let rows = full_intervals(rows);
        let values: Vec<f64> = rows.iter().filter_map(|row| rate.of(row)).collect();
        let shape = Shape::of(&values);
        if shape.steady_start == Some(0) {
            return None;
        }
        let cuts = shape.regimes.iter().skip(1).map(|regime| regime.values.start);
        let mixtures = cuts.map(|cut| Self {
            before: rate.mean(&rows[..cut]),
            after: rate.mean(&rows[cut..]),
            change_ns: rows[cut].start_ns,
        });
        let clearest = mixtures.max_by(|a, b| a.contrast().total_cmp(&b.contrast()));
        clearest.filter(|mixture| mixture.contrast() > SAME_LEVEL_SHARE)
    }

    /// Difference of the levels, as a share of the higher one.
    fn contrast(&self) -> f64 {
        let higher = self.before.max(self.after);
        (self.before - self.after).abs() / higher.max(f64::MIN_POSITIVE)
    }

    /// Description: both means, and the time of the change.
    pub fn words(&self, rate: Rate) -> String {
        let change = match self.change_ns {
            short @ ..=999_999_999 => time(short as f64),
            ns => format!("{} s", count(seconds(ns))),
        };
        let (before, after) = (rate.words(self.before), rate.words(self.after));
        format!("mixes two regimes: {before} until {change}, {after} from then on")
    }

    /// The mark of a mean rate over both.
    pub fn mark(&self, metric: &str, rate: Rate) -> Mark {
        let levels = Some([self.before, self.after]);
        Mark { text: self.words(rate), levels, ..mark_without_levels(metric) }
    }
}

/// The mark of any other figure over two regimes.
fn mark_without_levels(metric: &str) -> Mark {
    let text = "mixes two regimes".to_owned();
    Mark { metric: metric.to_owned(), kind: MarkKind::TwoRegimes, text, levels: None }
}

/// Marks `mean` and the known figures among `others` if the IOPS of `rows` mix two regimes.
pub fn marks(rows: &[SecondRow], metrics: &Metrics, mean: &str, others: &[&str]) -> Vec<Mark> {
    let Some(mixture) = Mixture::of(rows, Rate::Iops) else { return Vec::new() };
    let is_known = |metric: &&str| metrics.get(*metric).is_some_and(Option::is_some);
    let mean = std::iter::once(mixture.mark(mean, Rate::Iops));
    let others = others.iter().copied().filter(is_known);
    mean.chain(others.map(mark_without_levels)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(levels: &[u64]) -> Vec<SecondRow> {
        let row = |(second, &ios): (u32, &u64)| SecondRow {
            second,
            start_ns: u64::from(second) * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ios: [0, ios, 0, 0],
            bytes: [0, ios * 4_096, 0, 0],
            ..SecondRow::default()
        };
        (0..).zip(levels).map(row).collect()
    }

    #[test]
    fn a_fast_phase_and_what_follows_are_two_regimes() {
        let levels: Vec<u64> =
            (0..60).map(|s| if s < 20 { 90_000 } else { 30_000 + s % 2 }).collect();
        let mixture = Mixture::of(&rows(&levels), Rate::Iops).unwrap();
        assert_eq!((mixture.before, mixture.after), (90_000.0, 30_000.5));
        assert_eq!(mixture.change_ns, 20_000_000_000);
        let words = "mixes two regimes: 90,000 IOPS until 20 s, 30,000 IOPS from then on";
        assert_eq!(mixture.words(Rate::Iops), words);
        let mark = mixture.mark("iops_mean", Rate::Iops);
        assert_eq!((mark.kind, mark.levels), (MarkKind::TwoRegimes, Some([90_000.0, 30_000.5])));
        let megabytes = Mixture::of(&rows(&levels), Rate::MbPerS).unwrap().words(Rate::MbPerS);
        assert_eq!(megabytes, "mixes two regimes: 369 MB/s until 20 s, 123 MB/s from then on");
    }

    #[test]
    fn one_regime_is_no_mixture_however_it_swings() {
        let even: Vec<u64> = (0..60).map(|s| 30_000 + s % 7 * 100).collect();
        let waves: Vec<u64> =
            (0..600).map(|s| if s / 20 % 2 == 0 { 30_000 } else { 60_000 }).collect();
        let slight: Vec<u64> = (0..60).map(|s| if s < 30 { 30_000 } else { 27_500 }).collect();
        for levels in [even, waves, slight, vec![5; 10]] {
            assert_eq!(Mixture::of(&rows(&levels), Rate::Iops), None, "{levels:?}");
        }
    }
}
