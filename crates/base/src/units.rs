//! Bytes, nanoseconds and ratios as types that parse, print and check their arithmetic.
//!
//! Sizes: `k`, `KiB`, `M`, `MiB`, … are powers of 1,024 as in block sizes; `KB`, `MB`, `GB`, … are
//! decimal, as storage vendors use them. Times: `ns`, `us`, `ms`, `s`, `m`/`min`, `h`.
//! Ratios: `25%`, `0.25` or `1/4`.

use std::fmt;
use std::str::FromStr;

/// A value that cannot be read in its expected unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {expected}")]
pub struct UnitError {
    value: String,
    expected: &'static str,
}

impl UnitError {
    fn new(value: &str, expected: &'static str) -> Self {
        Self { value: crate::text::shortened(value), expected }
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A time or a duration in nanoseconds.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Nanos(pub u64);

/// A share between 0 and 1 as an exact fraction; no floating point enters a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

const BYTES_EXPECTED: &str = "a size such as `4096`, `128KiB`, `8GiB` or `480GB`";
const NANOS_EXPECTED: &str = "a time such as `60s`, `20m`, `1.5ms` or `2h`";
const RATIO_EXPECTED: &str = "a share from 0 to 1 such as `25%`, `0.25` or `1/64`";

const BYTE_UNITS: [(&str, u64); 18] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1_000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
    ("p", 1 << 50),
    ("pib", 1 << 50),
    ("pb", 1_000_000_000_000_000),
    ("sectors", 512),
];

const NANO_UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Splits `1.5ms` into the exact fraction 15/10 and the unit `ms`.
fn split_number(text: &str) -> Option<(u128, u128, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || whole.len() > 20 || fraction.len() > 12 {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, scale, unit.trim().to_ascii_lowercase()))
}

/// Reads a number with one of `units`; a fraction of the smallest step is an error, not a rounding.
fn parse_scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (digits, scale, unit) = split_number(text)?;
    let &(_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let scaled = digits.checked_mul(u128::from(factor))?;
    if !scaled.is_multiple_of(scale) {
        return None;
    }
    u64::try_from(scaled / scale).ok()
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_scaled(text, &BYTE_UNITS)
            .map(Self)
            .ok_or_else(|| UnitError::new(text, BYTES_EXPECTED))
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_scaled(text, &NANO_UNITS)
            .map(Self)
            .ok_or_else(|| UnitError::new(text, NANOS_EXPECTED))
    }
}

impl FromStr for Ratio {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::new(text, RATIO_EXPECTED);
        let parsed = if let Some((numerator, denominator)) = text.split_once('/') {
            numerator.trim().parse().ok().zip(denominator.trim().parse().ok())
        } else {
            split_number(text).and_then(|(digits, scale, unit)| {
                let percent = match unit.as_str() {
                    "" => 1,
                    "%" => 100,
                    _ => return None,
                };
                let denominator = u64::try_from(scale.checked_mul(percent)?).ok()?;
                Some((u64::try_from(digits).ok()?, denominator))
            })
        };
        let (numerator, denominator) = parsed.ok_or_else(error)?;
        Self::new(numerator, denominator).ok_or_else(error)
    }
}

impl Bytes {
    /// Sum, or `None` if it does not fit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Difference, or `None` if it would be negative.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Product, or `None` if it does not fit.
    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        self.0.checked_mul(factor).map(Self)
    }

    /// Rounded, in the decimal unit that drives are sold in: `480.1 GB`.
    pub fn rounded(self) -> String {
        let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)];
        let value = self.0 as f64;
        match units.into_iter().find(|(_, factor)| value >= *factor) {
            Some((unit, factor)) => format!("{:.1} {unit}", value / factor),
            None => format!("{} B", self.0),
        }
    }

    /// The largest multiple of `step` (not zero) that is not larger.
    #[must_use]
    pub fn align_down(self, step: Self) -> Self {
        Self(self.0 - self.0 % step.0)
    }
}

