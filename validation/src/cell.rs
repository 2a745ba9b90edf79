//! A run of a test on a drive: the unit of work, which several fingerprints may share.

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use base::{Bytes, Nanos, Ratio};
use io::engine::sim::SimTarget;
use result::schema::RunStatus;
use result::store::RunDir;
use run::{Control, Request, SpanRequest, Test};

/// Settings or values of a drive model, name to value.
pub type Pairs = Vec<(String, String)>;

/// A run of a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The name of the drive model.
    pub drive: String,
    /// Values of the model that the run changes.
    pub values: Pairs,
    /// The name of the test.
    pub test: String,
    pub settings: Pairs,
    /// The share of spare area as in `--spare`, or `None` for the whole drive.
    pub spare: Option<String>,
    /// The scale of the drive as in `scale=`, or `None` for full size.
    pub scale: Option<String>,
}

/// Lengths and spans of tests that follow the scale of a drive, with their defaults: a test on a smaller drive writes
/// the same share of it.
const SCALED: [(&str, &str, &str); 7] = [
    ("consistency", "duration", "2000s"),
    ("consistency", "steady_from", "1400s"),
    ("corners", "time", "3m"),
    ("corners", "sequential_time", "1m"),
    ("corners", "random_span", "8GiB"),
    ("incompressible", "time", "30s"),
    ("trim", "torture", "60m"),
];

impl Cell {
    /// This run with another value of the model.
    pub fn with_value(&self, key: &str, value: &str) -> Self {
        let mut cell = self.clone();
        cell.values.push((key.to_owned(), value.to_owned()));
        cell
    }

    /// This run on a drive of another scale, with settings such as `time=1s idle=0s` over its own.
    pub(crate) fn shortened(&self, scale: String, settings: &str) -> Self {
        let pair = |text: &str| text.split_once('=').map(|(key, value)| (key.into(), value.into()));
        let mut all: Pairs = settings.split(' ').filter_map(pair).collect();
        let is_other = |(key, _): &&(String, String)| all.iter().all(|(short, _)| short != key);
        let others: Pairs = self.settings.iter().filter(is_other).cloned().collect();
        all.extend(others);
        Self { settings: all, scale: Some(scale), ..self.clone() }
    }

    /// The ratio of its times to those of full size.
    pub fn time_scale(&self) -> Ratio {
        if self.scaled().next().is_some() { self.size() } else { Ratio::ONE }
    }

    /// The size of the drive.
    pub fn size(&self) -> Ratio {
        self.scale.as_deref().and_then(|scale| scale.parse().ok()).unwrap_or(Ratio::ONE)
    }

    /// The settings that follow the scale, with their defaults.
    fn scaled(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        SCALED
            .into_iter()
            .filter(|(test, ..)| *test == self.test)
            .map(|(_, name, usual)| (name, usual))
    }

    /// Runs the test, with the run directory below `library`.
    ///
    /// # Errors
    /// If the model, the test or a setting is refused, or the run does not complete.
    pub fn run(&self, library: &Path) -> Result<RunDir, String> {
        let test: Test = self.test.parse().map_err(|_| format!("no test `{}`", self.test))?;
        let mut target = self.open()?;
        let request = Request {
            settings: self.settings(),
            span: self.span()?,
            command: self.to_string(),
            ..Request::new(test, library.to_owned())
        };
        let mut control = Control {
            interrupted: &AtomicBool::new(false),
            observer: &mut |_| (),
            // Runs of the same cell are the same to the byte.
            unix_ns: || 0,
        };
        let outcome =
            run::run(&mut target, &request, &mut control).map_err(|error| error.to_string())?;
        match outcome.run.status {
            RunStatus::Complete => RunDir::open(&outcome.dir).map_err(|error| error.to_string()),
            _ => Err(outcome.run.warnings.join("; ")),
        }
    }

    /// The simulated drive.
    pub(crate) fn open(&self) -> Result<SimTarget, String> {
        let scale = self.scale.iter().map(|scale| ("scale".to_owned(), scale.clone()));
        let keys: Pairs = scale.chain(self.values.iter().cloned()).collect();
        let spec = format!("sim:{}", self.drive);
        SimTarget::open(&spec, &self.drive, &keys).map_err(|error| error.to_string())
    }

    fn span(&self) -> Result<SpanRequest, String> {
        let Some(spare) = &self.spare else { return Ok(SpanRequest::Default) };
        spare.parse().map(SpanRequest::Spare).map_err(|error| format!("{error}"))
    }

    /// The settings, with times and spans in proportion to the scale.
    fn settings(&self) -> Pairs {
        let mut settings = self.settings.clone();
        let size = self.size();
        if size == Ratio::ONE {
            return settings;
        }
        for (name, usual) in self.scaled() {
            let given = settings.iter().position(|(key, _)| key == name);
            let full = given.map_or(usual.to_owned(), |at| settings.remove(at).1);
            settings.push((name.to_owned(), scaled(&full, size)));
        }
        settings
    }
}

/// A time in whole seconds, or a number of bytes, in proportion to the scale; what is neither stays.
fn scaled(full: &str, size: Ratio) -> String {
    if let Ok(Nanos(ns)) = full.parse() {
        return format!("{}s", (size.of(ns) / 1_000_000_000).max(1));
    }
    full.parse().map_or(full.to_owned(), |Bytes(bytes)| Bytes(size.of(bytes)).to_string())
}

impl fmt::Display for Cell {
    /// The command that repeats the run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale.iter().map(|scale| format!("scale={scale}"));
        let values = self.values.iter().map(|(key, value)| format!("{key}={value}"));
        let keys: Vec<_> = scale.chain(values).collect();
        let mark = if keys.is_empty() { "" } else { "?" };
        write!(f, "ssdlab run {} 'sim:{}{mark}{}'", self.test, self.drive, keys.join("&"))?;
        if let Some(spare) = &self.spare {
            write!(f, " --spare {spare}")?;
        }
        self.settings().iter().try_for_each(|(key, value)| write!(f, " --set {key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_the_command_and_shortens_times_with_the_scale() {
        let cell = Cell {
            drive: "sandisk-extreme-ii-480gb".to_owned(),
            values: Vec::new(),
            test: "consistency".to_owned(),
            settings: vec![("queue_depth".to_owned(), "8".to_owned())],
            spare: Some("25%".to_owned()),
            scale: None,
        };
        let full =
            "ssdlab run consistency 'sim:sandisk-extreme-ii-480gb' --spare 25% --set queue_depth=8";
        assert_eq!(cell.to_string(), full);
        let small = Cell { scale: Some("1/100".to_owned()), ..cell };
        let small = small.with_value("gc.free_low", "4");
        assert_eq!(
            small.to_string(),
            "ssdlab run consistency 'sim:sandisk-extreme-ii-480gb?scale=1/100&gc.free_low=4' --spare 25% \
             --set queue_depth=8 --set duration=20s --set steady_from=14s"
        );
        let time = ("time".to_owned(), "30s".to_owned());
        let corners = Cell { test: "corners".to_owned(), settings: vec![time], ..small };
        assert!(
            corners
                .to_string()
                .ends_with("--set time=1s --set sequential_time=1s --set random_span=85899345B"),
            "{corners}"
        );
    }
}
