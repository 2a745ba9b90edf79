//! Dates of other programs.

use chrono::{Datelike, NaiveDateTime};

/// `2024/01/06 5:41:48` or `2023-08-08 11:00:00` in ns since the Unix epoch, as if it were in UTC: the
/// programs do not write their time zone. `None` if it is no date from 1970 to 2200.
pub(super) fn unix_ns(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches('Z').replace('/', "-").replace('T', " ");
    let time = NaiveDateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S").ok()?;
    let seconds = u64::try_from(time.and_utc().timestamp()).ok()?;
    (1970..=2200).contains(&time.year()).then_some(seconds * 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_from_1970() {
        for (text, seconds) in [
            ("1970-01-01 00:00:00", 0),
            ("2024/01/06 5:41:48", 1_704_519_708),
            ("2023-08-08 11:00:00", 1_691_492_400),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2010/11/27 20:40:25", 1_290_890_425),
        ] {
            assert_eq!(unix_ns(text), Some(seconds * 1_000_000_000), "{text}");
        }
        for text in [
            "",
            "2024",
            "2024/13/01 0:0:0",
            "a/b/c d:e:f",
            "99999999999999999999/1/1 0:0:0",
            "2024/01/06",
            "1969/12/31 1:1:1",
            "2024/1/1 24:0:0",
            "2023/02/31 0:0:0",
        ] {
            assert_eq!(unix_ns(text), None, "{text}");
        }
    }
}
