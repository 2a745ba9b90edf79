//! Placement handles: what it is worth to keep a sequential stream from random writes, and whether that lasts.
//!
//! Method (after the streams of WARP: Song et al., FAST 2026): a purge, a sequential fill of the span, 4 KiB uniform
//! writes of `overwrites` spans and of one more, whose write amplification tells the spare area. Then, each after a purge
//! and a fill, jobs at once: writes of 128 KiB in order over `sequential` of the span, one outstanding, and 4 KiB random
//! writes over the rest. `together` both have handle 0, `apart` each its own; `noisy` a third job with a third handle
//! writes random pages of the sequential part. The sequential job ends them all: it writes half of `overwrites` spans and
//! half of one that is measured, in whole rounds. Differences: fio's jobs in the paper end by time, and cover 90% of the
//! LBAs in order if there are three.
//!
//! Interpretation: apart, each round invalidates whole superblocks of the sequential part, and all spare area is that of
//! the random writes. `waf_of_pools` is that closed form (FIFO, which greedy equals on large superblocks): the spare area
//! that uniform writes imply, over the random part alone. A drive far above it mixes handles, collects before a round
//! has passed, or lets one handle pay for another; the third job shows how much that costs if handles invalidate the data
//! of each other.

use base::{Bytes, Identity, OpKind};
use load::address::one_pass;
use load::{Order, Workload};
use result::schema::{Finding, TableRow};
use target::TargetError;

use crate::error::RunError;
use crate::jobs::{JobSpec, Jobs};
use crate::params::{Param, Params};
use crate::suite::amplification::Amplification;
use crate::suite::drive_share::{self, ShareOfDrive};
use crate::suite::keys::{Count, Key, Reading, settings};
use crate::suite::{
    Action, Chapter, Conditions, Definition, Figures, Measurements, Notes, PhaseSpec, ReviewEntry,
    Site, Step, TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "placement",
    heading: "Placement handles",
    question: "do placement handles keep random writes from the data of a sequential stream?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry {
        whole: true,
        ..ReviewEntry::alone(
            "overwrites=1",
            "a steady state where one span of writes is too few. It writes the whole target about ten times",
        )
    }],
    ..Definition::of::<Settings>(Chapter::SteadyState, 6)
};

const UNIFORM: &str = "uniform";
/// The steps with jobs: the handles of the sequential, the random and the overwriting job, and their words.
const FORMS: [Form; 3] = [
    Form { step: "together", handles: [Some(0), Some(0), None], words: "two streams, one handle" },
    Form { step: "apart", handles: [Some(0), Some(1), None], words: "two streams, two handles" },
    Form {
        step: "noisy",
        handles: [Some(0), Some(1), Some(2)],
        words: "and a third that overwrites",
    },
];
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";
const OVERWRITING: &str = "overwriting";
const RANDOM_BYTES: u32 = 4096;
/// The border of the parts lies on a multiple of this.
const BORDER: Bytes = Bytes(1 << 20);

/// A step with jobs.
struct Form {
    step: &'static str,
    /// The placement handle of each job, or `None` if the step is without it.
    handles: [Option<u8>; 3],
    words: &'static str,
}

impl Form {
    /// Number of handles that the target must have.
    fn needed(&self) -> u32 {
        self.handles.iter().flatten().max().map_or(1, |handle| u32::from(*handle) + 1)
    }

    /// Name of the phase before the measured one.
    fn settling(&self) -> String {
        format!("precondition_{}", self.step)
    }
}

settings! {
    /// Parts, rounds and depths.
    struct Settings {
        sequential_percent: SequentialPercent = Param::new(
            "sequential",
            "50",
            "part of the span that is written in order, in percent",
        );
        overwrites: Count = Param::new("overwrites", "4", "spans written before the measured one");
        queue_depth: RandomDepth = Param::new(
            "queue_depth",
            "32",
            "random writes kept outstanding by each job; the default is less where the target takes fewer commands",
        );
        simulated: ShareOfDrive = drive_share::SCALE;
    }
}

/// The part of the sequential stream.
enum SequentialPercent {}

impl Key for SequentialPercent {
    type Value = u32;
    const UNIT: &'static str = "_percent";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        let percent: u32 = params.get(name)?;
        if (1..=99).contains(&percent) {
            return Ok(percent);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={percent}` must lie between 1 and 99 percent of the span"
        )))
    }
}

/// The depth of two random jobs beside the sequential one.
enum RandomDepth {}

impl Key for RandomDepth {
    type Value = u32;

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<u32, RunError> {
        let depth: u32 = params.get(name)?;
        let most = site.limits.queue_depth_max.saturating_sub(1) / 2;
        let depth = if params.is_set(name) { depth } else { depth.min(most) };
        if (1..=most).contains(&depth) {
            return Ok(depth);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={depth}` cannot be used: two random jobs and one more command are at most the {} commands \
             that {} takes at a time",
            site.limits.queue_depth_max, site.identity.name
        )))
    }
}

