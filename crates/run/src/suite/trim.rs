//! TRIM validation: does TRIM make a tortured drive fast again?
//!
//! Method (suite reference, section 2): a linear write pass of the purged drive; torture (4 KiB random
//! writes over every LBA, QD 32, 60 minutes); a second pass; torture again; one TRIM of the whole span;
//! a third pass. Ours: torture comes again before each pass, since a linear pass overwrites what
//! torture has done; a fourth pass after torture and idle time without TRIM; all of it once more with repeating data,
//! on a purged drive, where the controller compresses (or with `data=both`). How to read it: the
//! pass after TRIM must return to the fresh one (mean within 10%, no zone below half of the same
//! zone when fresh). Where torture leaves no mark, that kind of data cannot tell; TRIM works where one kind
//! shows it and no kind denies it.

use base::{Data, Nanos, OpKind};
use load::{Order, Workload};
use result::rows::SecondRow;
use result::schema::{TableRow, Verdict, VerdictOutcome};
use result::stats::findings::percent;

use super::zones::{Pass, add_pass};
use super::{Definition, Figures, Measured, PhaseSpec, Procedure, Site, rates, steps};
use crate::error::RunError;
use crate::params::{Param, Params};

/// The test.
pub const DEFINITION: Definition = Definition {
    name: "trim",
    question: "does TRIM make a tortured drive fast again?",
    writes: true,
    params: &[
        Param {
            name: "torture",
            default: "60m",
            help: "random writes before each pass but the first",
        },
        Param {
            name: "idle",
            default: "10m",
            help: "pause before the last pass; 0s leaves it out",
        },
        Param { name: "queue_depth", default: "32", help: "commands kept outstanding by torture" },
        Param {
            name: "data",
            default: "auto",
            help: "incompressible, repeating or both; auto: both where the controller compresses",
        },
    ],
    procedure,
    figures,
};

/// The passes in order: end of the phase's name, and words.
const PASSES: [(&str, &str); 4] = [
    ("fresh", "fresh"),
    ("tortured", "after torture"),
    ("after_trim", "after torture and TRIM"),
    ("after_idle", "after torture and idle time"),
];

/// The kinds of data: beginning of the phases' names, words, kind.
const KINDS: [(&str, &str, Data); 2] =
    [("", "incompressible", Data::Incompressible), ("repeating_", "repeating", Data::Repeating)];

/// The mean of the pass after TRIM must reach this share of the fresh one's.
const MEAN_SHARE_MIN: f64 = 0.9;
/// And every zone this share of the same zone when fresh.
const ZONE_SHARE_MIN: f64 = 0.5;
/// Zones are compared in groups of at least this length: on a small target a zone takes milliseconds,
/// and a single collection would pass for a slow zone.
const GROUP_BYTES_MIN: u64 = 64 << 20;
/// Above this share of the fresh mean the tortured pass shows no mark of torture.
const MARK_SHARE_MAX: f64 = 0.95;

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let torture = params.duration("torture")?;
    let idle = params.pause("idle")?;
    let depth = params.queue_depth("queue_depth")?;
    let data = data(params, site);
    let kinds = kinds(&data)?;
    let mut phases = Vec::new();
    for (prefix, _, data) in kinds {
        let name = |end: &str| format!("{prefix}{end}");
        let pass = |end| steps::linear_pass(&name(end), OpKind::Write, *data, site.span_bytes);
        let torture = |end: &str| -> PhaseSpec {
            let load = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, site.span_bytes);
            steps::for_time(&name(end), Workload { data: *data, ..load }, torture)
        };
        phases.extend([steps::purge(), pass("fresh"), torture("torture"), pass("tortured")]);
        phases.extend([torture("torture_2"), steps::trim(&name("trim"), site.span_bytes)]);
        phases.push(pass("after_trim"));
        if idle > Nanos(0) {
            phases.extend([torture("torture_3"), steps::idle(&name("idle"), idle)]);
            phases.push(pass("after_idle"));
        }
    }
    let config = steps::config([
        ("torture_s", steps::seconds(torture)),
        ("idle_s", steps::seconds(idle)),
        ("queue_depth", depth.into()),
        ("data", data.into()),
    ]);
    Ok(Procedure { config, steps: phases.into_iter().map(Into::into).collect(), notes: Vec::new() })
}

