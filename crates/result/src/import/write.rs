//! From a sheet to a run directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base::{Bytes, Facts, Identity, TargetKind};

use super::sheet::CONDITIONS;
use super::{IMPORTED, ImportError, ImportStep, Sheet};
use crate::marks::steady::Before;
use crate::report::GRAPHED_PHASE;
use crate::rows::PhaseRows;
use crate::schema::{
    About, Mark, Origin, Phase, Run, RunStatus, SCHEMA_VERSION, Span, Table, TableColumn, TableRow,
};
use crate::stats::consistency::{Circumstances, Consistency, STEADY_FROM_S, is_fresh};
use crate::store::dir::Staging;
use crate::store::{RunWriter, StoreError, row_contradictions};

/// Rows of a step that the figures of a steady state need.
const ROWS_MIN: usize = 10;

/// Additions of the caller to the files of an import.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Firmware of the drive, or `None` if it is unknown.
    pub firmware: Option<String>,
    /// Whether the drive was a simulated one.
    pub is_simulated: bool,
    /// The one command that repeats the import.
    pub command: String,
    /// `ssdlab` and its version.
    pub tool_version: String,
    /// Wall clock, ns since the Unix epoch: of results that do not tell theirs.
    pub now_unix_ns: u64,
}

/// Writes a sheet into a new run directory of `library` and returns its path. The directory gets its
/// name when it is whole: after an error or a kill there is no half of a run.
///
/// # Errors
/// The errors of [`write_all`].
pub fn write(library: &Path, sheet: Sheet, call: &Call) -> Result<PathBuf, ImportError> {
    Draft::new(library, sheet, call)?.publish()
}

/// Writes each sheet into a new run directory of `library` and returns their paths. All directories are
/// whole before the first one gets its name.
///
/// # Errors
/// If a sheet has no step, no name for its drive, or values beyond any measurement; and the errors of
/// the file system.
pub fn write_all(
    library: &Path,
    sheets: Vec<Sheet>,
    call: &Call,
) -> Result<Vec<PathBuf>, ImportError> {
    let drafts = sheets.into_iter().map(|sheet| Draft::new(library, sheet, call));
    drafts.collect::<Result<Vec<_>, _>>()?.into_iter().map(Draft::publish).collect()
}

/// A whole run without a name in the library.
struct Draft {
    library: PathBuf,
    staging: Staging,
    run: Run,
    rows: Vec<PhaseRows>,
}

impl Draft {
    fn new(library: &Path, sheet: Sheet, call: &Call) -> Result<Self, ImportError> {
        let (run, rows) = run_of(sheet, call)?;
        let staging = Staging::new(library).map_err(|source| failed(library, source))?;
        let mut draft = Self { library: library.to_owned(), staging, run, rows };
        draft.write(0)?;
        Ok(draft)
    }

    /// Writes the run under the name with this salt.
    fn write(&mut self, salt: u64) -> Result<(), ImportError> {
        let mut writer = RunWriter::create_new(self.staging.path(), &mut self.run, salt)?;
        for (phase, rows) in self.run.phases.iter().zip(&self.rows) {
            writer.add_phase(&self.run, &phase.name, rows)?;
        }
        Ok(writer.write(&self.run)?)
    }

    fn publish(mut self) -> Result<PathBuf, ImportError> {
        const NAMES_MAX: u64 = 100;
        for salt in 1..=NAMES_MAX {
            let name = self.run.run_id.clone();
            match self.staging.publish(&name, &name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => self.write(salt)?,
                published => return published.map_err(|source| failed(&self.library, source)),
            }
        }
        Err(StoreError::RunExists { path: self.library.join(&self.run.run_id) }.into())
    }
}

fn failed(library: &Path, source: std::io::Error) -> ImportError {
    StoreError::Io { action: "write to", path: library.to_owned(), source }.into()
}

