//! Dates of other programs.

/// `2024/01/06 5:41:48` or `2023-08-08 11:00:00` in ns since the Unix epoch, as if it were in UTC: the
/// programs do not write their time zone. `None` if it is no date from 1970 to 2200.
pub(super) fn unix_ns(text: &str) -> Option<u64> {
    let (date, time) = text.trim().split_once([' ', 'T'])?;
    let three = |text: &str, separators: [char; 2]| {
        let parts = text.trim().split(separators).map(|part| part.parse::<u64>().ok());
        <[u64; 3]>::try_from(parts.collect::<Option<Vec<_>>>()?).ok()
    };
    let [year, month, day] = three(date, ['/', '-'])?;
    let [hour, minute, second] = three(time.trim_end_matches('Z'), [':', ':'])?;
    let is_one = (1970..=2200).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    is_one.then(|| seconds * 1_000_000_000)
}

/// Days from 1970-01-01 to a day, by Hinnant's `days_from_civil`.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year.saturating_sub(1) } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + day.saturating_sub(1);
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    (era * 146_097 + of_era).saturating_sub(719_468)
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
        ] {
            assert_eq!(unix_ns(text), None, "{text}");
        }
    }
}
