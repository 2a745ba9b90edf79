//! The cost of a run before it begins: bytes written, time, and the method of its purge.

use ::target::PurgeMethod;
use base::Nanos;
use io::open::Inspected;
use load::{Order, Workload};
use run::event::Length;
use run::jobs::{JobSpec, Jobs};
use run::session::Plan;
use run::suite::{Action, PhaseSpec, Step};

use crate::ui::table::bytes;

/// The assumed fill rate, which is unknown before the run; the output says that it is an estimate.
const ASSUMED_FILL_BYTES_PER_S: u64 = 400_000_000;
const ASSUMED_RANDOM_BYTES_PER_S: u64 = 80_000_000;

/// The purge method of a plan, or `None` if it has no purge or no choice.
pub fn purge_of(
    inspected: &Inspected,
    plan: &Plan,
    wanted: Option<PurgeMethod>,
) -> Option<PurgeMethod> {
    let purges = plan.phases().any(|phase| matches!(phase.action, Action::Purge));
    // A method that is not possible is one of the obstacles.
    inspected.purge_method(wanted).ok().flatten().filter(|_| purges)
}

/// Bytes that a purge by this method writes itself.
pub fn overwritten_bytes(inspected: &Inspected, method: Option<PurgeMethod>) -> u64 {
    let overwrites = method == Some(PurgeMethod::Overwrite);
    if overwrites { inspected.identity.capacity_bytes } else { 0 }
}

/// The cost of a phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Bytes it writes.
    pub written_bytes: u64,
    /// Whether these bytes are an estimate, because a time ends the phase and the speed of the
    /// target is unknown; otherwise they are a bound.
    pub written_is_estimate: bool,
    /// Its duration; `None` for moments.
    pub time: Option<Nanos>,
    /// Whether the time is an estimate.
    pub is_estimate: bool,
}

impl Cost {
    /// The bytes written, as an estimate or as a bound.
    pub fn volume(&self, capacity_bytes: u64) -> String {
        let word = if self.written_is_estimate { "about" } else { "up to" };
        format!("{word} {}", volume(self.written_bytes, capacity_bytes))
    }
}

/// The cost of a phase, as far as it is known.
///
/// A purge that overwrites costs the writing of `overwritten_bytes`.
pub fn cost(phase: &PhaseSpec, overwritten_bytes: u64) -> Cost {
    match &phase.action {
        Action::Load { workload, .. } => workload_cost(workload, phase.length()),
        Action::Jobs(jobs) => jobs_cost(jobs),
        Action::Idle(time) => Cost { time: Some(*time), ..Cost::default() },
        Action::Replay(replay) => {
            let time = |moved| Nanos(scaled(moved, Nanos::SECOND.0, ASSUMED_RANDOM_BYTES_PER_S));
            let time = replay.moved_bytes.map(|(read, written)| time(read + written));
            let written_bytes = replay.moved_bytes.map_or(0, |(_, written)| written);
            Cost { written_bytes, time, is_estimate: true, ..Cost::default() }
        }
        Action::Purge if overwritten_bytes > 0 => {
            let time = Nanos(scaled(overwritten_bytes, Nanos::SECOND.0, ASSUMED_FILL_BYTES_PER_S));
            Cost {
                written_bytes: overwritten_bytes,
                time: Some(time),
                is_estimate: true,
                ..Cost::default()
            }
        }
        Action::Purge
        | Action::PurgeToScale(_)
        | Action::Deallocate { .. }
        | Action::ManageZones { .. }
        | Action::Age(_)
        | Action::SetRest(_) => Cost { is_estimate: true, ..Cost::default() },
    }
}

