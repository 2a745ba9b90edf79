//! The processor time that a simulated run takes: for the order of runs and the time left, so coarse is enough.
//!
//! Virtual time does not tell: five minutes of pause cost nothing, and 480 GB of 4 KiB writes before a measurement
//! cost as much as an hour of random writes to a full drive. Commands tell, and a little more for each page of them.
//! The constants were measured on the model of the SanDisk Extreme II 480 GB with its host.

use base::facts::is_nvme;
use base::{Identity, Nanos};
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

/// Most work that a simulated drive does in a second of virtual time, on average over a load.
#[derive(Clone, Copy)]
struct Pace {
    commands_per_s: u64,
    bytes_per_s: u64,
}

/// Of a drive on SATA, and of one whose link is unknown.
const SATA: Pace = Pace { commands_per_s: 20_000, bytes_per_s: 400_000_000 };
/// Of a drive on NVMe.
const NVME: Pace = Pace { commands_per_s: 150_000, bytes_per_s: 2_000_000_000 };

impl Pace {
    fn of(target: &Identity) -> Self {
        let link = target.facts.interface.as_ref();
        if link.is_some_and(|link| is_nvme(&link.value)) { NVME } else { SATA }
    }
}

/// The processor time of all steps of a plan on this drive, with the most rounds.
pub fn effort(plan: &Plan, target: &Identity) -> Nanos {
    let pace = Pace::of(target);
    let steps = plan.procedure.steps.iter();
    Nanos(steps.map(|step| of_step(step, pace)).fold(0, u64::saturating_add))
}

/// If only some of the phases are done, each counts as the mean one.
fn of_step(step: &Step, pace: Pace) -> u64 {
    let phases = step.phases();
    let all = phases.len().max(1) as u64;
    let done = u64::from(step.phases_max().unwrap_or(all as u32)) * u64::from(step.rounds_max());
    let sum = phases.iter().map(|phase| of_phase(phase, pace)).fold(0, u64::saturating_add);
    sum.saturating_mul(done) / all
}

fn of_phase(phase: &PhaseSpec, pace: Pace) -> u64 {
    match &phase.action {
        Action::Load { workload, .. } => of_workload(workload, phase.length(), pace),
        Action::Jobs(jobs) => {
            let whole = run::jobs::length(jobs);
            let of_job = |length: Option<Nanos>| length.map_or(whole, Length::Time);
            let jobs = jobs.jobs.iter();
            jobs.map(|job| of_workload(&job.workload, of_job(job.duration), pace))
                .fold(0, u64::saturating_add)
        }
        Action::Replay(replay) => {
            let (read, written) = replay.moved_bytes.unwrap_or_default();
            (read + written) / TRACE_COMMAND_BYTES * TRACE_COMMAND_NS
        }
        Action::Purge
        | Action::PurgeToScale(_)
        | Action::Deallocate { .. }
        | Action::ManageZones { .. }
        | Action::Age(_)
        | Action::SetRest(_)
        | Action::Idle(_) => 0,
    }
}

fn of_workload(workload: &Workload, length: Length, pace: Pace) -> u64 {
    let block = u64::from(workload.step_bytes()).max(1);
    let commands = match length {
        Length::Bytes(bytes) => bytes / block,
        Length::Time(time) => {
            let rate = (pace.bytes_per_s / block).clamp(1, pace.commands_per_s);
            time.0 / 1_000_000 * rate / 1_000
        }
        Length::Unknown => 0,
    };
    commands.saturating_mul(COMMAND_NS + PAGE_NS * block.div_ceil(PAGE_BYTES))
}
