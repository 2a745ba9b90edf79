//! Flags that some kinds of targets do not take, refused before another target of the call changes.

use ::target::{PurgeMethod, TargetError, TargetSpec};
use io::EngineChoice;
use run::{Placement, Workers};

/// Refuses a method of purge for a target without a choice.
pub(super) fn check_purge(
    spec: &TargetSpec,
    wanted: Option<PurgeMethod>,
) -> Result<(), TargetError> {
    let Some((instead, wanted)) = spec.kind().fresh_state().zip(wanted) else { return Ok(()) };
    Err(TargetError::Unsupported(format!(
        "--purge {} is not for {spec}: {instead}; leave --purge away there, or run it in a call of its own",
        wanted.name()
    )))
}

/// Refuses engine flags for a target without an engine.
pub(super) fn check_engine(
    spec: &TargetSpec,
    engine: EngineChoice,
    workers: Workers,
) -> Result<(), TargetError> {
    let kind = spec.kind();
    let unusual = [
        ("--workers", !kind.takes_threads() && workers.count > 1),
        ("--cpu", !kind.takes_threads() && workers.placement != Placement::default()),
        ("--engine", !kind.has_engine() && engine != EngineChoice::Auto),
    ];
    let Some((flag, _)) = unusual.into_iter().find(|(_, is_refused)| *is_refused) else {
        return check_commands(spec, engine);
    };
    Err(TargetError::Unsupported(format!(
        "{flag} is not for {spec}: it is about real drives; leave {flag} away there, or run it in a call of its own"
    )))
}

/// Refuses NVMe commands for a file.
fn check_commands(spec: &TargetSpec, engine: EngineChoice) -> Result<(), TargetError> {
    if spec.kind().takes_nvme_commands() || !matches!(engine, EngineChoice::Passthrough(_)) {
        return Ok(());
    }
    Err(TargetError::Unsupported(format!(
        "--engine {engine} is not for {spec}: a file takes no NVMe commands; leave passthrough away there, or run it \
         in a call of its own"
    )))
}
