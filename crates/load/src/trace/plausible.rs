//! Check of the times of a trace. A file whose times have another unit than its format has no bad
//! line, but lasts no time at all, or thousands of years.

use super::format::TimeUnit;

/// The shortest plausible mean time between two I/Os: 10 million I/Os per second, beyond any drive.
const GAP_NS_MIN: f64 = 100.0;

/// Fewest I/Os needed to judge a mean.
const IOS_MIN: u64 = 100;

/// The longest plausible trace.
const LENGTH_S_MAX: f64 = 10.0 * YEAR_S;

const YEAR_S: f64 = 365.25 * 86_400.0;

/// From 1601-01-01 to 1970-01-01.
const FILE_TIME_BEGINS_S: f64 = 11_644_473_600.0;

/// Dates of traces, in years since 1970.
const YEARS: std::ops::Range<f64> = 20.0..80.0;

/// Usual mean time between two I/Os; it gives the unit if no date does.
const GAP_NS_USUAL: f64 = 1e6;

/// The times of a trace, as read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// The unit in which they were read; `None` if the format leaves no choice.
    pub(super) unit: Option<TimeUnit>,
    /// Its I/Os.
    pub(super) ios: u64,
    /// The time of the first I/O.
    pub(super) epoch_ns: u64,
    /// Time from the first I/O to the last.
    pub(super) length_ns: u64,
}

impl Times {
    /// The doubt about them, in a sentence, or `None` if there is none.
    pub(super) fn doubt(&self) -> Option<String> {
        let (length_s, ios) = (self.length_ns as f64 / 1e9, self.ios);
        let odd = if ios >= IOS_MIN && self.length_ns == 0 {
            format!("all {ios} I/Os have the same time")
        } else if is_too_dense(ios, self.length_ns as f64) {
            format!("all {ios} I/Os lie within {length_s:.9} s, which no drive can do")
        } else if length_s > LENGTH_S_MAX {
            format!("the trace takes {:.0} years", length_s / YEAR_S)
        } else {
            return None;
        };
        let Some(unit) = self.unit else {
            return Some(format!(
                "{odd}: its times are doubtful, but its format leaves no other unit"
            ));
        };
        let (read, flag) = (unit.name(), "--time-unit UNIT (of csv: time=UNIT)");
        Some(match self.likely() {
            Some(likely) => {
                let likely = likely.name();
                format!(
                    "{odd}: its times were read in {read}, and are probably in {likely}; set it with {flag}"
                )
            }
            None => format!("{odd}: its times were read in {read}; name another unit with {flag}"),
        })
    }

    /// The unit that gives the most plausible times, or `None` if none does.
    fn likely(&self) -> Option<TimeUnit> {
        let unit_ns = self.unit?.unit_ns()? as f64;
        let possible = |unit: &TimeUnit| {
            let factor = unit.unit_ns()? as f64 / unit_ns;
            let length_ns = self.length_ns as f64 * factor;
            let believed = !is_too_dense(self.ios, length_ns) && length_ns / 1e9 <= LENGTH_S_MAX;
            believed.then_some((*unit, factor))
        };
        let possible: Vec<_> = TimeUnit::ALL.iter().filter_map(possible).collect();
        let dated = possible.iter().find(|(unit, factor)| {
            let begins_s = if *unit == TimeUnit::FileTime { FILE_TIME_BEGINS_S } else { 0.0 };
            YEARS.contains(&((self.epoch_ns as f64 * factor / 1e9 - begins_s) / YEAR_S))
        });
        let gap_ns = self.length_ns as f64 / self.ios.max(1) as f64;
        let oddness = |factor: f64| (gap_ns * factor / GAP_NS_USUAL).ln().abs();
        // Ticks since 1601 without such a date are no file times.
        let undated = possible.iter().filter(|(unit, _)| *unit != TimeUnit::FileTime);
        let usual = undated.min_by(|a, b| oddness(a.1).total_cmp(&oddness(b.1)));
        dated.or(usual).map(|(unit, _)| *unit)
    }
}

fn is_too_dense(ios: u64, length_ns: f64) -> bool {
    ios >= IOS_MIN && length_ns < ios as f64 * GAP_NS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(unit: TimeUnit, ios: u64, epoch_ns: u64, length_ns: u64) -> String {
        Times { unit: Some(unit), ios, epoch_ns, length_ns }.doubt().unwrap_or_default()
    }

    #[test]
    fn a_wrong_unit_is_questioned_and_the_likely_one_named() {
        let hour_us = 3_600_000_000;
        // An hour in us, read as ns: 2020 would be 18 days after 1970.
        let begun_us = 1_577_808_144_360_767;
        let text = doubt(TimeUnit::Nanoseconds, 1_000_000, begun_us, hour_us / 100);
        assert!(text.contains("read in ns, and are probably in us"), "{text}");
        assert!(text.contains("--time-unit UNIT"), "{text}");
        // No date: a gap of 50 ns becomes 50 us.
        let text = doubt(TimeUnit::Nanoseconds, 1000, 0, 50_000);
        assert!(text.contains("probably in us"), "{text}");
        // Nanoseconds read as ms.
        let text = doubt(TimeUnit::Milliseconds, 1000, 0, 5_000_000_000_000_000_000);
        assert!(text.contains("takes 158 years") && text.contains("probably in ns"), "{text}");
        // One time gives no gap.
        let text = doubt(TimeUnit::Seconds, 1000, 0, 0);
        assert!(
            text.contains("have the same time") && text.contains("name another unit"),
            "{text}"
        );
    }

    #[test]
    fn ordinary_times_are_believed() {
        assert_eq!(doubt(TimeUnit::Seconds, 3, 0, 0), "", "three I/Os within one second");
        assert_eq!(doubt(TimeUnit::Microseconds, 1_000_000, 0, 1_000_000_000), "", "1 M IOPS");
        assert_eq!(doubt(TimeUnit::Seconds, 1000, 0, 3 * 365 * 86_400_000_000_000), "");
    }
}
