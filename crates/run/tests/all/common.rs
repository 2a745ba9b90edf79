//! The common needs of tests of whole runs: a request, a run with a fixed calendar, a figure of it.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use io::engine::sim::SimTarget;
use run::{Control, Event, Outcome, Request, RunError, Test};
use target::Target;

/// The test of this name.
pub(crate) fn test(name: &str) -> Test {
    name.parse().expect("a test of the suite")
}

/// A request with these settings.
pub(crate) fn request(library: &Path, test: Test, settings: &[(&str, &str)]) -> Request {
    Request { settings: owned(settings), ..Request::new(test, library.to_owned()) }
}

/// Runs to the end.
pub(crate) fn run_quietly<T: Target>(
    target: &mut T,
    request: &Request,
) -> Result<Outcome, RunError> {
    run_with(target, request, |_, _| ())
}

/// Runs with an observer, who may press the stop button.
pub(crate) fn run_with<T: Target>(
    target: &mut T,
    request: &Request,
    mut observer: impl FnMut(&Event, &AtomicBool),
) -> Result<Outcome, RunError> {
    let interrupted = AtomicBool::new(false);
    let mut observer = |event: &Event| observer(event, &interrupted);
    let mut control = Control {
        interrupted: &interrupted,
        observer: &mut observer,
        unix_ns: || 1_795_000_000_000_000_000,
    };
    run::run(target, request, &mut control)
}

/// Settings from `key=value` with spaces between.
pub(crate) fn settings(text: &str) -> Vec<(&str, &str)> {
    text.split_whitespace().map(|text| text.split_once('=').expect("key=value")).collect()
}

/// A drive model with these keys changed.
pub(crate) fn simulated(name: &str, keys: &[(&str, &str)]) -> SimTarget {
    SimTarget::open(&format!("sim:{name}"), name, &owned(keys)).expect("a built-in model")
}

/// A figure that the run must have.
pub(crate) fn metric(outcome: &Outcome, name: &str) -> f64 {
    let metrics = &outcome.run.metrics;
    let value = metrics.get(name).unwrap_or_else(|| panic!("no {name} in {metrics:#?}"));
    value.unwrap_or_else(|| panic!("{name} is null"))
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
