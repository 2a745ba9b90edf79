//! Rates of named steps: as metrics, and as a table with one row per step.

use std::collections::BTreeMap;

use base::OpKind;
use result::marks::Reason;
use result::schema::{Finding, Table, TableColumn, TableRow};
use result::stats::findings::subject;
use result::stats::latency;
use result::stats::mixture::{Mixture, Rate};
use result::stats::power::drawn;

use super::{Figures, Measurements, Part};

/// `<test>.<step>.mb_per_s` and `.iops`, marked if they mix two regimes, and each divided by the mean
/// power where that is known; null for an incomplete step.
pub(crate) fn add_rates(figures: &mut Figures, name: &str, part: Option<Part<'_>>) {
    let rates = [
        ("mb_per_s", Rate::MbPerS, part.and_then(|part| part.mb_per_s())),
        ("iops", Rate::Iops, part.and_then(|part| part.iops())),
    ];
    for (end, rate, value) in rates {
        let metric = format!("{name}.{end}");
        let mixture = part.and_then(|part| Mixture::of(&part.rows.seconds, rate));
        figures.marks.extend(mixture.map(|mixture| mixture.mark(&metric, rate)));
        figures.metrics.insert(metric, value);
        let power =
            part.and_then(|part| drawn(&part.rows.seconds)).filter(|power| power.mean_w > 0.0);
        let per_w = power.zip(value).map(|(power, value)| value / power.mean_w);
        figures.metrics.extend(per_w.map(|ratio| (format!("{name}.{end}_per_w"), Some(ratio))));
    }
}

/// `<test>.<step>.latency_ns_mean`, the percentiles and the largest, with their marks; null for an
/// incomplete step.
pub(crate) fn add_latencies(figures: &mut Figures, name: &str, part: Option<Part<'_>>) {
    let latencies = part.map(|part| part.latencies()).unwrap_or_default();
    latencies.add_to(&mut figures.metrics, &mut figures.marks, &format!("{name}.latency_ns"), "");
    mark_end(figures, name, part);
}

/// Adds the latencies of each kind of command: `<test>.<step>.latency_ns_mean_read`, `_write` and so on.
pub(crate) fn add_latencies_by_kind(figures: &mut Figures, name: &str, part: Option<Part<'_>>) {
    for op in [OpKind::Read, OpKind::Write] {
        let latencies = part.map(|part| part.latencies_of(op)).unwrap_or_default();
        let (prefix, suffix) = (format!("{name}.latency_ns"), format!("_{}", op.name()));
        latencies.add_to(&mut figures.metrics, &mut figures.marks, &prefix, &suffix);
    }
    mark_end(figures, name, part);
}

/// Marks the known figures of a step that claims steady state and did not have it. Rows without
/// writes claim nothing.
pub(crate) fn mark_unsteady(
    figures: &mut Figures,
    measured: &Measurements<'_>,
    name: &str,
    part: Option<Part<'_>>,
) {
    let Some(text) = part.and_then(|part| measured.obstacle(&part)) else { return };
    let begin = format!("{name}.");
    mark(figures, &Reason::not_steady(text), |metric| metric.starts_with(&begin));
}

/// Marks the figures of all steps that wrote, in a test that brings the drive into steady state first.
pub(crate) fn mark_unprepared(figures: &mut Figures, measured: &Measurements<'_>) {
    let Some(text) = measured.obstacle_of_past() else { return };
    mark(figures, &Reason::not_steady(text), |metric| measured.wrote(metric));
}

/// Marks the known figures that `is_meant` selects, unless they have a mark of this kind.
pub(crate) fn mark(figures: &mut Figures, reason: &Reason, is_meant: impl Fn(&str) -> bool) {
    let is_marked = |metric: &str| {
        figures.marks.iter().any(|mark| mark.metric == metric && mark.kind == reason.kind)
    };
    let known = figures.metrics.iter().filter(|(_, value)| value.is_some());
    let own = known.filter(|(metric, _)| is_meant(metric) && !is_marked(metric));
    let marks: Vec<_> = own.map(|(metric, _)| reason.mark(metric)).collect();
    figures.marks.extend(marks);
}

fn mark_end(figures: &mut Figures, name: &str, part: Option<Part<'_>>) {
    let Some(part) = part else { return };
    let prefix = format!("{name}.latency_ns");
    figures.marks.extend(latency::marks_of_end(part.phase, &figures.metrics, &prefix));
}

/// Rates of every step as metrics, and a table of them. A step has the name of its phase, and words for people.
pub(crate) fn of_steps(
    measured: &Measurements<'_>,
    title: &str,
    steps: &[(&str, &str)],
) -> Figures {
    let test = &measured.run.test;
    let mut figures = Figures::default();
    let mut rows = Vec::new();
    for (phase, label) in steps {
        let part = measured.complete(phase);
        add_rates(&mut figures, &format!("{test}.{phase}"), part);
        let values = vec![part.and_then(|part| part.mb_per_s()), part.and_then(|part| part.iops())];
        rows.push(TableRow { label: (*label).to_owned(), values });
    }
    let columns = [("rate", "MB/s"), ("commands", "IOPS")];
    figures.tables = vec![Table { rows, ..table("rates", title, "transfer", &columns) }];
    figures
}

/// A table without rows.
pub(crate) fn table(name: &str, title: &str, row_name: &str, columns: &[(&str, &str)]) -> Table {
    let column = |(name, unit): &(&str, &str)| TableColumn {
        name: (*name).to_owned(),
        unit: (*unit).to_owned(),
    };
    Table {
        name: name.to_owned(),
        title: title.to_owned(),
        row_name: row_name.to_owned(),
        columns: columns.iter().map(column).collect(),
        rows: Vec::new(),
        conditions: BTreeMap::new(),
    }
}

/// A sentence about the run: its subject, then `predicate`.
pub(crate) fn finding(measured: &Measurements<'_>, metric: &str, predicate: &str) -> Finding {
    Finding { text: format!("{} {predicate}.", subject(measured.run)), metric: metric.to_owned() }
}

/// A rate in decimal megabytes per second, for sentences.
pub(crate) fn mb_per_s(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1} MB/s") } else { format!("{rate:.0} MB/s") }
}
