//! Do readings of a drive's health leave its commands alone?

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use base::{HealthSnapshot, Nanos};
use run::{Event, Test};
use target::TargetError;
use target::health::HealthProbe;
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{request, run_with};

/// A drive that answers the first and the last reading at once, and delays the one between until
/// its release.
#[derive(Debug, Default)]
struct SlowProbe {
    looks: AtomicU32,
    /// A reading during the run has begun, or has ended.
    is_held: AtomicBool,
    has_answered: AtomicBool,
    let_go: Mutex<bool>,
    news: Condvar,
}

impl SlowProbe {
    fn let_go(&self) {
        *self.let_go.lock().unwrap() = true;
        self.news.notify_all();
    }

    /// Waits until a reading is in progress.
    fn wait_for_look(&self) {
        let tries = (0..60_000).find(|_| {
            std::thread::sleep(Duration::from_millis(1));
            self.is_held.load(Ordering::Acquire)
        });
        assert!(tries.is_some(), "nobody looks");
    }
}

impl HealthProbe for SlowProbe {
    fn now(&self) -> Nanos {
        Nanos(7)
    }

    fn is_harmless(&self) -> bool {
        true
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn read(&self) -> Result<HealthSnapshot, TargetError> {
        if self.looks.fetch_add(1, Ordering::Relaxed) == 1 {
            self.is_held.store(true, Ordering::Release);
            // A run that waits for the look would wait for ever; so does this, but not quite.
            let held = self.let_go.lock().unwrap();
            let minute = Duration::from_secs(60);
            drop(self.news.wait_timeout_while(held, minute, |let_go| !*let_go).unwrap());
            self.has_answered.store(true, Ordering::Release);
        }
        Ok(HealthSnapshot {
            source: "played".to_owned(),
            temperature_c: Some(40),
            ..HealthSnapshot::default()
        })
    }
}

/// The reading begins with the load and ends after it: no issue of a command waited for it.
#[test]
fn a_look_that_takes_long_delays_no_command() {
    let probe = Arc::new(SlowProbe::default());
    let mut target = ScriptedTarget::new(1 << 20, Reply::after_ns(100_000));
    target.health = Some(Arc::clone(&probe) as Arc<dyn HealthProbe>);
    let library = tempfile::tempdir().unwrap();
    let settings = [("duration", "3s"), ("steady_from", "0s"), ("rate", "1000")];
    let request = request(library.path(), Test::CONSISTENCY, &settings);
    let outcome = run_with(&mut target, &request, |event, _| match event {
        Event::PhaseStarted { name, .. } if name == "load" => probe.wait_for_look(),
        Event::PhaseEnded { name, ios, .. } if name == "load" => {
            assert_eq!(*ios, 3_000);
            assert!(!probe.has_answered.load(Ordering::Acquire), "the load waited for the look");
            probe.let_go();
        }
        _ => {}
    });
    let health = outcome.unwrap().run.health.expect("what was seen");
    assert!(health.before.is_some() && health.after.is_some());
    assert_eq!(health.samples[0].temperature_c, Some(40), "the slow look counts all the same");
}