/// The run of a sheet, and the rows of its phases.
fn run_of(sheet: Sheet, call: &Call) -> Result<(Run, Vec<PhaseRows>), ImportError> {
    if sheet.steps.is_empty() {
        let files = sheet.files.join(", ");
        return Err(ImportError::Usage(format!(
            "{files}: no measurement of {} in it",
            sheet.format
        )));
    }
    sheet.steps.iter().try_for_each(check)?;
    let target = target(&sheet, call)?;
    let started_unix_ns = sheet.started_unix_ns.unwrap_or(call.now_unix_ns);
    let length_ns = sheet.steps.iter().map(|step| step.start_ns.saturating_add(step.duration_ns));
    let length_ns = length_ns.max().unwrap_or(0);
    let unknown = unknown(&sheet, call);
    let is_failed = sheet.steps.iter().any(|step| step.is_failed);
    let mut run = Run {
        schema_version: SCHEMA_VERSION,
        run_id: String::new(),
        tool_version: call.tool_version.clone(),
        suite_version: 0,
        test: IMPORTED.to_owned(),
        status: if is_failed { RunStatus::Failed } else { RunStatus::Complete },
        started_unix_ns,
        finished_unix_ns: started_unix_ns.saturating_add(length_ns),
        target,
        origin: Some(Origin {
            format: sheet.format.to_owned(),
            tool: sheet.tool,
            files: sheet.files,
            unknown,
        }),
        environment: sheet.environment,
        seed: 0,
        config: sheet.config,
        command: call.command.clone(),
        request: None,
        invocation: None,
        about: About::default(),
        repeat: None,
        resumed: None,
        span: Span { span_bytes: 0, variant: "default".to_owned(), base: "none".to_owned() },
        health: None,
        purge: None,
        data_sample: None,
        phases: Vec::new(),
        metrics: Default::default(),
        marks: Vec::new(),
        verdict: None,
        tables: sheet.tables,
        findings: Vec::new(),
        warnings: sheet.warnings,
        ios: None,
        left_out: Vec::new(),
    };
    run.tables.extend(figures_table(&sheet.steps));
    let rows = sheet.steps.into_iter().map(|step| add_step(&mut run, step)).collect();
    Ok((run, rows))
}

/// The main figures of all steps side by side, or `None` if no step has one.
fn figures_table(steps: &[ImportStep]) -> Option<Table> {
    const COLUMNS: [(&str, &str, &str); 5] = [
        ("commands", "IOPS", "iops"),
        ("rate", "MB/s", "mb_per_s"),
        ("mean latency", "ns", "latency_ns_mean"),
        ("p99", "ns", "latency_ns_p99"),
        ("longest", "ns", "latency_ns_max"),
    ];
    let row = |(step, name): (&ImportStep, String)| {
        let value = |end: &str| step.metrics.get(&format!("{name}.{end}")).copied().flatten();
        TableRow { values: COLUMNS.map(|(.., end)| value(end)).to_vec(), label: name }
    };
    let rows: Vec<_> = steps.iter().flat_map(measured).map(row).collect();
    let column = |(name, unit, _): (&str, &str, &str)| TableColumn {
        name: name.to_owned(),
        unit: unit.to_owned(),
    };
    (!rows.is_empty()).then(|| Table {
        name: "measured".to_owned(),
        title: "Measured".to_owned(),
        row_name: "load".to_owned(),
        columns: COLUMNS.map(column).to_vec(),
        rows,
        conditions: Default::default(),
    })
}

/// The measurements of a step by the beginnings of their figures' names: itself, or its reads and
/// its writes.
fn measured(step: &ImportStep) -> Vec<(&ImportStep, String)> {
    let mut names: Vec<_> =
        step.metrics.keys().filter_map(|name| Some(name.rsplit_once('.')?.0)).collect();
    names.dedup();
    names.into_iter().map(|name| (step, name.to_owned())).collect()
}

/// Makes sure that figures can be computed: they add counts in 64 bits.
fn check(step: &ImportStep) -> Result<(), ImportError> {
    const SUM_MAX: u128 = 1 << 60;
    let in_bins: u128 = step.rows.latencies.iter().map(|bin| u128::from(bin.count)).sum();
    let too_large = [in_bins, step.ios.into(), step.bytes.into()].into_iter().max() > Some(SUM_MAX);
    let too_large = too_large.then(|| "its counts add up to more than 2^60".to_owned());
    match row_contradictions(&step.rows).into_iter().chain(too_large).next() {
        Some(fault) => Err(ImportError::Usage(format!("the step {}: {fault}", step.name))),
        None => Ok(()),
    }
}

