//! TRIM validation: does TRIM make a tortured drive fast again?
//!
//! Method (suite reference, section 2): a linear write pass of the purged drive; torture (4 KiB random
//! writes over every LBA, QD 32, 60 minutes); a second pass; torture again; one TRIM of the whole span;
//! a third pass. Ours: torture comes again before each pass, since a linear pass overwrites what
//! torture has done; a fourth pass after torture and idle time without TRIM; all of it once more with repeating data,
//! on a purged drive, where the controller compresses (or with `data=both`). How to read it: the
//! pass after TRIM must return to the fresh one (mean within 10%, no zone below half of the same
//! zone when fresh). Where torture leaves no mark, the run cannot tell.

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
    let idle: Nanos = params.get("idle")?;
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
        let verdict = compared.verdict(kind);
        figures.verdict = Some(worse(figures.verdict.take(), verdict));
    }
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

    fn verdict(&self, kind: &str) -> Verdict {
        let (mean, zone) = (percent(self.after_trim), percent(self.worst_zone));
        let tortured = percent(self.tortured);
        let restored = self.after_trim >= MEAN_SHARE_MIN && self.worst_zone >= ZONE_SHARE_MIN;
        let after = format!(
            "after torture with {kind} data a linear pass does {tortured} of the fresh speed, \
             after TRIM {mean} with {zone} in the worst zone"
        );
        let (outcome, text) = match (restored, self.tortured < MARK_SHARE_MAX) {
            (false, _) => (VerdictOutcome::Fail, format!("TRIM does not work: {after}")),
            (true, true) => (VerdictOutcome::Pass, format!("TRIM works: {after}")),
            (true, false) => (
                VerdictOutcome::Inconclusive,
                format!(
                    "This run cannot tell whether TRIM works, since torture left no mark: {after}"
                ),
            ),
        };
        Verdict { outcome, text: format!("{text}.") }
    }
}

/// Of the verdicts of both kinds of data the worse one stands.
fn worse(first: Option<Verdict>, second: Verdict) -> Verdict {
    let rank = |verdict: &Verdict| match verdict.outcome {
        VerdictOutcome::Pass => 0,
        VerdictOutcome::Inconclusive => 1,
        VerdictOutcome::Fail => 2,
    };
    match first {
        Some(first) if rank(&first) >= rank(&second) => first,
        _ => second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(tortured: f64, after_trim: f64, worst_zone: f64) -> VerdictOutcome {
        let compared = Compared { tortured, after_trim, worst_zone, after_idle: None };
        compared.verdict("incompressible").outcome
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
    fn the_worse_of_two_verdicts_stands() {
        let verdict = |outcome| Verdict { outcome, text: String::new() };
        let (pass, fail) = (VerdictOutcome::Pass, VerdictOutcome::Fail);
        assert_eq!(worse(None, verdict(pass)).outcome, pass);
        assert_eq!(worse(Some(verdict(pass)), verdict(fail)).outcome, fail);
        assert_eq!(worse(Some(verdict(fail)), verdict(pass)).outcome, fail);
    }
}