/// The kinds asked for. A controller that compresses does not recover alike from both.
fn data(params: &Params, site: &Site<'_>) -> String {
    match params.text("data").as_str() {
        "auto" if site.limits.compresses => "both".to_owned(),
        "auto" => "incompressible".to_owned(),
        asked => asked.to_owned(),
    }
}

type Kind = (&'static str, &'static str, Data);

fn kinds(text: &str) -> Result<&'static [Kind], RunError> {
    match text {
        "incompressible" => Ok(&KINDS[..1]),
        "repeating" => Ok(&KINDS[1..]),
        "both" => Ok(&KINDS),
        _ => Err(RunError::Usage(format!(
            "`--set data={text}` must be auto, incompressible, repeating or both"
        ))),
    }
}

fn figures(measured: &Measured<'_>) -> Figures {
    let mut figures = Figures::default();
    let columns = [("mean", "MB/s"), ("slowest zone", "MB/s"), ("of the fresh mean", "%")];
    let mut table = rates::table("passes", "TRIM validation", "pass", &columns);
    let mut found = Vec::new();
    for (prefix, kind, _) in KINDS {
        let fresh = Pass::of(measured, &format!("{prefix}fresh"));
        for (end, words) in PASSES {
            let name = format!("{prefix}{end}");
            if measured.part(&name).is_none() {
                continue;
            }
            let pass = Pass::of(measured, &name);
            add_pass(&mut figures.metrics, &format!("trim.{name}"), pass);
            let share = pass.zip(fresh).map(|(pass, fresh)| 100.0 * pass.mean / fresh.mean);
            let values = vec![pass.map(|pass| pass.mean), pass.map(|pass| pass.min), share];
            table.rows.push(TableRow { label: format!("{words}, {kind} data"), values });
        }
        let Some(compared) = compared(measured, prefix) else { continue };
        compared.add_metrics(&mut figures, prefix);
        found.push((kind, compared));
    }
    figures.verdict = verdict(&found);
    figures.tables.push(table);
    figures
}

/// The passes of one kind of data against the fresh one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Compared {
    /// Mean of the tortured pass over the fresh mean.
    tortured: f64,
    /// Mean after TRIM over the fresh mean.
    after_trim: f64,
    /// The worst zone after TRIM over the same zone when fresh.
    worst_zone: f64,
    /// Mean after idle time over the fresh mean.
    after_idle: Option<f64>,
}

fn compared(measured: &Measured<'_>, prefix: &str) -> Option<Compared> {
    let name = |end: &str| format!("{prefix}{end}");
    let mean = |end: &str| Some(Pass::of(measured, &name(end))?.mean);
    let zones = |end: &str| Some(grouped(&measured.complete(&name(end))?.rows.seconds));
    let (fresh, fresh_zones, trim_zones) = (mean("fresh")?, zones("fresh")?, zones("after_trim")?);
    let shares = trim_zones.iter().zip(&fresh_zones).map(|(zone, fresh)| zone / fresh);
    Some(Compared {
        tortured: mean("tortured")? / fresh,
        after_trim: mean("after_trim")? / fresh,
        worst_zone: shares.fold(f64::INFINITY, f64::min),
        after_idle: mean("after_idle").map(|mean| mean / fresh),
    })
}

/// Rates of groups of zones; what is left at the end joins the last group.
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

impl Compared {
    fn add_metrics(&self, figures: &mut Figures, prefix: &str) {
        for (name, value) in [
            ("tortured_share", Some(self.tortured)),
            ("after_trim_share", Some(self.after_trim)),
            ("after_trim_worst_zone_share", Some(self.worst_zone)),
            ("after_idle_share", self.after_idle),
        ] {
            figures.metrics.insert(format!("trim.{prefix}{name}"), value);
        }
    }

    /// What the passes of this kind of data alone show.
    fn outcome(&self) -> VerdictOutcome {
        let restored = self.after_trim >= MEAN_SHARE_MIN && self.worst_zone >= ZONE_SHARE_MIN;
        match (restored, self.tortured < MARK_SHARE_MAX) {
            (false, _) => VerdictOutcome::Fail,
            (true, true) => VerdictOutcome::Pass,
            (true, false) => VerdictOutcome::Inconclusive,
        }
    }

