//! Values of fio's options (fio's HOWTO, "Parameter types").

/// Bytes: `4k` is 4,096, as fio counts without `kb_base=1000`; `4kb` and `4kib` are the same there.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit {
        "" | "b" => 0,
        "k" | "kb" | "ki" | "kib" => 10,
        "m" | "mb" | "mi" | "mib" => 20,
        "g" | "gb" | "gi" | "gib" => 30,
        "t" | "tb" | "ti" | "tib" => 40,
        "p" | "pb" | "pi" | "pib" => 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
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

/// Of a value for reads, writes and deallocations, such as `4k,8k`, the one for writes or for reads. A single
/// value holds for all, and an empty one is missing.
pub(super) fn for_kind(text: &str, is_write: bool) -> Option<&str> {
    let parts: Vec<_> = text.split(',').map(str::trim).collect();
    let own = if is_write { *parts.get(1).unwrap_or(&parts[0]) } else { parts[0] };
    (!own.is_empty()).then_some(own)
}

/// Lengths with weights in percent: `4k/60:64k/40`. Those without a weight share the rest.
pub(super) fn split(text: &str) -> Option<Vec<(u64, u32)>> {
    let entries: Vec<_> = text
        .split(':')
        .map(|entry| {
            let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
            let share = if share.is_empty() { None } else { Some(share.parse::<u32>().ok()?) };
            Some((bytes(size)?, share))
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

/// Whether a flag is set: `1`, or the key alone.
pub(super) fn is_set(text: Option<&String>) -> bool {
    text.is_some_and(|text| !matches!(text.as_str(), "0" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_fio() {
        assert_eq!(bytes("4k"), Some(4_096));
        assert_eq!(bytes("1G"), Some(1 << 30));
        assert_eq!((bytes("4q"), bytes(""), bytes("99999999999t")), (None, None, None));
        assert_eq!(nanos("30", 1_000_000_000), Some(30_000_000_000));
        assert_eq!((nanos("5ms", 1_000), nanos("2m", 1)), (Some(5_000_000), Some(120_000_000_000)));
        assert_eq!((for_kind("4k,8k", false), for_kind("4k,8k", true)), (Some("4k"), Some("8k")));
        assert_eq!((for_kind("4k", true), for_kind(",8k", false)), (Some("4k"), None));
        assert_eq!(split("4k/60:64k/40"), Some(vec![(4_096, 60), (65_536, 40)]));
        assert_eq!(split("4k/50:8k/:16k/"), Some(vec![(4_096, 50), (8_192, 25), (16_384, 25)]));
        assert_eq!((split("4k/60"), split("4k/60:8k/60")), (None, None));
    }
}
