//! The JSON document of fio 3.

use std::collections::BTreeMap;
use std::path::Path;

use base::text::shortened;
use serde::de::IgnoredAny;
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
    /// The machine of a client, or `None` in a run without a server.
    pub(super) hostname: Option<String>,
    /// The port of its server, of which a machine may have several.
    pub(super) port: Option<u64>,
    /// Wall clock at the start, in ms; from fio 3.36 on.
    pub(super) job_start: Option<u64>,
    /// The last errno.
    pub(super) error: i64,
    /// Commands that failed, with `continue_on_error`.
    pub(super) total_err: u64,
    /// Own options, or `None` if fio does not tell them.
    #[serde(rename = "job options", deserialize_with = "own_options")]
    pub(super) options: Option<Options>,
    /// Percent of the commands by the depth at their issue: `1`, `2` for 2 and 3, and so on.
    pub(super) iodepth_level: BTreeMap<String, f64>,
    /// The rule that was to end the job, or `None` without one.
    pub(super) steadystate: Option<SteadyState>,
    /// Reads.
    pub(super) read: Direction,
    /// Writes.
    pub(super) write: Direction,
    /// Trims.
    pub(super) trim: Direction,
    /// The sum of all, with `unified_rw_reporting`.
    pub(super) mixed: Option<Direction>,
}

/// The rule of a steady state and its outcome.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SteadyState {
    /// `iops:0.3%`
    pub(super) ss: String,
    /// 1 if the rule was met.
    pub(super) attained: u64,
    /// The deviation or slope at the end, with its unit.
    pub(super) criterion: serde_json::Value,
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

fn own_options<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Options>, D::Error> {
    options(reader).map(Some)
}

/// An object of options, or a list with one, as clients write it.
fn options<'de, D: Deserializer<'de>>(reader: D) -> Result<Options, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OptionsForm {
        One(BTreeMap<String, serde_json::Value>),
        Many(Vec<BTreeMap<String, serde_json::Value>>),
    }
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => shortened(&text),
        other => shortened(&other.to_string()),
    };
    let all = match OptionsForm::deserialize(reader)? {
        OptionsForm::One(options) => vec![options],
        OptionsForm::Many(options) => options,
    };
    Ok(all.into_iter().flatten().map(|(key, value)| (shortened(&key), text(value))).collect())
}

impl Document {
    /// Reads a file: the last complete document of fio in it, whatever text stands between, or all
    /// documents of a list or of another program's object around them. Reports what was left out.
    ///
    /// # Errors
    /// If there is no document of fio 3 in it.
    pub(super) fn read(path: &Path, warnings: &mut Vec<String>) -> Result<Vec<Self>, ImportError> {
        let text = input::text(path, "JSON file of fio", DOCUMENT_BYTES_MAX)?;
        let (values, fault) = complete_values(&text);
        let is_named = |at: &&(usize, &str)| at.1.contains(VERSION_KEY);
        let named: Vec<_> = values.iter().filter(is_named).collect();
        let mut warn = |words: String| warnings.push(format!("{}: {words}", path.display()));
        let ([(first, _), ..], [.., (begin, last)]) = (named.as_slice(), named.as_slice()) else {
            let fault = fault.unwrap_or_else(|| no_document(&text));
            return Err(ImportError::damaged(path, fault));
        };
        if named.len() > 1 {
            warn(format!("{} documents of fio in it; the last complete one counts", named.len()));
        }
        if let Some(fault) = &fault {
            warn(format!("what stands behind its last complete document is left out: {fault}"));
        }
        if let Some(line) = text[..*first].trim().lines().next() {
            warn(format!("fio printed before its result: {}", shortened(line)));
        }
        let lines = text[..*begin].bytes().filter(|byte| *byte == b'\n').count();
        let documents =
            documents(last, lines).map_err(|words| ImportError::damaged(path, words))?;
        documents.into_iter().map(|document| document.checked(path)).collect()
    }