impl TestSettings for Settings {
    fn check(&mut self, _: &Params, site: &Site<'_>, notes: &mut Notes) -> Result<(), RunError> {
        let (handles, target) = (site.limits.placement_handles, &site.identity.name);
        if handles < 2 {
            let elsewhere = "a simulated drive has them with interface.placement_handles, a real one with FDP through \
                             /dev/ngXnY";
            let why =
                site.identity.details.get(Identity::PLACEMENT).map_or(elsewhere, String::as_str);
            return Err(TargetError::Unsupported(format!(
                "{target} has no placement handles (FDP) that ssdlab can name in a write: {why}"
            ))
            .into());
        }
        if self.sequential_bytes() == 0 || self.random_bytes() < u64::from(RANDOM_BYTES) {
            let span = Bytes(self.simulated.span_bytes);
            return Err(RunError::Usage(format!(
                "a span of {span} has no two parts; its border lies on a multiple of {BORDER}"
            )));
        }
        let left_out = FORMS.iter().filter(|form| form.needed() > handles);
        notes.extend(left_out.map(|form| {
            format!(
                "`{}` needs {} placement handles; {target} has {handles}",
                form.step,
                form.needed()
            )
        }));
        Ok(())
    }

    fn conditions(&self) -> Conditions {
        self.simulated.conditions()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let span = self.simulated.span_bytes;
        let uniform = |spans: u32| Workload {
            limit_bytes: Some(span.saturating_mul(spans.into())),
            ..self.random(span)
        };
        let mut phases = vec![
            self.simulated.purge(),
            site.fill("prepare", span),
            steps::to_its_end("precondition_uniform", uniform(self.overwrites)),
            steps::to_its_end(UNIFORM, uniform(1)),
        ];
        for form in possible(site.limits.placement_handles) {
            phases.extend([
                self.simulated.purge(),
                site.fill("prepare", span),
                self.jobs(&form.settling(), form, self.overwrites),
                self.jobs(form.step, form, 1),
            ]);
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let columns = [("counted", "WAF"), ("separated pools", "WAF"), ("rate", "MB/s")];
        let mut table = rates::table("placement", "Placement handles", "writes", &columns);
        let uniform = self.add(&mut figures, measured, UNIFORM, "precondition_uniform");
        let spare = uniform.filter(|waf| *waf > 1.0).map(spare_of);
        table.rows.push(row(&figures, "uniform, one handle", UNIFORM));
        let handles = |form: &&Form| measured.part(form.step).is_some();
        for form in FORMS.iter().filter(handles) {
            self.add(&mut figures, measured, form.step, &form.settling());
            if form.step == "apart" {
                let pools = spare.zip(random_share(measured, form.step));
                let pools = pools.and_then(|(spare, share)| self.waf_of_pools(spare, share));
                figures.metrics.insert("placement.apart.waf_of_pools".to_owned(), pools);
            }
            table.rows.push(row(&figures, form.words, form.step));
        }
        figures.findings.extend(sentence(measured, &figures));
        figures.tables.push(table);
        figures
    }
}

/// The steps for which a target has handles.
fn possible(handles: u32) -> impl Iterator<Item = &'static Form> {
    FORMS.iter().filter(move |form| form.needed() <= handles)
}

impl Settings {
    fn sequential_bytes(&self) -> u64 {
        let span = self.simulated.span_bytes;
        Bytes(span / 100 * u64::from(self.sequential_percent)).align_down(BORDER).0
    }

    fn random_bytes(&self) -> u64 {
        self.simulated.span_bytes - self.sequential_bytes()
    }

    /// Random writes over the first bytes of the target.
    fn random(&self, span_bytes: u64) -> Workload {
        Workload::new(OpKind::Write, Order::Uniform, RANDOM_BYTES, self.queue_depth, span_bytes)
    }

