//! Sweeps: many runs of simulated drives as one table.
//!
//! ```text
//! spec (TOML) -> design (points) -> tasks (requests) -> outcomes, one line each -> dataset
//! ```
//!
//! A task is a document without state, so that any thread, process or machine can carry it out. The
//! outcome depends on the task alone; the order of tasks changes nothing. The points of an adaptive design
//! come in rounds, each from the outcomes of all earlier ones. Real targets are refused: a confirmation is
//! typed for one call.

mod adaptive;
mod book;
mod design;
mod spec;
mod task;

pub use book::{Book, DATASET_FILE};
pub use spec::{Design, Spec};
pub use task::{Outcome, Task};

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use run::RunError;

use session::pool::{self, Demand, Limits};

/// The demands of tasks beside each other: the memory of each drive. A task whose drive does not
/// exist demands nothing; its outcome will say so.
///
/// # Errors
/// [`RunError::Usage`] if no task has a drive: the description is at fault.
pub fn demands(tasks: &[Task]) -> Result<Vec<Demand>, RunError> {
    let mut known = Demands::default();
    let demands: Vec<_> = tasks.iter().map(|task| known.of(task)).collect();
    match known.fault {
        Some(fault) if demands.iter().all(Option::is_none) => Err(fault),
        _ => Ok(demands.into_iter().map(Option::unwrap_or_default).collect()),
    }
}

/// The demands of tasks so far: drives of one size are looked at once.
#[derive(Debug, Default)]
pub struct Demands {
    by_size: HashMap<String, Demand>,
    /// Targets without a drive: others of their size may have one.
    refused: HashSet<String>,
    /// The first reason of them.
    fault: Option<RunError>,
}

impl Demands {
    /// The demand of a task, or `None` if its drive does not exist.
    pub fn of(&mut self, task: &Task) -> Option<Demand> {
        let target = &task.request.target;
        let size = size_of(target);
        if let Some(known) = self.by_size.get(&size) {
            return Some(*known);
        }
        if self.refused.contains(target) {
            return None;
        }
        match task.demand() {
            Ok(demand) => {
                self.by_size.insert(size, demand);
                Some(demand)
            }
            Err(fault) => {
                self.fault.get_or_insert(fault);
                self.refused.insert(target.clone());
                None
            }
        }
    }
}

/// A target string without the settings of its model that change no size: times, rates, policies of cleaning.
fn size_of(target: &str) -> String {
    let Some((drive, settings)) = target.split_once('?') else { return target.to_owned() };
    let of_size = |setting: &&str| {
        let key = setting.split('=').next().unwrap_or_default();
        !(key.ends_with("_ns") || key.ends_with("_per_s") || key.starts_with("gc."))
    };
    let settings: Vec<_> = settings.split('&').filter(of_size).collect();
    format!("{drive}?{}", settings.join("&"))
}

/// The tasks without an outcome, of one round if the design has rounds; none when the sweep is done.
///
/// # Errors
/// [`RunError::Usage`] if no run has the goal of an adaptive design.
pub fn round(book: &Mutex<Book>) -> Result<Vec<Task>, RunError> {
    let mut book = locked(book);
    let pending = book.pending()?;
    pending.into_iter().map(|number| book.task(number)).collect()
}

fn locked(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries out tasks on all processors within the memory until `stop` is set, and notes every outcome in
/// the book; `ended` is called after each.
///
/// # Errors
/// If an outcome cannot be noted; tasks in progress end then, and no other begins.
pub fn carry_out(
    tasks: &[Task],
    demands: &[Demand],
    limits: Limits,
    stop: &AtomicBool,
    book: &Mutex<Book>,
    ended: impl Fn(&Demand, &Outcome) + Sync,
) -> Result<(), RunError> {
    let runs = book.lock().map_or(None, |book| book.runs_dir().map(Path::to_owned));
    let paired: Vec<_> = demands.iter().copied().zip(tasks.iter().zip(demands)).collect();
    let noted = pool::carry_out(&paired, limits, stop, |(task, demand)| {
        let outcome = task.carry_out(runs.as_deref(), stop)?;
        // A run that was stopped has no figures of its own.
        let Some(outcome) = outcome else { return Ok(()) };
        locked(book).note(outcome.clone())?;
        ended(demand, &outcome);
        Ok(())
    });
    noted.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use io::engine::sim::{beside, memory_bytes};
    use sim::model::{Model, built_in};

    use super::*;

    #[test]
    fn drives_that_differ_in_times_rates_and_policies_have_one_size() {
        let size = "sim:x?scale=1/8&nand.blocks_per_plane=100";
        let others = "gc.policy=fifo&nand.program_ns=5&interface.link_bytes_per_s=7";
        assert_eq!(size_of(&format!("{size}&{others}")), size);
        assert_ne!(size_of("sim:x?scale=1/8"), size);
        assert_eq!(size_of("sim:x"), "sim:x");
    }

    #[test]
    fn values_without_a_say_in_the_size_change_no_memory() {
        for drive in ["samsung-840-evo-250gb", "solidigm-d7-p5520-1920gb", "ocz-vertex-3-240gb"] {
            let text = built_in(drive).expect("a built-in drive");
            let values =
                Model::values(drive, text, &|file| beside(drive.as_ref(), file)).expect("a model");
            let plain = memory_bytes(drive, &[]).expect("a drive");
            let mut compared = 0;
            for value in values {
                let Ok(number) = value.value.replace('_', "").parse::<u64>() else { continue };
                let pair = (value.key, (number + number.div_ceil(10)).to_string());
                let is_left_out = size_of(&format!("sim:x?{}={}", pair.0, pair.1)) == "sim:x?";
                if is_left_out && let Ok(other) = memory_bytes(drive, std::slice::from_ref(&pair)) {
                    assert_eq!(other, plain, "{pair:?}");
                    compared += 1;
                }
            }
            assert!(compared > 5, "{drive}: {compared}");
        }
    }
}
