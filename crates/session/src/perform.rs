//! One run, from opening its target to the finished directory.

use io::OpenOptions;
use io::open::Visitor;
use run::session::Plan;
use run::{Control, Outcome, Request, RunError};
use target::{TargetSpec, Testable};

use crate::prepare::Prepared;

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
    prepared: &Prepared,
    spec: &TargetSpec,
    needs: Needs,
    request: Request,
    control: Control<'_>,
) -> Result<Outcome, RunError> {
    let options = OpenOptions {
        queue_depth: needs.queue_depth,
        transfer_bytes_max: needs.transfer_bytes_max,
        write: request.test.writes(),
        seed: request.seed,
        ..prepared.options().clone()
    };
    let mut opened = prepared.open(spec, &options)?;
    let request = Request {
        environment: device::host::environment::environment(),
        facts: prepared.described(spec)?.identity.facts.clone(),
        warnings: opened.warnings(),
        ..request
    };
    opened.visit(RunTest { request: &request, control })
}

struct RunTest<'a, 'b> {
    request: &'a Request,
    control: Control<'b>,
}

impl Visitor for RunTest<'_, '_> {
    type Output = Result<Outcome, RunError>;

    fn visit<T: Testable>(mut self, target: &mut T) -> Self::Output {
        run::run(target, self.request, &mut self.control)
    }
}
