//! Several runs beside each other: bars for every figure that more than one of them has.

use result::metrics::{Better, Metric, catalogue};
use result::schema::{Mark, MarkKind, Run, RunStatus};

use crate::ui::out::data;
use crate::ui::plot::{Bar, print_bars};
use crate::ui::table::figure;

/// Prints a ranking for each figure with a better direction; runs of other tests, incomplete ones,
/// figures that are not what their names say and those of parts of drives are in none.
pub fn print(runs: &[&Run]) {
    for metric in catalogue().iter().filter(|metric| metric.in_summary) {
        let Some(better) = metric.better else { continue };
        let mut bars: Vec<_> = runs.iter().filter_map(|run| bar(run, metric)).collect();
        if bars.len() < 2 {
            continue;
        }
        bars.sort_by(|a, b| a.value.total_cmp(&b.value));
        if better == Better::Higher {
            bars.reverse();
        }
        let direction = if better == Better::Higher { "longer" } else { "shorter" };
        data!("  {} ({direction} is better):", metric.label);
        print_bars(&bars);
    }
}

fn bar(run: &Run, metric: &Metric) -> Option<Bar> {
    let is_distorted = |mark: &Mark| {
        let is_other = matches!(mark.kind, MarkKind::PartOfDrive | MarkKind::HostLimited);
        mark.metric == metric.name && (mark.kind.disqualifies() || is_other)
    };
    let is_ranked = run.status == RunStatus::Complete && run.origin.is_none();
    let value = run.metrics.get(&metric.name).copied().flatten()?;
    if !is_ranked || run.marks.iter().any(is_distorted) {
        return None;
    }
    let simulated = if run.target.is_simulated() { " (simulated)" } else { "" };
    let spare = match run.span.variant.as_str() {
        "default" => String::new(),
        variant => format!(", {variant} spare"),
    };
    let name = format!("{}{simulated}{spare}", run.target.name);
    Some(Bar { name, value, words: figure(value, metric.unit) })
}
