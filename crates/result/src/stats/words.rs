//! Numbers in sentences.

/// From this number of nanoseconds on, a latency reads better in this unit.
const LATENCY_UNITS: [(f64, &str); 3] = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];

/// Three significant digits with thousands separators: 12,300. More would claim too much.
pub fn count(value: f64) -> String {
    let digits = (value.abs().max(1.0).log10().floor() as i32 - 2).max(0);
    let scale = 10_f64.powi(digits);
    let plain = format!("{:.0}", (value / scale).round() * scale);
    let mut grouped = String::new();
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A share (0 to 1) in percent. `0%` means none and `100%` all: no other share is rounded to them.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match share {
        ..=0.0 => "0%".to_owned(),
        ..0.001 => "less than 0.1%".to_owned(),
        ..0.01 => format!("{percent:.1}%"),
        0.995..=0.999 => format!("{:.1}%", (percent * 10.0).floor() / 10.0),
        0.999..1.0 => "more than 99.9%".to_owned(),
        _ => format!("{percent:.0}%"),
    }
}

/// A volume in sentences: decimal gigabytes, below one of them megabytes.
pub fn volume(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.1} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

/// A latency in the most readable unit, with three significant digits at most.
pub fn time(ns: f64) -> String {
    let unit = LATENCY_UNITS.into_iter().find(|(unit_ns, _)| ns >= *unit_ns);
    let (unit_ns, name) = unit.unwrap_or((1.0, "ns"));
    let value = ns / unit_ns;
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        for (value, want) in [
            (0.0, "0"),
            (7.4, "7"),
            (999.6, "1,000"),
            (12_345.0, "12,300"),
            (1_234_567.0, "1,230,000"),
        ] {
            assert_eq!(count(value), want);
        }
        for (ns, want) in [
            (0.0, "0 ns"),
            (812.0, "812 ns"),
            (3_000.0, "3 us"),
            (12_340_000.0, "12.3 ms"),
            (2.5e9, "2.5 s"),
        ] {
            assert_eq!(time(ns), want);
        }
    }

    #[test]
    fn all_and_none_are_said_of_all_and_none_only() {
        for (share, want) in [
            (0.0, "0%"),
            (1.0 / 2_000.0, "less than 0.1%"),
            (0.001, "0.1%"),
            (0.25, "25%"),
            (0.994, "99%"),
            (0.9968, "99.6%"),
            (0.999, "99.9%"),
            (1_999.0 / 2_000.0, "more than 99.9%"),
            (1.0, "100%"),
            (1.04, "104%"),
        ] {
            assert_eq!(percent(share), want, "{share}");
        }
    }

    #[test]
    fn a_volume_below_a_gigabyte_is_told_in_megabytes() {
        assert_eq!(
            (volume(32_243_712.0), volume(6e9)),
            ("32.2 MB".to_owned(), "6.0 GB".to_owned())
        );
    }
}
