//! The request for a run as data: made from the arguments, stored in the result, read by
//! `--resume`, and printed as the one command that repeats the run.
//!
//! A request confirms nothing: each call has its own confirmations.

use ::target::TargetSpec;
use result::schema::{Request, Setting};
use run::{SpanRequest, Test};

pub use session::request::{command, is_of};

use crate::args::{CommonArgs, ExecutionArgs, RunArgs};

/// The request for one run of a call.
pub fn of(args: &RunArgs, target: &TargetSpec, span: SpanRequest) -> Request {
    let with = (args.test.test, args.test.settings());
    let quick = args.test.quick;
    let read_only = args.read_only;
    Request { quick, read_only, ..of_test(with, target, span, &args.test.common, &args.execution) }
}

/// The request for a test with these settings, in its whole form.
pub fn of_test(
    (test, settings): (Test, Vec<(String, String)>),
    target: &TargetSpec,
    span: SpanRequest,
    common: &CommonArgs,
    execution: &ExecutionArgs,
) -> Request {
    let engine = &execution.engine;
    let (spare, span_bytes) = match span {
        SpanRequest::Default => (None, None),
        SpanRequest::Spare(share) => (Some(share.to_string()), None),
        SpanRequest::Bytes(bytes) => (None, Some(bytes.0)),
    };
    Request {
        test: test.name().to_owned(),
        target: target.to_string(),
        spare,
        span_bytes,
        settings: settings.into_iter().map(|(name, value)| Setting { name, value }).collect(),
        purge: common.purge.map(|method| method.name().to_owned()),
        meter: common.meter.as_ref().map(ToString::to_string),
        seed: common.seed,
        workers: engine.workers,
        cpu: engine.cpu.name().to_owned(),
        engine: engine.engine.to_string(),
        ios: execution.ios.as_ref().map(ToString::to_string),
        quick: false,
        read_only: false,
    }
}
