//! The inputs of a command, so that none of its outputs replaces one of them.
//!
//! Things are compared, not names: device and inode identify a file, by any link. A file that does
//! not exist yet is a name in a directory.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ::target::{TargetError, TargetSpec};
use result::store::ios::IOS_FILE;
use result::store::{LATENCY_FILE, RUN_FILE, SERIES_FILE};

/// The files of a run directory.
const FILES_OF_RUN: [&str; 4] = [RUN_FILE, SERIES_FILE, LATENCY_FILE, IOS_FILE];
const HOLDS_RUN: &str = "holds a run";

/// The source of a trace on standard input.
const STDIN: &str = "/proc/self/fd/0";

/// Device and inode.
type Thing = (u64, u64);

/// The meaning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    /// An existing thing.
    Thing(Thing),
    /// A name in a directory.
    Name(Thing, OsString),
}

/// The things that no output may replace, each with its use in the command.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    keys: Vec<(Key, &'static str)>,
}

impl Inputs {
    /// The files of these run directories.
    pub fn runs<'a>(self, dirs: impl Iterator<Item = &'a Path>) -> Self {
        let add = |inputs: Self, dir: &Path| {
            FILES_OF_RUN.iter().fold(inputs, |inputs, name| inputs.with(&dir.join(name), HOLDS_RUN))
        };
        dirs.fold(self, add)
    }

    /// The files of all runs of a library.
    pub fn library(self, library: &Path) -> Self {
        let entries = fs::read_dir(library).into_iter().flatten().flatten();
        let dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        let is_run = |dir: &&Path| dir.join(RUN_FILE).is_file();
        self.runs(dirs.iter().map(PathBuf::as_path).filter(is_run))
    }

    /// The page that receives a report, unless it is the built-in one.
    pub fn page(self, page: Option<&Path>) -> Self {
        page.into_iter().fold(self, |inputs, page| inputs.with(page, "is the page that is read"))
    }

    /// The editor's words, if there are any.
    pub fn words(self, words: Option<&Path>) -> Self {
        words
            .into_iter()
            .fold(self, |inputs, path| inputs.with(path, "has the words that are read"))
    }

    /// Files with facts of drives.
    pub fn facts(self, files: &[PathBuf]) -> Self {
        files.iter().fold(self, |inputs, path| inputs.with(path, "is the facts file that is read"))
    }

    /// The files and devices of a target.
    pub fn target(self, spec: &TargetSpec) -> Self {
        let parents = spec.model().map(|(name, _)| io::engine::sim::extended_files(name));
        let parents = parents.into_iter().flatten();
        let inputs =
            parents.fold(self, |all, path| all.with(&path, "is a drive model that is read"));
        spec.inputs().into_iter().fold(inputs, |inputs, (path, what)| inputs.with(path, what))
    }

    /// The file of a trace, or all files of one of blktrace's, or its scenario.
    pub fn trace(self, trace: &str) -> Self {
        if let Some(scenario) = trace.strip_prefix("synth:") {
            return self.scenario(scenario.split('?').next().unwrap_or_default());
        }
        let path = Path::new(if trace == "-" { STDIN } else { trace });
        let what = "is the trace that is read";
        siblings(path).iter().fold(self.with(path, what), |inputs, path| inputs.with(path, what))
    }

    /// The job file or workload file of a conversion.
    pub fn job_file(self, path: &Path) -> Self {
        self.with(path, "is the file that is read")
    }

    /// The scenario of a trace, if it is a file.
    pub fn scenario(self, scenario: &str) -> Self {
        let path = Path::new(scenario);
        if path.is_file() { self.with(path, "is the scenario that is read") } else { self }
    }

    /// Refuses an output that would replace an input, or the image behind a loop device.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with the path and the `flag` that gave it.
    pub fn require_other(&self, output: &Path, flag: &str) -> Result<(), TargetError> {
        let found = keys(output);
        let input = self.keys.iter().find(|(key, _)| found.contains(key)).map(|(_, what)| *what);
        let is_image =
            || attached_images().iter().any(|image| keys(image).iter().any(|k| found.contains(k)));
        let of_others =
            || is_image().then_some("is the image of a loop device").or_else(|| of_a_run(output));
        let Some(what) = input.or_else(of_others) else { return Ok(()) };
        Err(TargetError::Refused {
            code: "output-is-input",
            message: format!(
                "{flag} {} {what}, and would be replaced; give another name with {flag}",
                output.display()
            ),
        })
    }

    fn with(mut self, path: &Path, what: &'static str) -> Self {
        self.keys.extend(keys(path).into_iter().map(|key| (key, what)));
        self
    }
}

/// The use of a file that a run directory of any library holds, or `None` if it is no such file.
fn of_a_run(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?;
    let is_file = FILES_OF_RUN.iter().any(|file| name == *file);
    let holds_run = || path.parent().is_some_and(|dir| dir.join(RUN_FILE).is_file());
    (is_file && path.exists() && holds_run()).then_some(HOLDS_RUN)
}

