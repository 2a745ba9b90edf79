//! Rates of named steps: as metrics, and as a table with one row a step.

use std::collections::BTreeMap;

use base::Ratio;
use result::schema::{Finding, Table, TableColumn, TableRow};
use result::stats::findings::subject;

use super::{Figures, Measured, Part};

/// A step of a test, as its metrics and people call it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    /// Name of the phase, and of the step in metrics.
    pub(super) phase: &'static str,
    /// Words for people.
    pub(super) label: &'static str,
}

/// Percentiles by the end of their metric's name.
const QUANTILES: [(&str, u64, u64); 4] =
    [("p50", 1, 2), ("p99", 99, 100), ("p999", 999, 1_000), ("p9999", 9_999, 10_000)];

/// `<test>.<step>.mb_per_s` and `.iops`; null for a step that has not run to its end.
pub(super) fn add_rates(
    metrics: &mut BTreeMap<String, Option<f64>>,
    name: &str,
    part: Option<Part<'_>>,
) {
    metrics.insert(format!("{name}.mb_per_s"), part.and_then(|part| part.mb_per_s()));
    metrics.insert(format!("{name}.iops"), part.and_then(|part| part.iops()));
}

/// `<test>.<step>.latency_ns_p50` and so on, and the largest.
pub(super) fn add_latencies(
    metrics: &mut BTreeMap<String, Option<f64>>,
    name: &str,
    part: Option<Part<'_>>,
) {
    let max = part.and_then(|part| part.latency_ns_max());
    for (end, numerator, denominator) in QUANTILES {
        let share = Ratio::new(numerator, denominator).unwrap_or(Ratio::ONE);
        let value = part.and_then(|part| part.latency_ns(share));
        // The maximum is exact, percentiles are to within a bin.
        let value = value.map(|ns| max.map_or(ns, |max| ns.min(max)));
        metrics.insert(format!("{name}.latency_ns_{end}"), value);
    }
    metrics.insert(format!("{name}.latency_ns_max"), max);
}

/// Rates of every step as metrics, and a table of them.
pub(super) fn of_steps(measured: &Measured<'_>, title: &str, steps: &[Named]) -> Figures {
    let test = &measured.run.test;
    let mut figures = Figures::default();
    let mut rows = Vec::new();
    for Named { phase, label } in steps {
        let part = measured.complete(phase);
        add_rates(&mut figures.metrics, &format!("{test}.{phase}"), part);
        let values = vec![part.and_then(|part| part.mb_per_s()), part.and_then(|part| part.iops())];
        rows.push(TableRow { label: (*label).to_owned(), values });
    }
    figures.tables.push(table(
        "rates",
        title,
        "transfer",
        &[("rate", "MB/s"), ("commands", "IOPS")],
    ));
    figures.tables[0].rows = rows;
    figures
}

/// A table without rows.
pub(super) fn table(name: &str, title: &str, row_name: &str, columns: &[(&str, &str)]) -> Table {
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
pub(super) fn finding(measured: &Measured<'_>, metric: &str, predicate: &str) -> Finding {
    Finding { text: format!("{} {predicate}.", subject(measured.run)), metric: metric.to_owned() }
}

/// A rate in decimal megabytes per second, as sentences carry it.
pub(super) fn mb_per_s(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1} MB/s") } else { format!("{rate:.0} MB/s") }
}
