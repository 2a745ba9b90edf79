//! The state of a drive before a measurement.
//!
//! `fill` writes every LBA once in order: the drive is full, but its spare blocks are unused, and
//! cleaning needs several drive writes to reach steady state. `one-pass` reaches it at once
//! ([`load::address::one_pass`]), for about one drive write, if the size of the NAND is known.

use base::{Bytes, OpKind};
use load::address::one_pass;
use load::{Order, Workload};
use target::Identity;

use super::keys::entry;
use super::{Notes, PhaseSpec, Site, steps};
use crate::error::RunError;
use crate::params::{Param, Params};

/// The word for the single pass.
pub const ONE_PASS: &str = "one-pass";
/// The parameter that gives the pass the size of the NAND.
pub const RAW_CAPACITY: Param = Param {
    name: "raw_capacity",
    default: "auto",
    help: "NAND of the drive, for precondition=one-pass; auto: as the drive model says",
};

/// The way into steady state, for tests that need it and choose it themselves.
pub const PRECONDITION: Param = Param {
    name: "precondition",
    default: "auto",
    help: "`one-pass` into steady state, `random` writes of a span, or `none` but the fill; auto: one pass if the NAND \
           is known, else random",
};
/// The NAND for a pass of `auto` may be this many times the span: with more, a part of the drive stays unused anyway.
const SPARE_MAX: u64 = 2;

/// The writes between a fill and a measurement in steady state.
#[derive(Clone, Debug)]
pub struct Preparation {
    name: &'static str,
    /// The pass, or `None` if nothing is written.
    phase: Option<PhaseSpec>,
}

impl Preparation {
    /// Reads [`PRECONDITION`] and [`RAW_CAPACITY`].
    ///
    /// # Errors
    /// [`RunError::Usage`] for another word, and as [`OnePass::new`].
    pub fn read(
        params: &Params,
        site: &Site<'_>,
        block_bytes: u32,
        notes: &mut Notes,
    ) -> Result<Self, RunError> {
        let text = params.text(PRECONDITION.name);
        let known = raw_capacity(params)?.map(|asked| asked.0).or(site.identity.log_bytes);
        let spare = site.span_bytes + u64::from(block_bytes)..=site.span_bytes * SPARE_MAX;
        let is_one_pass = match text.as_str() {
            "auto" => known.is_some_and(|log_bytes| spare.contains(&log_bytes)),
            ONE_PASS => true,
            "random" => false,
            "none" => return Ok(Self { name: "none", phase: None }),
            _ => {
                return Err(RunError::Usage(format!(
                    "`--set precondition={text}` must be auto, {ONE_PASS}, random or none"
                )));
            }
        };
        if is_one_pass {
            let phase = OnePass::new(params, site, block_bytes, notes)?.phase;
            return Ok(Self { name: ONE_PASS, phase: Some(phase) });
        }
        let (order, depth) = (Order::Uniform, site.fill_depth());
        let workload = Workload::new(OpKind::Write, order, block_bytes, depth, site.span_bytes);
        let workload = Workload { limit_bytes: Some(site.span_bytes), ..workload };
        let phase = steps::to_its_end("precondition", workload);
        Ok(Self { name: "random", phase: Some(phase) })
    }

    /// Its word in results.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its writes.
    pub fn phases(&self) -> impl Iterator<Item = PhaseSpec> {
        self.phase.clone().into_iter()
    }
}

entry! { Preparation: |value| value.name() }

/// A single pass over the span, and its basis.
#[derive(Clone, Debug)]
pub struct OnePass {
    /// The pass.
    pub phase: PhaseSpec,
    /// The assumed NAND of the drive for data, valid or overwritten.
    pub log_bytes: u64,
}

impl OnePass {
    /// A pass over the span with writes of this size.
    ///
    /// # Errors
    /// If the NAND is not known, or leaves no spare.
    pub fn new(
        params: &Params,
        site: &Site<'_>,
        block_bytes: u32,
        notes: &mut Notes,
    ) -> Result<Self, RunError> {
        let log_bytes = log_bytes(params, site.identity)?;
        let span_bytes = site.span_bytes;
        if log_bytes < span_bytes + u64::from(block_bytes) {
            return Err(RunError::Usage(format!(
                "precondition=one-pass needs spare area, but {} of NAND leave none beside a span of {}; \
                 check `--set raw_capacity=`, or use a smaller span (--spare, --span)",
                steps::size(log_bytes),
                steps::size(span_bytes)
            )));
        }
        let depth = site.fill_depth();
        let order = Order::OnePass { log_bytes };
        let workload = Workload::new(OpKind::Write, order, block_bytes, depth, span_bytes);
        let phase = steps::to_its_end("precondition", workload);
        let alpha = log_bytes as f64 / span_bytes as f64;
        notes.push(format!(
            "preconditioned in one pass for {} of NAND to {} of data (write amplification {:.2} in theory); \
             holds for uniform random writes of {} over the span",
            steps::size(log_bytes),
            steps::size(span_bytes),
            alpha / one_pass::decay(alpha),
            Bytes(block_bytes.into())
        ));
        Ok(Self { phase, log_bytes })
    }
}

/// The size of the NAND from the user, if any.
///
/// # Errors
/// [`RunError::Usage`] for other text; checked also for tests without a pass.
pub fn raw_capacity(params: &Params) -> Result<Option<Bytes>, RunError> {
    let name = RAW_CAPACITY.name;
    if params.text(name) == RAW_CAPACITY.default { Ok(None) } else { params.get(name).map(Some) }
}

/// NAND that holds data in steady state: as requested, else as the target reports, raw if it
/// reports nothing better.
fn log_bytes(params: &Params, identity: &Identity) -> Result<u64, RunError> {
    let name = RAW_CAPACITY.name;
    if let Some(asked) = raw_capacity(params)? {
        return Ok(asked.0);
    }
    identity.log_bytes.or(identity.raw_bytes).ok_or_else(|| {
        RunError::Usage(format!(
            "precondition=one-pass goes by the NAND inside {}, which does not tell; give it with \
             `--set {name}=256GiB`",
            identity.name
        ))
    })
}
