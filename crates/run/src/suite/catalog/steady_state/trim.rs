//! TRIM validation: does TRIM make a tortured drive fast again?
//!
//! Method (AnandTech 2009 to 2014, with passes after HD Tach): linear write passes over the whole
//! span, each after the same torture (4 KiB random writes over every LBA, QD 32, 60 minutes).
//! Between torture and pass comes a purge (the fresh pass), nothing, or one TRIM of the whole span.
//! Nothing else differs, so that heat, credits of a virtual disk and the like affect all passes
//! alike. Differences: these three passes repeat in rounds, with a fresh pass at both ends of each,
//! until the mark of torture is distinguishable from noise ([`compared`]); torture before a purge is
//! left out where the purge leaves no trace of it; a last pass follows
//! torture and idle time without TRIM; and all of it repeats with repeating data if the controller
//! compresses (or with `data=both`).
//!
//! Interpretation: the pass after TRIM must return to the fresh one (mean within 10%, no zone below
//! half of the same zone when fresh). If torture leaves no mark, or noise hides it, that kind of
//! data cannot tell; TRIM works if one kind shows it and no kind denies it.

mod compared;

use base::{Data, Nanos, OpKind};
use load::{Order, Workload};
use result::rows::SecondRow;
use result::schema::TableRow;
use result::stats::summary::quantile;

use self::compared::{PassComparison, Passes, verdict};
use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Duration, Key, Pause, QueueDepth, Reading, entry, settings};
use crate::suite::zones::{Pass, add_pass};
use crate::suite::{
    Chapter, Definition, Figures, Formula, Headline, Measurements, Notes, Part, PhaseSpec,
    ReviewEntry, Site, Step, TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "trim",
    heading: "TRIM validation",
    question: "does TRIM make a tortured drive fast again?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry { settings: "torture=20m", ..ReviewEntry::FULL },
        ReviewEntry::quick("torture=30s idle=0s"),
    ],
    headlines: &[Headline::column(
        "trim.after_trim_share",
        ("Pace", "After TRIM"),
        "Speed after TRIM, share of fresh",
    )],
    ..Definition::of::<Settings>(Chapter::SteadyState, 2)
};

/// The passes in order: name of the phase without its round, and words.
const PASSES: [(&str, &str); 4] = [
    ("fresh", "fresh"),
    ("tortured", "after torture"),
    ("after_trim", "after torture and TRIM"),
    ("after_idle", "after torture and idle time"),
];

/// A kind of data: the test runs once with each requested kind.
struct Kind {
    /// Beginning of the phases' names.
    prefix: &'static str,
    words: &'static str,
    data: Data,
}

const KINDS: [Kind; 2] = [
    Kind { prefix: "", words: "incompressible", data: Data::Incompressible },
    Kind { prefix: "repeating_", words: "repeating", data: Data::Repeating },
];

/// Most rounds on a target that other programs may disturb.
const ROUNDS_MAX: u32 = 6;
/// Zones are compared in groups of at least this length: on a small target a zone takes
/// milliseconds, and a single collection would pass for a slow zone.
const GROUP_BYTES_MIN: u64 = 64 << 20;

settings! {
    /// The treatment before each pass, and its number of repetitions.
    struct Settings {
        torture: Duration = Param::new("torture", "60m", "random writes before each pass");
        idle: Pause = Param::new("idle", "10m", "pause before the last pass; 0s leaves it out");
        queue_depth: QueueDepth = Param::new(
            "queue_depth",
            "32",
            "commands kept outstanding by torture",
        );
        data: Kinds = Param::new(
            "data",
            "auto",
            "incompressible, repeating or both; auto: both where the controller compresses",
        );
        rounds_max: RoundsMax = Param::new(
            "rounds",
            "auto",
            "most rounds of passes; auto: 6, and 1 on simulated drives, which know no noise from outside",
        );
    }
}

/// The kinds of data, with their word. A controller that compresses does not recover equally from both.
struct Kinds {
    word: String,
    kinds: &'static [Kind],
}

entry! { Kinds: |value| value.word.clone() }

impl Key for Kinds {
    type Value = Self;

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<Self, RunError> {
        let word = match params.text(name).as_str() {
            "auto" if site.limits.compresses => "both".to_owned(),
            "auto" => "incompressible".to_owned(),
            asked => asked.to_owned(),
        };
        let kinds = match word.as_str() {
            "incompressible" => &KINDS[..1],
            "repeating" => &KINDS[1..],
            "both" => &KINDS,
            _ => {
                return Err(RunError::Usage(format!(
                    "`--set {name}={word}` must be auto, incompressible, repeating or both"
                )));
            }
        };
        Ok(Self { word, kinds })
    }
}

/// The most rounds; by default fewer where nothing outside disturbs.
enum RoundsMax {}

