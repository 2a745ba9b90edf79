//! One run, from opening its target to the finished directory.

use io::OpenOptions;
use io::open::Opened;
use run::session::Plan;
use run::{Control, Outcome, Request, RunError};
use target::TargetSpec;

use crate::targets::Targets;

/// The demands of a run on its target.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// The deepest queue of the test.
    pub queue_depth: u32,
    /// The longest command of the test.
    pub transfer_bytes_max: u32,
}

impl Needs {
    /// The demands of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let (queue_depth, transfer_bytes_max) = plan.needs();
        Self { queue_depth, transfer_bytes_max }
    }
}

/// Opens a target that is held and runs a test on it. The request gets the environment, the facts
/// of the target and the warnings of its opening.
///
/// # Errors
/// If the target cannot be opened, and those of [`run::run`].
pub fn perform(
    targets: &Targets,
    spec: &TargetSpec,
    needs: Needs,
    request: Request,
    mut control: Control<'_>,
) -> Result<Outcome, RunError> {
    let options = OpenOptions {
        queue_depth: needs.queue_depth,
        transfer_bytes_max: needs.transfer_bytes_max,
        write: request.test.writes(),
        seed: request.seed,
        ..targets.options().clone()
    };
    let target = targets.target(spec)?;
    let mut opened = target.open(&options)?;
    let request = Request {
        environment: device::host::environment::environment(),
        facts: target.inspected.identity.facts.clone(),
        warnings: opened.warnings(),
        ..request
    };
    match &mut opened {
        Opened::Sim(target) => run::run(target.as_mut(), &request, &mut control),
        Opened::Real(target) => run::run(target.as_mut(), &request, &mut control),
        Opened::Null(target) => run::run(target, &request, &mut control),
    }
}
