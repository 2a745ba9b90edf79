//! A linear pass, HD Tach style: is the drive equally fast everywhere?
//!
//! Method (suite reference, section 2, ours after HD Tach): the whole span is written and then read in
//! LBA order, 128 KiB, QD 1, one point for each 1/500. How to read it: a level line is a fast drive; a
//! step is the end of a cache or of a fast mode, a comb is garbage collection.

use base::OpKind;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::{Definition, Figures, Measured, Procedure, Site, steps, zones};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "linear",
    question: "is the drive equally fast over its whole address space?",
    writes: true,
    params: &[
        Param { name: "purge", default: "true", help: "bring the target to its fresh state first" },
        steps::DATA,
    ],
    procedure,
    figures,
};

fn procedure(params: &Params, site: &Site<'_>) -> Result<Procedure, RunError> {
    let purge: bool = params.get("purge")?;
    let data = steps::data(params, "data")?;
    let pass = |name, kind| steps::linear_pass(name, kind, data, site.span_bytes);
    let passes = [pass("write", OpKind::Write), pass("read", OpKind::Read)];
    let first = purge.then(steps::purge);
    let config = steps::config([("purge", purge.into()), ("data", params.text("data").into())]);
    let steps = first.into_iter().chain(passes).map(Into::into).collect();
    Ok(Procedure { config, steps, notes: Vec::new() })
}

fn figures(measured: &Measured<'_>) -> Figures {
    zones::figures(measured, "Linear passes", &["write", "read"])
}
