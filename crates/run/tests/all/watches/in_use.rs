//! Does a run end when somebody else begins to use its target, and keep what it has measured?

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use result::schema::RunStatus;
use run::{Event, Outcome, RunError, Test};
use target::TargetError;
use target::UseProbe;
use target::faulty::{Fault, FaultyTarget};
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{request, run_with};

/// Somebody who comes between two looks.
#[derive(Debug)]
struct Newcomer {
    /// Looks that find nobody.
    free: AtomicU32,
    interval: Duration,
}

impl UseProbe for Newcomer {
    fn interval(&self) -> Duration {
        self.interval
    }

    fn require_unused(&self) -> Result<(), TargetError> {
        let left = self.free.load(Ordering::Acquire);
        if left > 0 {
            self.free.fetch_sub(1, Ordering::AcqRel);
            return Ok(());
        }
        Err(TargetError::Refused { code: "held", message: "a loop device shows it".to_owned() })
    }
}

fn run(
    newcomer: &Arc<Newcomer>,
    observer: impl FnMut(&Event, &AtomicBool),
) -> (Outcome, tempfile::TempDir) {
    let mut target = ScriptedTarget::new(1 << 20, Reply::after_ns(100_000));
    target.uses = Some(Arc::clone(newcomer) as Arc<dyn UseProbe>);
    let library = tempfile::tempdir().unwrap();
    let settings = [("duration", "100s"), ("steady_from", "0s"), ("rate", "1000")];
    let request = request(library.path(), Test::CONSISTENCY, &settings);
    (run_with(&mut target, &request, observer).unwrap(), library)
}

fn must_be_refused(outcome: &Outcome) {
    assert_eq!(outcome.run.status, RunStatus::Failed);
    let failure = outcome.failure.as_ref();
    let is_refused =
        matches!(failure, Some(RunError::Target(TargetError::Refused { code: "held", .. })));
    assert!(is_refused, "{failure:?}");
    let warnings = &outcome.run.warnings;
    assert!(warnings.iter().any(|warning| warning.contains("a loop device")), "{warnings:?}");
}

#[test]
fn a_use_that_begins_during_a_phase_ends_it() {
    let newcomer =
        Arc::new(Newcomer { free: AtomicU32::new(u32::MAX), interval: Duration::from_millis(1) });
    let (mut in_load, mut pressed) = (false, false);
    let (outcome, _library) = run(&newcomer, |event, stop| match event {
        Event::PhaseStarted { name, .. } => in_load = name == "load",
        Event::Second { .. } if in_load && !pressed => {
            newcomer.free.store(0, Ordering::Release);
            let tries = (0..60_000).find(|_| {
                std::thread::sleep(Duration::from_millis(1));
                stop.load(Ordering::Acquire)
            });
            assert!(tries.is_some(), "nobody looks");
            pressed = true;
        }
        _ => {}
    });
    assert!(pressed);
    must_be_refused(&outcome);
    let load = outcome.run.phases.last().unwrap();
    assert_eq!((load.name.as_str(), load.complete), ("load", false));
    assert!(load.ios >= 1000 && load.ios < 50_000, "what was measured is kept: {}", load.ios);
}

#[test]
fn the_borders_of_phases_are_looked_at_and_the_stop_button_is_left_alone() {
    // Twice for each phase: the third look is the one before the second phase.
    let newcomer =
        Arc::new(Newcomer { free: AtomicU32::new(2), interval: Duration::from_secs(3600) });
    let mut pressed = false;
    let (outcome, _library) = run(&newcomer, |_, stop| pressed |= stop.load(Ordering::Relaxed));
    must_be_refused(&outcome);
    assert!(!pressed);
    let phases = &outcome.run.phases;
    assert!(phases.len() == 1 && phases[0].complete, "{phases:#?}");
}

#[test]
fn a_drive_that_fails_and_is_gone_is_a_failure_of_the_drive() {
    let newcomer =
        Arc::new(Newcomer { free: AtomicU32::new(3), interval: Duration::from_secs(3600) });
    let mut target = ScriptedTarget::new(1 << 20, Reply::after_ns(100_000));
    target.uses = Some(newcomer);
    let mut target = FaultyTarget::new(target, [(2000, Fault::Lose)]);
    let library = tempfile::tempdir().unwrap();
    let settings = [("duration", "10s"), ("steady_from", "0s"), ("fill", "false")];
    let request = request(library.path(), Test::CONSISTENCY, &settings);
    let outcome = run_with(&mut target, &request, |_, _| {}).unwrap();
    let failure = outcome.failure.as_ref();
    assert!(matches!(failure, Some(RunError::Target(TargetError::Device { .. }))), "{failure:?}");
}
