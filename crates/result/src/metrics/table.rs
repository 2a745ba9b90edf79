//! The complete catalogue: chapters in reading order.

use super::by_step::{CONVERGENCE, STEPS, TRIM};
use super::metric::Relation::{Inverse, Proportional};
use super::metric::{Metric, Mirror, Relation, Row, Scaling};
use super::whole_run::{
    DEVICE_LATENCIES, EVENNESS, FRESH, INSIDE, LATENCIES, LATENESS, REPLAY, REPLAY_BY_KIND,
    REPLAY_INSIDE, THROUGHPUT, WHEN,
};

/// Ends of the names and of the labels: for all commands, and for one kind.
const ALL_AND_KINDS: [(&str, &str); 3] = [("", ""), ("_read", ", reads"), ("_write", ", writes")];

/// Chapter of the figures of single tests, step by step.
const BY_STEP: &str = "By test and step";

/// Figures that tell the fact of another one if their numbers agree: the row, the figure that
/// stands for both, and their relation. Mean latency and rate are one fact in a closed loop
/// (Little's law), data rate and IOPS for commands of one size.
const MIRRORS: [(&str, &str, Relation); 12] = [
    ("latency_steady_ns_mean", "iops_steady_mean", Inverse),
    ("latency_fresh_ns_mean", "iops_fresh_mean", Inverse),
    ("latency_ns_mean", "iops_mean", Inverse),
    ("busy_time_s", "avg_data_rate_mb_per_s", Inverse),
    ("busy_time_s_read", "avg_data_rate_mb_per_s_read", Inverse),
    ("busy_time_s_write", "avg_data_rate_mb_per_s_write", Inverse),
    ("avg_service_time_us", "latency_ns_mean", Proportional),
    ("avg_service_time_us_read", "latency_ns_mean_read", Proportional),
    ("avg_service_time_us_write", "latency_ns_mean_write", Proportional),
    ("<test>.<step>.mb_per_s", "iops", Proportional),
    ("<test>.<step>.latency_ns_mean", "iops", Inverse),
    ("<test>.<step>.latency_ns_mean", "mb_per_s", Inverse),
];

/// All rows in reading order.
pub(super) fn rows() -> Vec<Metric> {
    let chapters = [
        plain("Throughput", &THROUGHPUT),
        evenness(),
        steady_latencies(),
        fresh(),
        whole_run(),
        plain("When", &WHEN),
        replay(),
        plain("Inside the drive", &INSIDE),
        plain("Inside the drive", &REPLAY_INSIDE),
        by_step(),
    ];
    chapters.into_iter().flatten().map(mirrored).collect()
}

/// The row with its mirrors.
fn mirrored(row: Metric) -> Metric {
    let own = MIRRORS.iter().filter(|(name, ..)| *name == row.name);
    let mirrors = own.map(|&(_, of, relation)| Mirror { of, relation }).collect();
    Metric { mirrors, ..row }
}

/// Every run contains a sentence with the notices.
fn evenness() -> Vec<Metric> {
    let rows = plain("Evenness", &EVENNESS).into_iter();
    rows.map(|row| Metric { in_summary: !row.name.starts_with("notice_"), ..row }).collect()
}

/// The drive always cleans up in steady state.
fn steady_latencies() -> Vec<Metric> {
    let (chapter, names) = ("Latency, steady state", ("latency_steady_ns_", ""));
    let rows = latencies(chapter, names, ("Steady latency", ""), |end| end == "mean").into_iter();
    let scaling = |scaling| match scaling {
        Scaling::KeptWhenSteady => Scaling::Kept,
        _ => Scaling::Lost,
    };
    rows.map(|row| Metric { scaling: scaling(row.scaling), ..row }).collect()
}

/// The counterparts of the figures of steady state.
fn fresh() -> Vec<Metric> {
    let (chapter, names) = ("Not in steady state", ("latency_fresh_ns_", ""));
    let latencies = latencies(chapter, names, ("Fresh latency", ""), |end| end == "mean");
    let rows = latencies.into_iter().map(|row| Metric { scaling: Scaling::Lost, ..row });
    plain(chapter, &FRESH).into_iter().chain(rows).collect()
}

/// A whole run contains a share of fresh seconds that depends on the size of the drive.
fn whole_run() -> Vec<Metric> {
    let of_kind = |(end, words): (&'static str, &'static str)| {
        let in_summary = if end.is_empty() { |_: &str| true } else { |end: &str| end == "p99" };
        latencies("Latency, whole run", ("latency_ns_", end), ("Latency", words), in_summary)
    };
    let rows = ALL_AND_KINDS.into_iter().flat_map(of_kind);
    rows.map(|row| Metric { scaling: Scaling::Lost, ..row }).collect()
}

fn replay() -> Vec<Metric> {
    let chapter = "Replay";
    let of_kinds =
        |row: &Row| ALL_AND_KINDS.map(|(end, words)| metric(chapter, row, ("", end), words));
    let lateness = plain(chapter, &LATENESS).into_iter().map(|row| Metric {
        in_summary: row.name.ends_with("_p99") || row.name.ends_with("_max"),
        ..row
    });
    let by_kind = REPLAY_BY_KIND.iter().flat_map(of_kinds);
    let device = plain(chapter, &DEVICE_LATENCIES);
    by_kind.chain(plain(chapter, &REPLAY)).chain(device).chain(lateness).collect()
}

/// The tables of a run contain these.
fn by_step() -> Vec<Metric> {
    let latencies = ALL_AND_KINDS.into_iter().flat_map(|(end, words)| {
        latencies(BY_STEP, ("<test>.<step>.latency_ns_", end), ("Latency", words), |_| false)
    });
    let trim = [("trim.", ""), ("trim.repeating_", ", repeating data")].into_iter();
    let trim = trim.flat_map(|(begin, words)| named(BY_STEP, &TRIM, (begin, ""), words));
    let stages = ["<test>.", "<test>.<stage>."].into_iter();
    let convergence = stages.flat_map(|begin| named(BY_STEP, &CONVERGENCE, (begin, ""), ""));
    let all = plain(BY_STEP, &STEPS).into_iter().chain(latencies).chain(trim).chain(convergence);
    all.map(|row| Metric { in_summary: false, ..row }).collect()
}

/// The six latencies whose names begin and end like this. `in_summary` gets the ends `mean`, `p50`
/// and so on.
fn latencies(
    chapter: &'static str,
    names: (&str, &str),
    (label, label_end): (&str, &str),
    in_summary: fn(&str) -> bool,
) -> Vec<Metric> {
    let of_row = |row: &Row| {
        let plain = metric(chapter, row, names, label_end);
        let label = format!("{label}, {}", plain.label);
        Metric { label, in_summary: in_summary(row.0), ..plain }
    };
    LATENCIES.iter().map(of_row).collect()
}

fn plain(chapter: &'static str, rows: &[Row]) -> Vec<Metric> {
    named(chapter, rows, ("", ""), "")
}

fn named(chapter: &'static str, rows: &[Row], names: (&str, &str), label_end: &str) -> Vec<Metric> {
    rows.iter().map(|row| metric(chapter, row, names, label_end)).collect()
}

/// A row with text around its name and after its label.
fn metric(
    chapter: &'static str,
    &(name, label, unit, better, scaling, explanation): &Row,
    (before, after): (&str, &str),
    label_end: &str,
) -> Metric {
    Metric {
        name: format!("{before}{name}{after}"),
        label: format!("{label}{label_end}"),
        unit,
        better,
        scaling,
        explanation,
        chapter,
        in_summary: true,
        mirrors: Vec::new(),
    }
}