impl Key for RoundsMax {
    type Value = u32;
    const UNIT: &'static str = "_max";

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<u32, RunError> {
        match params.text(name).as_str() {
            "auto" if site.is_simulated() => Ok(1),
            "auto" => Ok(ROUNDS_MAX),
            _ => params.count(name),
        }
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        self.data.kinds.iter().flat_map(|kind| self.steps_of(kind, site)).collect()
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        figures(measured)
    }
}

impl Settings {
    /// The steps with one kind of data.
    fn steps_of(&self, kind: &'static Kind, site: &Site<'_>) -> Vec<Step> {
        let span_bytes = site.span_bytes;
        let name = |end: &str| format!("{}{end}", kind.prefix);
        let pass = |end| steps::linear_pass(&name(end), OpKind::Write, kind.data, span_bytes);
        let torture = |end: &str| -> PhaseSpec {
            let (write, depth) = (OpKind::Write, self.queue_depth);
            let load = Workload::new(write, Order::Uniform, 4096, depth, span_bytes);
            steps::for_time(&name(end), Workload { data: kind.data, ..load }, self.torture)
        };
        // Without effect on what follows, where the purge leaves nothing of it.
        let warmed = |end| (!site.limits.purge_renews).then(|| torture(end));
        let fresh = |end| warmed(end).into_iter().chain([steps::purge(), pass("fresh")]);
        let round = [
            torture("torture_2"),
            pass("tortured"),
            torture("torture_3"),
            steps::trim(&name("trim"), span_bytes),
            pass("after_trim"),
        ];
        let round: Vec<_> = round.into_iter().chain(fresh("torture_4")).collect();
        let mut all = steps::once(fresh("torture"));
        all.push(Step::Rounds {
            rounds_max: self.rounds_max,
            phases: round,
            settled: Formula::new(|measured| is_settled(measured, kind.prefix)),
        });
        if self.idle > Nanos(0) {
            let idle = steps::idle(&name("idle"), self.idle);
            all.extend(steps::once([torture("torture_5"), idle, pass("after_idle")]));
        }
        all
    }
}

/// Whether more rounds would not change the answer.
fn is_settled(measured: &Measurements<'_>, prefix: &str) -> bool {
    compared(measured, prefix).is_some_and(|compared| compared.answer().is_settled())
}

fn figures(measured: &Measurements<'_>) -> Figures {
    let mut figures = Figures::default();
    let columns = [
        ("mean", "MB/s"),
        ("slowest zone", "MB/s"),
        ("of the fresh mean", "%"),
        ("passes", "count"),
        ("fastest above slowest pass", "%"),
    ];
    let mut table = rates::table("passes", "TRIM validation", "pass", &columns);
    let mut found = Vec::new();
    for Kind { prefix, words: kind, .. } in &KINDS {
        let fresh = mean_pass(&parts(measured, prefix, "fresh"));
        for (end, words) in PASSES {
            if measured.parts().all(|part| !is_of(&part, prefix, end)) {
                continue;
            }
            let parts = parts(measured, prefix, end);
            let pass = mean_pass(&parts);
            add_pass(&mut figures.metrics, &format!("trim.{prefix}{end}"), pass);
            let share = pass.zip(fresh).map(|(pass, fresh)| 100.0 * pass.mean / fresh.mean);
            let (mean, min) = (pass.map(|pass| pass.mean), pass.map(|pass| pass.min));
            let spread = compared::spread(&means(&parts)).map(|spread| 100.0 * spread);
            let values = vec![mean, min, share, Some(parts.len() as f64), spread];
            table.rows.push(TableRow { label: format!("{words}, {kind} data"), values });
        }
        let Some(compared) = compared(measured, prefix) else { continue };
        let after_idle = mean_pass(&parts(measured, prefix, "after_idle"));
        let after_idle = after_idle.zip(fresh).map(|(idle, fresh)| idle.mean / fresh.mean);
        let shares = compared.metrics().into_iter().chain([("after_idle_share", after_idle)]);
        let named = shares.map(|(name, value)| (format!("trim.{prefix}{name}"), value));
        figures.metrics.extend(named);
        found.push((*kind, compared));
    }
    figures.verdict = verdict(&found);
    figures.tables.push(table);
    figures
}

/// Whether this is the pass of this name, in any round.
fn is_of(part: &Part<'_>, prefix: &str, end: &str) -> bool {
    let rest = part.phase.name.strip_prefix(prefix).and_then(|name| name.strip_prefix(end));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(".r"))
}

/// The complete passes of this name, in order.
fn parts<'a>(measured: &Measurements<'a>, prefix: &str, end: &str) -> Vec<Part<'a>> {
    measured.parts().filter(|part| part.phase.complete && is_of(part, prefix, end)).collect()
}