impl Nanos {
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);

    /// Sum, or `None` if it does not fit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Difference, or `None` if it would be negative.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Seconds as a float, for statistics and drawing only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Ratio {
    /// The whole: 1/1.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// A share, or `None` if the denominator is zero or the value is larger than 1.
    pub const fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator > denominator {
            return None;
        }
        Some(Self { numerator, denominator })
    }

    /// This share of `value`, rounded down.
    pub fn of(self, value: u64) -> u64 {
        let product = u128::from(value) * u128::from(self.numerator);
        u64::try_from(product / u128::from(self.denominator)).unwrap_or(u64::MAX)
    }

    /// The remaining share: 1 - self.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self { numerator: self.denominator - self.numerator, denominator: self.denominator }
    }

    /// Whether the share is zero.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// As a float, for statistics and messages only.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl fmt::Display for Bytes {
    /// The exact value in the unit, binary or decimal, that needs the smallest number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 8] = [
            ("TiB", 1 << 40),
            ("TB", 1_000_000_000_000),
            ("GiB", 1 << 30),
            ("GB", 1_000_000_000),
            ("MiB", 1 << 20),
            ("MB", 1_000_000),
            ("KiB", 1 << 10),
            ("KB", 1_000),
        ];
        let exact =
            |(_, factor): &&(&str, u64)| self.0 >= *factor && self.0.is_multiple_of(*factor);
        match UNITS.iter().filter(exact).max_by_key(|(_, factor)| factor) {
            Some((name, factor)) => write!(f, "{}{name}", self.0 / factor),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
        for (name, factor) in UNITS {
            if self.0 >= factor && self.0.is_multiple_of(factor) {
                return write!(f, "{}{name}", self.0 / factor);
            }
        }
        write!(f, "{}ns", self.0)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (u128::from(self.numerator) * 100).is_multiple_of(u128::from(self.denominator)) {
            return write!(f, "{}%", self.of(100));
        }
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_read_as_the_field_writes_them() {
        for (text, want) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4 KiB", 4096),
            ("128KiB", 131_072),
            ("480GB", 480_000_000_000),
            ("1.5MiB", 1_572_864),
            ("2_000", 2_000),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(want)), "{text}");
        }
        for text in ["", "GiB", "-1", "4x", "0.3", "1e3", "99999999999PiB", "1.2.3"] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}` ")), "{error}");
        }
    }

    #[test]
    fn sizes_print_in_the_unit_that_suits_them() {
        for (bytes, want) in [
            (4096, "4KiB"),
            (480_000_000_000, "480GB"),
            (1 << 40, "1TiB"),
            (1_500, "1500B"),
            (0, "0B"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), want);
        }
    }

    #[test]
    fn sizes_round_as_drives_are_sold() {
        for (bytes, want) in
            [(480_103_981_056, "480.1 GB"), (1 << 40, "1.1 TB"), (1_500, "1.5 KB"), (999, "999 B")]
        {
            assert_eq!(Bytes(bytes).rounded(), want);
        }
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!("60s".parse(), Ok(Nanos(60_000_000_000)));
        assert_eq!("1.5ms".parse(), Ok(Nanos(1_500_000)));
        assert_eq!("20m".parse(), Ok(Nanos(1_200_000_000_000)));
        let error = "60".parse::<Nanos>().unwrap_err().to_string();
        assert!(error.contains("`60` is not a time such as `60s`"), "{error}");
    }

    #[test]
    fn shares_stay_between_none_and_all() {
        assert_eq!("25%".parse::<Ratio>().unwrap().of(256), 64);
        assert_eq!("0.25".parse::<Ratio>().unwrap().of(256), 64);
        assert_eq!("1/64".parse::<Ratio>().unwrap().of(640), 10);
        assert_eq!("25%".parse::<Ratio>().unwrap().complement().of(256), 192);
        for text in ["120%", "1/0", "2", "25 percent", "-5%"] {
            let error = text.parse::<Ratio>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}` ")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_reading_give_the_same(value in any::<u64>(), n in 0_u64..1000, d in 1_u64..1000) {
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
            prop_assert_eq!(Nanos(value).to_string().parse(), Ok(Nanos(value)));
            if let Some(ratio) = Ratio::new(n, d) {
                let read: Ratio = ratio.to_string().parse().unwrap();
                prop_assert_eq!(read.of(1 << 40), ratio.of(1 << 40));
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Nanos>();
            let _ = text.parse::<Ratio>();
        }
    }
}
