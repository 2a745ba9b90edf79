//! Sweeps: many runs of simulated drives as one table.
//!
//! ```text
//! spec (TOML) -> design (points) -> tasks (requests) -> outcomes, one line each -> dataset
//! ```
//!
//! A task is a document without state, so that any thread, process or machine can carry it out. The
//! outcome depends on the task alone; the order of tasks changes nothing. Real targets are refused:
//! a confirmation is typed for one call.

mod book;
mod design;
mod spec;
mod task;

pub use book::{Book, DATASET_FILE};
pub use spec::{Design, Spec};
pub use task::{Outcome, Task};

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use run::RunError;

use crate::pool::{self, Demand, Limits};

/// The demands of tasks beside each other: the memory of each drive. A task whose drive does not
/// exist demands nothing; its outcome will say so.
///
/// # Errors
/// [`RunError::Usage`] if no task has a drive: the description is at fault.
pub fn demands(tasks: &[Task]) -> Result<Vec<Demand>, RunError> {
    let mut by_target: HashMap<&str, Option<Demand>> = HashMap::new();
    let (mut demands, mut fault) = (Vec::with_capacity(tasks.len()), None);
    for task in tasks {
        let target = task.request.target.as_str();
        let demand = *by_target.entry(target).or_insert_with(|| {
            let demand = task.demand();
            demand.map_err(|error| fault.get_or_insert(error).to_string()).ok()
        });
        demands.push(demand);
    }
    match fault {
        Some(fault) if demands.iter().all(Option::is_none) => Err(fault),
        _ => Ok(demands.into_iter().map(Option::unwrap_or_default).collect()),
    }
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
        let mut book = book.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        book.note(outcome.clone())?;
        drop(book);
        ended(demand, &outcome);
        Ok(())
    });
    noted.into_iter().flatten().collect()
}
