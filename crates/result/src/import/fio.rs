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
mod data;
mod document;
mod job;
mod log;
mod options;
mod series;

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::text::shortened_words;

use self::document::Document;
use self::job::Job;
use self::log::{LogName, folder};
use self::series::Series;

use super::sheet::{Names, Sheet};
use super::{ImportError, input};

/// Reads JSON files, logs and folders of them: each drive of each host is a sheet. `hosts` are the
/// machines of clients whose jobs are read; all without one.
///
/// # Errors
/// For a file that is not of fio or is damaged, for a host that is not in the files, and if there is
/// nothing to import. The message names the file.
pub fn read(paths: &[PathBuf], hosts: &[String]) -> Result<Vec<Sheet>, ImportError> {
    let mut files = Files::find(paths)?;
    let mut warnings = Vec::new();
    let mut parts = Vec::new();
    for path in &files.documents {
        for (number, document) in Document::read(path, &mut warnings)?.into_iter().enumerate() {
            let head = (document.version.clone(), document.started_unix_ns());
            for mut job in job::of_document(path, number, document)? {
                data::settle(&mut job);
                Part::of(&mut parts, &job).add(job, &head);
            }
        }
    }
    join_jobs_without_drive(&mut parts);
    files.assign(&mut parts, &mut warnings);
    choose(&mut parts, hosts)?;
    let several_hosts = parts.iter().any(|part| part.host != parts[0].host);
    let mut sheets = Vec::new();
    for part in parts {
        sheets.push(part.into_sheet(several_hosts)?);
    }
    warnings.extend(files.not_read());
    for sheet in &mut sheets {
        sheet.warnings.splice(0..0, warnings.iter().cloned());
    }
    Ok(sheets)
}

/// Everything of one drive of one host.
#[derive(Default)]
struct Part {
    host: Option<String>,
    drive: Option<String>,
    versions: Vec<String>,
    started_unix_ns: Option<u64>,
    jobs: Vec<(Job, Vec<(LogName, PathBuf)>)>,
    /// Logs that no JSON file explains.
    rest: Vec<(LogName, PathBuf)>,
}

impl Part {
    /// The part of a job.
    fn of<'a>(parts: &'a mut Vec<Self>, job: &Job) -> &'a mut Self {
        Self::with(parts, job.host.clone(), job.drive())
    }

    fn with(parts: &mut Vec<Self>, host: Option<String>, drive: Option<String>) -> &mut Self {
        let at = parts.iter().position(|part| part.host == host && part.drive == drive);
        let at = at.unwrap_or_else(|| {
            parts.push(Self { host, drive, ..Self::default() });
            parts.len() - 1
        });
        &mut parts[at]
    }

    fn add(&mut self, job: Job, head: &(String, Option<u64>)) {
        let (version, started) = head;
        if !self.versions.contains(version) {
            self.versions.push(version.clone());
        }
        self.started_unix_ns = [self.started_unix_ns, *started].into_iter().flatten().min();
        self.jobs.push((job, Vec::new()));
    }

    fn into_sheet(self, several_hosts: bool) -> Result<Sheet, ImportError> {
        let mut sheet = Sheet { format: "fio", ..Sheet::default() };
        sheet.tool =
            if self.versions.is_empty() { "fio".to_owned() } else { self.versions.join(", ") };
        sheet.started_unix_ns = self.started_unix_ns;
        let told = [self.host.clone(), self.drive.clone()].into_iter().flatten();
        sheet.aliases = told.clone().collect();
        sheet.drive = match &self.drive {
            Some(_) if several_hosts => Some(told.collect::<Vec<_>>().join(":")),
            drive => drive.clone(),
        };
        if let Some(host) = &self.host {
            sheet.environment.insert("host".to_owned(), host.clone());
        }
        let mut jobs = Vec::new();
        for (mut job, logs) in self.jobs {
            job.series = Series::read(&logs, &job.shape, &mut sheet.warnings)?;
            add_files(&mut sheet, [&job.path].into_iter().chain(logs.iter().map(|(_, path)| path)));
            jobs.push(job);
        }
        sheet.config = common_options(&jobs);
        sheet.tables = curves::tables(&jobs);
        let mut names = Names::default();
        add_jobs(&mut sheet, jobs, &mut names);
        for (name, logs) in by_series(self.rest) {
            let series = Series::read(&logs, &options::JobShape::default(), &mut sheet.warnings)?;
            add_files(&mut sheet, logs.iter().map(|(_, path)| path));
            sheet.steps.extend(series.map(|series| series.into_step(&names.unique(&name))));
        }
        Ok(sheet)
    }
}

