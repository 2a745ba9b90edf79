//! The JSON of `result-file-to-json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{ResultFile, System, TestResult};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    systems: Map<WrittenSystem>,
    results: Map<WrittenResult>,
}

/// Values by name; an empty one is an empty list, as PHP writes it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Map<T> {
    Object(BTreeMap<String, T>),
    Empty([(); 0]),
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::Empty([])
    }
}

impl<T> Map<T> {
    fn into_pairs(self) -> BTreeMap<String, T> {
        match self {
            Self::Object(map) => map,
            Self::Empty(_) => BTreeMap::new(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenSystem {
    identifier: String,
    hardware: Value,
    software: Value,
    timestamp: Value,
}

/// The suite leaves out empty members and zeros.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenResult {
    identifier: String,
    title: String,
    app_version: Option<String>,
    description: Option<String>,
    scale: String,
    results: Map<WrittenValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenValue {
    value: Value,
}

/// Reads a document.
///
/// # Errors
/// If it is not one of the suite.
pub(super) fn read(text: &str) -> Result<ResultFile, String> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| format!("expected JSON of Phoronix: {error}"))?;
    let system = |(key, system): (String, WrittenSystem)| System {
        name: if system.identifier.is_empty() { key } else { system.identifier },
        hardware: labels(&system.hardware),
        software: labels(&system.software),
        time: system.timestamp.as_str().unwrap_or_default().to_owned(),
    };
    Ok(ResultFile {
        client: String::new(),
        systems: document.systems.into_pairs().into_iter().map(system).collect(),
        results: document.results.into_pairs().into_values().map(result).collect(),
    })
}

fn result(written: WrittenResult) -> TestResult {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let values = written.results.into_pairs().into_iter();
    TestResult {
        test: written.identifier,
        title: written.title,
        version: written.app_version.unwrap_or_default(),
        description: written.description.unwrap_or_default(),
        scale: written.scale,
        values: values.map(|(name, own)| (name, text(own.value))).collect(),
    }
}

/// `Processor: ..., Disk: ...`, from a text or from labels with values.
fn labels(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(parts) => {
            let part = |(label, value): (&String, &Value)| {
                format!("{label}: {}", value.as_str().unwrap_or_default())
            };
            parts.iter().map(part).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}
