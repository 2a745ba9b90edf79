//! One run of a simulated drive for its figures: of a sweep, or of a fit.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use result::schema::Request;
use result::store::free_bytes;
use run::{Control, Outcome, RunError};
use target::TargetSpec;

use session::targets::{self, Requirements};
use session::{Needs, perform, request};

/// A file system in the memory of the machine.
const MEMORY: &str = "/dev/shm";

/// The room to leave for the other users of that memory.
const ROOM_BYTES: u64 = 1 << 30;

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
    let requirements = Requirements { write: request.test.writes(), ..Requirements::READ };
    let inspection = targets::inspect(vec![spec.clone()], requirements)?;
    let inspected = inspection.target(&spec)?;
    let plan = run::session::plan(&request, &inspected.identity, &inspected.limits)?;
    let held = inspection.hold()?;
    let control = Control { interrupted: stop, observer: &mut |_| (), unix_ns };
    perform(&held, &spec, Needs::of(&plan), request, control)
}

/// A directory for runs of which only the figures are kept: in memory if Linux has room for it, because a run waits
/// for a disk several times longer than a small drive is simulated. `TMPDIR` names another place.
///
/// # Errors
/// [`RunError::Usage`] with the reason.
pub(crate) fn temporary_library() -> Result<tempfile::TempDir, RunError> {
    let has_room = || free_bytes(Path::new(MEMORY)).is_ok_and(|free| free >= ROOM_BYTES);
    let in_memory = env::var_os("TMPDIR").is_none() && has_room();
    let place = if in_memory { PathBuf::from(MEMORY) } else { env::temp_dir() };
    tempfile::tempdir_in(&place).map_err(|error| {
        RunError::Usage(format!("no run directory can be made in {}: {error}", place.display()))
    })
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
