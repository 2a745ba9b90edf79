//! Units of time in trace files.

use std::str::FromStr;

use chrono::NaiveDate;

use super::fields::{FieldFault, number, scaled};
use crate::trace::TraceError;

/// From 1601-01-01, where Windows file time begins, to 1970-01-01.
pub(in crate::trace) const UNIX_EPOCH_TICKS: u64 = 116_444_736_000_000_000;

/// The unit of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, decimals allowed.
    Seconds,
    /// Milliseconds, decimals allowed.
    Milliseconds,
    /// Microseconds, decimals allowed.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Windows file time: ticks of 100 ns since 1601-01-01.
    FileTime,
    /// Date and time of the day in UTC: `2016-02-22 10:00:00.013118`, optionally with `T` in
    /// between and `Z` behind.
    DateTime,
}

impl TimeUnit {
    /// Every unit.
    pub const ALL: [Self; 6] = [
        Self::Seconds,
        Self::Milliseconds,
        Self::Microseconds,
        Self::Nanoseconds,
        Self::FileTime,
        Self::DateTime,
    ];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
            Self::FileTime => "filetime",
            Self::DateTime => "datetime",
        }
    }

    /// Nanoseconds in one; `None` for dates, which are no count.
    pub const fn unit_ns(self) -> Option<u64> {
        match self {
            Self::Seconds => Some(1_000_000_000),
            Self::Milliseconds => Some(1_000_000),
            Self::Microseconds => Some(1000),
            Self::Nanoseconds => Some(1),
            Self::FileTime => Some(100),
            Self::DateTime => None,
        }
    }

    /// A point in time in ns: since 1970 if the file has a date, else since the start of its own
    /// clock.
    pub(crate) fn point_ns(self, text: &[u8], what: &'static str) -> Result<u64, FieldFault> {
        match self {
            Self::FileTime => {
                let ticks = number(text, what)?;
                // Some tools write times since the start of their trace in the same ticks.
                let ticks = ticks.checked_sub(UNIX_EPOCH_TICKS).unwrap_or(ticks);
                Ok(ticks.saturating_mul(100))
            }
            Self::DateTime => date_time_ns(text).ok_or_else(|| {
                FieldFault::new(what, "a date and time such as 2016-02-22 10:00:00.013", text)
            }),
            _ => self.length_ns(text, what),
        }
    }

    /// A length of time in ns. Beside dates, lengths are in seconds.
    pub(crate) fn length_ns(self, text: &[u8], what: &'static str) -> Result<u64, FieldFault> {
        let digits = match self {
            Self::Seconds | Self::DateTime => 9,
            Self::Milliseconds => 6,
            Self::Microseconds => 3,
            Self::Nanoseconds => 0,
            Self::FileTime => 2,
        };
        scaled(text, digits, what).map_err(|fault| {
            if number(text, what).is_err() {
                return fault;
            }
            let unit = self.name();
            let expected =
                format!("less than 584 years in {unit} (--time-unit names another unit)");
            FieldFault::new(what, expected, text)
        })
    }
}

impl FromStr for TimeUnit {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        Self::ALL.into_iter().find(|unit| unit.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            TraceError::Usage(format!("the unit of time is `{text}`; known are {names}"))
        })
    }
}

/// `YYYY-MM-DD HH:MM:SS[.decimals]` as ns since 1970; `None` for other text, or an earlier time.
fn date_time_ns(text: &[u8]) -> Option<u64> {
    let text = text.strip_suffix(b"Z").unwrap_or(text);
    let (date, time) = text.split_at_checked(10)?;
    let time = time.strip_prefix(b" ").or_else(|| time.strip_prefix(b"T"))?;
    let whole = |text: &[u8]| -> Option<u64> {
        let digits = text.len() == 2 || text.len() == 4;
        let text = std::str::from_utf8(text).ok()?;
        text.parse().ok().filter(|_| digits && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (mut date, mut time) = (date.split(|b| *b == b'-'), time.split(|b| *b == b':'));
    let [year, month, day] = [date.next()?, date.next()?, date.next()?].map(whole);
    let [hour, minute] = [time.next()?, time.next()?].map(whole);
    let second_ns = scaled(time.next()?, 9, "").ok().filter(|&ns| ns < 61_000_000_000)?;
    let days = days_since_1970(year?, month?, day?)?;
    let minutes = days * 1440 + hour.filter(|&h| h < 24)? * 60 + minute.filter(|&m| m < 60)?;
    let ended = date.next().is_none() && time.next().is_none();
    (minutes * 60).checked_mul(1_000_000_000)?.checked_add(second_ns).filter(|_| ended)
}

/// Days of the Gregorian calendar; `None` for a day that does not exist, or lies before 1970.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let (month, day) = (u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    u64::try_from(date.to_epoch_days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_from_1970() {
        let seconds = |text: &str| date_time_ns(text.as_bytes()).map(|ns| ns / 1_000_000_000);
        assert_eq!(seconds("1970-01-01 00:00:00"), Some(0));
        assert_eq!(seconds("2000-03-01T00:00:00Z"), Some(951_868_800));
        assert_eq!(seconds("2016-02-29 23:59:59.5"), Some(1_456_790_399));
        assert_eq!(date_time_ns(b"2016-02-22 10:00:00.013118"), Some(1_456_135_200_013_118_000));
        for bad in
            ["2015-02-29 00:00:00", "1969-12-31 00:00:00", "2016-13-01 00:00:00", "2016-02-22", "x"]
        {
            assert_eq!(seconds(bad), None, "{bad}");
        }
        assert_eq!(seconds("2016-02-22 24:00:00"), None);
    }

    #[test]
    fn every_unit_is_exact_and_found_by_its_name() {
        let ns = |unit: TimeUnit, text: &str| unit.point_ns(text.as_bytes(), "the time").unwrap();
        assert_eq!(ns(TimeUnit::Seconds, "1.5"), 1_500_000_000);
        assert_eq!(ns(TimeUnit::Milliseconds, "1.5"), 1_500_000);
        assert_eq!(ns(TimeUnit::Microseconds, "1.5"), 1500);
        assert_eq!(ns(TimeUnit::Nanoseconds, "15"), 15);
        assert_eq!(ns(TimeUnit::FileTime, "116444736000000015"), 1500);
        let late = TimeUnit::Microseconds.point_ns(b"1577808144360767000", "the time");
        let late = late.unwrap_err().to_string();
        assert!(late.contains("expected less than 584 years in us (--time-unit"), "{late}");
        for unit in TimeUnit::ALL {
            assert_eq!(unit.name().parse::<TimeUnit>().unwrap(), unit);
        }
        let error = "minutes".parse::<TimeUnit>().unwrap_err().to_string();
        assert!(error.contains("known are s, ms, us, ns, filetime, datetime"), "{error}");
    }
}
