//! The rated figures of drive models (`[facts.rated]`) as fingerprints: each must come out within 10%
//! under the conditions of its vendor.

use std::collections::BTreeMap;

use sim::model::built_in_table;
use toml::Table;

use crate::cell::Cell;
use crate::claim::{Fingerprint, Measurement, Theme};
use crate::figure::Figure;
use crate::role::Role;

/// The rated figures of all drive models, with the reasons of those that do not hold: the text of
/// `drives/reasons/rated.toml`, a line `drive = "reason"` each.
///
/// # Errors
/// The message of the parser, or the name that is no rated drive's.
pub fn theme(reasons: &str) -> Result<Theme, String> {
    let mut reasons: BTreeMap<String, String> =
        toml::from_str(reasons).map_err(|error| format!("{REASONS}: {error}"))?;
    let explained = |(drive, _): &(&str, &str)| {
        let missing = reasons.remove(*drive);
        of_drive(drive).map(|one| Fingerprint { missing, ..one })
    };
    let fingerprints = sim::model::BUILT_IN.iter().filter_map(explained).collect();
    match reasons.into_keys().next() {
        Some(name) => Err(format!("{REASONS}: no drive model is called `{name}`")),
        None => Ok(Theme { heading: "Rated figures, within 10%".to_owned(), fingerprints }),
    }
}

/// The file of reasons.
pub const REASONS: &str = "drives/reasons/rated.toml";

/// A rated figure: its key among the facts, and its measurement under the usual conditions.
struct Kind {
    key: &'static str,
    words: &'static str,
    test: &'static str,
    /// The metric of the test; `{data}` stands for the end of the name of repeating data.
    metric: &'static str,
}

const KINDS: [Kind; 6] = [
    Kind {
        key: "sequential_read_mb_per_s",
        words: "MB/s sequential read",
        test: "sweep",
        metric: "sweep.read_128KiB.mb_per_s",
    },
    Kind {
        key: "sequential_write_mb_per_s",
        words: "MB/s sequential write",
        test: "sweep",
        metric: "sweep.write_128KiB.mb_per_s",
    },
    Kind {
        key: "random_read_iops",
        words: "random reads a second",
        test: "corners",
        metric: "corners.random_read_deep.iops",
    },
    Kind {
        key: "random_write_iops",
        words: "random writes a second",
        test: "corners",
        metric: "corners.random_write_deep{data}.iops",
    },
    Kind {
        key: "read_latency_ns",
        words: "ns a random read, one at a time",
        test: "latency",
        metric: "latency.random_read.latency_ns_mean",
    },
    Kind {
        key: "write_latency_ns",
        words: "ns a random write, one at a time",
        test: "latency",
        metric: "latency.random_write.latency_ns_mean",
    },
];

/// Commands outstanding where the vendor does not say a number: the native queue of SATA, and four
/// workers of that for NVMe.
const QUEUE_DEPTHS: [(&str, u32); 2] = [("sata", 32), ("nvme", 128)];

/// The maps of larger drives, in GB, would fill the memory.
const FULL_SIZE_GB_MAX: i64 = 8_000;

/// The scale of a run that takes minutes at full size, or `None` of a short one.
fn scale(test: &str, capacity_gb: i64) -> Option<&'static str> {
    match test {
        "corners" if capacity_gb <= FULL_SIZE_GB_MAX => Some("1/8"),
        "sweep" | "latency" if capacity_gb <= FULL_SIZE_GB_MAX => None,
        _ => Some("1/32"),
    }
}

/// The fingerprint of a drive, or `None` if its model has no rated figure of these kinds.
fn of_drive(drive: &str) -> Option<Fingerprint> {
    let model = built_in_table(drive)?;
    let rated = model.get("facts")?.get("rated")?.as_table()?;
    let interface = model.get("interface").and_then(|interface| interface.get("kind"));
    let interface = interface.and_then(|kind| kind.get("value")?.as_str()).unwrap_or("sata");
    let capacity_gb =
        model.get("capacity_gb").and_then(|capacity| capacity.get("value")?.as_integer());
    // No test measures the latency of sequential reads.
    let is_measured = |(kind, rated): &(&Kind, &Table)| {
        kind.test != "latency" || !conditions(rated).contains("sequential")
    };
    let found = KINDS.iter().filter_map(|kind| Some((kind, rated.get(kind.key)?.as_table()?)));
    let found: Vec<_> = found.filter(is_measured).collect();
    let words = |(kind, rated): &(&Kind, &Table)| {
        let conditions = conditions(rated);
        let brackets = if conditions.is_empty() { "" } else { &format!(" ({conditions})") };
        Some(format!("{} {}{brackets}", rated.get("value")?.as_integer()?, kind.words))
    };
    let claim: Vec<_> = found.iter().filter_map(words).collect();
    let from = |(_, rated): &(&Kind, &Table)| Some(rated.get("from")?.as_str()?.to_owned());
    let mut sources: Vec<_> = found.iter().filter_map(from).collect();
    sources.dedup();
    let expected = |(kind, rated): &(&Kind, &Table)| {
        let value = rated.get("value")?.as_integer()? as f64;
        format!("{} in {:.0}..{:.0}", kind.key, value * 0.9, value * 1.1).parse().ok()
    };
    let expectations: Vec<_> = found.iter().filter_map(expected).collect();
    let measured = |(kind, rated): &(&Kind, &Table)| {
        let mut measured = measurement(drive, interface, kind, &conditions(rated));
        let scale = scale(&measured.cell.test, capacity_gb.unwrap_or(0));
        measured.cell.scale = scale.map(str::to_owned);
        (kind.key.to_owned(), measured)
    };
    (!expectations.is_empty()).then(|| Fingerprint {
        id: format!("rated-{drive}"),
        claim: format!("{}: {}.", model_name(&model, drive), claim.join(", ")),
        source: sources.join("; "),
        figures: found.iter().map(measured).collect(),
        expectations,
        role: Role::Input,
        missing: None,
    })
}

