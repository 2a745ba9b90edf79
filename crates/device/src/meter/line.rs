//! Lines of a power stream: numbers between separators, and a heading that names the columns.
//! `docs/reference/formats/power-stream.md` describes the format. Nothing in a line is trusted.

use super::believable_uw;

/// Quantity of a column, and its unit as a multiple of the base unit (ns, W, V, A).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Time(f64),
    Power(f64),
    Voltage(f64),
    Current(f64),
    Other,
}

/// The columns that a heading may name; others are ignored.
const COLUMNS: [(&str, Column); 12] = [
    ("time_s", Column::Time(1e9)),
    ("time_ms", Column::Time(1e6)),
    ("time_us", Column::Time(1e3)),
    ("time_ns", Column::Time(1.0)),
    ("power_w", Column::Power(1.0)),
    ("power_mw", Column::Power(1e-3)),
    ("power_uw", Column::Power(1e-6)),
    ("voltage_v", Column::Voltage(1.0)),
    ("voltage_mv", Column::Voltage(1e-3)),
    ("current_a", Column::Current(1.0)),
    ("current_ma", Column::Current(1e-3)),
    ("current_ua", Column::Current(1e-6)),
];

/// Fields that a line may have.
const FIELDS_MAX: usize = 64;

/// Meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line {
    /// Nothing: empty, a comment, or a heading.
    Silent,
    /// Power, and the time in ns if there is one.
    Reading { time_ns: Option<f64>, power_uw: i64 },
    /// No reading, with the reason.
    Bad(&'static str),
}

/// Decodes lines, and remembers the heading.
#[derive(Debug, Default)]
pub(super) struct Lines {
    heading: Option<Vec<Column>>,
}

impl Lines {
    /// Reads one line without its end.
    pub(super) fn read(&mut self, line: &[u8]) -> Line {
        let Ok(text) = std::str::from_utf8(line) else { return Line::Bad("is no text") };
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Line::Silent;
        }
        let fields = split(text);
        if fields.len() > FIELDS_MAX {
            return Line::Bad("has too many fields");
        }
        if let Some(heading) = heading(&fields) {
            self.heading = Some(heading);
            return Line::Silent;
        }
        match (&self.heading, fields.len()) {
            (Some(heading), _) => reading(heading, &fields),
            (None, 1) => reading(&[Column::Power(1.0)], &fields),
            (None, 2) => reading(&[Column::Time(1e9), Column::Power(1.0)], &fields),
            (None, _) => {
                Line::Bad("has more than time and power, and no heading says what they are")
            }
        }
    }
}

/// Fields between commas, semicolons or tabs, or else between blanks.
fn split(text: &str) -> Vec<&str> {
    let separators = [',', ';', '\t'];
    if text.contains(separators) {
        return text.split(separators).map(str::trim).collect();
    }
    text.split_whitespace().collect()
}

/// The columns of a heading: at least one of its fields is known.
fn heading(fields: &[&str]) -> Option<Vec<Column>> {
    let column = |field: &&str| {
        let name = field.trim_matches('"').to_ascii_lowercase();
        COLUMNS
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(Column::Other, |(_, column)| *column)
    };
    let columns: Vec<_> = fields.iter().map(column).collect();
    columns.iter().any(|column| *column != Column::Other).then_some(columns)
}

fn reading(heading: &[Column], fields: &[&str]) -> Line {
    if fields.len() < heading.len() {
        return Line::Bad("has fewer fields than the heading");
    }
    let (mut time_ns, mut power_w, mut voltage_v, mut current_a) = (None, None, None, None);
    for (column, field) in heading.iter().zip(fields) {
        let (place, unit) = match column {
            Column::Time(unit) => (&mut time_ns, *unit),
            Column::Power(unit) => (&mut power_w, *unit),
            Column::Voltage(unit) => (&mut voltage_v, *unit),
            Column::Current(unit) => (&mut current_a, *unit),
            Column::Other => continue,
        };
        match field.parse::<f64>() {
            Ok(value) if value.is_finite() => *place = Some(value * unit),
            _ => return Line::Bad("has a field that is no number"),
        }
    }
    let product = || Some(voltage_v? * current_a?);
    match power_w.or_else(product).map(believable_uw) {
        Some(Some(power_uw)) => Line::Reading { time_ns, power_uw },
        Some(None) => Line::Bad("has a power beyond 1 kW"),
        None => Line::Bad("has neither a power nor voltage and current"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(lines: &[&str]) -> Vec<Line> {
        let mut reader = Lines::default();
        lines.iter().map(|line| reader.read(line.as_bytes())).collect()
    }

    fn at(time_ns: f64, power_uw: i64) -> Line {
        Line::Reading { time_ns: Some(time_ns), power_uw }
    }

    #[test]
    fn without_a_heading_a_line_is_power_or_time_and_power() {
        let want = [
            Line::Reading { time_ns: None, power_uw: 2_500_000 },
            at(500_000_000.0, 3_000_000),
            at(1e9, -20_000),
        ];
        assert_eq!(said(&["2.5", "0.5,3", " 1\t-0.02 \r"]), want);
        assert!(matches!(said(&["1,2,3"])[0], Line::Bad(_)));
    }

    #[test]
    fn a_heading_says_what_the_columns_are() {
        let lines =
            ["# my meter", "Time_ms;note;voltage_v;current_mA", "10;x;5;400;more", "", "11;;3.3;1"];
        let want = [Line::Silent, Line::Silent, at(1e7, 2_000_000), Line::Silent, at(1.1e7, 3_300)];
        assert_eq!(said(&lines), want);
        let again = said(&["power_mw", "70", "time_s,power_mw", "3,71"]);
        assert_eq!(again[1], Line::Reading { time_ns: None, power_uw: 70_000 });
        assert_eq!(again[3], at(3e9, 71_000), "a logger that starts anew heads its lines anew");
    }

    #[test]
    fn what_is_no_reading_says_why() {
        for (lines, why) in [
            (["", "nan"], "no number"),
            (["", "inf"], "no number"),
            (["", "1e300"], "1 kW"),
            (["", "drive,power"], "no number"),
            (["power_w,time_s", "5"], "fewer fields"),
            (["time_s,voltage_v", "1,5"], "neither a power"),
        ] {
            let Line::Bad(words) = said(&lines)[1] else { panic!("{lines:?} passed") };
            assert!(words.contains(why), "{lines:?}: {words}");
        }
        let mut reader = Lines::default();
        assert_eq!(reader.read(b"\xff\xfe"), Line::Bad("is no text"));
        assert_eq!(reader.read(&b"1,".repeat(200)), Line::Bad("has too many fields"));
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(lines in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..80), 0..8)) {
            let mut reader = Lines::default();
            for line in lines {
                if let Line::Reading { power_uw, .. } = reader.read(&line) {
                    prop_assert!(power_uw.abs() <= super::super::POWER_UW_MAX);
                }
            }
        }

        #[test]
        fn numbers_in_any_dress_are_read_back(power_uw in -1_000_000_000i64..=1_000_000_000, ms in 0u32..) {
            let power_w = power_uw as f64 / 1e6;
            let line = format!("{ms},{power_w}");
            let found = said(&["time_ms,power_w", &line]);
            prop_assert_eq!(found[1], at(f64::from(ms) * 1e6, power_uw));
        }
    }
}
