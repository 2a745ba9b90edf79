//! The catalogue of metrics: every figure that a run can name, with its label, unit and meaning.
//!
//! The terminal reads it from here; the page, `docs/reference/metrics.md` and scripts read what
//! [`crate::generated`] makes of it. A new metric is a row of `metrics/whole_run.rs` or
//! `metrics/by_step.rs`. A test of `crates/run` fails for a figure without a row and for a row
//! without a figure.

mod by_step;
mod metric;
mod table;
mod whole_run;

use std::sync::LazyLock;

pub use metric::{Better, Metric, Mirror, Relation, Scaling, Unit};

/// All rows: chapters in reading order, in each the metrics in reading order. A family stands below
/// the single metrics that match its pattern.
pub fn catalogue() -> &'static [Metric] {
    static CATALOGUE: LazyLock<Vec<Metric>> = LazyLock::new(table::rows);
    &CATALOGUE
}

/// The row of a metric, or `None` if the catalogue does not know it.
pub fn find(name: &str) -> Option<&'static Metric> {
    catalogue().iter().find(|metric| metric.covers(name))
}

/// The label of a figure in words, complete within its test; that of a name without a row is the
/// name in words.
pub fn label(name: &str) -> String {
    find(name).map_or_else(
        || name.split('.').map(metric::step_words).collect::<Vec<_>>().join(", "),
        |metric| metric.label_of(name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_a_step_has_a_label_with_its_step() {
        for (name, wanted) in [
            ("iops_steady_mean", "Steady state, mean"),
            ("corners.random_read_deep.iops", "IOPS, random read deep"),
            ("fio.read_4KiB_qd32.mb_per_s", "Data rate, read 4KiB QD 32"),
            ("pts-hir.steady.iops", "IOPS, steady state"),
            ("pts-iops.hot_days.rounds", "Rounds, hot days"),
            ("of_a_later_version", "of a later version"),
        ] {
            assert_eq!(label(name), wanted);
        }
    }

    #[test]
    fn a_mirror_is_of_an_earlier_row() {
        let place = |name: &str| catalogue().iter().position(|row| row.name == name);
        let mut mirrors = 0;
        for (at, metric) in catalogue().iter().enumerate() {
            for mirror in &metric.mirrors {
                let (before, _) = metric.name.rsplit_once('.').unwrap_or_default();
                let of = format!("{before}.{}", mirror.of);
                let of = place(of.trim_start_matches('.'));
                assert!(of.is_some_and(|of| of < at), "{} of {}", metric.name, mirror.of);
                mirrors += 1;
            }
        }
        assert!(mirrors > 10, "every row of the table of mirrors has a metric: {mirrors}");
    }

    #[test]
    fn every_row_is_found_by_a_name_of_its_own() {
        for metric in catalogue() {
            let example = metric.name.replace(['<', '>'], "");
            let found = find(&example).map(|metric| metric.name.as_str());
            assert_eq!(found, Some(metric.name.as_str()), "a row above covers {example}");
        }
    }

    #[test]
    fn every_row_says_what_it_is_and_chapters_hang_together() {
        let mut chapters: Vec<_> = catalogue().iter().map(|metric| metric.chapter).collect();
        chapters.dedup();
        let mut different = chapters.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(chapters.len(), different.len(), "a chapter stands in two places: {chapters:?}");
        for metric in catalogue() {
            let Metric { name, label, explanation, .. } = metric;
            assert!(label.starts_with(char::is_uppercase), "{name}: {label}");
            assert!(explanation.ends_with('.') && !explanation.contains('|'), "{name}");
            assert!(!(name.contains('.') && metric.in_summary), "{name} goes by its name");
        }
    }

    #[test]
    fn labels_of_whole_runs_stand_by_themselves() {
        let whole = catalogue().iter().filter(|metric| !metric.name.contains('.'));
        let mut labels: Vec<_> = whole.map(|metric| metric.label.as_str()).collect();
        labels.sort_unstable();
        let all = labels.len();
        labels.dedup();
        assert_eq!(labels.len(), all, "two figures have one label: {labels:?}");
    }

    #[test]
    fn names_that_nothing_carries_have_no_row() {
        for name in
            ["", "iops", "iops_steady_mean.x", "corners.iops", "x.y.z.iops", "corners..speed"]
        {
            assert_eq!(find(name), None, "{name}");
        }
        let unit = |name| find(name).map(|metric| metric.unit);
        assert_eq!(unit("corners.random_read.iops"), Some(Unit::Iops));
        assert_eq!(unit("pts-latency.steady_mean"), Some(Unit::Ns));
        assert_eq!(unit("pts-iops.steady_mean"), Some(Unit::Iops));
    }

    /// Names that scripts use.
    #[test]
    fn the_stable_names_of_consistency_and_of_replays_are_there() {
        let consistency = "iops_steady_mean iops_steady_min iops_steady_max iops_steady_stddev \
            iops_steady_cv iops_peak_mean_first_60s last400_stddev last400_mean_over_stddev \
            seconds_below_half_mean_share latency_ns_mean latency_ns_p50 latency_ns_p99 \
            latency_ns_p999 latency_ns_p9999 latency_ns_max fall_start_s steady_start_s waf_steady";
        let replay = ["avg_data_rate_mb_per_s", "busy_time_s", "avg_service_time_us"];
        let replay = replay
            .iter()
            .flat_map(|name| ["", "_read", "_write"].map(|end| format!("{name}{end}")));
        for name in consistency.split_whitespace().map(str::to_owned).chain(replay) {
            let found = find(&name).unwrap_or_else(|| panic!("{name} is in no row"));
            assert!(found.name == name && found.in_summary, "{name}");
        }
    }
}
