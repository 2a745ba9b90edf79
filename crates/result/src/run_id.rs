//! Names of run directories: their grammar, their making, and dates as people read them.

use base::Rng;
use chrono::{DateTime, Timelike, Utc};

const DRIVE_CHARS_MAX: usize = 40;
const WORD_CHARS_MAX: usize = 24;
/// Longest id in bytes: with a suffix it is still a file name.
const ID_BYTES_MAX: usize = 200;
/// Names that a library, the command line or another operating system has for something else.
const RESERVED: [&str; 6] = ["latest", "facts", "con", "prn", "aux", "nul"];
/// Beginnings of such names: the index of a library with the files that SQLite keeps beside it.
const RESERVED_BEGIN: &str = "index.sqlite";

/// The grammar of [`is_run_id`] in words.
pub const RUN_ID_RULE: &str = "expected letters, digits, `.`, `_` and `-`, at most 200 of them, a letter, digit or `_` \
     first and no `.` last; and not `latest`, `facts`, `index.sqlite` or the name of a device of Windows";

/// Whether a text can be the id of a run, and thus a name in a library, in an address and on any
/// file system. Every id that comes from elsewhere passes this before it becomes a name.
pub fn is_run_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=ID_BYTES_MAX).contains(&text.len())
        && text.bytes().all(is_plain)
        && !text.starts_with(['.', '-'])
        && !text.ends_with('.')
        && !is_reserved(&text.to_ascii_lowercase())
}

/// Whether the name is taken in a library, or denotes a device of Windows, whatever its end.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']));
    is_port || RESERVED.contains(&stem) || name.starts_with(RESERVED_BEGIN)
}

/// A wall-clock time in ns since the Unix epoch, as a calendar and a clock show it.
fn utc(unix_ns: u64) -> DateTime<Utc> {
    let seconds = i64::try_from(unix_ns / 1_000_000_000).unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, 0).unwrap_or_default()
}

/// A wall-clock time in ns since the Unix epoch as RFC 3339 in UTC, e.g. `2026-11-21T03:15:00Z`;
/// the fraction of a second is cut off.
pub fn rfc3339(unix_ns: u64) -> String {
    utc(unix_ns).format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Lower-case letters, digits and single dashes, at most `chars_max` of them.
fn sanitise(text: &str, chars_max: usize) -> String {
    let mut clean = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            clean.push(c.to_ascii_lowercase());
        } else if !clean.is_empty() && !clean.ends_with('-') {
            clean.push('-');
        }
    }
    clean.truncate(chars_max);
    let clean = clean.trim_end_matches('-');
    if clean.is_empty() { "unnamed".to_owned() } else { clean.to_owned() }
}

/// The name of a run directory: `20261121-031500-consistency-<drive>-<variant>-<4 hex>`.
///
/// Names sort by their start in UTC; everything is `[a-z0-9-]`. The four hex digits come from all
/// arguments and `salt`: give runs that may start in the same second different salts (a counter,
/// the process id), and on `StoreError::RunExists` try again with the next one.
pub fn run_id(
    started_unix_ns: u64,
    test: &str,
    target_name: &str,
    variant: &str,
    salt: u64,
) -> String {
    let start = utc(started_unix_ns);
    let words = format!(
        "{}-{}-{}",
        sanitise(test, WORD_CHARS_MAX),
        sanitise(target_name, DRIVE_CHARS_MAX),
        sanitise(variant, WORD_CHARS_MAX)
    );
    let nanosecond = started_unix_ns % 1_000_000_000;
    let seed = format!("{} {nanosecond} {test} {target_name} {variant}", start.second());
    let mix = Rng::split(salt, &seed).next_u64() >> 48;
    format!("{}-{words}-{mix:04x}", start.format("%Y%m%d-%H%M%S"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reserved_and_dangerous_names_are_no_ids() {
        let long = "x".repeat(ID_BYTES_MAX + 1);
        let path = "a/b";
        for text in [
            "",
            ".",
            "..",
            "-",
            "-rf",
            "--help",
            ".hidden",
            path,
            "/etc",
            "../up",
            "a\\b",
            "a b",
            "a\nb",
            "a\0b",
            "a\u{1b}[2J",
            "größe",
            "a\u{202e}b",
            "a:b",
            "a*",
            "a?",
            "a%2f",
            "ends.",
            "latest",
            "Latest",
            "LATEST",
            "latest.zz",
            "facts",
            "FACTS",
            "facts.toml",
            "index.sqlite",
            "index.sqlite-journal",
            "index.sqlite-wal",
            "index.sqlite-shm",
            "INDEX.SQLITE-WAL",
            "index.sqlite2",
            "con",
            "NUL",
            "nul.txt",
            "aux.a.b",
            "prn",
            "com1",
            "LPT9.zz",
            &long,
        ] {
            assert!(!is_run_id(text), "{text:?}");
        }
        for text in [
            "run-1",
            "live",
            "a",
            "7",
            "_a",
            "a.b",
            "a-",
            "latest-1",
            "factsheet",
            "index",
            "console",
            "com10",
            "nullable",
            "20261121-031500-consistency-example-480-default-0000",
            &long[1..],
        ] {
            assert!(is_run_id(text), "{text:?}");
        }
    }

    const STARTED_UNIX_NS: u64 = 1_795_230_900_123_456_789;

    #[test]
    fn dates_match_the_calendar() {
        for (unix_s, want) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_795_230_900, "2026-11-21T03:15:00Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(unix_s * 1_000_000_000), want);
        }
    }

    #[test]
    fn an_id_says_when_what_and_on_which_drive() {
        let id = run_id(STARTED_UNIX_NS, "consistency", "ACME SSD (960 GB)", "25%", 0);
        assert!(id.starts_with("20261121-031500-consistency-acme-ssd-960-gb-25-"), "{id}");
        assert_ne!(id, run_id(STARTED_UNIX_NS, "consistency", "ACME SSD (960 GB)", "25%", 1));
    }

    proptest! {
        #[test]
        fn any_name_gives_a_plain_directory_name(ns: u64, test: String, drive: String, variant: String, salt: u64) {
            let id = run_id(ns, &test, &drive, &variant, salt);
            prop_assert!(id.len() <= 130 && is_run_id(&id), "{id}");
            prop_assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        }

        #[test]
        fn ids_sort_by_their_start(a in 0_u64..4_000_000_000, later_s in 1_u64..100_000_000, salt: u64) {
            let b = a + later_s;
            let id = |s: u64| run_id(s * 1_000_000_000, "trim", "d", "default", salt);
            prop_assert!(id(a) < id(b));
        }
    }
}
