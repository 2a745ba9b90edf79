//! Values of fio's options (fio's HOWTO, "Parameter types", and `parse.c` of fio 3.33).

/// The meaning of the units of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    /// `kb_base=1024`, the default: `k` and `kb` are 1,024, and `kib` is 1,000.
    Binary,
    /// `kb_base=1000`: `k` and `kb` are 1,000, and `kib` is 1,024.
    Decimal,
}

impl Units {
    /// A number of bytes or of anything else with a unit of fio; `None` if it is none.
    pub(super) fn bytes(self, text: &str) -> Option<u64> {
        let text = text.trim().to_ascii_lowercase();
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok();
        }
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let power = match unit.trim_end_matches('b').trim_end_matches('i') {
            "" => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            "p" => 5,
            _ => return None,
        };
        let factor: u64 = if self.is_decimal(unit) { 1_000 } else { 1_024 };
        let number = number.parse::<u64>().ok()?;
        number.checked_mul(factor.checked_pow(power)?)
    }

    /// Whether a unit counts thousands: fio turns the names of the IEC around unless `kb_base` is 1000.
    pub(super) fn is_decimal(self, unit: &str) -> bool {
        unit.ends_with("ib") == (self == Self::Binary)
    }
}

/// A time in ns; a plain number counts `unit_ns`.
pub(super) fn nanos(text: &str, unit_ns: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "" => unit_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// The kinds of commands, in the order of a value for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Trim,
}

/// Of a value for reads, writes and deallocations, such as `4k,8k,1m`, the one for a kind. Kinds
/// without a value have that of the kind before; an empty one is `None`: fio's default.
pub(super) fn for_kind(text: &str, kind: Kind) -> Option<&str> {
    let parts: Vec<_> = text.split(',').map(str::trim).collect();
    let own = parts.get(kind as usize).or(parts.last()).copied().unwrap_or_default();
    (!own.is_empty()).then_some(own)
}

/// Lengths with weights in percent: `4k/60:64k/40`. Those without a weight share the rest.
pub(super) fn split(text: &str, units: Units) -> Option<Vec<(u64, u32)>> {
    let entries: Vec<_> = text
        .split(':')
        .map(|entry| {
            let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
            let share = if share.is_empty() { None } else { Some(share.parse::<u32>().ok()?) };
            Some((units.bytes(size)?, share))
        })
        .collect::<Option<_>>()?;
    let named: u32 = entries.iter().filter_map(|(_, share)| *share).fold(0, u32::saturating_add);
    let without = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
    if named > 100 || (without == 0 && named != 100) {
        return None;
    }
    let rest = (100 - named).checked_div(without).unwrap_or(0);
    Some(entries.into_iter().map(|(size, share)| (size, share.unwrap_or(rest))).collect())
}

/// The most lengths of a range.
const RANGE_LENGTHS_MAX: u64 = 1_024;

/// The lengths of a range such as `4k-64k`: multiples of the shortest one, all equally often, as
/// fio draws them. `None` if it is no range, or its ends are no such lengths.
pub(super) fn range(text: &str, units: Units) -> Option<Vec<u64>> {
    let (least, most) = text.split_once(['-', ':'])?;
    let (least, most) = (units.bytes(least)?, units.bytes(most)?);
    let count = most.checked_div(least).filter(|count| (1..=RANGE_LENGTHS_MAX).contains(count))?;
    most.is_multiple_of(least).then(|| (1..=count).map(|times| times * least).collect())
}

/// Whether a flag is set: `1`, or the key alone.
pub(super) fn is_set(text: Option<&String>) -> bool {
    text.is_some_and(|text| !matches!(text.as_str(), "0" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As fio 3.33 reads `size=10gib` and so on, with and without `kb_base=1000`.
    #[test]
    fn units_are_those_of_fio() {
        for (text, binary, decimal) in [
            ("4k", 4_096, 4_000),
            ("4KB", 4_096, 4_000),
            ("4ki", 4_096, 4_000),
            ("4KiB", 4_000, 4_096),
            ("10GiB", 10_000_000_000, 10 << 30),
            ("1G", 1 << 30, 1_000_000_000),
            ("512", 512, 512),
            ("512b", 512, 512),
            ("0x1000", 4_096, 4_096),
        ] {
            assert_eq!(Units::Binary.bytes(text), Some(binary), "{text}");
            assert_eq!(Units::Decimal.bytes(text), Some(decimal), "{text}");
        }
        for text in ["4q", "", "99999999999t", "1.5g", "-4k", "0x", "4kbb4"] {
            assert_eq!(Units::Binary.bytes(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_those_of_fio() {
        assert_eq!(nanos("30", 1_000_000_000), Some(30_000_000_000));
        assert_eq!((nanos("5ms", 1_000), nanos("2m", 1)), (Some(5_000_000), Some(120_000_000_000)));
        let kinds = |text| [Kind::Read, Kind::Write, Kind::Trim].map(|kind| for_kind(text, kind));
        assert_eq!(kinds("4k"), [Some("4k"); 3]);
        assert_eq!(kinds("4k,8k"), [Some("4k"), Some("8k"), Some("8k")]);
        assert_eq!(kinds(",8k,"), [None, Some("8k"), None]);
        let split = |text| split(text, Units::Binary);
        assert_eq!(split("4k/60:64k/40"), Some(vec![(4_096, 60), (65_536, 40)]));
        assert_eq!(split("4k/50:8k/:16k/"), Some(vec![(4_096, 50), (8_192, 25), (16_384, 25)]));
        assert_eq!((split("4k/60"), split("4k/60:8k/60")), (None, None));
        let range = |text| range(text, Units::Binary);
        assert_eq!(range("4k-16k"), Some(vec![4_096, 8_192, 12_288, 16_384]));
        assert_eq!(
            (range("4k"), range("0-4k"), range("8k-4k"), range("1-1m")),
            (None, None, None, None)
        );
    }
}
