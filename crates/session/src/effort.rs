//! The processor time that a simulated run takes: for the order of runs and the time left, so coarse is enough.
//!
//! Virtual time does not tell: five minutes of pause cost nothing, and 480 GB of 4 KiB writes before a measurement
//! cost as much as an hour of random writes to a full drive. Commands tell, and a little more for each page of them.
//! The constants were measured on the model of the SanDisk Extreme II 480 GB with its host.

use base::Nanos;
use load::Workload;
use run::event::Length;
use run::session::Plan;
use run::suite::{Action, PhaseSpec, Step};

/// Time for a command of a workload.
const COMMAND_NS: u64 = 430;
/// Time for a command of a trace: many read in order, and the drive reads ahead of several readers.
const TRACE_COMMAND_NS: u64 = 2_000;
/// Length of a command of a trace: 2.46 TB in 49.8 million are the Destroyer.
const TRACE_COMMAND_BYTES: u64 = 48 << 10;
/// Time for a page of a command.
const PAGE_NS: u64 = 10;
const PAGE_BYTES: u64 = 4096;
/// Most commands and bytes that a simulated drive does in a second of virtual time, on average over a load.
const COMMANDS_PER_S: u64 = 20_000;
const BYTES_PER_S: u64 = 400_000_000;

/// The processor time of all steps of a plan, with the most rounds.
pub fn effort(plan: &Plan) -> Nanos {
    Nanos(plan.procedure.steps.iter().map(of_step).fold(0, u64::saturating_add))
}

/// If only some of the phases are done, each counts as the mean one.
fn of_step(step: &Step) -> u64 {
    let phases = step.phases();
    let all = phases.len().max(1) as u64;
    let done = u64::from(step.phases_max().unwrap_or(all as u32)) * u64::from(step.rounds_max());
    let sum = phases.iter().map(of_phase).fold(0, u64::saturating_add);
    sum.saturating_mul(done) / all
}

fn of_phase(phase: &PhaseSpec) -> u64 {
    match &phase.action {
        Action::Load { workload, .. } => of_workload(workload, phase.length()),
        Action::Jobs(jobs) => {
            let whole = run::jobs::length(jobs);
            let of_job = |length: Option<Nanos>| length.map_or(whole, Length::Time);
            let jobs = jobs.jobs.iter();
            jobs.map(|job| of_workload(&job.workload, of_job(job.duration)))
                .fold(0, u64::saturating_add)
        }
        Action::Replay(replay) => {
            let (read, written) = replay.moved_bytes.unwrap_or_default();
            (read + written) / TRACE_COMMAND_BYTES * TRACE_COMMAND_NS
        }
        Action::Purge
        | Action::PurgeToScale(_)
        | Action::Deallocate { .. }
        | Action::Age(_)
        | Action::SetRest(_)
        | Action::Idle(_) => 0,
    }
}

fn of_workload(workload: &Workload, length: Length) -> u64 {
    let block = u64::from(workload.step_bytes()).max(1);
    let commands = match length {
        Length::Bytes(bytes) => bytes / block,
        Length::Time(time) => {
            let rate = (BYTES_PER_S / block).clamp(1, COMMANDS_PER_S);
            time.0 / 1_000_000 * rate / 1_000
        }
        Length::Unknown => 0,
    };
    commands.saturating_mul(COMMAND_NS + PAGE_NS * block.div_ceil(PAGE_BYTES))
}
