//! Fields of a line: split, and read as integers. No floating point: times are exact.

use std::borrow::Cow;
use std::fmt;

use base::OpKind;

use crate::trace::Record;

/// An unreadable field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    what: &'static str,
    expected: Cow<'static, str>,
    found: Vec<u8>,
}

/// Bytes of a field in a fault.
const FOUND_BYTES_MAX: usize = 40;

impl FieldFault {
    /// The field `what` should be `expected`, but is `found`.
    pub fn new(what: &'static str, expected: impl Into<Cow<'static, str>>, found: &[u8]) -> Self {
        let found = found[..found.len().min(FOUND_BYTES_MAX)].to_vec();
        Self { what, expected: expected.into(), found }
    }
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, expected, found } = self;
        if found.is_empty() {
            return write!(f, "{what} is missing, expected {expected}");
        }
        write!(f, "{what} is `{}`, expected {expected}", String::from_utf8_lossy(found))
    }
}

/// A whole number.
pub(crate) fn number(text: &[u8], what: &'static str) -> Result<u64, FieldFault> {
    decimal(text, 0, what)
}

/// A number in hexadecimal with `0x`, or a decimal one.
pub(crate) fn hex_or_number(text: &[u8], what: &'static str) -> Result<u64, FieldFault> {
    let Some(digits) = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")) else {
        return number(text, what);
    };
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'));
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| FieldFault::new(what, "a number", text))
}

/// A number below 2^32.
pub(crate) fn number_u32(text: &[u8], what: &'static str) -> Result<u32, FieldFault> {
    u32::try_from(number(text, what)?)
        .map_err(|_| FieldFault::new(what, "a number below 2^32", text))
}

/// A number such as `12.5` or `7e-06`, times 10^`digits`; further digits are cut off. With 9,
/// seconds become ns.
pub(crate) fn scaled(text: &[u8], digits: u32, what: &'static str) -> Result<u64, FieldFault> {
    let Some(at) = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e')) else {
        return decimal(text, digits, what);
    };
    let fault = || FieldFault::new(what, "a number", text);
    let exponent = std::str::from_utf8(&text[at + 1..]).ok().and_then(|text| text.parse().ok());
    let exponent: i32 = exponent.ok_or_else(fault)?;
    let places = i64::from(digits) + i64::from(exponent);
    match u32::try_from(places) {
        Ok(places) if places <= DIGITS_MAX => decimal(&text[..at], places, what),
        Ok(_) => Err(fault()),
        // Whole ones first: the cut-off digits are the same.
        Err(_) => {
            let whole = decimal(&text[..at], 0, what)?;
            let divisor = u32::try_from(-places).ok().and_then(|places| 10_u64.checked_pow(places));
            Ok(divisor.map_or(0, |divisor| whole / divisor))
        }
    }
}

/// Most decimal digits of a number of 64 bits, less one.
const DIGITS_MAX: u32 = 19;

/// A number such as `12.5`, times 10^`digits`; further digits are cut off.
fn decimal(text: &[u8], digits: u32, what: &'static str) -> Result<u64, FieldFault> {
    let fault = || FieldFault::new(what, "a number", text);
    let (mut value, mut point, mut decimals, mut any) = (0_u64, false, 0_u32, false);
    for &byte in text {
        match byte {
            b'0'..=b'9' if point && decimals == digits => any = true,
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                value =
                    value.checked_mul(10).and_then(|v| v.checked_add(digit)).ok_or_else(fault)?;
                decimals += u32::from(point);
                any = true;
            }
            b'.' if !point => point = true,
            _ => return Err(fault()),
        }
    }
    let factor = 10_u64.pow(digits - decimals);
    let value = value.checked_mul(factor).filter(|_| any);
    value.ok_or_else(fault)
}

/// `sectors` of 512 bytes as bytes.
pub(crate) fn sectors(text: &[u8], what: &'static str) -> Result<u64, FieldFault> {
    number(text, what)?
        .checked_mul(512)
        .ok_or_else(|| FieldFault::new(what, "a sector below 2^55", text))
}

/// A read or write of these bytes, with the limits of a record checked.
pub(crate) fn io(
    issue_ns: u64,
    op: OpKind,
    (offset, offset_text): (u64, &[u8]),
    (len, len_text): (u64, &[u8]),
) -> Result<Record, FieldFault> {
    const LAST: u64 = i64::MAX as u64;
    let len = u32::try_from(len).ok().filter(|&len| len > 0 || op == OpKind::Flush);
    let len = len.ok_or_else(|| FieldFault::new("the length", "1 byte to 4 GiB", len_text))?;
    if offset.saturating_add(u64::from(len)) > LAST {
        return Err(FieldFault::new("the offset", "a byte below 2^63", offset_text));
    }
    if issue_ns > LAST {
        return Err(FieldFault::new("the time", "less than 2^63 ns", b"a later one"));
    }
    Ok(Record::new(issue_ns, op, offset, len))
}

/// The fields of a line between separators, without blanks around them.
pub(crate) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

/// Fields between this separator.
pub(crate) fn separated(line: &[u8], separator: u8) -> Fields<'_> {
    Fields { rest: Some(line), separator }
}

/// Fields between runs of blanks.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let field = match rest.iter().position(|&byte| byte == self.separator) {
            Some(end) => {
                self.rest = Some(&rest[end + 1..]);
                &rest[..end]
            }
            None => {
                self.rest = None;
                rest
            }
        };
        Some(field.trim_ascii())
    }
}

/// The next field; an empty one where the line ends early, which no field accepts.
pub(crate) fn next<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> &'a [u8] {
    fields.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(scaled(b"1.000000001", 9, "t"), Ok(1_000_000_001));
        assert_eq!(scaled(b"2", 9, "t"), Ok(2_000_000_000));
        assert_eq!(scaled(b"0.0000000019", 9, "t"), Ok(1));
        assert_eq!(scaled(b"7.", 3, "t"), Ok(7000));
        for bad in [&b""[..], b".", b"-1", b"1.2.3", b"99999999999999999999", b" 1"] {
            assert!(scaled(bad, 9, "t").is_err(), "{bad:?}");
        }
    }

    #[test]
    fn times_may_have_exponents_and_places_may_not() {
        assert_eq!(scaled(b"7e-06", 9, "t"), Ok(7000));
        assert_eq!(scaled(b"1.5E+2", 9, "t"), Ok(150_000_000_000));
        assert_eq!(scaled(b"1.5e0", 3, "t"), Ok(1500));
        assert_eq!(scaled(b"1234.5e-2", 0, "t"), Ok(12));
        assert_eq!(scaled(b"9e-2000000000", 9, "t"), Ok(0));
        for bad in [&b"1e"[..], b"e3", b"1e3e4", b"1e99", b"1e2.5", b"1e+-2", b"1e4294967296"] {
            assert!(scaled(bad, 9, "t").is_err(), "{bad:?}");
        }
        assert!(number(b"1e3", "the offset").is_err(), "it may be rounded");
    }

    #[test]
    fn a_fault_names_field_value_and_what_was_expected() {
        let fault = number(b"abc", "the offset").unwrap_err().to_string();
        assert_eq!(fault, "the offset is `abc`, expected a number");
        let fault = number(b"", "the offset").unwrap_err().to_string();
        assert_eq!(fault, "the offset is missing, expected a number");
    }
}
