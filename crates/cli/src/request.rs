//! The request for a run as data: made from the arguments, stored in the result, read by
//! `--resume`, and printed as the one command that repeats the run.
//!
//! A request confirms nothing: each call has its own confirmations.

use ::target::TargetSpec;
use result::schema::{Request, Setting};
use run::SpanRequest;

pub use session::request::{command, is_of, repeat};

use crate::args::{RunArgs, TestArgs};

/// The request for one run of a call.
pub fn of(args: &RunArgs, spec: &TargetSpec, span: SpanRequest) -> Request {
    let (common, engine) = (&args.test.common, &args.execution.engine);
    let (spare, span_bytes) = match span {
        SpanRequest::Default => (None, None),
        SpanRequest::Spare(share) => (Some(share.to_string()), None),
        SpanRequest::Bytes(bytes) => (None, Some(bytes.0)),
    };
    let settings = args.test.settings().into_iter();
    Request {
        test: args.test.test.name().to_owned(),
        target: spec.to_string(),
        spare,
        span_bytes,
        settings: settings.map(|(name, value)| Setting { name, value }).collect(),
        purge: common.purge.map(|method| method.name().to_owned()),
        meter: common.meter.as_ref().map(ToString::to_string),
        seed: common.seed,
        workers: engine.workers,
        cpu: engine.cpu.name().to_owned(),
        engine: engine.engine.to_string(),
        ios: args.execution.ios.as_ref().map(ToString::to_string),
        quick: args.test.quick,
    }
}

/// A request with the members that a plan needs.
pub fn of_test(args: &TestArgs, span: SpanRequest) -> run::Request {
    run::Request {
        settings: args.settings(),
        span,
        seed: args.common.seed,
        meter: args.common.meter.clone(),
        ..run::Request::new(args.test, args.common.library.clone())
    }
}
