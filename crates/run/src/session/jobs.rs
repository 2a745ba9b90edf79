//! Phases of several jobs: the sum is the phase, and each job has a record beside it.

use base::Nanos;
use load::jobs::JobSpec;
use result::rows::PhaseRows;
use result::schema::Phase;
use result::stats::findings::time;
use target::Target;

use super::commands::{not_kept_up, second_event};
use super::host::HostSeconds;
use super::{Control, Session};
use crate::error::RunError;
use crate::jobs::{JobRecord, Jobs, drive_jobs};
use crate::recorder::Recorder;
use crate::suite::PhaseSpec;

impl Session {
    /// Issues the commands of several jobs.
    pub(super) fn jobs<T: Target>(
        &mut self,
        target: &mut T,
        spec: &PhaseSpec,
        jobs: &Jobs,
        mut recorder: Recorder,
        control: &mut Control<'_>,
    ) -> (Phase, PhaseRows) {
        recorder.unwritten_before = target.unwritten_reads();
        self.look_for_data(target, &mut recorder);
        let seed = self.phase_seed(true);
        let mut generators: Vec<_> = jobs.jobs.iter().map(|job| job.generator(seed)).collect();
        let observer = &mut *control.observer;
        let mut host = (!self.run.target.is_simulated()).then(HostSeconds::begin);
        let told = |recorder: &Recorder| {
            host.iter_mut().for_each(HostSeconds::passed);
            observer(&second_event(recorder));
        };
        let (end, parts) =
            drive_jobs(target, jobs, &mut generators, &mut recorder, control.interrupted, told);
        self.busiest_second_share = host.and_then(|host| host.busiest_share);
        let backlogs = std::mem::take(&mut recorder.backlogs);
        for ((job, part), backlog) in jobs.jobs.iter().zip(parts).zip(backlogs) {
            let Some((record, rows)) = part else { continue };
            let who = format!("phase `{}`, job `{}`", spec.name, job.name);
            if record.ios_not_issued > 0 {
                let counts = (record.ios, record.ios_not_issued);
                self.warn(not_kept_up(&who, job.workload.pacing, counts));
            }
            let told = backlog.sentence(&who, recorder.start());
            told.into_iter()
                .chain(early_end(&who, jobs, job, &record))
                .for_each(|text| self.warn(text));
            self.jobs.push(JobRecord { phase: spec.name.clone(), job: record, rows });
        }
        self.driven(target, spec, recorder, end.map_err(RunError::from))
    }
}

/// Warning: a job that ended within its warm-up, or long before the time that it was given.
fn early_end(who: &str, jobs: &Jobs, job: &JobSpec, record: &Phase) -> Option<String> {
    let length = Nanos(record.duration_ns);
    if record.complete && job.warm_up.0 > 0 && length.0 == 0 {
        return Some(format!(
            "{who}: it ended within its warm-up of {}, so it has no figures; give it more to do or a shorter warm_up",
            job.warm_up
        ));
    }
    let given = job.early_end(jobs.duration, length).filter(|_| record.complete)?;
    Some(format!(
        "{who}: it ended after {} of the {given} that it was given, because its work was done; its figures are those of \
         that moment",
        time(length.0 as f64)
    ))
}
