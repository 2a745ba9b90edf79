//! One run of a simulated drive for its figures: of a sweep, or of a fit.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use result::schema::Request;
use run::{Control, Outcome, RunError};
use target::TargetSpec;

use crate::prepare::{self, Wish};
use crate::{Needs, perform, request};

/// Carries out a request for a simulated drive; its run directory goes into `library`.
///
/// # Errors
/// [`RunError::Usage`] for a real target, and those of the run.
pub(crate) fn simulate(
    recorded: &Request,
    library: &Path,
    stop: &AtomicBool,
) -> Result<Outcome, RunError> {
    let spec: TargetSpec = recorded.target.parse()?;
    if !spec.kind().is_simulated() {
        return Err(RunError::Usage(format!("{spec} is no simulated drive")));
    }
    let request = request::to_run(recorded, library.to_owned())?;
    let wish = Wish { write: request.test.writes(), ..Wish::READ };
    let looked = prepare::look(vec![spec.clone()], wish)?;
    let described = looked.described(&spec)?;
    let plan = run::session::plan(&request, &described.identity, &described.limits)?;
    let prepared = looked.hold()?;
    let control = Control { interrupted: stop, observer: &mut |_| (), unix_ns };
    perform(&prepared, &spec, Needs::of(&plan), request, control)
}

/// A directory for runs of which only the figures are kept.
///
/// # Errors
/// [`RunError::Usage`] with the reason.
pub(crate) fn temporary_library() -> Result<tempfile::TempDir, RunError> {
    tempfile::tempdir().map_err(|error| {
        let dir = std::env::temp_dir();
        RunError::Usage(format!("no run directory can be made in {}: {error}", dir.display()))
    })
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
