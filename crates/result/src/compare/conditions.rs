//! The conditions of runs, and those in which two groups differ.

use std::collections::{BTreeMap, BTreeSet};

use base::text::shortened;
use base::{Bytes, Nanos};
use serde::Serialize;

use crate::schema::{BESIDE, NONE_BESIDE, Run};

/// Beginning of the names of a test's settings.
const SETTING: &str = "setting ";
/// Name of the condition without which nothing is judged: the suite may have changed the test itself.
pub(super) const SUITE_VERSION: &str = "suite version";
/// Name of the values of a model that the target string sets.
const SET: &str = "set on the model";
/// Detail of a simulated drive that tells other values from equal ones, and nothing to people.
const CHECKSUM: &str = "sim.checksum";
/// Keys of a target string that have a condition of their own, or are none.
const NO_VALUES: [&str; 3] = ["host", "scale", "seed"];

/// Labels of conditions; others are told by the words of their names.
const LABELS: [(&str, &str); 31] = [
    (CHECKSUM, "values of the drive model"),
    ("sim.channels", "channels"),
    ("sim.dies", "dies"),
    ("sim.pages_per_block", "pages per block"),
    ("sim.superblocks", "superblocks"),
    ("sim.superblock_bytes", "superblock size"),
    ("sim.buffer_bytes", "write buffer"),
    ("sim.gc_policy", "cleaning policy"),
    ("sim.gc_pacing", "cleaning pace"),
    ("sim.gc_free_low", "cleaning from, free superblocks"),
    ("sim.gc_free_high", "cleaning until, free superblocks"),
    ("scale", "size, share of the model"),
    ("wwid", "specimen (world-wide name)"),
    ("node", "device node"),
    ("on", "disk of the file"),
    ("cpu", "processor"),
    ("cpus", "processor cores"),
    ("cpu_governor", "frequency governor"),
    ("cpu_idle_driver", "driver of the rest of processors"),
    ("cpu_idle_states", "states of rest of processors"),
    ("pcie_aspm", "power saving of PCIe links (ASPM)"),
    ("pcie_link_l1", "rest of the PCIe link (L1)"),
    ("nvme_autonomous_power", "power states by the drive itself (APST)"),
    ("loop_direct_io", "loop device past the page cache"),
    ("beside", "measured beside"),
    ("memory_bytes", "memory"),
    ("io_uring_disabled", "io_uring switched off"),
    ("io_poll", "polling"),
    ("setting duration_s", "length of the load"),
    ("setting steady_from_s", "start of the steady state"),
    ("version", "version of ssdlab"),
];

/// Part of the measurement that a condition belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facet {
    /// The version of the suite, and the settings of the test.
    Test,
    /// The used part of the drive.
    Span,
    /// The drive, or the values of its model.
    Drive,
    Firmware,
    /// The profile of the host of a simulated drive.
    Host,
    /// The machine of the measurement.
    Machine,
    /// All else: engine, purge, state of the device.
    Other,
}

/// A condition that is not the same on both sides.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Condition {
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The values of A, each once; none where no run states it.
    pub a: Vec<String>,
    /// The values of B.
    pub b: Vec<String>,
    #[serde(skip)]
    pub(super) facet: Facet,
}

impl Condition {
    /// The values of a side in words.
    pub fn words(&self, side: &[String]) -> String {
        if self.name == CHECKSUM {
            return "not those of the other side".to_owned();
        }
        let words: Vec<_> = side.iter().map(|value| value_words(&self.name, value)).collect();
        match (words.is_empty(), self.name == SET) {
            (false, _) => words.join(", "),
            (true, true) => "nothing".to_owned(),
            (true, false) if BESIDE.contains(&&*self.name) => NONE_BESIDE.to_owned(),
            (true, false) => "not known".to_owned(),
        }
    }
}

/// The values of a condition on one side.
type Values = BTreeMap<String, (Facet, BTreeSet<String>)>;

/// The conditions with other values in A than in B: the version of the suite, the settings of the
/// test, then the others by name. Seeds are no condition: repeated runs have one each.
pub(super) fn differences(a: &[&Run], b: &[&Run]) -> Vec<Condition> {
    let (a, b) = (values(a), values(b));
    let of = |side: &Values, name: &str| -> Vec<String> {
        side.get(name).map(|(_, values)| values.iter().cloned().collect()).unwrap_or_default()
    };
    let facets: BTreeMap<&String, Facet> =
        a.iter().chain(&b).map(|(name, (facet, _))| (name, *facet)).collect();
    let both = facets.into_iter().map(|(name, facet)| Condition {
        name: name.clone(),
        label: label(name),
        a: of(&a, name),
        b: of(&b, name),
        facet,
    });
    let mut differing: Vec<_> = both.filter(|condition| condition.a != condition.b).collect();
    let explains = |one: &Condition| {
        one.name != CHECKSUM && matches!(one.facet, Facet::Drive | Facet::Firmware | Facet::Host)
    };
    if differing.iter().any(explains) {
        differing.retain(|condition| condition.name != CHECKSUM);
    }
    differing.sort_by_key(place);
    differing
}

