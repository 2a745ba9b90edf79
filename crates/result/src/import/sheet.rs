//! The result of another program about one drive, in the same form for every format.

use std::collections::{BTreeMap, BTreeSet};

use base::text::{shortened, shortened_words};

use super::ImportError;
use crate::rows::PhaseRows;
use crate::schema::{Mark, Metrics, Table};

/// Longest name of a step.
const NAME_CHARS_MAX: usize = 60;

/// Conditions that decide over the figures of an SSD, as a format may or may not tell them.
pub(super) const CONDITIONS: [&str; 5] = ["purge", "fill", "firmware", "capacity", "host"];

/// Everything that the files tell about one drive.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Format of the files: `fio`, `phoronix` or `cdm`.
    pub format: &'static str,
    /// The program that measured, with its version.
    pub tool: String,
    /// Name of the drive, or `None` if the files do not tell it.
    pub drive: Option<String>,
    /// Names by which a call may mean this drive: those that its files have for it.
    pub aliases: Vec<String>,
    /// Start of the measurement, ns since the Unix epoch, or `None` if the files do not tell it.
    pub started_unix_ns: Option<u64>,
    /// The machine, label to value.
    pub environment: BTreeMap<String, String>,
    /// Parameters that all steps share.
    pub config: BTreeMap<String, serde_json::Value>,
    /// The measurements, in order.
    pub steps: Vec<ImportStep>,
    /// Figures in rows and columns.
    pub tables: Vec<Table>,
    /// Reasons to trust the figures less.
    pub warnings: Vec<String>,
    /// The files that were read.
    pub files: Vec<String>,
}

impl Sheet {
    /// The refusal of a sheet whose drive has no name.
    pub fn without_name(&self) -> ImportError {
        let files = self.files.join(", ");
        ImportError::Usage(format!("{files}: no name of a drive in it; give one with --drive NAME"))
    }
}

/// One measurement: it becomes a phase.
#[derive(Clone, Debug, Default)]
pub struct ImportStep {
    /// Name of the phase, without a dot.
    pub name: String,
    /// Description of the step.
    pub what: String,
    /// Start, ns from that of the first step.
    pub start_ns: u64,
    /// Length in ns; 0 if the files do not tell it.
    pub duration_ns: u64,
    /// Commands in all.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Commands that failed.
    pub errors: u64,
    /// Whether it failed before its end.
    pub is_failed: bool,
    /// Rows and histogram bins.
    pub rows: PhaseRows,
    /// Whether the rows are seconds of random writes, which the graphs of a page are for.
    pub is_load: bool,
    /// Figures by the ends of their names, e.g. `randread_4KiB_qd1.iops`.
    pub metrics: Metrics,
    /// Reservations about single figures, under the same names.
    pub marks: Vec<Mark>,
}

/// Gives the drives the names of a call: `NAME` for the only one, `NAME=ALIAS` for one of several.
///
/// # Errors
/// If a name fits none of the drives, or one name is to stand for several.
pub fn name_drives(sheets: &mut [Sheet], names: &[String]) -> Result<(), ImportError> {
    let aliases: Vec<_> = sheets.iter().flat_map(|sheet| sheet.aliases.clone()).collect();
    let known = shortened_words(&aliases.join(", "));
    for name in names {
        let parts = name.rsplit_once('=').filter(|(_, alias)| !alias.is_empty());
        let parts = parts.filter(|_| !aliases.is_empty());
        match (parts, sheets.len()) {
            (Some((own, alias)), _) => {
                let meant =
                    sheets.iter_mut().filter(|sheet| sheet.aliases.iter().any(|a| a == alias));
                let mut count = 0;
                meant.for_each(|sheet| {
                    sheet.drive = Some(own.to_owned());
                    count += 1;
                });
                if count == 0 {
                    let alias = shortened(alias);
                    let words = format!(
                        "--drive {}: nothing of `{alias}` in the files; expected one of {known}",
                        shortened(name)
                    );
                    return Err(ImportError::Usage(words));
                }
            }
            (None, 1) if names.len() == 1 => sheets[0].drive = Some(name.clone()),
            (None, _) => {
                return Err(ImportError::Usage(format!(
                    "--drive {}: the files are of several drives ({known}); give --drive NAME={} and so on",
                    shortened(name),
                    aliases.first().map_or("FILENAME", String::as_str)
                )));
            }
        }
    }
    Ok(())
}

/// Text as a part of a metric's name: letters, digits, `_` and `-`, in lower case unless it is a
/// unit, and never empty.
pub(super) fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let parts: Vec<_> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
    let kept: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let joined: String = kept.join("_").chars().take(NAME_CHARS_MAX).collect();
    if joined.is_empty() {
        "unnamed".to_owned()
    } else {
        joined.replace(|c| plain(c) != c && c != '-', "_")
    }
}

/// Names that are given once only: the second `a` becomes `a_2`.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    counts: BTreeMap<String, u32>,
}

impl Names {
    /// The name itself, or with a number that nobody has.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.taken.insert(name.clone()) {
            let count = self.counts.entry(wanted.to_owned()).or_insert(1);
            *count += 1;
            name = format!("{wanted}_{count}");
        }
        name
    }
}
