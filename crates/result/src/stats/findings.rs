//! Sentences: each contains its figure and its conditions, and claims a cause only if the rows show
//! it.

use base::TargetKind;

use super::busy::{LIMIT_SHARE, Parts};
use super::consistency::{Consistency, steady_iops};
use super::latency::{PERCENTILES, Percentile, too_few_words};
use super::summary::quantile;
use crate::rows::{PhaseRows, SecondRow};
use crate::schema::{Finding, Run, Span};

pub use super::words::{count, percent, time, volume};

/// Free superblocks count as "used up" within this share of their whole range above their later
/// level.
const FLOOR_SHARE: f64 = 0.02;
/// The cause must appear within half the time until the fall, limited to these bounds in seconds,
/// or within this share of that time.
const CAUSE_REACH_S: (f64, f64) = (5.0, 10.0);
const CAUSE_REACH_SHARE: f64 = 0.05;

/// The findings from the figures of a consistency run, most important first. `rows` are the rows of
/// the load phase behind `figures`.
pub fn consistency(run: &Run, rows: &PhaseRows, figures: &Consistency) -> Vec<Finding> {
    let subject = subject(run);
    let sentences = [
        steady_level(run, rows, figures),
        fresh_level(figures),
        slow_seconds(figures),
        fall(rows, figures),
        settling(rows, figures),
        latency(figures),
        write_amplification(figures),
        limit(figures),
    ];
    let finding = |(metric, predicate): (&str, String)| Finding {
        text: format!("{subject} {predicate}."),
        metric: metric.to_owned(),
    };
    sentences.into_iter().flatten().map(finding).collect()
}

