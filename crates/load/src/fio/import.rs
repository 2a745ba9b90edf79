//! From a fio job file to a workload file.

use std::collections::{BTreeMap, BTreeSet};

use super::ini::{Section, Variables};
use super::job::{Job, Part};
use super::values::is_set;
use super::{FioError, ini};
use crate::spec::{AfterText, JOBS_MAX, WorkloadFile};

/// The circumstances of a job file that it does not contain.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The environment: the value of a variable, or `None` if it is not set.
    pub variables: Variables<'a>,
    /// The drive whose jobs are read, as `filename` names it; or `None` if all are for one drive.
    pub drive: Option<&'a str>,
}

impl Default for Context<'_> {
    /// No variables, and jobs for one drive.
    fn default() -> Self {
        Self { variables: &|_| None, drive: None }
    }
}

/// A workload file and the options that are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioImport {
    /// The workload.
    pub file: WorkloadFile,
    /// Differences to fio, each with its reason; the last line names the options without an effect.
    pub not_carried: Vec<String>,
}

/// Reads a job file.
///
/// # Errors
/// [`FioError`] with line or job, option, value and rule: for text that is no job file, and for loads that no workload
/// file can describe.
pub fn import(text: &str, context: &Context<'_>) -> Result<FioImport, FioError> {
    let sections = ini::jobs(text, context.variables)?;
    let drives = Drives::of(&sections);
    drives.check(context.drive)?;
    let mut gathered = WorkloadDraft::default();
    for section in sections {
        gathered.add(section, &drives, context.drive)?;
    }
    gathered.finish()
}

/// The drives that jobs are for, by their `filename`.
struct Drives(BTreeSet<String>);

impl Drives {
    fn of(sections: &[Section]) -> Self {
        Self(sections.iter().flat_map(drives).collect())
    }

    fn check(&self, chosen: Option<&str>) -> Result<(), FioError> {
        match chosen {
            Some(drive) if !self.0.contains(drive) => Err(FioError::Drive {
                drive: base::text::shortened(drive),
                known: if self.0.is_empty() { "none".to_owned() } else { self.words() },
            }),
            _ => Ok(()),
        }
    }

    fn words(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|name| base::text::shortened(name)).collect();
        base::text::shortened_words(&names.join(", "))
    }

    /// Whether a job is one of the call; refuses a job for several drives, and jobs of several
    /// drives without a choice.
    fn is_chosen(&self, section: &Section, chosen: Option<&str>) -> Result<bool, FioError> {
        let own = drives(section);
        let fail = |rule: String| {
            let value = section.get("filename").cloned().unwrap_or_default();
            Err(FioError::option(&section.name, "filename", &value, rule))
        };
        match (chosen, own.as_slice()) {
            (None, []) => Ok(true),
            (None, _) if self.0.len() > 1 => fail(format!(
                "the jobs are for {} drives ({}); choose those of one with --filename DRIVE",
                self.0.len(),
                self.words()
            )),
            (None, _) => Ok(true),
            (Some(chosen), [only]) => Ok(only == chosen),
            (Some(chosen), several) if several.iter().any(|drive| drive == chosen) => fail(
                "one job for several drives has no counterpart here; make one of each".to_owned(),
            ),
            (Some(_), _) => Ok(false),
        }
    }
}

/// The drives of a job: names of a list that are devices. Files lie on one drive, whatever their number.
fn drives(section: &Section) -> Vec<String> {
    let names = section.get("filename").map_or("", String::as_str);
    let is_device = |name: &str| {
        (name.starts_with("/dev/") && !name.starts_with("/dev/shm/")) || name.starts_with("\\\\.\\")
    };
    // Within a name, fio writes `\:`.
    let names = names.replace("\\:", "\u{0}");
    let names = names.split(':').map(|name| name.trim().replace('\u{0}', ":"));
    names.filter(|name| is_device(name)).collect()
}

/// The workload so far.
#[derive(Default)]
struct WorkloadDraft {
    file: WorkloadFile,
    remarks: Vec<String>,
    /// Options without an effect, each once.
    harmless: Vec<String>,
    /// Jobs of the group before the last `stonewall`, and since then.
    before: Vec<String>,
    group: Vec<String>,
    /// Jobs by the name of their section.
    of_section: BTreeMap<String, Vec<String>>,
    /// A job that ends all others with its own end.
    ends_all: Option<String>,
}

impl WorkloadDraft {
    fn add(
        &mut self,
        mut section: Section,
        drives: &Drives,
        chosen: Option<&str>,
    ) -> Result<(), FioError> {
        let name = section.name.clone();
        if is_set(section.take("stonewall").as_ref()) && !self.group.is_empty() {
            self.before = std::mem::take(&mut self.group);
        }
        if !drives.is_chosen(&section, chosen)? {
            return Ok(());
        }
        if is_set(section.take("exitall").as_ref()) {
            self.ends_all = Some(name.clone());
        }
        let after = self.after(&name, section.take("wait_for"))?;
        for part in Part::of(section)? {
            let mut job = Job::new(part);
            let clones = job.clones()?;
            let (remarks, harmless) = job.told();
            self.remarks.extend(remarks.iter().map(|remark| format!("[{name}] {remark}")));
            for option in harmless {
                if !self.harmless.contains(&option) {
                    self.harmless.push(option);
                }
            }
            for clone in clones {
                let free = free_name(&self.file, &name, job.suffix());
                self.group.push(free.clone());
                self.of_section.entry(name.clone()).or_default().push(free.clone());
                let after = match after.as_slice() {
                    [] => None,
                    [one] => Some(AfterText::One(one.clone())),
                    several => Some(AfterText::Several(several.to_vec())),
                };
                self.file.job.insert(free, crate::spec::JobText { after, ..clone });
            }
        }
        if self.file.job.len() > JOBS_MAX {
            let rule = format!("a workload file has at most {JOBS_MAX} jobs, clones included");
            return Err(FioError::option(&name, "numjobs", "", rule));
        }
        Ok(())
    }

    /// The jobs before a job: those before the last `stonewall`, and those of `wait_for`.
    fn after(&self, job: &str, wait_for: Option<String>) -> Result<Vec<String>, FioError> {
        let mut after = self.before.clone();
        if let Some(section) = wait_for {
            let waited = self.of_section.get(&section).ok_or_else(|| {
                let rule = "expected the name of a job before this one";
                FioError::option(job, "wait_for", &section, rule)
            })?;
            after.extend(waited.iter().filter(|name| !self.before.contains(name)).cloned());
        }
        Ok(after)
    }

    fn finish(mut self) -> Result<FioImport, FioError> {
        if self.file.job.is_empty() {
            return Err(FioError::Empty);
        }
        if let (Some(job), true) = (self.ends_all, self.file.job.len() > 1) {
            let rule = "the first job that ends would end all; give the others a runtime";
            return Err(FioError::option(&job, "exitall", "1", rule));
        }
        if !self.harmless.is_empty() {
            let words = self.harmless.join(", ");
            self.remarks.push(format!("without an effect on the commands here: {words}"));
        }
        Ok(FioImport { file: self.file, not_carried: self.remarks })
    }
}

/// A name for a job that no other one has.
fn free_name(file: &WorkloadFile, name: &str, suffix: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let mut base: String = name.chars().map(plain).take(24).chain(suffix.chars()).collect();
    if base.is_empty() || base == crate::spec::ALL {
        base = format!("job{base}");
    }
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let free =
        std::iter::once(base.clone()).chain(numbered).find(|name| !file.job.contains_key(name));
    free.unwrap_or(base)
}
