//! The records that the script of the emulated machine writes, one for each `run NAME ...`.

use std::collections::BTreeMap;

/// The last line of a script that came to its end.
pub const DONE: &str = "@@ done";

/// Output and exit code of one command of the script.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Exit code.
    pub code: i32,
    /// Text on stdout.
    pub stdout: String,
    /// Text on stderr.
    pub stderr: String,
}

/// Splits records of the form `@@ begin NAME`, stdout, `@@ stderr`, stderr, `@@ end CODE`.
pub fn parse(written: &str) -> BTreeMap<String, Record> {
    let mut records = BTreeMap::new();
    for part in written.split("@@ begin ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let (stdout, rest) = rest.split_once("\n@@ stderr\n").unwrap_or((rest, ""));
        let (stderr, rest) = rest.split_once("\n@@ end ").unwrap_or((rest, ""));
        let code = rest.lines().next().and_then(|code| code.trim().parse().ok()).unwrap_or(-1);
        let record = Record { code, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        records.insert(name.trim().to_owned(), record);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_taken_apart() {
        let records =
            parse("x\n@@ begin a\n{}\n\n@@ stderr\nwhy\n\n@@ end 3\n@@ begin b\n\n@@ end 0\n");
        assert_eq!(records["a"].code, 3);
        assert_eq!((records["a"].stdout.as_str(), records["a"].stderr.as_str()), ("{}\n", "why\n"));
        assert_eq!(records.len(), 2);
    }
}
