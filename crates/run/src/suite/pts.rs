//! The common parts of the tests of the SNIA Solid State Storage Performance Test Specification
//! (PTS).
//!
//! Order of every test: purge; workload-independent precondition (the span written twice in LBA
//! order, 128 KiB); the test's own rounds, which are its workload-dependent precondition, until the
//! tracked figure is steady over five rounds (25 at most); figures from those five. A step lasts a
//! minute. On simulated drives, steps are 1/60 of that by default, which every result states, and a
//! random pass of the span precedes them; `--set shorten=1` gives full length.

pub(crate) mod intensity;
pub(crate) mod matrix;
pub(crate) mod rate_matrix;
pub(crate) mod rounds;

use base::{Nanos, OpKind};
use load::{Order, Workload};

use serde_json::Value;

use super::keys::{Entry, Key, Reading};
use super::{Conditions, Measurements, Notes, PhaseSpec, Site, Step, steps};
use crate::error::RunError;
use crate::params::{Param, Params};

/// Default divisor of a minute on simulated drives.
pub(crate) const SIMULATED_SHORTEN: u64 = 60;
const STEP: Nanos = Nanos(60 * Nanos::SECOND.0);

/// Name of the phase of random writes before shortened rounds.
const RANDOM_PASS: &str = "precondition_random";

pub(crate) const SHORTEN: Param = Param {
    name: "shorten",
    default: "auto",
    help: "divides the minute of each step; auto: 60 for simulated drives, else 1",
};
pub(crate) const PRECONDITION: Param =
    Param { name: "precondition", default: "2", help: "sequential writes of the span beforehand" };
pub(crate) const QUEUE_DEPTH: Param =
    Param { name: "queue_depth", default: "32", help: "commands kept outstanding" };

/// The reason why no test of the specification takes a rate.
pub(crate) const DEPTHS: &str = "the SNIA PTS says how many commands are outstanding";

/// A drive does not change any more after this number of passes.
const PRECONDITION_MAX: u32 = 100;

/// The common settings of the tests of the specification, which each of their tables states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    /// Length of a step.
    pub(crate) step: Nanos,
    /// Divisor of the specification's minute.
    pub(crate) shorten: u64,
    /// Sequential writes of the span beforehand.
    pub(crate) precondition: u32,
    /// The most commands outstanding.
    pub(crate) queue_depth: u32,
}

impl Common {
    /// Reads the length of a step and the precondition. A test without a parameter for the latter writes the
    /// span once where steps are shortened.
    pub(crate) fn of(
        params: &Params,
        site: &Site<'_>,
        simulated: u64,
        queue_depth: u32,
        notes: &mut Notes,
    ) -> Result<Self, RunError> {
        let (step, shorten) = step_length(params, site, simulated)?;
        let precondition = match params.declares(PRECONDITION.name) {
            true => params.get(PRECONDITION.name)?,
            false => u32::from(shorten > 1),
        };
        if precondition > PRECONDITION_MAX {
            return Err(RunError::Usage(format!(
                "`--set precondition={precondition}` must lie between 0 and {PRECONDITION_MAX}: so often the span is \
                 written, and the specification asks for 2"
            )));
        }
        notes.extend(shortened(shorten));
        Ok(Self { step, shorten, precondition, queue_depth })
    }

    /// Purge and workload-independent precondition. If `random_follows` and minutes have become
    /// seconds, the rounds are too short to use up the spare blocks themselves, so that a very even
    /// beginning would pass for steady state. A random pass of the span then precedes them (an
    /// addition to the specification).
    pub(crate) fn beginning(&self, site: &Site<'_>, random_follows: bool) -> Vec<Step> {
        let mut phases = vec![steps::purge()];
        let pass = |time| site.fill(&format!("precondition_{time}"), site.span_bytes);
        phases.extend((1..=self.precondition).map(pass));
        if random_follows && self.shorten > 1 {
            phases.push(random_pass(site));
        }
        steps::once(phases)
    }

    /// The necessary conditions of every table of the specification.
    pub(crate) fn conditions(&self, measured: &Measurements<'_>) -> Conditions {
        let run = measured.run;
        let purge = run.purge.as_ref().and_then(|purge| purge.method.clone());
        let cache = run.target.details.get("write_cache").cloned();
        let simulated = if run.target.is_simulated() { "yes" } else { "no" };
        [
            ("purge", purge.unwrap_or_else(|| "none".to_owned())),
            ("active range", format!("LBA 0 to {}", steps::size(run.span.span_bytes))),
            ("active range amount", "100% of it".to_owned()),
            ("precondition", self.precondition_words(measured)),
            ("outstanding commands", self.queue_depth.to_string()),
            ("data", "incompressible".to_owned()),
            ("write cache", cache.unwrap_or_else(|| "as found".to_owned())),
            ("idle time", "none".to_owned()),
            ("step", self.step.to_string()),
            ("simulated", simulated.to_owned()),
        ]
        .into_iter()
        .map(|(label, value)| (label.to_owned(), value))
        .collect()
    }

    /// The writes before the rounds, in the words of the conditions.
    fn precondition_words(&self, measured: &Measurements<'_>) -> String {
        let times = self.precondition;
        let sequential = (times > 0).then(|| format!("{times} x 128KiB sequential"));
        let random = measured.part(RANDOM_PASS).map(|_| "1 x 4KiB random".to_owned());
        let parts: Vec<String> = sequential.into_iter().chain(random).collect();
        if parts.is_empty() { "none but the test's own".to_owned() } else { parts.join(", ") }
    }
}

/// A test without a parameter for the queue depth has one command outstanding.
impl Key for Common {
    type Value = Self;

    fn read(Reading { params, site, notes, .. }: Reading<'_>) -> Result<Self, RunError> {
        let queue_depth = match params.declares(QUEUE_DEPTH.name) {
            true => params.queue_depth(QUEUE_DEPTH.name)?,
            false => 1,
        };
        Self::of(params, site, SIMULATED_SHORTEN, queue_depth, notes)
    }
}

impl Entry for Common {
    fn entries(&self, _: &str) -> Vec<(String, Value)> {
        steps::entries([
            ("step_ns", self.step.0.into()),
            ("shorten", self.shorten.into()),
            ("precondition", self.precondition.into()),
            ("queue_depth", self.queue_depth.into()),
        ])
    }
}

/// Length of a step, and its divisor: on simulated drives `simulated` unless the user sets another.
fn step_length(params: &Params, site: &Site<'_>, simulated: u64) -> Result<(Nanos, u64), RunError> {
    let text = params.text("shorten");
    let shorten = match text.as_str() {
        "auto" if site.is_simulated() => simulated,
        "auto" => 1,
        _ => params.get("shorten")?,
    };
    if !(1..=60).contains(&shorten) {
        return Err(RunError::Usage(format!(
            "`--set shorten={text}` must lie between 1 and 60: a step has at least one second"
        )));
    }
    Ok((Nanos(STEP.0 / shorten), shorten))
}

/// The note that the steps are shorter than in the specification.
fn shortened(shorten: u64) -> Option<String> {
    (shorten > 1).then(|| {
        format!(
            "steps last 1/{shorten} of the specification's minute; `--set shorten=1` gives full length"
        )
    })
}

/// As many bytes as the span has, written 4 KiB at random.
fn random_pass(site: &Site<'_>) -> PhaseSpec {
    let depth = site.fill_depth();
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, depth, site.span_bytes);
    let workload = Workload { limit_bytes: Some(site.span_bytes), ..workload };
    steps::to_its_end(RANDOM_PASS, workload)
}