/// The mean rate of each pass.
fn means(parts: &[Part<'_>]) -> Vec<f64> {
    parts.iter().filter_map(Part::mb_per_s).collect()
}

/// The figures of passes of one name, each the mean over them.
fn mean_pass(parts: &[Part<'_>]) -> Option<Pass> {
    let passes: Vec<Pass> = parts.iter().filter_map(Pass::of_part).collect();
    let mean = |of: fn(&Pass) -> f64| passes.iter().map(of).sum::<f64>() / passes.len() as f64;
    (!passes.is_empty()).then(|| Pass {
        mean: mean(|pass| pass.mean),
        min: mean(|pass| pass.min),
        p5: mean(|pass| pass.p5),
        max: mean(|pass| pass.max),
    })
}

/// The result of the rounds with one kind of data, or `None` before the end of the first.
fn compared(measured: &Measurements<'_>, prefix: &str) -> Option<PassComparison> {
    let [fresh, tortured, after_trim] =
        ["fresh", "tortured", "after_trim"].map(|end| parts(measured, prefix, end));
    let zones = |parts: &[Part<'_>]| -> Vec<Vec<f64>> {
        parts.iter().map(|part| grouped(&part.rows.seconds)).collect()
    };
    let (worst_zone, has_slow_zone) = zone_shares(&zones(&fresh), &zones(&after_trim))?;
    let passes =
        Passes { fresh: means(&fresh), tortured: means(&tortured), after_trim: means(&after_trim) };
    let is_simulated = measured.run.target.is_simulated();
    PassComparison::of(&passes, (worst_zone, has_slow_zone), is_simulated)
}

/// The smallest ratio of a zone after TRIM to the same zone when fresh, both as medians over the
/// passes; and whether a zone is slow in all passes after TRIM relative to all fresh ones.
fn zone_shares(fresh: &[Vec<f64>], after_trim: &[Vec<f64>]) -> Option<(f64, bool)> {
    let zones = fresh.iter().chain(after_trim).map(Vec::len).min()?;
    let column = |passes: &[Vec<f64>], zone: usize| -> Vec<f64> {
        passes.iter().map(|pass| pass[zone]).collect()
    };
    let share = |zone, (of_trimmed, of_fresh): (f64, f64)| {
        let trimmed = quantile(&column(after_trim, zone), of_trimmed)?;
        Some(trimmed / quantile(&column(fresh, zone), of_fresh)?)
    };
    let smallest =
        |quantiles| (0..zones).filter_map(|zone| share(zone, quantiles)).min_by(f64::total_cmp);
    let fastest_beside_slowest = smallest((1.0, 0.0))?;
    Some((smallest((0.5, 0.5))?, fastest_beside_slowest < compared::ZONE_SHARE_MIN))
}

/// Rates of groups of zones; the rest at the end joins the last group.
fn grouped(rows: &[SecondRow]) -> Vec<f64> {
    let mut groups: Vec<(u64, u64)> = Vec::new();
    for row in rows {
        let bytes: u64 = row.bytes.iter().sum();
        match groups.last_mut() {
            Some((sum, ns)) if *sum < GROUP_BYTES_MIN => {
                *sum += bytes;
                *ns += row.duration_ns;
            }
            _ => groups.push((bytes, row.duration_ns)),
        }
    }
    if let [.., (sum, ns), (rest, rest_ns)] = &mut groups[..]
        && *rest < GROUP_BYTES_MIN
    {
        (*sum, *ns) = (*sum + *rest, *ns + *rest_ns);
        groups.pop();
    }
    groups.into_iter().map(|(bytes, ns)| bytes as f64 * 1e3 / ns.max(1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_zones_are_judged_together_and_long_ones_alone() {
        let row = |mib: u64, duration_ns| SecondRow {
            bytes: [0, mib << 20, 0, 0],
            duration_ns,
            ..SecondRow::default()
        };
        let second = 1_000_000_000;
        let rates = |rows: &[SecondRow]| -> Vec<i64> {
            grouped(rows).into_iter().map(|rate| (rate * 1e6 / f64::from(1 << 20)) as i64).collect()
        };
        let short =
            [row(32, second), row(32, 3 * second), row(32, second), row(32, second), row(9, 0)];
        assert_eq!(rates(&short), [16, 36]);
        assert_eq!(rates(&[row(960, second), row(960, 2 * second)]), [960, 480]);
        assert!(rates(&[]).is_empty());
    }

    #[test]
    fn a_zone_is_slow_where_every_pass_says_so() {
        let even = vec![vec![100.0, 100.0]; 3];
        let shares = |trimmed: &[[f64; 2]]| {
            let trimmed: Vec<_> = trimmed.iter().map(|zones| zones.to_vec()).collect();
            zone_shares(&even, &trimmed).unwrap()
        };
        assert_eq!(shares(&[[90.0, 30.0], [80.0, 40.0]]), (0.3, true));
        assert_eq!(shares(&[[90.0, 30.0], [80.0, 95.0], [90.0, 95.0]]), (0.9, false));
        assert_eq!(zone_shares(&[], &[]), None);
    }
}
