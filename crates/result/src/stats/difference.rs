//! "Would I notice?" for two runs: do they differ in effects that a person can feel?
//!
//! The figures of [`super::notice`] give each run's waits per minute of its load, because runs
//! differ in length. Two runs differ in three cases: only one of them has waits, one has at least
//! [`WAITS_RATIO`] times as many, or the shares of slow seconds lie at least [`SLOW_SHARE`] apart.
//! Both limits are assumptions: nobody feels a tenth more of either. Runs with different loads are
//! not compared, because the load may cause the difference. If the test set the rate, only waits
//! count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::findings::{count, percent, used_part};
use super::notice::is_paced;
use crate::schema::{Run, RunStatus};

/// From this ratio of waits per minute on, two runs differ.
pub const WAITS_RATIO: f64 = 2.0;
/// From this difference between the shares of slow seconds on, two runs differ.
pub const SLOW_SHARE: f64 = 0.1;

/// The settings that define the load of a run, with their values in old files without them.
const LOAD: [(&str, &str); 4] =
    [("block_bytes", "4096"), ("queue_depth", "32"), ("rate", "max"), ("data", "incompressible")];

/// The answer for two runs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct Difference {
    /// Names of the run directories.
    pub run_ids: [String; 2],
    /// Whether a person would notice.
    pub is_noticed: bool,
    /// The answer in plain words.
    pub text: String,
}

/// The effects of one run that a person feels.
struct Felt {
    waits: f64,
    waits_per_minute: f64,
    /// `None` if the test set the rate.
    slow_share: Option<f64>,
}

impl Felt {
    /// The effects, or `None` for an incomplete run, a test that does not count waits, or a simulated drive below
    /// full size, whose waits are not those of the whole drive.
    fn of(run: &Run) -> Option<Self> {
        if run.target.scale().is_some() {
            return None;
        }
        let metric = |name: &str| run.metrics.get(name).copied().flatten();
        let load = run.phases.iter().find(|phase| phase.name == "load")?;
        let minutes = load.duration_ns as f64 / 60e9;
        let waits = metric("notice_waits")?;
        let is_whole = run.status == RunStatus::Complete && minutes > 0.0;
        is_whole.then_some(Self {
            waits,
            waits_per_minute: waits / minutes,
            slow_share: if is_paced(run) {
                None
            } else {
                Some(metric("notice_slow_seconds_share")?)
            },
        })
    }

    fn is_felt(&self) -> bool {
        self.waits > 0.0 || self.slow_share.is_some_and(|share| share > 0.0)
    }

    fn words(&self) -> String {
        let waits = if self.waits == 0.0 {
            "no wait of 0.1 s or longer".to_owned()
        } else {
            format!("{} waits of 0.1 s or longer", count(self.waits))
        };
        let slow = match self.slow_share {
            None => return waits,
            Some(0.0) => "no second".to_owned(),
            Some(share) => format!("{} of the seconds", percent(share)),
        };
        format!("{waits} and {slow} below 50 MB/s")
    }
}

fn is_noticed(a: &Felt, b: &Felt) -> bool {
    let more = a.waits_per_minute.max(b.waits_per_minute);
    let fewer = a.waits_per_minute.min(b.waits_per_minute);
    let slow = a.slow_share.zip(b.slow_share).map(|(a, b)| (a - b).abs());
    more > 0.0 && more >= WAITS_RATIO * fewer || slow.is_some_and(|apart| apart >= SLOW_SHARE)
}

/// Whether both runs have the same load, in the same version of the suite.
fn same_load(a: &Run, b: &Run) -> bool {
    let told = |run: &Run, name: &str, usual: &str| match run.config.get(name) {
        None => usual.to_owned(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    a.suite_version == b.suite_version
        && LOAD.into_iter().all(|(name, usual)| told(a, name, usual) == told(b, name, usual))
}

/// Whether a person would notice the difference between two runs; `None` unless both are complete
/// runs of one test that counts waits, with the same load. Names distinguish the runs on a page
/// with all of `runs`.
fn difference(a: &Run, b: &Run, runs: &[&Run]) -> Option<Difference> {
    if a.test != b.test || !same_load(a, b) {
        return None;
    }
    let felt = [Felt::of(a)?, Felt::of(b)?];
    let is_noticed = is_noticed(&felt[0], &felt[1]);
    let [name_a, name_b] = [name(a, runs), name(b, runs)];
    let is_any_felt = felt.iter().any(Felt::is_felt);
    let answer = match (is_noticed, is_any_felt) {
        (true, _) => "Yes",
        (false, true) => "No, not between these two",
        (false, false) => "No",
    };
    let slow = if felt[0].slow_share.is_some() { " or a second below 50 MB/s" } else { "" };
    let figures = if is_any_felt {
        let [words_a, words_b] = felt.map(|felt| felt.words());
        format!("{name_a} had {words_a}, {name_b} {words_b}")
    } else {
        format!("neither {name_a} nor {name_b} had a wait of 0.1 s{slow}")
    };
    let text = format!("Would I notice? {answer}: {figures}.");
    Some(Difference { run_ids: [a.run_id.clone(), b.run_id.clone()], is_noticed, text })
}

/// The differences between all comparable pairs of these runs, in order.
pub fn differences(runs: &[&Run]) -> Vec<Difference> {
    let later = |index: usize| runs.iter().skip(index + 1);
    let pairs = runs.iter().enumerate().flat_map(|(index, a)| later(index).map(move |b| (a, b)));
    pairs.filter_map(|(a, b)| difference(a, b, runs)).collect()
}

/// The name of a run that distinguishes it from all others of its test: its drive, the firmware and
/// the spare area if there are several, and the run id if that is not enough.
fn name(run: &Run, runs: &[&Run]) -> String {
    let rivals = || runs.iter().filter(|other| other.test == run.test);
    let has_spare = rivals().any(|other| other.span.variant != run.span.variant);
    let has_firmware = rivals()
        .filter(|other| other.target.name == run.target.name)
        .any(|other| other.target.firmware != run.target.firmware);
    let named = |run: &Run| {
        let part = used_part(&run.span).unwrap_or_else(|| "as it comes".to_owned());
        let part = if has_spare { format!(" {part}") } else { String::new() };
        drive_name(run, has_firmware) + &part
    };
    let name = named(run);
    if rivals().filter(|other| named(other) == name).count() > 1 {
        return format!("{name} ({})", run.run_id);
    }
    name
}

fn drive_name(run: &Run, has_firmware: bool) -> String {
    let simulated = (run.target.is_simulated()).then(|| "simulated".to_owned());
    let firmware = run.target.firmware.as_ref().filter(|_| has_firmware);
    let firmware = firmware.map(|firmware| format!("firmware {firmware}"));
    let marks: Vec<_> = simulated.into_iter().chain(firmware).collect();
    if marks.is_empty() {
        return run.target.name.clone();
    }
    format!("{} ({})", run.target.name, marks.join(", "))
}