/// The metric of a sentence, and the sentence without its subject.
type Predicate = Option<(&'static str, String)>;

/// Subject of a sentence about a run: `The drive`, `The simulated drive with 25% spare area`.
pub fn subject(run: &Run) -> String {
    let what = match run.target.kind {
        TargetKind::Simulated => "The simulated drive",
        TargetKind::File => "The file",
        TargetKind::Null => "The null target",
        TargetKind::Block | TargetKind::Imported => "The drive",
    };
    match used_part(&run.span) {
        None => what.to_owned(),
        Some(part) if run.span.base == "bytes" => format!("{what}, {part},"),
        Some(part) => format!("{what} {part}"),
    }
}

/// The used part of the drive: `with 25% spare area`, `within its first 64GiB`; `None` for all of
/// it.
pub(super) fn used_part(span: &Span) -> Option<String> {
    match (span.variant.as_str(), span.base.as_str()) {
        ("default", _) => None,
        (variant, "bytes") => Some(format!("within its first {variant}")),
        (variant, _) => Some(format!("with {variant} spare area")),
    }
}

/// The mean, and the range of most seconds on a drive of full size.
fn steady_level(run: &Run, rows: &PhaseRows, figures: &Consistency) -> Predicate {
    let mean = count(figures.metric("iops_steady_mean")?);
    let from = count(f64::from(figures.steady_from_s));
    let steady = steady_iops(rows, figures.steady_from_s);
    let (low, high) = (quantile(&steady, 0.05)?, quantile(&steady, 0.95)?);
    let range =
        format!(", and 9 of 10 seconds stay between {} and {} IOPS", count(low), count(high));
    let range = if run.target.scale().is_none() { range } else { String::new() };
    Some(("iops_steady_mean", format!("holds {mean} IOPS on average from {from} s on{range}")))
}

/// The reason against steady state, and the pace instead.
fn fresh_level(figures: &Consistency) -> Predicate {
    const METRIC: &str = "iops_fresh_mean";
    let reason = &figures.unsteady.as_ref()?.text;
    let (mean, from) = (figures.metric(METRIC)?, count(f64::from(figures.steady_from_s)));
    let text = format!(
        "was not in steady state ({reason}): {} IOPS from {from} s on are no pace that it keeps",
        count(mean)
    );
    Some((METRIC, text))
}

fn slow_seconds(figures: &Consistency) -> Predicate {
    const METRIC: &str = "seconds_below_half_mean_share";
    let share = figures.metric(METRIC)?;
    let worst = count(figures.metric("iops_steady_min")?);
    let from = count(f64::from(figures.steady_from_s));
    let text = if share == 0.0 {
        format!(
            "has no second below half its mean from {from} s on; the slowest gives {worst} IOPS"
        )
    } else {
        format!(
            "gives less than half its mean in {} of the seconds from {from} s on; \
             the slowest gives {worst} IOPS",
            percent(share)
        )
    };
    Some((METRIC, text))
}

fn fall(rows: &PhaseRows, figures: &Consistency) -> Predicate {
    let regimes = &figures.shape.regimes;
    let Some(start) = figures.shape.fall_start else {
        // Only a run that is even throughout, until the drive cleans up, shows that there is no fall.
        let is_even = figures.shape.steady_start == Some(0) && figures.unsteady.is_none();
        return is_even.then(|| {
            let text = format!("keeps its pace: no fall in {}", duration(&rows.seconds));
            ("fall_start_s", text)
        });
    };
    let fall_s = figures.metric("fall_start_s")?;
    let before = regimes.iter().take_while(|regime| regime.values.start < start);
    let from = before.map(|regime| regime.level).fold(0.0, f64::max);
    // Its final level, if it has one; right after a fall many drives dip below that.
    let settled = figures.shape.steady_start.filter(|&steady| steady >= start);
    let to = match settled {
        Some(steady) => figures.shape.level_from(steady)?,
        None => regimes.iter().find(|regime| regime.values.start >= start)?.level,
    };
    let cause = if spare_runs_out_at(&rows.seconds, fall_s) {
        ", when its spare blocks are used up"
    } else {
        ""
    };
    let text = format!(
        "falls from {} to {} IOPS after {} s{cause}",
        count(from),
        count(to),
        count(fall_s)
    );
    Some(("fall_start_s", text))
}

/// Whether the free superblocks sink from plenty to their usual later level at the begin of the
/// fall. The usual level is the median after the fall, so that a single low value later does not
/// hide the cause.
fn spare_runs_out_at(rows: &[SecondRow], fall_s: f64) -> bool {
    let level = |row: &SecondRow| row.telemetry.map(|t| t.free_superblocks as f64);
    let is_later = |row: &&SecondRow| f64::from(row.second) >= fall_s;
    let later: Vec<f64> = rows.iter().filter(is_later).filter_map(level).collect();
    let (Some(first), Some(floor)) = (rows.first().and_then(level), quantile(&later, 0.5)) else {
        return false;
    };
    let used_up = floor + (FLOOR_SHARE * (first - floor)).max(1.0);
    let reached = rows.iter().find(|row| level(row).is_some_and(|free| free <= used_up));
    let (least_s, most_s) = CAUSE_REACH_S;
    let reach_s = (fall_s / 2.0).clamp(least_s, most_s).max(CAUSE_REACH_SHARE * fall_s);
    first > 2.0 * used_up
        && reached.is_some_and(|row| (f64::from(row.second) - fall_s).abs() <= reach_s)
}

fn settling(rows: &PhaseRows, figures: &Consistency) -> Predicate {
    const METRIC: &str = "steady_start_s";
    if figures.shape.regimes.is_empty() || figures.unsteady.is_some() {
        return None;
    }
    let length = duration(&rows.seconds);
    match figures.metric(METRIC) {
        None => Some((
            METRIC,
            format!("does not settle within {length}, so its steady-state figures are a snapshot"),
        )),
        Some(steady_s) if steady_s > f64::from(figures.steady_from_s) => Some((
            METRIC,
            format!(
                "settles only after {} s, so its figures from {} s on mix two regimes",
                count(steady_s),
                count(f64::from(figures.steady_from_s))
            ),
        )),
        Some(_) if figures.shape.steady_start == Some(0) => None,
        Some(steady_s) => {
            let level = figures.shape.level_from(figures.shape.steady_start?)?;
            let text =
                format!("settles at about {} IOPS after {} s", count(level), count(steady_s));
            Some((METRIC, text))
        }
    }
}

/// The rarest percentile with enough commands, and the slowest command.
fn latency(figures: &Consistency) -> Predicate {
    const METRICS: [&str; 4] = [
        "latency_steady_ns_p50",
        "latency_steady_ns_p99",
        "latency_steady_ns_p999",
        "latency_steady_ns_p9999",
    ];
    const SLOWEST: &str = "latency_steady_ns_max";
    let max = time(figures.metric(SLOWEST)?);
    let from = count(f64::from(figures.steady_from_s));
    let why = too_few_words(figures.steady_commands);
    let known = METRICS.into_iter().zip(PERCENTILES).rev();
    let known = known.map(|(metric, percentile)| (metric, percentile, figures.metric(metric)));
    let Some((metric, Percentile { words, .. }, Some(ns))) =
        known.clone().find(|known| known.2.is_some())
    else {
        let text = format!(
            "answers the slowest command from {from} s on in {max}; {why} for a percentile"
        );
        return Some((SLOWEST, text));
    };
    let is_rarest = Some(metric) == METRICS.last().copied();
    let why = if is_rarest { String::new() } else { format!("; {why} for more") };
    let within = time(ns);
    let text = format!(
        "answers {words} of commands within {within} from {from} s on; the slowest takes {max}{why}"
    );
    Some((metric, text))
}

fn write_amplification(figures: &Consistency) -> Predicate {
    let waf = figures.metric("waf_steady")?;
    let text = format!(
        "programs {waf:.2} pages of NAND for every page written from {} s on",
        count(f64::from(figures.steady_from_s))
    );
    Some(("waf_steady", text))
}

/// The parts without idle time, if there are any. There can be several: each waits for the other in
/// turn.
fn limit(figures: &Consistency) -> Predicate {
    let share = |parts: &Parts| figures.metric(parts.steady_share_metric);
    let limits: Vec<&Parts> =
        Parts::ALL.iter().filter(|parts| share(parts) >= Some(LIMIT_SHARE)).collect();
    let first = limits.first()?;
    let names: Vec<&str> = limits.iter().map(|parts| parts.words).collect();
    let busy = |parts: &Parts| Some(format!("{} {}", parts.words, percent(share(parts)?)));
    let all: Vec<String> = Parts::ALL.iter().filter_map(busy).collect();
    let text = format!(
        "is limited by its {} from {} s on (busy: {})",
        names.join(" and its "),
        count(f64::from(figures.steady_from_s)),
        all.join(", ")
    );
    Some((first.steady_share_metric, text))
}

/// Length of the run in words.
fn duration(rows: &[SecondRow]) -> String {
    let length_ns: u64 = rows.iter().map(|row| row.duration_ns).sum();
    format!("{} s", count(length_ns as f64 / 1e9))
}