fn model_name(model: &Table, drive: &str) -> String {
    model.get("name").and_then(|name| name.as_str()).unwrap_or(drive).to_owned()
}

/// The conditions of a rated figure in words; empty without any.
fn conditions(rated: &Table) -> String {
    rated.get("conditions").and_then(|text| text.as_str()).unwrap_or_default().to_owned()
}

/// The measurement under conditions such as `128 KiB, QD 32, compressible` or `steady state`.
fn measurement(drive: &str, interface: &str, kind: &Kind, conditions: &str) -> Measurement {
    let usual = QUEUE_DEPTHS.iter().find(|(name, _)| *name == interface);
    let depth = queue_depth(conditions).unwrap_or(usual.map_or(32, |(_, depth)| *depth));
    let compressible = conditions.split(", ").any(|word| word == "compressible");
    let is_steady = ["steady", "sustained"].iter().any(|word| conditions.contains(word));
    let (data, end) =
        if compressible { ("repeating", "_repeating") } else { ("incompressible", "") };
    let (test, metric, settings) = match kind.test {
        _ if is_steady && kind.key == "random_write_iops" => {
            ("consistency", "iops_steady_mean".to_owned(), vec![("queue_depth", depth.to_string())])
        }
        "sweep" => {
            let settings = vec![("queue_depth", depth.to_string()), ("data", data.to_owned())];
            ("sweep", kind.metric.to_owned(), settings)
        }
        "latency" => ("latency", kind.metric.to_owned(), vec![("time", "10s".to_owned())]),
        _ => {
            let times = [("time", "10s".to_owned()), ("sequential_time", "1s".to_owned())];
            let settings = [("deep_queue_depth", depth.to_string())].into_iter().chain(times);
            ("corners", kind.metric.replace("{data}", end), settings.collect())
        }
    };
    let settings = settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let cell = Cell {
        drive: drive.to_owned(),
        // Vendors rate a drive with the fastest host they have.
        values: vec![("host".to_owned(), "none".to_owned())],
        test: test.to_owned(),
        settings,
        spare: None,
        scale: None,
    };
    Measurement { cell, figure: Figure::Metric(metric) }
}

/// The number in `QD 32`, or `None` if the conditions have none.
fn queue_depth(conditions: &str) -> Option<u32> {
    let after = conditions.split_once("QD ")?.1;
    after.split(|char: char| !char.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rated_claim_says_its_reason() {
        let theme = theme("samsung-pm9a3-960gb = 'x'").unwrap();
        let reason = |id: &str| {
            theme.fingerprints.iter().find(|one| one.id == id).unwrap().missing.as_deref()
        };
        assert_eq!(reason("rated-samsung-pm9a3-960gb"), Some("x"));
        assert_eq!(reason("rated-crucial-m4-128gb"), None);
        let has_latency = |id: &str| {
            let claim = theme.fingerprints.iter().find(|one| one.id == id).unwrap();
            claim.figures.contains_key("read_latency_ns")
        };
        assert!(has_latency("rated-sk-hynix-pe8110-960gb"), "of random reads");
        assert!(!has_latency("rated-intel-ssd-320-300gb"), "of sequential reads");
        assert!(super::theme("nobody = 'x'").unwrap_err().contains("`nobody`"));
    }

    #[test]
    fn conditions_decide_depth_data_and_state() {
        let of = |kind: usize, conditions| measurement("d", "nvme", &KINDS[kind], conditions);
        let shown = |measured: &Measurement| measured.cell.to_string();
        let command = shown(&of(1, "128 KiB, QD 8, compressible"));
        assert!(command.ends_with("--set queue_depth=8 --set data=repeating"), "{command}");
        assert!(shown(&of(0, "")).contains("queue_depth=128 --set data=incompressible"));
        let Measurement { cell, figure } = of(3, "steady state, QD 256");
        let settings = [("queue_depth".to_owned(), "256".to_owned())];
        assert_eq!((cell.test.as_str(), &cell.settings[..]), ("consistency", &settings[..]));
        assert_eq!(figure, Figure::Metric("iops_steady_mean".to_owned()));
        let Figure::Metric(metric) = of(3, "family, compressible").figure else {
            panic!("a metric")
        };
        assert_eq!(metric, "corners.random_write_deep_repeating.iops");
        assert!(shown(&of(4, "")).ends_with("--set time=10s"));
        for kind in &KINDS {
            let metric = kind.metric.replace("{data}", "");
            assert!(result::metrics::find(&metric).is_some(), "{metric}");
        }
    }
}