fn add_files<'a>(sheet: &mut Sheet, paths: impl Iterator<Item = &'a PathBuf>) {
    for path in paths {
        let name = path.display().to_string();
        if !sheet.files.contains(&name) {
            sheet.files.push(name);
        }
    }
}

/// Logs that no JSON file explains: those of one folder, host and prefix belong together. The folder is
/// in their name where two have the same prefix.
fn by_series(logs: Vec<(LogName, PathBuf)>) -> Vec<(String, Vec<(LogName, PathBuf)>)> {
    type Key = (PathBuf, Option<String>, String);
    let mut series: BTreeMap<Key, Vec<(LogName, PathBuf)>> = BTreeMap::new();
    for (name, path) in logs {
        let folder = folder(&path).to_owned();
        let key = (folder, name.host.clone(), name.prefix.clone());
        series.entry(key).or_default().push((name, path));
    }
    let prefixes: Vec<_> = series.keys().map(|(.., prefix)| prefix.clone()).collect();
    let name = |(folder, _, prefix): &Key| {
        let is_only = prefixes.iter().filter(|other| *other == prefix).count() == 1;
        let folder = folder.file_name().and_then(|name| name.to_str()).filter(|_| !is_only);
        folder.map_or_else(|| prefix.clone(), |folder| format!("{folder}_{prefix}"))
    };
    series.into_iter().map(|(key, logs)| (name(&key), logs)).collect()
}

/// Jobs without a file name are of the only drive of their host.
fn join_jobs_without_drive(parts: &mut Vec<Part>) {
    let (named, without): (Vec<_>, Vec<_>) =
        std::mem::take(parts).into_iter().partition(|part| part.drive.is_some());
    *parts = named;
    for part in without {
        let of_host: Vec<_> = parts.iter_mut().filter(|own| own.host == part.host).collect();
        match of_host.len() {
            1 => of_host.into_iter().for_each(|own| {
                own.started_unix_ns =
                    [own.started_unix_ns, part.started_unix_ns].into_iter().flatten().min();
            }),
            _ => {
                parts.push(part);
                continue;
            }
        }
        let Some(own) = parts.iter_mut().find(|own| own.host == part.host) else { continue };
        own.jobs.extend(part.jobs);
        for version in part.versions {
            if !own.versions.contains(&version) {
                own.versions.push(version);
            }
        }
    }
}

/// Keeps the parts of the hosts of the call.
fn choose(parts: &mut Vec<Part>, hosts: &[String]) -> Result<(), ImportError> {
    let is_of = |part: &Part, host: &String| part.host.as_ref() == Some(host);
    if let Some(host) = hosts.iter().find(|host| !parts.iter().any(|part| is_of(part, host))) {
        let mut known: Vec<_> = parts.iter().filter_map(|part| part.host.clone()).collect();
        known.dedup();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(ImportError::Usage(shortened_words(&format!(
            "--host {host}: no jobs of this host in the files; there are {known}"
        ))));
    }
    parts.retain(|part| hosts.is_empty() || hosts.iter().any(|host| is_of(part, host)));
    Ok(())
}

