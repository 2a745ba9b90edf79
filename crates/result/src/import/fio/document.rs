//! The JSON document of fio 3.

use std::collections::BTreeMap;
use std::path::Path;

use base::text::shortened;
use serde::{Deserialize, Deserializer};

use super::super::{ImportError, input};

/// Largest JSON file; one of a hundred jobs with all bins has 20 MB.
const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// The options of a job by their names.
pub(super) type Options = BTreeMap<String, String>;

/// One output of fio.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    /// `fio-3.42`.
    #[serde(rename = "fio version")]
    pub(super) version: String,
    /// Wall clock at the output, in seconds.
    #[serde(default)]
    timestamp: u64,
    /// Options of all jobs.
    #[serde(rename = "global options", default, deserialize_with = "options")]
    pub(super) global: Options,
    /// The jobs; under another name from clients of a server.
    #[serde(default, alias = "client_stats")]
    pub(super) jobs: Vec<JobStats>,
}

/// One job, or all clones of it with `group_reporting`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct JobStats {
    /// Name of the section of the job file.
    pub(super) jobname: String,
    /// Jobs of one group run side by side.
    pub(super) groupid: u64,
    /// Wall clock at the start, in ms; from fio 3.36 on.
    pub(super) job_start: Option<u64>,
    /// The last errno.
    pub(super) error: i64,
    /// Commands that failed, with `continue_on_error`.
    pub(super) total_err: u64,
    /// Own options.
    #[serde(rename = "job options", deserialize_with = "options")]
    pub(super) options: Options,
    /// Reads.
    pub(super) read: Direction,
    /// Writes.
    pub(super) write: Direction,
    /// Trims.
    pub(super) trim: Direction,
    /// All together, with `unified_rw_reporting`.
    pub(super) mixed: Option<Direction>,
}

/// The commands of one kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Direction {
    pub(super) io_bytes: u64,
    /// Bytes per second.
    pub(super) bw_bytes: Option<u64>,
    /// KiB per second, in versions without the bytes.
    pub(super) bw: f64,
    pub(super) iops: f64,
    /// Milliseconds.
    pub(super) runtime: u64,
    pub(super) total_ios: u64,
    pub(super) clat_ns: Latency,
    pub(super) lat_ns: Latency,
}

/// Latencies in ns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Latency {
    pub(super) max: u64,
    pub(super) mean: f64,
    /// Commands; missing in early versions.
    #[serde(rename = "N")]
    pub(super) count: Option<u64>,
    /// Percent, as text, to ns.
    pub(super) percentile: BTreeMap<String, u64>,
    /// Middle of the bin in ns, as text, to commands; in JSON+ only.
    pub(super) bins: BTreeMap<String, u64>,
}

/// An object of options, or a list with one, as clients write it.
fn options<'de, D: Deserializer<'de>>(reader: D) -> Result<Options, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(BTreeMap<String, serde_json::Value>),
        Many(Vec<BTreeMap<String, serde_json::Value>>),
    }
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => shortened(&text),
        other => shortened(&other.to_string()),
    };
    let all = match Written::deserialize(reader)? {
        Written::One(options) => vec![options],
        Written::Many(options) => options,
    };
    Ok(all.into_iter().flatten().map(|(key, value)| (shortened(&key), text(value))).collect())
}

impl Document {
    /// Reads a file. Lines before the document, which fio prints for errors of jobs, are reported;
    /// of several documents (`--status-interval`), the last one counts.
    ///
    /// # Errors
    /// If there is no document of fio 3 in it.
    pub(super) fn read(path: &Path, warnings: &mut Vec<String>) -> Result<Self, ImportError> {
        let text = input::text(path, "JSON file of fio", DOCUMENT_BYTES_MAX)?;
        let (before, json) = split_at_document(&text).ok_or_else(|| {
            ImportError::damaged(path, "expected JSON of fio, and no line begins with `{`")
        })?;
        if !before.trim().is_empty() {
            let first = shortened(before.trim().lines().next().unwrap_or_default());
            warnings.push(format!("{}: fio printed before its result: {first}", path.display()));
        }
        let document = last_document(json).map_err(|error| {
            let line = before.lines().count() + error.line();
            ImportError::damaged(path, format!("line {line}: expected JSON of fio: {error}"))
        })?;
        document.checked(path)
    }

    fn checked(mut self, path: &Path) -> Result<Self, ImportError> {
        let version = self.version.strip_prefix("fio-").unwrap_or(&self.version);
        if !version.starts_with("3.") {
            let reason = format!(
                "it is of `{}`; expected fio 3, because fio 2 counted in other units",
                shortened(&self.version)
            );
            return Err(ImportError::damaged(path, reason));
        }
        self.version = shortened(&self.version);
        // The sum of all clients, which are there themselves.
        self.jobs.retain(|job| job.jobname != "All clients");
        if self.jobs.is_empty() {
            return Err(ImportError::damaged(path, "fio's result has no jobs in it"));
        }
        Ok(self)
    }

    /// Wall clock at the start, or `None` if the document does not tell it.
    pub(super) fn started_unix_ns(&self) -> Option<u64> {
        let first_ms = self.jobs.iter().filter_map(|job| job.job_start).min();
        let longest_ms =
            self.jobs.iter().map(|job| job.all().map(|d| d.runtime).max().unwrap_or(0));
        let end_ms = self.timestamp.checked_mul(1_000).filter(|ms| *ms > 0);
        let from_end = end_ms.map(|ms| ms.saturating_sub(longest_ms.max().unwrap_or(0)));
        first_ms.or(from_end)?.checked_mul(1_000_000)
    }
}

impl JobStats {
    fn all(&self) -> impl Iterator<Item = &Direction> {
        [&self.read, &self.write, &self.trim].into_iter().chain(&self.mixed)
    }
}

/// The text before the first line that begins a document, and the rest.
fn split_at_document(text: &str) -> Option<(&str, &str)> {
    let at = if text.starts_with('{') { 0 } else { text.find("\n{")? + 1 };
    Some(text.split_at(at))
}

fn last_document(json: &str) -> Result<Document, serde_json::Error> {
    let mut documents = serde_json::Deserializer::from_str(json).into_iter::<Document>();
    let mut last = documents.next().unwrap_or_else(|| serde_json::from_str(""))?;
    // Words after a complete document are those of another program.
    while let Some(Ok(next)) = documents.next() {
        last = next;
    }
    Ok(last)
}