/// The existing thing, or the name of a future one.
fn keys(path: &Path) -> Vec<Key> {
    let thing = |found: Metadata| (found.dev(), found.ino());
    if let Ok(found) = fs::metadata(path) {
        return vec![Key::Thing(thing(found))];
    }
    let directory = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let directory = fs::metadata(directory.unwrap_or(Path::new(".")));
    let name = path.file_name().map(OsString::from);
    directory.ok().zip(name).map(|(dir, name)| Key::Name(thing(dir), name)).into_iter().collect()
}

/// The other files of a trace of blktrace, which are read with the named one.
fn siblings(path: &Path) -> Vec<PathBuf> {
    const MARK: &str = ".blktrace.";
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let stem = name(path).and_then(|name| Some(name.split_once(MARK)?.0.to_owned() + MARK));
    let Some(stem) = stem else { return Vec::new() };
    let directory = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| name(path).is_some_and(|name| name.starts_with(&stem))).collect()
}

/// The files and devices behind the loop devices of this machine.
fn attached_images() -> Vec<PathBuf> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let image = |device: fs::DirEntry| fs::read_to_string(device.path().join("loop/backing_file"));
    devices
        .filter_map(|device| image(device).ok())
        .map(|text| text.trim_end_matches('\n').into())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn is_refused(inputs: &Inputs, output: &Path) -> bool {
        let refused = inputs.require_other(output, "-o").err();
        let is_known = refused.iter().all(
            |error| matches!(error, TargetError::Refused { code: "output-is-input", message } if message.contains("-o")),
        );
        assert!(is_known, "{refused:?}");
        refused.is_some()
    }

    #[test]
    fn an_input_is_known_by_every_name() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("disk"), "data").unwrap();
        fs::hard_link(at("disk"), at("hard")).unwrap();
        symlink("disk", at("soft")).unwrap();
        fs::write(at("other"), "data").unwrap();
        let spec = format!("file:{}?size=1MiB", at("soft").display()).parse().unwrap();
        let inputs = Inputs::default().target(&spec);
        for name in ["disk", "hard", "soft", "./disk"] {
            assert!(is_refused(&inputs, &at(name)), "{name}");
        }
        assert!(!is_refused(&inputs, &at("other")) && !is_refused(&inputs, &at("new")));
    }

    #[test]
    fn a_file_of_any_run_directory_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at(SERIES_FILE), "rows").unwrap();
        assert!(!is_refused(&Inputs::default(), &at(SERIES_FILE)), "no run is here");
        fs::write(at(RUN_FILE), "{}").unwrap();
        assert!(is_refused(&Inputs::default(), &at(RUN_FILE)));
        assert!(is_refused(&Inputs::default(), &at(SERIES_FILE)));
        assert!(!is_refused(&Inputs::default(), &at("report.html")));
    }

    #[test]
    fn a_model_that_another_one_extends_is_an_input() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("child.toml"), "extends = 'parent.toml'").unwrap();
        fs::write(at("parent.toml"), "extends = 'samsung-840-pro-256gb'").unwrap();
        let spec = format!("sim:{}", at("child.toml").display()).parse().unwrap();
        let inputs = Inputs::default().target(&spec);
        assert!(is_refused(&inputs, &at("child.toml")) && is_refused(&inputs, &at("parent.toml")));
    }

    #[test]
    fn a_target_that_is_not_there_yet_is_a_name() {
        let dir = tempfile::tempdir().unwrap();
        symlink(dir.path(), dir.path().join("here")).unwrap();
        let spec = format!("file:{}?size=1MiB", dir.path().join("new").display()).parse().unwrap();
        let inputs = Inputs::default().target(&spec);
        assert!(is_refused(&inputs, &dir.path().join("here/new")));
        assert!(!is_refused(&inputs, &dir.path().join("newer")));
    }

    #[test]
    fn every_file_of_a_library_and_of_a_trace_is_an_input() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("runs/a")).unwrap();
        for name in ["runs/a/run.json", "runs/a/series.parquet", "runs/a/report.html"] {
            fs::write(at(name), "x").unwrap();
        }
        let library = Inputs::default().library(&at("runs"));
        assert!(is_refused(&library, &at("runs/a/run.json")));
        assert!(is_refused(&library, &at("runs/a/series.parquet")));
        assert!(!is_refused(&library, &at("runs/a/report.html")), "a page may stand beside a run");
        for name in ["sda.blktrace.0", "sda.blktrace.1", "sdb.blktrace.0"] {
            fs::write(at(name), "x").unwrap();
        }
        let trace = Inputs::default().trace(&at("sda.blktrace.0").display().to_string());
        assert!(is_refused(&trace, &at("sda.blktrace.1")));
        assert!(!is_refused(&trace, &at("sdb.blktrace.0")));
    }
}
