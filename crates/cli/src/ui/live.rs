//! The notice of the present second in the run directory, for readers who watch a run. A run never
//! fails because of it.

use std::path::Path;

use result::store::{LiveLog, LiveSecond};
use run::Event;

/// The notice of one run.
pub struct Live<'a> {
    library: &'a Path,
    phase: String,
    /// `None` before the run directory exists, and after an error.
    log: Option<LiveLog>,
}

impl<'a> Live<'a> {
    /// A notice in the run directory that this library gets.
    pub fn new(library: &'a Path) -> Self {
        Self { library, phase: String::new(), log: None }
    }

    /// Writes the second of an event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Started { run_id, .. } => {
                self.log = LiveLog::create(&self.library.join(run_id)).ok();
            }
            Event::PhaseStarted { name, .. } => name.clone_into(&mut self.phase),
            Event::Second { second, iops, latency_ns_p99, .. } => {
                let second = LiveSecond {
                    phase: self.phase.clone(),
                    second: *second,
                    iops: *iops,
                    latency_ns_p99: *latency_ns_p99,
                };
                if self.log.as_mut().is_some_and(|log| log.add(&second).is_err()) {
                    self.log = None;
                }
            }
            Event::Resumed { .. } | Event::PhaseEnded { .. } | Event::Warning(_) => {}
        }
    }
}
