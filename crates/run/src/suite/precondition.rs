//! The state of a drive before a measurement.
//!
//! `fill` writes every LBA once in order: the drive is full, but its spare blocks are unused, and
//! cleaning needs several drive writes to reach steady state. `one-pass` reaches it at once
//! ([`load::address::one_pass`]), for about one drive write, if the size of the NAND is known.

use base::{Bytes, OpKind};
use load::address::one_pass;
use load::{Order, Workload};
use target::Identity;

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
