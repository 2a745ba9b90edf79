//! A run without anything that a request says.

use std::collections::BTreeMap;

use result::schema::{About, Run, RunStatus, SCHEMA_VERSION, Span};
use target::Identity;

use crate::suite::SUITE_VERSION;

/// The program and its version, for results.
pub const TOOL_VERSION: &str = concat!("ssdlab ", env!("CARGO_PKG_VERSION"));

/// A run of this program that begins now, on the whole of a target, without anything that a request says.
pub fn bare_run(test: &str, identity: &Identity, unix_ns: u64) -> Run {
    let span_bytes = identity.capacity_bytes;
    Run {
        schema_version: SCHEMA_VERSION,
        run_id: String::new(),
        tool_version: TOOL_VERSION.to_owned(),
        suite_version: SUITE_VERSION,
        test: test.to_owned(),
        status: RunStatus::Running,
        started_unix_ns: unix_ns,
        finished_unix_ns: 0,
        target: target_record(identity),
        environment: BTreeMap::new(),
        seed: 0,
        config: BTreeMap::new(),
        command: String::new(),
        request: None,
        invocation: None,
        about: About::default(),
        repeat: None,
        resumed: None,
        span: Span { span_bytes, variant: "default".to_owned(), base: "none".to_owned() },
        origin: None,
        health: None,
        purge: None,
        data_sample: None,
        phases: Vec::new(),
        metrics: BTreeMap::new(),
        marks: Vec::new(),
        verdict: None,
        tables: Vec::new(),
        findings: Vec::new(),
        warnings: Vec::new(),
        ios: None,
        left_out: Vec::new(),
    }
}

/// The target as results hold it.
pub(super) fn target_record(identity: &Identity) -> Identity {
    Identity { log_bytes: None, ..identity.clone() }
}
