//! Results of fio: JSON and JSON+ of version 3, and its logs.
//!
//! Every job becomes a step: rates, mean and largest latency and percentiles are those that fio
//! prints, the histogram is that of JSON+, and the rows are those of its logs. Clones of one job
//! (`numjobs` without `group_reporting`) become one step, because none of them alone is the load.
//! A folder of bench-fio holds one JSON file for each queue depth: such files become curves.
//!
//! Formats: fio's HOWTO, "Interpreting the output", "JSON+ output" and "Log File Formats"; and its
//! `stat.c`.

mod bins;
mod curves;
mod document;
mod job;
mod log;
mod options;
mod series;

use std::collections::BTreeMap;
use std::path::PathBuf;

use self::document::Document;
use self::job::Job;
use self::log::LogName;
use self::series::Series;

use super::sheet::{Names, Sheet};
use super::{ImportError, input};

/// Reads JSON files, logs and folders of them as the result of one drive.
///
/// # Errors
/// For a file that is not of fio or is damaged, for files of several drives, and if there is
/// nothing to import. The message names the file.
pub fn read(paths: &[PathBuf]) -> Result<Sheet, ImportError> {
    let mut files = Files::find(paths)?;
    let mut jobs = Vec::new();
    let mut sheet = Sheet { format: "fio", ..Sheet::default() };
    for path in &files.documents {
        let document = Document::read(path, &mut sheet.warnings)?;
        add_head(&mut sheet, &document);
        jobs.extend(job::of_document(path, document)?);
    }
    for job in &mut jobs {
        let logs = files.take_logs_of(job);
        job.series = Series::read(&logs, &job.shape)?;
    }
    sheet.drive = drive(&jobs)?;
    sheet.config = common_options(&jobs);
    sheet.tables = curves::tables(&jobs);
    add_jobs(&mut sheet, jobs);
    for (name, logs) in files.rest() {
        let series = Series::read(&logs, &options::Shape::default())?;
        sheet.steps.extend(series.map(|series| series.into_step(&name)));
    }
    if sheet.tool.is_empty() {
        sheet.tool = "fio".to_owned();
    }
    sheet.files = files.names();
    Ok(sheet)
}

fn add_head(sheet: &mut Sheet, document: &Document) {
    if sheet.tool.is_empty() {
        sheet.tool = document.version.clone();
    } else if !sheet.tool.split(", ").any(|one| one == document.version) {
        sheet.tool = format!("{}, {}", sheet.tool, document.version);
    }
    let started = document.started_unix_ns();
    sheet.started_unix_ns = [sheet.started_unix_ns, started].into_iter().flatten().min();
}

/// Steps of jobs in order; jobs of one group run side by side, groups one after the other.
fn add_jobs(sheet: &mut Sheet, jobs: Vec<Job>) {
    let (mut names, mut group, mut start_ns, mut end_ns) = (Names::default(), None, 0, 0_u64);
    for job in jobs {
        if group.as_ref() != Some(&job.group) {
            (group, start_ns) = (Some(job.group.clone()), end_ns);
        }
        let name = names.unique(&job.step_name());
        sheet.warnings.extend(job.warnings());
        let step = job.into_step(&name, start_ns);
        end_ns = end_ns.max(start_ns.saturating_add(step.duration_ns));
        sheet.steps.push(step);
    }
}

/// The drive that all jobs name, or `None` if they name none.
fn drive(jobs: &[Job]) -> Result<Option<String>, ImportError> {
    let mut drives: Vec<_> =
        jobs.iter().filter_map(|job| Some((job.drive()?, &job.path))).collect();
    drives.sort();
    drives.dedup_by(|a, b| a.0 == b.0);
    match drives.as_slice() {
        [] => Ok(None),
        [(only, _)] => Ok(Some(only.clone())),
        [(a, path_a), (b, path_b), ..] => Err(ImportError::Usage(format!(
            "{} is of {a} and {} of {b}: import the files of each drive by themselves",
            path_a.display(),
            path_b.display()
        ))),
    }
}

/// The options that all jobs share, as fio names them.
fn common_options(jobs: &[Job]) -> BTreeMap<String, serde_json::Value> {
    let Some((first, others)) = jobs.split_first() else { return BTreeMap::new() };
    let is_common = |(key, value): &(&String, &String)| {
        others.iter().all(|job| job.options.get(*key) == Some(*value))
    };
    let common = first.options.iter().filter(is_common);
    common.map(|(key, value)| (key.clone(), value.clone().into())).collect()
}

/// The files of a call, sorted by kind.
#[derive(Default)]
struct Files {
    all: Vec<PathBuf>,
    documents: Vec<PathBuf>,
    logs: Vec<(LogName, PathBuf)>,
}

impl Files {
    fn find(paths: &[PathBuf]) -> Result<Self, ImportError> {
        let mut files = Self::default();
        for path in input::files(paths)? {
            let is_named = paths.contains(&path);
            let extension = path.extension().and_then(|extension| extension.to_str());
            match (LogName::of(&path), extension) {
                (Some(name), _) => files.logs.push((name, path.clone())),
                (None, Some("json")) => files.documents.push(path.clone()),
                // Below a folder, other files belong to somebody else.
                _ if is_named => files.documents.push(path.clone()),
                _ => continue,
            }
            files.all.push(path);
        }
        if files.all.is_empty() {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(ImportError::Usage(format!(
                "{}: neither a JSON file nor a log of fio; expected *.json, *_bw.1.log and so on",
                paths.join(", ")
            )));
        }
        Ok(files)
    }

    /// The logs that a job has written: beside its JSON file, under its prefix and its numbers.
    fn take_logs_of(&mut self, job: &Job) -> Vec<(LogName, PathBuf)> {
        let (own, others) = self.logs.drain(..).partition(|(name, path)| job.has_log(name, path));
        self.logs = others;
        own
    }

    /// Logs that no JSON file explains, by their prefix.
    fn rest(&mut self) -> BTreeMap<String, Vec<(LogName, PathBuf)>> {
        let mut rest: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, path) in self.logs.drain(..) {
            rest.entry(name.prefix.clone()).or_default().push((name, path));
        }
        rest
    }

    fn names(&self) -> Vec<String> {
        self.all.iter().map(|path| path.display().to_string()).collect()
    }
}
