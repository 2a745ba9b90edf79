//! The resources that the Bench reads: `library.json` with a row for each run, and one packed file
//! for each run. A server and a plain web host offer the same ones.
//!
//! [`scan`] finds the run directories of a library, [`Digest`] turns one into its row and its file,
//! and [`Library`] joins the rows. [`site`] writes everything as plain files.

mod digest;
mod find;
mod site;
mod small;

use std::collections::BTreeMap;

use base::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{MarkKind, Origin, RunStatus, Span, VerdictOutcome};

pub use digest::{Digest, Row};
pub use find::{RunCandidate, scan, scan_one};
pub use site::{SITE_MARKER, SiteError, SiteForm, SiteReport, site};
pub(crate) use small::{compact, shorten_run};

/// Version of `library.json` that this build writes.
pub const LIBRARY_VERSION: u32 = 1;
/// Name of the resource with a row for each run.
pub const LIBRARY_FILE: &str = "library.json";
/// Name of the same as a zlib stream, in a small site.
pub const PACKED_LIBRARY_FILE: &str = "library.zz";
/// Folder of the resources with one run each.
pub const RUNS_FOLDER: &str = "runs";
/// End of the name of a packed run: a zlib stream.
pub const PACKED_SUFFIX: &str = ".zz";

/// The content of `library.json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Library {
    /// Version of this layout.
    pub library_version: u32,
    /// `ssdlab` and its version.
    pub tool_version: String,
    /// Heading of the Bench.
    pub title: String,
    /// Whether a server offers `live/<run>` for runs in progress.
    pub is_live: bool,
    /// The measured targets, each once.
    pub drives: Vec<Identity>,
    /// The resolved parameters of the runs, each set once.
    pub conditions: Vec<BTreeMap<String, serde_json::Value>>,
    /// The runs, by name.
    pub runs: Vec<LibraryRun>,
    /// Directories that look like runs and cannot be read.
    pub rejected: Vec<Rejected>,
}

/// One run of a library; `runs/<name>.zz` has all of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LibraryRun {
    /// Name of the run directory.
    pub name: String,
    /// Version of the suite that the test belongs to.
    pub suite_version: u32,
    /// Name of the test.
    pub test: String,
    /// Status of the run.
    pub status: RunStatus,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Place of its target in [`Library::drives`].
    pub drive: usize,
    /// Place of its parameters in [`Library::conditions`].
    pub conditions: usize,
    /// Whether its parameters are those of a quick form; missing if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// Part of the LBA space used.
    pub span: Span,
    /// Figures by name; an unknown one is absent.
    pub figures: BTreeMap<String, f64>,
    /// Warnings about single figures.
    pub marks: Vec<FigureMark>,
    /// The source of a result of another program; absent in ssdlab's own runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The decision of a test that decides; absent in other tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<VerdictOutcome>,
}

/// A warning about a figure, without its words.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct FigureMark {
    /// Name of the figure.
    pub metric: String,
    /// The subject of the warning.
    pub kind: MarkKind,
}

/// A directory that looks like a run and cannot be read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct Rejected {
    /// Name of the directory.
    pub name: String,
    /// The obstacle, in words.
    pub reason: String,
}

impl Library {
    /// The library of these rows, in the order of their names.
    pub fn of(title: &str, rows: Vec<Row>, mut rejected: Vec<Rejected>) -> Self {
        let (mut drives, mut conditions) = (Pool::default(), Pool::default());
        let mut runs: Vec<_> = rows
            .into_iter()
            .map(|row| LibraryRun {
                drive: drives.place(row.target),
                conditions: conditions.place(row.config),
                ..row.run
            })
            .collect();
        runs.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        rejected.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Self {
            library_version: LIBRARY_VERSION,
            tool_version: crate::report::TOOL_VERSION.to_owned(),
            title: title.to_owned(),
            is_live: false,
            drives: drives.values,
            conditions: conditions.values,
            runs,
            rejected,
        }
    }
}

/// Values without repetition, by the JSON that they are written as.
struct Pool<T> {
    values: Vec<T>,
    places: BTreeMap<String, usize>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { values: Vec::new(), places: BTreeMap::new() }
    }
}

impl<T: Serialize> Pool<T> {
    fn place(&mut self, value: T) -> usize {
        // Only maps with keys that are not text fail, and no value has one.
        let key = serde_json::to_string(&value).unwrap_or_default();
        *self.places.entry(key).or_insert_with(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }
}

/// The file name of a packed run.
pub fn packed_name(run: &str) -> String {
    format!("{run}{PACKED_SUFFIX}")
}
