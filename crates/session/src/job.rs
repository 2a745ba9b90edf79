//! One run of a call: a request, planned on its target, then carried out from the opening of the
//! target to the finished directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use device::host::environment::environment;
use io::OpenOptions;
use io::engine::sim::OwnPolicies;
use io::open::{Inspected, Opened};
use result::schema::{About, Invocation, Request};
use result::store::RunDir;
use run::session::Plan;
use run::{Control, Outcome, RunError};
use target::TargetSpec;

use crate::effort::effort;
use crate::pool::Demand;
use crate::request;
use crate::targets::Targets;

/// One run to do.
#[derive(Clone, Debug)]
pub struct Job {
    pub request: Request,
    /// Its target.
    pub spec: TargetSpec,
    /// Its demands beside other runs.
    pub demand: Demand,
    /// The deepest queue of the test.
    queue_depth: u32,
    /// The longest command of the test.
    transfer_bytes_max: u32,
}

/// The circumstances of a run beside its request.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The call that contains it.
    pub invocation: Option<Invocation>,
    /// The run that it continues, or `None` if it begins by itself.
    pub earlier: Option<RunDir>,
    /// The omissions of its review.
    pub left_out: Vec<String>,
    /// The words of the user.
    pub about: About,
    /// The policies of a simulated drive in the place of those of its model, or `None` if it has those.
    pub policies: Option<OwnPolicies>,
}

/// The plan of a request on its target.
///
/// # Errors
/// [`RunError::Usage`] for a request that no call could make, and those of [`run::session::plan`].
pub fn plan(request: &Request, target: &Inspected) -> Result<Plan, RunError> {
    let request = request::to_run(request, PathBuf::new())?;
    run::session::plan(&request, &target.identity, &target.limits)
}

/// Time since 1970.
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Job {
    /// The run of a request with this plan.
    pub fn new(request: Request, plan: &Plan, target: &Inspected) -> Self {
        let (queue_depth, transfer_bytes_max) = plan.needs();
        let demand = Demand {
            is_simulated: target.spec.kind().is_simulated(),
            memory_bytes: target.memory_bytes,
            length: effort(plan, &target.identity).0,
            batch: 0,
            lane: 0,
        };
        Self { request, spec: target.spec.clone(), demand, queue_depth, transfer_bytes_max }
    }

    /// Opens the target and runs the test on it. The run gets the environment, the facts of the target
    /// and the warnings of its opening; beside runs on other real targets, it has its share of the processors.
    ///
    /// # Errors
    /// If the target cannot be opened, and those of [`run::run`].
    pub fn perform(
        &self,
        origin: &Origin,
        library: &Path,
        targets: &Targets,
        mut control: Control<'_>,
    ) -> Result<Outcome, RunError> {
        let Some(turn) = targets.turn(&self.spec) else {
            return self.perform_in(environment(), origin, library, targets, &mut control);
        };
        let mut environment = environment();
        environment.extend(turn.conditions());
        let Control { interrupted, observer, unix_ns } = control;
        turn.work(interrupted, |interrupted| {
            let mut control = Control { interrupted, observer: &mut *observer, unix_ns };
            self.perform_in(environment, origin, library, targets, &mut control)
        })
    }

    /// The same with this record of the machine.
    fn perform_in(
        &self,
        environment: BTreeMap<String, String>,
        origin: &Origin,
        library: &Path,
        targets: &Targets,
        control: &mut Control<'_>,
    ) -> Result<Outcome, RunError> {
        let request = request::to_run(&self.request, library.to_owned())?;
        let options = OpenOptions {
            queue_depth: self.queue_depth,
            transfer_bytes_max: self.transfer_bytes_max,
            write: request.test.writes_in(request.read_only),
            seed: request.seed,
            ..targets.options().clone()
        };
        let target = targets.target(&self.spec)?;
        let mut opened = target.open(&options)?;
        let Origin { invocation, earlier, left_out, about, policies } = origin.clone();
        if let (Opened::Sim(drive), Some(policies)) = (&mut opened, policies) {
            drive.set_policies(policies)?;
        }
        let call = invocation.as_ref().map(|call| &call.requests);
        let request = run::Request {
            repeat: call.and_then(|call| request::repeat(&self.request, call)),
            invocation,
            resume: earlier,
            left_out,
            about,
            environment,
            facts: target.inspected.identity.facts.clone(),
            warnings: opened.warnings(),
            ..request
        };
        match &mut opened {
            Opened::Sim(target) => run::run(target.as_mut(), &request, control),
            Opened::Real(target) => run::run(target.as_mut(), &request, control),
            Opened::Null(target) => run::run(target, &request, control),
        }
    }
}
