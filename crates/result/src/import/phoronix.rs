//! Result files of the Phoronix Test Suite: `composite.xml`, and the JSON that
//! `result-file-to-json` writes.
//!
//! A file holds one or more systems; each becomes a run. The suite gives a value for each result
//! and the scale in words. Values in IOPS and MB/s become figures; all values stand in tables. The
//! profile `pts/fio` prints KiB/s or MiB/s under the name MB/s, by its version. Beside a value in IOPS of
//! the same test with its block size, the unit is certain; else such a rate stays out of the figures.
//!
//! Formats: `pts-core/objects/pts_result_file*.php` of phoronix-test-suite.

mod json;
mod xml;

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::text::shortened;

use super::sheet::{ImportStep, Names, Sheet, word};
use super::{ImportError, date, input};
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
    /// Date and time of the measurement, without a zone; empty if unknown.
    time: String,
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
    for path in input::files(paths)?.0 {
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
        let (mut has_unknown_unit, mut has_odd_unit) = (false, false);
        for result in &self.results {
            let own = result.values.iter().find(|(name, _)| *name == system.name);
            let Some(value) = own.and_then(|(_, text)| number(text)) else { continue };
            let name =
                names.unique(&word(&format!("{} {}", result.short_name(), result.description)));
            let unit_bytes = result.fio_unit_bytes(value, self.iops_beside(result, system));
            steps.push(result.step(&name, value, unit_bytes));
            has_unknown_unit |= result.is_rate_of_fio() && unit_bytes.is_none();
            has_odd_unit |= unit_bytes.is_some();
            let label = format!("{} {}", result.title, result.description);
            let row = TableRow { label: shortened(label.trim()), values: vec![Some(value)] };
            rows.entry(result.scale.clone()).or_insert_with(Vec::new).push(row);
        }
        let warnings = [
            has_unknown_unit.then(|| {
                "pts/fio prints KiB/s or MiB/s under the name MB/s: rates without IOPS beside them are in the tables \
                 as printed"
                    .to_owned()
            }),
            has_odd_unit.then(|| {
                "pts/fio prints KiB/s or MiB/s under the name MB/s: the rates here are decimal, by the IOPS beside them"
                    .to_owned()
            }),
            system.several_disks().map(|disks| {
                format!("the system has several disks ({disks}), and the results do not tell which one was measured: --drive")
            }),
        ];
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
            warnings: warnings.into_iter().flatten().collect(),
            aliases: vec![shortened(&system.name)],
            started_unix_ns: date::unix_ns(&system.time),
            ..Sheet::default()
        }
    }
}

impl ResultFile {
    /// The IOPS of the same test of a system, or `None` without such a result.
    fn iops_beside(&self, rate: &TestResult, system: &System) -> Option<f64> {
        let is_same = |other: &&TestResult| {
            (&other.test, &other.description) == (&rate.test, &rate.description)
                && other.scale == "IOPS"
        };
        let beside = self.results.iter().find(is_same)?;
        let (_, text) = beside.values.iter().find(|(name, _)| *name == system.name)?;
        number(text)
    }
}

impl System {
    /// The disks of the hardware line if there are several, or `None`.
    fn several_disks(&self) -> Option<String> {
        let disks = self.hardware.split(", ").find_map(|part| part.strip_prefix("Disk: "))?;
        let is_several = disks.contains(" + ") || disks.contains(" x ");
        is_several.then(|| shortened(disks))
    }

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

    /// Whether it is a rate of `pts/fio`, whose unit is not the one that it is headed with.
    fn is_rate_of_fio(&self) -> bool {
        self.short_name() == "fio" && self.scale == "MB/s"
    }

    /// Bytes of the unit of a rate of `pts/fio`, by the IOPS of the same test and the block size in its
    /// description; `None` if they do not tell it.
    fn fio_unit_bytes(&self, value: f64, iops: Option<f64>) -> Option<f64> {
        const UNITS: [f64; 3] = [1024.0, 1e6, 1_048_576.0];
        const DIFFERENCE: f64 = 0.02;
        let (_, rest) =
            self.description.split_once("Block Size: ").filter(|_| self.is_rate_of_fio())?;
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = rest.split_at(digits);
        let shift = match unit.chars().next()? {
            'K' => 10,
            'M' => 20,
            _ => return None,
        };
        let block = number.parse::<u32>().ok().filter(|number| *number > 0)?;
        let bytes_per_s = iops? * f64::from(block) * f64::from(1_u32 << shift);
        let is_it = |unit: &&f64| (value * **unit / bytes_per_s - 1.0).abs() <= DIFFERENCE;
        UNITS.iter().find(is_it).copied()
    }

    /// The step of a value; `unit_bytes` are those of the unit of a rate of `pts/fio`, if they are known.
    fn step(&self, name: &str, value: f64, unit_bytes: Option<f64>) -> ImportStep {
        let figure = match (self.scale.as_str(), unit_bytes) {
            ("IOPS", _) => Some(("iops", value)),
            ("MB/s", Some(bytes)) => Some(("mb_per_s", value * bytes / 1e6)),
            ("MB/s", None) if !self.is_rate_of_fio() => Some(("mb_per_s", value)),
            _ => None,
        };
        let figure = figure.map(|(end, value)| (format!("{name}.{end}"), Some(value)));
        let what = format!("{} {}, {}: {}", self.title, self.version, self.test, self.description);
        ImportStep {
            name: name.to_owned(),
            what: shortened(&what),
            metrics: figure.into_iter().collect::<Metrics>(),
            ..ImportStep::default()
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