    /// The figures of this kind of data in words.
    fn words(&self, kind: &str) -> String {
        let (mean, zone) = (percent(self.after_trim), percent(self.worst_zone));
        let tortured = percent(self.tortured);
        format!(
            "after torture with {kind} data a linear pass does {tortured} of the fresh speed, \
             after TRIM {mean} with {zone} in the worst zone"
        )
    }
}

/// The decision over all kinds of data: one that fails is a failure; else one that passes is enough, since
/// the other only could not be slowed down. `None` where no kind was measured to its end.
fn verdict(found: &[(&str, Compared)]) -> Option<Verdict> {
    let has = |outcome| found.iter().any(|(_, compared)| compared.outcome() == outcome);
    let (outcome, begin) = if has(VerdictOutcome::Fail) {
        (VerdictOutcome::Fail, "TRIM does not work")
    } else if has(VerdictOutcome::Pass) {
        (VerdictOutcome::Pass, "TRIM works")
    } else {
        let begin = "This run cannot tell whether TRIM works, since torture left no mark";
        (VerdictOutcome::Inconclusive, begin)
    };
    let words = |(kind, compared): &(&str, Compared)| {
        let alone = if compared.outcome() == outcome { "" } else { says_alone(compared.outcome()) };
        format!("{}{alone}", compared.words(kind))
    };
    let figures: Vec<String> = found.iter().map(words).collect();
    let text = format!("{begin}: {}.", figures.join("; "));
    (!found.is_empty()).then_some(Verdict { outcome, text })
}

/// What is added to the figures of a kind of data that does not say what the verdict says.
const fn says_alone(outcome: VerdictOutcome) -> &'static str {
    match outcome {
        VerdictOutcome::Pass => " (works)",
        VerdictOutcome::Fail => " (does not work)",
        VerdictOutcome::Inconclusive => " (cannot tell: torture left no mark)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(tortured: f64, after_trim: f64, worst_zone: f64) -> Compared {
        Compared { tortured, after_trim, worst_zone, after_idle: None }
    }

    fn outcome(tortured: f64, after_trim: f64, worst_zone: f64) -> VerdictOutcome {
        compared(tortured, after_trim, worst_zone).outcome()
    }

    #[test]
    fn the_verdict_follows_mean_and_worst_zone() {
        assert_eq!(outcome(0.4, 0.97, 0.8), VerdictOutcome::Pass);
        assert_eq!(outcome(0.4, 0.85, 0.8), VerdictOutcome::Fail);
        assert_eq!(outcome(0.4, 0.97, 0.45), VerdictOutcome::Fail, "one zone stays slow");
        assert_eq!(outcome(0.99, 0.99, 0.9), VerdictOutcome::Inconclusive, "no mark of torture");
    }

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
    fn two_kinds_of_data_fail_by_one_pass_by_one_and_are_silent_only_together() {
        let (pass, fail) = (compared(0.25, 0.989, 0.87), compared(0.3, 0.4, 0.2));
        let silent = compared(0.998, 1.0, 0.98);
        let both = |first, second| {
            verdict(&[("incompressible", first), ("repeating", second)]).expect("two kinds").outcome
        };
        assert_eq!(both(pass, silent), VerdictOutcome::Pass);
        assert_eq!(both(silent, pass), VerdictOutcome::Pass);
        assert_eq!(both(pass, pass), VerdictOutcome::Pass);
        assert_eq!(both(silent, silent), VerdictOutcome::Inconclusive);
        for other in [pass, fail, silent] {
            assert_eq!(both(fail, other), VerdictOutcome::Fail);
            assert_eq!(both(other, fail), VerdictOutcome::Fail);
        }
        assert_eq!(verdict(&[]), None);
    }

    #[test]
    fn the_verdict_names_both_kinds_and_what_each_showed() {
        let kinds = [
            ("incompressible", compared(0.25, 0.989, 0.87)),
            ("repeating", compared(0.98, 1.01, 0.98)),
        ];
        assert_eq!(
            verdict(&kinds).expect("two kinds").text,
            "TRIM works: after torture with incompressible data a linear pass does 25% of the fresh speed, \
             after TRIM 99% with 87% in the worst zone; after torture with repeating data a linear pass does \
             98% of the fresh speed, after TRIM 101% with 98% in the worst zone (cannot tell: torture left no \
             mark)."
        );
    }
}