fn target(sheet: &Sheet, call: &Call) -> Result<Identity, ImportError> {
    let name = sheet.drive.clone().ok_or_else(|| sheet.without_name())?;
    let kind = if call.is_simulated { TargetKind::Simulated } else { TargetKind::Imported };
    Ok(Identity {
        kind,
        name,
        spec: String::new(),
        serial: None,
        firmware: call.firmware.clone(),
        capacity_bytes: 0,
        raw_bytes: None,
        log_bytes: None,
        engine: sheet.tool.clone(),
        facts: Facts::default(),
        details: Default::default(),
    })
}

fn unknown(sheet: &Sheet, call: &Call) -> Vec<String> {
    let is_told = |condition: &str| match condition {
        "firmware" => call.firmware.is_some(),
        "host" => !sheet.environment.is_empty(),
        _ => false,
    };
    let mut unknown: Vec<_> =
        CONDITIONS.into_iter().filter(|name| !is_told(name)).map(str::to_owned).collect();
    if sheet.started_unix_ns.is_none() {
        unknown.push("time of the measurement".to_owned());
    }
    unknown
}

/// Adds a step as a phase with its figures, and returns its rows. The first load is the one that
/// pages draw, with the figures of the test `consistency`.
fn add_step(run: &mut Run, step: ImportStep) -> PhaseRows {
    let has_load = run.phases.iter().any(|phase| phase.name == GRAPHED_PHASE);
    let is_load = step.is_load && !has_load && step.rows.seconds.len() >= ROWS_MIN;
    let step_name = step.name;
    let name = if is_load { GRAPHED_PHASE.to_owned() } else { step_name.clone() };
    if is_load {
        let size =
            run.config.get("size").and_then(|size| size.as_str()).map(str::to_ascii_uppercase);
        // Whatever was written before, the files do not tell.
        let before = Before {
            written_bytes: 0,
            span_bytes: size.and_then(|size| size.parse::<Bytes>().ok()).map(|size| size.0),
        };
        // Of a longer load than that of the test, the same share of it.
        let steady_from_s = STEADY_FROM_S.max(step.rows.seconds.len() as u32 / 10 * 7);
        if steady_from_s > STEADY_FROM_S {
            run.config.insert("steady_from_s".to_owned(), steady_from_s.into());
        }
        let consistency = Consistency::of(&step.rows, steady_from_s)
            .judged(&step.rows, Circumstances { before, complete: true });
        // The unknown counterpart of a steady figure says that it was judged.
        let told = consistency.metrics.into_iter();
        run.metrics.extend(told.filter(|(name, value)| value.is_some() || is_fresh(name)));
        run.marks.extend(consistency.marks);
        run.warnings.extend(consistency.warnings);
        // The program knows its latencies better than its bins do.
        let own = step.metrics.iter().filter_map(|(name, value)| {
            let end = name.strip_prefix(&format!("{step_name}."))?;
            end.starts_with("latency_ns_").then(|| (end.to_owned(), *value))
        });
        run.metrics.extend(own.filter(|(name, _)| !name.ends_with("p99999")));
    }
    let full = |name: &str| format!("{IMPORTED}.{name}");
    run.metrics.extend(step.metrics.iter().map(|(name, value)| (full(name), *value)));
    let marks = step.marks.into_iter();
    run.marks.extend(marks.map(|mark| Mark { metric: full(&mark.metric), ..mark }));
    run.phases.push(Phase {
        name,
        what: step.what,
        start_ns: step.start_ns,
        duration_ns: step.duration_ns,
        ios: step.ios,
        bytes: step.bytes,
        errors: step.errors,
        complete: !step.is_failed,
        ..Phase::default()
    });
    step.rows
}