    /// The jobs of a step, until the sequential one has written half of so many spans, in whole rounds.
    fn jobs(&self, name: &str, form: &Form, spans: u32) -> PhaseSpec {
        let (sequential, block) = (self.sequential_bytes(), steps::LINEAR_BLOCK_BYTES);
        let half_bytes = self.simulated.span_bytes.saturating_mul(spans.into()) / 2;
        let rounds = half_bytes.div_ceil(sequential);
        let in_order = Workload {
            limit_bytes: Some(sequential.saturating_mul(rounds)),
            ..Workload::new(OpKind::Write, Order::Sequential, block, 1, sequential)
        };
        let beside = Workload { span_offset_bytes: sequential, ..self.random(self.random_bytes()) };
        let all =
            [(SEQUENTIAL, in_order), (RANDOM, beside), (OVERWRITING, self.random(sequential))];
        let jobs: Vec<JobSpec> = all
            .into_iter()
            .zip(form.handles)
            .filter_map(|((name, workload), handle)| {
                Some(JobSpec::new(name, Workload { placement: handle?, ..workload }))
            })
            .collect();
        let words = jobs.iter().map(|job| {
            let words = steps::in_words(&job.workload, None);
            format!("{} (handle {}): {words}", job.name, job.workload.placement)
        });
        PhaseSpec {
            name: name.to_owned(),
            what: words.collect::<Vec<_>>().join("; "),
            action: Action::Jobs(Jobs { jobs, duration: None }),
        }
    }

    /// Adds the figures of a step and returns its counted write amplification.
    fn add(
        &self,
        figures: &mut Figures,
        measured: &Measurements<'_>,
        step: &str,
        settling: &str,
    ) -> Option<f64> {
        let part = measured.complete(step);
        let found = measured.complete(settling).zip(part).map(|(settling, part)| {
            Amplification::of(measured, self.simulated.span_bytes, settling, part)
        });
        let name = format!("placement.{step}");
        Amplification::add_to(found, figures, &name);
        rates::add_rates(figures, &name, part);
        rates::mark_unsteady(figures, measured, &name, part);
        found?.counted
    }

    /// The write amplification of two streams that stay apart, of which the random one has this share of the writes, or
    /// `None` if the spare area does not suffice for the sequential one.
    fn waf_of_pools(&self, spare: f64, random_share: f64) -> Option<f64> {
        let span = self.simulated.span_bytes as f64;
        let of_random = self.random_bytes() as f64 / span;
        let spare_of_random = (spare - 1.0 + of_random) / of_random;
        let waf = (spare_of_random > 1.0).then(|| waf_of(spare_of_random))?;
        Some(1.0 - random_share + random_share * waf)
    }
}

/// NAND over data at which uniform writes have this write amplification: 1 / A = 1 - e^(-alpha / A).
fn spare_of(waf: f64) -> f64 {
    -waf * f64::ln_1p(-1.0 / waf)
}

/// The write amplification of uniform writes with so much NAND over the data.
fn waf_of(spare: f64) -> f64 {
    spare / one_pass::decay(spare)
}

/// The share of the random job in the writes of a step, or `None` if the step did not end.
fn random_share(measured: &Measurements<'_>, step: &str) -> Option<f64> {
    let bytes = |job| Some(measured.complete_job(step, job)?.phase.bytes as f64);
    let (sequential, random) = (bytes(SEQUENTIAL)?, bytes(RANDOM)?);
    (random > 0.0).then(|| random / (sequential + random))
}

fn row(figures: &Figures, label: &str, step: &str) -> TableRow {
    let value = |end| figures.value(&format!("placement.{step}.{end}"));
    let values = ["waf", "waf_of_pools", "mb_per_s"].map(value).to_vec();
    TableRow { label: label.to_owned(), values }
}

/// The worth of the handles, or `None` if it is unknown.
fn sentence(measured: &Measurements<'_>, figures: &Figures) -> Option<Finding> {
    let value = |name: &str| figures.value(&format!("placement.{name}"));
    let (together, apart) = (value("together.waf")?, value("apart.waf")?);
    let pools = value("apart.waf_of_pools").map_or_else(String::new, |pools| {
        format!(", where separated pools would program {pools:.2}")
    });
    let noisy = value("noisy.waf").map_or_else(String::new, |noisy| {
        format!("; beside a third that overwrites the first it programs {noisy:.2}")
    });
    let text = format!(
        "programs {apart:.2} pages for each page of two streams with a handle each{pools}, and {together:.2} with one \
         handle{noisy}"
    );
    Some(rates::finding(measured, "placement.apart.waf", &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_area_and_write_amplification_are_inverse() {
        for waf in [1.05, 1.5, 2.0, 3.5, 9.0] {
            let back = waf_of(spare_of(waf));
            assert!((back / waf - 1.0).abs() < 1e-6, "{waf}: {back}");
        }
        // -3.5 ln(5/7), by hand.
        assert!((spare_of(3.5) - 1.178).abs() < 1e-3);
    }
}
