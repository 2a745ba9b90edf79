//! Result files of the Phoronix Test Suite: `composite.xml`, and the JSON that
//! `result-file-to-json` writes.
//!
//! A file holds one or more systems; each becomes a run. The suite gives a value for each result
//! and the scale in words. Values in IOPS and MB/s become figures; all values stand in tables. The
//! profile `pts/fio` prints MiB/s under the name MB/s (`results-definition.xml`), so that its rates
//! stay out of the figures.
//!
//! Formats: `pts-core/objects/pts_result_file*.php` of phoronix-test-suite.

mod json;
mod xml;

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::text::shortened;

use super::sheet::{Names, Sheet, Step, word};
use super::{ImportError, input};
use crate::schema::{Metrics, Table, TableColumn, TableRow};

const FILE_BYTES_MAX: u64 = 32 << 20;
/// Systems of one file: each becomes a run directory.
const SYSTEMS_MAX: usize = 64;

/// A result file in either form.
#[derive(Debug, Default)]
struct ResultFile {
    /// The suite with its version; empty if unknown.
    client: String,
    systems: Vec<System>,
    results: Vec<TestResult>,
}

/// A measured machine.
#[derive(Clone, Debug, Default)]
struct System {
    /// Its name in the results.
    name: String,
    /// `Processor: ..., Disk: ...`
    hardware: String,
    software: String,
}

/// One result with a value for each system.
#[derive(Clone, Debug, Default)]
struct TestResult {
    /// `pts/fio-2.1.0`
    test: String,
    title: String,
    version: String,
    description: String,
    /// Unit, in words.
    scale: String,
    /// System to value, as text.
    values: Vec<(String, String)>,
}

/// Reads result files; every system in them is a sheet.
///
/// # Errors
/// For a file that is neither form, or is damaged, or has too many systems.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Sheet>, ImportError> {
    let mut sheets = Vec::new();
    for path in input::files(paths)? {
        let text = input::text(&path, "result file of Phoronix", FILE_BYTES_MAX)?;
        let is_json = text.trim_start().starts_with('{');
        let read = if is_json { json::read(&text) } else { xml::read(&text) };
        let file = read.and_then(ResultFile::checked);
        let file = file.map_err(|reason| ImportError::damaged(&path, reason))?;
        let of_system = |system: &System| {
            let sheet = file.sheet(system);
            Sheet { files: vec![path.display().to_string()], ..sheet }
        };
        sheets.extend(file.systems.iter().map(of_system));
    }
    Ok(sheets)
}

impl ResultFile {
    fn checked(mut self) -> Result<Self, String> {
        // Old files name the systems in their values only.
        for (name, _) in self.results.iter().flat_map(|result| &result.values) {
            if !self.systems.iter().any(|system| system.name == *name) {
                self.systems.push(System { name: name.clone(), ..System::default() });
            }
            if self.systems.len() > SYSTEMS_MAX {
                return Err(format!("more than {SYSTEMS_MAX} systems"));
            }
        }
        if self.results.iter().all(|result| result.values.is_empty()) {
            return Err("no value of any test in it".to_owned());
        }
        Ok(self)
    }

    fn sheet(&self, system: &System) -> Sheet {
        let (mut names, mut steps, mut rows) = (Names::default(), Vec::new(), BTreeMap::new());
        for result in &self.results {
            let own = result.values.iter().find(|(name, _)| *name == system.name);
            let Some(value) = own.and_then(|(_, text)| number(text)) else { continue };
            let name =
                names.unique(&word(&format!("{} {}", result.short_name(), result.description)));
            steps.push(result.step(&name, value));
            let label = format!("{} {}", result.title, result.description);
            let row = TableRow { label: shortened(label.trim()), values: vec![Some(value)] };
            rows.entry(result.scale.clone()).or_insert_with(Vec::new).push(row);
        }
        let from_fio = self.results.iter().any(TestResult::prints_mib_as_mb);
        let warning = from_fio.then(|| {
            "pts/fio prints MiB/s under the name MB/s: these rates are in the tables as printed"
                .to_owned()
        });
        Sheet {
            format: "phoronix",
            tool: if self.client.is_empty() {
                "Phoronix Test Suite".to_owned()
            } else {
                self.client.clone()
            },
            drive: Some(system.drive()),
            environment: system.environment(),
            tables: rows.into_iter().map(|(scale, rows)| table(&scale, rows)).collect(),
            steps,
            warnings: warning.into_iter().collect(),
            ..Sheet::default()
        }
    }
}

impl System {
    /// The disk of the hardware line, or the name of the system.
    fn drive(&self) -> String {
        let disk = self.hardware.split(", ").find_map(|part| part.strip_prefix("Disk: "));
        shortened(disk.unwrap_or(&self.name))
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let all =
            [("system", &self.name), ("hardware", &self.hardware), ("software", &self.software)];
        let told = all.into_iter().filter(|(_, text)| !text.is_empty());
        told.map(|(label, text)| (label.to_owned(), text.chars().take(500).collect())).collect()
    }
}

impl TestResult {
    /// `fio` of `pts/fio-2.1.0`.
    fn short_name(&self) -> &str {
        let name = self.test.rsplit('/').next().unwrap_or(&self.test);
        let version = |(name, version): (&'_ str, &str)| {
            version.starts_with(|c: char| c.is_ascii_digit()).then_some(name.len())
        };
        name.rsplit_once('-').and_then(version).map_or(name, |end| &name[..end])
    }

    fn prints_mib_as_mb(&self) -> bool {
        self.short_name() == "fio" && self.scale == "MB/s"
    }

    fn step(&self, name: &str, value: f64) -> Step {
        let end = match self.scale.as_str() {
            "IOPS" => Some("iops"),
            "MB/s" if !self.prints_mib_as_mb() => Some("mb_per_s"),
            _ => None,
        };
        let figure = end.map(|end| (format!("{name}.{end}"), Some(value)));
        let what = format!("{} {}, {}: {}", self.title, self.version, self.test, self.description);
        Step {
            name: name.to_owned(),
            what: shortened(&what),
            metrics: figure.into_iter().collect::<Metrics>(),
            ..Step::default()
        }
    }
}

fn table(scale: &str, rows: Vec<TableRow>) -> Table {
    Table {
        name: format!("values_{}", word(scale)),
        title: format!("Values in {}", shortened(scale)),
        row_name: "test".to_owned(),
        columns: vec![TableColumn { name: "value".to_owned(), unit: shortened(scale) }],
        rows,
        conditions: BTreeMap::new(),
    }
}

/// A value, or `None` for a failed test.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}
