//! Phases of several jobs: the sum is the phase, and each job has a record beside it.

use result::rows::PhaseRows;
use result::schema::Phase;
use target::Testable;

use super::commands::{not_kept_up, second_event};
use super::{Control, Session};
use crate::error::RunError;
use crate::jobs::{JobRecord, Jobs, drive_jobs};
use crate::recorder::Recorder;
use crate::suite::PhaseSpec;

impl Session {
    /// Issues the commands of several jobs.
    pub(super) fn jobs<T: Testable>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        jobs: &Jobs,
        mut recorder: Recorder,
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        let seed = self.phase_seed(true);
        let mut generators: Vec<_> = jobs.jobs.iter().map(|job| job.generator(seed)).collect();
        let observer = &mut *control.observer;
        let told = |recorder: &Recorder| observer(&second_event(recorder));
        let (end, parts) =
            drive_jobs(target, jobs, &mut generators, &mut recorder, control.interrupted, told);
        for (job, part) in jobs.jobs.iter().zip(parts) {
            let Some((record, rows)) = part else { continue };
            if record.ios_not_issued > 0 {
                let who = format!("phase `{}`, job `{}`", spec.name, job.name);
                let counts = (record.ios, record.ios_not_issued);
                self.warn(not_kept_up(&who, job.workload.pacing, counts));
            }
            self.jobs.push(JobRecord { phase: spec.name.clone(), job: record, rows });
        }
        self.driven(target, spec, recorder, end.map_err(RunError::from))
    }
}