/// `value` times `by`, divided by `over`.
fn scaled(value: u64, by: u64, over: u64) -> u64 {
    let product = u128::from(value) * u128::from(by) / u128::from(over);
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// The cost of jobs at the same time: the sum of their bytes, and the time of all together.
fn jobs_cost(jobs: &Jobs) -> Cost {
    let whole = run::jobs::length(jobs);
    let own = |job: &JobSpec| {
        let bytes = job.workload.total_bytes().map(Length::Bytes);
        job.duration.map(Length::Time).or(bytes)
    };
    let of_own = jobs.jobs.iter().filter_map(|job| Some(workload_cost(&job.workload, own(job)?)));
    // A job without an end of its own ends with the others.
    let rest = match whole {
        Length::Time(_) => whole,
        Length::Bytes(_) | Length::Unknown => {
            of_own.filter_map(|cost| cost.time).max().map_or(Length::Unknown, Length::Time)
        }
    };
    let of_job = |job: &JobSpec| {
        if let Some(own) = own(job) {
            return workload_cost(&job.workload, own);
        }
        let cost = workload_cost(&job.workload, rest);
        let most = cost.time.and_then(|time| paced_bytes(job, time)).unwrap_or(u64::MAX);
        Cost { written_bytes: cost.written_bytes.min(most), ..cost }
    };
    let costs: Vec<_> = jobs.jobs.iter().map(of_job).collect();
    let written = costs.iter().map(|cost| cost.written_bytes);
    let longest = costs.iter().filter_map(|cost| cost.time).max();
    let (time, is_estimate) = match whole {
        Length::Time(time) => (Some(time), false),
        Length::Bytes(_) | Length::Unknown => (longest, true),
    };
    Cost {
        written_bytes: written.fold(0, u64::saturating_add),
        written_is_estimate: costs.iter().any(|cost| cost.written_is_estimate),
        time,
        is_estimate,
    }
}

/// Bytes of the commands for which a job has time between its pauses, or `None` for a job without pauses.
fn paced_bytes(job: &JobSpec, time: Nanos) -> Option<u64> {
    let think = job.think.filter(|think| think.pause.0 > 0)?;
    let commands = scaled(time.0, u64::from(think.every), think.pause.0);
    Some(commands.saturating_mul(job.workload.block_bytes.into()))
}

/// The cost of a workload of this length.
fn workload_cost(workload: &Workload, length: Length) -> Cost {
    let is_linear = matches!(
        workload.order,
        Order::Sequential
            | Order::SequentialOnce
            | Order::OnePass { .. }
            | Order::Streams { .. }
            | Order::WholeZones(_)
    );
    let bytes_per_s = if is_linear { ASSUMED_FILL_BYTES_PER_S } else { ASSUMED_RANDOM_BYTES_PER_S };
    let second_ns = Nanos::SECOND.0;
    let (moved_bytes, time, is_estimate) = match length {
        Length::Bytes(bytes) => (bytes, Some(Nanos(scaled(bytes, second_ns, bytes_per_s))), true),
        Length::Time(time) => (scaled(time.0, bytes_per_s, second_ns), Some(time), false),
        Length::Unknown => (0, None, true),
    };
    let write_percent = 100 - u64::from(workload.mix.read_percent());
    let written_is_estimate = !is_estimate || !matches!(write_percent, 0 | 100);
    let written_bytes = scaled(moved_bytes, write_percent, 100);
    Cost { written_bytes, written_is_estimate, time, is_estimate }
}

/// The cost of all steps of a plan, with the most rounds.
pub fn total_cost(plan: &Plan, overwritten_bytes: u64) -> Cost {
    sum(plan.procedure.steps.iter().map(|step| step_cost(step, overwritten_bytes)))
}

/// The cost of work one after the other; its time is an estimate.
pub fn sum(costs: impl Iterator<Item = Cost>) -> Cost {
    costs.fold(Cost::default(), |sum, more| Cost {
        written_bytes: sum.written_bytes.saturating_add(more.written_bytes),
        written_is_estimate: sum.written_is_estimate || more.written_is_estimate,
        time: Some(Nanos(
            sum.time.unwrap_or_default().0.saturating_add(more.time.unwrap_or_default().0),
        )),
        is_estimate: true,
    })
}

/// If only some of the phases are done, each counts as the mean one.
fn step_cost(step: &Step, overwritten_bytes: u64) -> Cost {
    let phases = step.phases();
    let all = phases.len().max(1) as u128;
    let done = step.phases_max().map_or(all, u128::from) * u128::from(step.rounds_max());
    let at_most = |sum: u128| u64::try_from(sum * done / all).unwrap_or(u64::MAX);
    let costs = || phases.iter().map(|phase| cost(phase, overwritten_bytes));
    let written = costs().map(|cost| u128::from(cost.written_bytes)).sum();
    let time = costs().map(|cost| u128::from(cost.time.unwrap_or_default().0)).sum();
    Cost {
        written_bytes: at_most(written),
        written_is_estimate: costs().any(|cost| cost.written_is_estimate) || done != all,
        time: Some(Nanos(at_most(time))),
        is_estimate: true,
    }
}

/// Number of times that these bytes fill the drive.
pub fn drive_writes(written_bytes: u64, capacity_bytes: u64) -> f64 {
    written_bytes as f64 / capacity_bytes.max(1) as f64
}

/// Bytes, and their cost in endurance, which is rated in full drive writes.
pub fn volume(written_bytes: u64, capacity_bytes: u64) -> String {
    let writes = drive_writes(written_bytes, capacity_bytes);
    let decimals = if writes < 1.0 { 2 } else { 1 };
    format!("{} = {writes:.decimals$} full drive writes", bytes(written_bytes))
}

#[cfg(test)]
mod tests {
    use run::Request;
    use run::session::plan;

    use super::*;

    #[test]
    fn a_method_is_for_a_plan_that_purges_and_a_target_that_has_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = format!("file:{}/new?size=64MiB", dir.path().display());
        let purge_of = |target: &str, purge: &str, wanted| {
            let spec = target.parse().unwrap();
            let options = io::OpenOptions { write: true, ..io::OpenOptions::default() };
            let inspected = io::open::inspect(&spec, &options).unwrap();
            let mut request = Request::new(run::Test::CONSISTENCY, "library".into());
            request.settings = vec![("purge".to_owned(), purge.to_owned())];
            let plan = plan(&request, &inspected.identity, &inspected.limits).unwrap();
            super::purge_of(&inspected, &plan, wanted)
        };
        assert_eq!(purge_of(&file, "true", None), Some(PurgeMethod::Deallocate));
        assert_eq!(purge_of(&file, "true", Some(PurgeMethod::NvmeFormat)), None);
        assert_eq!(purge_of(&file, "false", None), None);
        assert_eq!(purge_of("null:", "true", None), None);
    }

    #[test]
    fn what_is_written_is_told_in_full_drive_writes() {
        assert_eq!(volume(2_300_000_000_000, 480_000_000_000), "2.3 TB = 4.8 full drive writes");
        assert_eq!(volume(4_000_000_000, 480_000_000_000), "4.0 GB = 0.01 full drive writes");
        assert_eq!(volume(0, 0), "0 B = 0.00 full drive writes");
    }

    #[test]
    fn a_job_that_ends_with_the_others_writes_what_its_pauses_permit() {
        let spec = "null:".parse().unwrap();
        let inspected = io::open::inspect(&spec, &io::OpenOptions::default()).unwrap();
        let mut request = Request::new("feel".parse().unwrap(), "library".into());
        request.settings = vec![("loads".to_owned(), "boot".to_owned())];
        let plan = plan(&request, &inspected.identity, &inspected.limits).unwrap();
        let boot = plan.phases().find(|phase| phase.name == "boot").unwrap();
        let Cost { written_bytes, time, .. } = cost(boot, 0);
        // Its log has a pause of 5 ms after two commands of 16 KiB at most; the rest reads.
        let time = time.unwrap();
        assert!(time > Nanos::SECOND && written_bytes > 0, "{time} {written_bytes}");
        assert!(
            written_bytes <= time.0 / 5_000_000 * 2 * (16 << 10) + (64 << 10),
            "{written_bytes}"
        );
    }
}