    /// Whether a file holds words of fio's JSON at all.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn is_in(path: &Path) -> Result<bool, ImportError> {
        match input::text(path, "JSON file of fio", DOCUMENT_BYTES_MAX) {
            Ok(text) => Ok(text.contains(VERSION_KEY)),
            Err(ImportError::Damaged { .. } | ImportError::TooLarge { .. }) => Ok(false),
            Err(error) => Err(error),
        }
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

/// The key that only a document of fio has.
const VERSION_KEY: &str = "\"fio version\"";
/// Faulty lists that are looked into for whole documents.
const FAULTY_LISTS_MAX: usize = 2;

fn no_document(text: &str) -> String {
    if text.contains(VERSION_KEY) {
        "expected JSON of fio, and it has no complete document".to_owned()
    } else {
        "expected JSON of fio, and it has no `fio version`".to_owned()
    }
}

/// The objects and lists that begin a line, each as a whole with its place, and the fault of the
/// last one that is none. Text between them is passed over.
fn complete_values(text: &str) -> (Vec<(usize, &str)>, Option<String>) {
    let (mut values, mut fault, mut lists, mut at) = (Vec::new(), None, 0, 0);
    while let Some(begin) = next_begin(text, at) {
        let rest = &text[begin..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match stream.next() {
            Some(Ok(_)) => {
                let end = begin + stream.byte_offset();
                values.push((begin, &text[begin..end]));
                (fault, at) = (None, end);
                continue;
            }
            Some(Err(error)) => {
                let is_list = rest.starts_with('[');
                lists += usize::from(is_list);
                // The faulty line may begin a document; a list is looked into from its second line on.
                let is_opened = is_list && lists <= FAULTY_LISTS_MAX;
                let lines = if is_opened { 1 } else { error.line().saturating_sub(1).max(1) };
                let next = rest.split_inclusive('\n').take(lines).map(str::len).sum::<usize>();
                let is_over = error.is_eof() && !is_opened;
                at = if is_over { text.len() } else { begin + next };
                if !is_list {
                    fault = Some((begin, error));
                }
            }
            None => break,
        }
    }
    let words = |(begin, error): (usize, serde_json::Error)| {
        let lines = text[..begin].bytes().filter(|byte| *byte == b'\n').count();
        format!("line {}: expected JSON of fio: {error}", lines + error.line())
    };
    (values, fault.map(words))
}

/// The next place from `at` on where a line begins with an object or a list, behind spaces.
fn next_begin(text: &str, at: usize) -> Option<usize> {
    let mut begin = at;
    for line in text[at..].split_inclusive('\n') {
        let inner = line.trim_start();
        if inner.starts_with(['{', '[']) {
            return Some(begin + line.len() - inner.len());
        }
        begin += line.len();
    }
    None
}

/// The documents of a value behind so many lines: itself, or those of a list, or of members of
/// another program's object.
fn documents(value: &str, lines: usize) -> Result<Vec<Document>, String> {
    let fault = |error: serde_json::Error| {
        format!("line {}: expected JSON of fio: {error}", lines + error.line())
    };
    let first_fault = match serde_json::from_str(value) {
        Ok(document) => return Ok(vec![document]),
        Err(error) => error,
    };
    let whole: serde_json::Value = serde_json::from_str(value).map_err(fault)?;
    if whole.get("fio version").is_some() {
        return Err(fault(first_fault));
    }
    let (mut found, mut open) = (Vec::new(), vec![whole]);
    while let Some(value) = open.pop() {
        match value {
            serde_json::Value::Object(members) if members.contains_key("fio version") => {
                let document = serde_json::from_value(serde_json::Value::Object(members));
                found.push(document.map_err(|error| format!("expected JSON of fio: {error}"))?);
            }
            serde_json::Value::Object(members) => {
                open.extend(members.into_iter().map(|(_, value)| value));
            }
            serde_json::Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    // The last value was looked into first.
    found.reverse();
    if found.is_empty() {
        return Err("expected JSON of fio, and it has no `fio version`".to_owned());
    }
    Ok(found)
}
