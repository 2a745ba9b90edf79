//! The text of a workload file.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::error::SpecError;

/// A workload: jobs that run at the same time or one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadFile {
    /// The work that it stands for, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Source of its numbers, or the reasoning behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Time after which every job ends, such as `200s`; missing if the jobs have ends of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// The jobs by name: letters, digits, `-` and `_`. A job without `after` begins at once.
    pub job: BTreeMap<String, JobText>,
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobText {
    /// Kind of all commands; or `mix`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<OpText>,
    /// Shares of the kinds in percent; or `op`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixText>,
    /// Length of every command, such as `4KiB`; or `sizes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Lengths with their weights, such as `{ "4KiB" = 80, "64KiB" = 20 }`; or `block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<BTreeMap<String, u32>>,
    /// Offsets are multiples of this; by default of the block, or of the shortest of the sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<String>,
    /// Order of the addresses, such as `uniform`, `sequential` or `zipf(1.1)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Seed of the places of much-used blocks, by default 1: jobs with the same one, pattern and span share them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout_seed: Option<u64>,
    /// Begin of its part of the span, in bytes or percent of the tested span; by default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// Length of its part, in bytes or percent of the tested span; by default the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<String>,
    /// Commands kept outstanding; with a rate the most that may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Commands a second: `1000`, `poisson:20k`, `bursts(20k, on=100ms, off=900ms)` or
    /// `ramp(1k, to=20k, over=60s)`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "rate")]
    #[schemars(schema_with = "rate_schema")]
    pub rate: Option<String>,
    /// Pause after commands, from the end of the last one; not with a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<String>,
    /// Commands between two pauses, by default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_after: Option<u32>,
    /// Content of writes: `incompressible` (the default), `repeating`, or the size after compression such as
    /// `46%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Writes with forced unit access, in percent of the writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fua: Option<u8>,
    /// A flush after this many writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u32>,
    /// Placement handle of the writes; by default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<u8>,
    /// Time from its begin after which it issues no more commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// Bytes after which it issues no more commands, or percent of its span, which may exceed 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// The job after whose end it begins, or a list of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<AfterText>,
    /// Time between that moment (or the begin of the workload) and its begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// Time from its begin whose commands are in none of its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<String>,
    /// Seed of its commands; by default from the seed of the run and its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// The jobs before a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AfterText {
    /// One job.
    One(String),
    /// All of these.
    Several(Vec<String>),
}

impl AfterText {
    /// Their names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// Kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpText {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Deallocations.
    Trim,
    /// Flushes.
    Flush,
}

/// Shares of the kinds in percent, 100 in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixText {
    /// Reads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read: u8,
    /// Writes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write: u8,
    /// Deallocations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim: u8,
    /// Flushes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush: u8,
}

/// A rate as a number or as text.
fn rate<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a rate such as 1000 or \"poisson:20k\"")]
    enum RateForm {
        Number(u64),
        Text(String),
    }
    Ok(Some(match RateForm::deserialize(reader)? {
        RateForm::Number(number) => number.to_string(),
        RateForm::Text(text) => text,
    }))
}

fn rate_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "integer", "null"] })
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(share: &u8) -> bool {
    *share == 0
}

/// The keys of a job, in the order of [`JobText`].
const KEYS: [&str; 23] = [
    "op",
    "mix",
    "block",
    "sizes",
    "align",
    "pattern",
    "layout_seed",
    "offset",
    "span",
    "queue_depth",
    "rate",
    "think",
    "think_after",
    "data",
    "fua",
    "flush_every",
    "placement",
    "duration",
    "bytes",
    "after",
    "delay",
    "warm_up",
    "seed",
];

impl WorkloadFile {
    /// Reads the text of a file. The values have rules of their own: [`WorkloadFile::jobs`].
    ///
    /// # Errors
    /// [`SpecError::Syntax`] with line and column.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let syntax =
            |error: toml::de::Error| SpecError::Syntax(error.to_string().trim_end().to_owned());
        toml::from_str(text).map_err(syntax)
    }

    /// The text of a file that reads as the same workload.
    ///
    /// # Errors
    /// [`SpecError::Syntax`] for a number that TOML cannot hold: a seed above 2^63 - 1.
    pub fn to_toml(&self) -> Result<String, SpecError> {
        let syntax = |error: toml::ser::Error| SpecError::Syntax(error.to_string());
        let mut text = String::new();
        let words =
            [("about", &self.about), ("source", &self.source), ("duration", &self.duration)];
        for (key, value) in words {
            if let Some(value) = value {
                text += &format!("{key} = {}\n", toml::Value::String(value.clone()));
            }
        }
        for (name, job) in &self.job {
            let table = toml::Table::try_from(job).map_err(syntax)?;
            text += &format!("{}[job.{}]\n", if text.is_empty() { "" } else { "\n" }, quoted(name));
            for key in KEYS {
                if let Some(value) = table.get(key) {
                    text += &format!("{key} = {value}\n");
                }
            }
        }
        Ok(text)
    }
}

/// A name as a key of TOML.
fn quoted(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    toml::Value::String(name.to_owned()).to_string()
}
