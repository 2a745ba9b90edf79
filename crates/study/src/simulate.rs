//! One run of a simulated drive for its figures: of a sweep, or of a fit.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use result::schema::Request;
use result::store::free_bytes;
use run::{Control, Outcome, RunError, Test};
use session::job::{Job, Origin, plan, unix_ns};
use session::targets::{self, Requirements};
use target::TargetSpec;

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
    let write = recorded.test.parse::<Test>()?.writes();
    let inspection =
        targets::inspect(vec![spec.clone()], Requirements { write, ..Requirements::READ })?;
    let inspected = inspection.target(&spec)?;
    let job = Job::new(recorded.clone(), &plan(recorded, inspected)?, inspected);
    let targets = inspection.hold()?;
    let control = Control { interrupted: stop, observer: &mut |_| (), unix_ns };
    job.perform(&Origin::default(), library, &targets, control)
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
