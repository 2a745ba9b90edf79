//! Do the tests for the questions of today measure the states that they name, and agree with theory?
#![allow(clippy::print_stdout, reason = "tests that show their figures")]

mod amplification;
mod feel;
mod levels;
mod load_latency;
mod neighbours;
mod placement;

use target::scripted::{Reply, ScriptedTarget};

use crate::common::{request, run_quietly, settings, test};

/// Fails unless each test refuses its settings with this text, and begins no run.
fn must_refuse(cases: &[(&str, &str, &str)]) {
    let library = tempfile::tempdir().unwrap();
    for (name, setting, text) in cases {
        let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(1_000));
        let request = request(library.path(), test(name), &settings(setting));
        let error = run_quietly(&mut target, &request).unwrap_err().to_string();
        assert!(error.contains(text), "{name} {setting}: {error}");
    }
    assert_eq!(std::fs::read_dir(library.path()).unwrap().count(), 0);
}