/// Conditions of the test before those of the machine: a reader may see the first ones only.
fn place(condition: &Condition) -> usize {
    match condition.facet {
        Facet::Test if condition.name == SUITE_VERSION => 0,
        Facet::Test | Facet::Span | Facet::Host => 1,
        Facet::Drive | Facet::Firmware | Facet::Machine | Facet::Other => 2,
    }
}

fn values(runs: &[&Run]) -> Values {
    let mut values = Values::new();
    for (facet, name, value) in runs.iter().flat_map(|run| of_run(run)) {
        values.entry(name).or_insert((facet, BTreeSet::new())).1.insert(value);
    }
    values
}

/// All conditions of a run, name and value.
fn of_run(run: &Run) -> Vec<(Facet, String, String)> {
    let target = &run.target;
    let (drive, keys) = drive(run);
    let purge = run.purge.as_ref().and_then(|purge| purge.method.clone()).unwrap_or_default();
    let mut all: Vec<(Facet, String, String)> = [
        (Facet::Drive, "drive", drive),
        (Facet::Drive, SET, keys),
        (Facet::Drive, "kind of target", target.kind.name().to_owned()),
        (Facet::Drive, "capacity_bytes", target.capacity_bytes.to_string()),
        (Facet::Firmware, "firmware", target.firmware.clone().unwrap_or_default()),
        (Facet::Other, "engine", target.engine.clone()),
        (Facet::Test, SUITE_VERSION, run.suite_version.to_string()),
        (Facet::Span, "span", span_words(run)),
        (Facet::Other, "purge", purge),
        (Facet::Other, "version", run.tool_version.clone()),
    ]
    .map(|(facet, name, value)| (facet, name.to_owned(), value))
    .to_vec();
    let plain = |value: &serde_json::Value| {
        value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    let of_setting = |(name, value)| (Facet::Test, format!("{SETTING}{name}"), plain(value));
    all.extend(run.config.iter().map(of_setting));
    let of_machine =
        |(name, value): (&String, &String)| (Facet::Machine, name.clone(), value.clone());
    all.extend(run.environment.iter().map(of_machine));
    let of_drive = |(name, value): (&String, &String)| {
        let facet = match name.as_str() {
            "host" => Facet::Host,
            "scale" => Facet::Drive,
            name if name.starts_with("sim.") => Facet::Drive,
            _ => Facet::Other,
        };
        (facet, name.clone(), value.clone())
    };
    all.extend(target.details.iter().map(of_drive));
    all.retain(|(_, name, value)| {
        let is_alone = value == NONE_BESIDE && BESIDE.contains(&&**name);
        !(value.is_empty() || is_alone)
    });
    all
}

/// The drive of a run: its name, and the values that the target string sets on a simulated one.
/// Scale, host and seed are none of them.
pub(super) fn drive(run: &Run) -> (String, String) {
    let target = &run.target;
    let plain = || (target.name.clone(), String::new());
    let Some((_, keys)) = target.spec.split_once('?').filter(|_| target.is_simulated()) else {
        return plain();
    };
    let Some((model, _)) = target.name.split_once(" [") else { return plain() };
    let is_value = |key: &&str| {
        let name = key.split_once('=').map_or(*key, |(name, _)| name);
        !NO_VALUES.contains(&name)
    };
    let keys: Vec<_> = keys.split('&').filter(is_value).collect();
    (model.to_owned(), keys.join(", "))
}

/// The used part of a drive.
pub(super) fn span_words(run: &Run) -> String {
    match (run.span.variant.as_str(), run.span.base.as_str()) {
        _ if run.origin.is_some() => "unknown span".to_owned(),
        ("default", _) => "whole drive".to_owned(),
        (variant, "bytes") => format!("first {variant}"),
        (variant, "advertised") => format!("{variant} spare area of the advertised capacity"),
        (variant, _) => format!("{variant} spare area"),
    }
}

/// The name of a condition for people.
fn label(name: &str) -> String {
    if let Some((_, label)) = LABELS.iter().find(|(known, _)| *known == name) {
        return (*label).to_owned();
    }
    let name = name.strip_prefix(SETTING).unwrap_or(name);
    let name = name.strip_prefix("sim.").unwrap_or(name);
    let units = ["_bytes", "_ns", "_s"];
    let unit = units.iter().find_map(|unit| name.strip_suffix(unit));
    unit.unwrap_or(name).replace(['_', '.'], " ")
}

/// A value of a condition for people.
fn value_words(name: &str, value: &str) -> String {
    let number = value.parse::<u64>().ok();
    let whole = |bytes: u64| {
        let (exact, rounded) = (Bytes(bytes).to_string(), Bytes(bytes).rounded());
        if exact.len() < rounded.len() { exact } else { rounded }
    };
    match (value, number) {
        ("true", _) => "yes".to_owned(),
        ("false", _) => "no".to_owned(),
        (_, Some(bytes)) if name.ends_with("_bytes") => whole(bytes),
        (_, Some(ns)) if name.ends_with("_ns") => Nanos(ns).to_string(),
        (_, Some(seconds)) if name.ends_with("_s") => format!("{seconds} s"),
        _ => shortened(value),
    }
}