/// Steps of jobs in order; jobs of one group run side by side, groups one after the other.
fn add_jobs(sheet: &mut Sheet, jobs: Vec<Job>, names: &mut Names) {
    let (mut group, mut start_ns, mut end_ns) = (None, 0, 0_u64);
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

/// The options that all jobs share, as fio names them.
fn common_options(jobs: &[Job]) -> BTreeMap<String, serde_json::Value> {
    let Some((first, others)) = jobs.split_first() else { return BTreeMap::new() };
    let is_common = |(key, value): &(&String, &String)| {
        others.iter().all(|job| job.options.get(*key) == Some(*value))
    };
    let common = first.options.iter().filter(is_common);
    common.map(|(key, value)| (key.clone(), value.clone().into())).collect()
}

/// Names of files in one warning.
const NAMES_MAX: usize = 12;

/// The files of a call, sorted by kind.
#[derive(Default)]
struct Files {
    documents: Vec<PathBuf>,
    logs: Vec<(LogName, PathBuf)>,
    /// Files of folders that are none of fio.
    others: Vec<PathBuf>,
}

impl Files {
    fn find(paths: &[PathBuf]) -> Result<Self, ImportError> {
        let mut files = Self::default();
        let (found, links) = input::files(paths)?;
        files.others = links;
        for path in found {
            let is_named = paths.contains(&path);
            let is_json = path.extension().is_some_and(|extension| extension == "json");
            match LogName::of(&path) {
                Some(name) => files.logs.push((name, path)),
                // Below a folder, other files belong to somebody else.
                None if is_named || (is_json && Document::is_in(&path)?) => {
                    files.documents.push(path);
                }
                None => files.others.push(path),
            }
        }
        if files.documents.is_empty() && files.logs.is_empty() {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(ImportError::Usage(format!(
                "{}: neither a JSON file nor a log of fio; expected *.json, *_bw.1.log and so on",
                paths.join(", ")
            )));
        }
        Ok(files)
    }

    /// Gives each log to the job that has written it: beside its JSON file, of its host, under its prefix
    /// and its numbers. A log that two jobs may have written is of none.
    fn assign(&mut self, parts: &mut Vec<Part>, warnings: &mut Vec<String>) {
        let has_documents = !parts.is_empty();
        for (name, path) in std::mem::take(&mut self.logs) {
            let mut owners = parts.iter_mut().flat_map(|part| &mut part.jobs);
            let mut owners: Vec<_> =
                owners.by_ref().filter(|(job, _)| job.has_log(&name, &path)).collect();
            if let [(_, logs)] = owners.as_mut_slice() {
                logs.push((name, path));
                continue;
            }
            if owners.len() > 1 {
                warnings.push(format!(
                    "{}: {} jobs write logs of this name, so that it is a step of its own",
                    path.display(),
                    owners.len()
                ));
            }
            let of_host: Vec<_> =
                (0..parts.len()).filter(|at| parts[*at].host == name.host).collect();
            let beside = |at: &&usize| {
                parts[**at].jobs.iter().any(|(job, _)| folder(&job.path) == folder(&path))
            };
            let beside: Vec<_> = of_host.iter().filter(beside).copied().collect();
            match (of_host.as_slice(), beside.as_slice()) {
                ([only], _) | (_, [only]) => parts[*only].rest.push((name, path)),
                ([], _) if has_documents => self.others.push(path),
                _ => Part::with(parts, name.host.clone(), None).rest.push((name, path)),
            }
        }
    }

    /// A warning about the files that were not read, or `None` if all were.
    fn not_read(&self) -> Option<String> {
        let count = self.others.len();
        let names: Vec<_> =
            self.others.iter().take(NAMES_MAX).map(|path| path.display().to_string()).collect();
        let more = if count > NAMES_MAX {
            format!(" and {} more", count - NAMES_MAX)
        } else {
            String::new()
        };
        (count > 0).then(|| format!("{count} files were not read: {}{more}", names.join(", ")))
    }
}
