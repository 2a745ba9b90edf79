//! Targets of any kind: open ones, and what a kind does not have.

use ::target::null::NullTarget;
use ::target::{IoError, PurgeMethod, TargetSpec, Testable};
use device::host::clock::MonotonicClock;
use io::engine::sim::SimTarget;
use io::{EngineChoice, RealTarget};
use run::Placement;

use crate::args::EngineArgs;

/// An open target of any kind. The kinds stay apart so that the hot loop is compiled for each.
pub enum Opened {
    /// A simulated drive.
    Sim(Box<SimTarget>),
    /// A file or block device.
    Real(Box<RealTarget>),
    /// The null target.
    Null(NullTarget<MonotonicClock>),
}

/// Something to do with a target of any kind.
pub trait Visitor {
    /// The result of a visit.
    type Output;
    /// Does it.
    fn visit<T: Testable>(self, target: &mut T) -> Self::Output;
}

impl Opened {
    /// Hands the target to the visitor, compiled for its kind.
    pub fn visit<V: Visitor>(&mut self, visitor: V) -> V::Output {
        match self {
            Self::Sim(target) => visitor.visit(target.as_mut()),
            Self::Real(target) => visitor.visit(target.as_mut()),
            Self::Null(target) => visitor.visit(target),
        }
    }

    /// The facts about the opening that the reader of a result should know.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Real(target) => target.warnings().to_vec(),
            Self::Sim(_) | Self::Null(_) => Vec::new(),
        }
    }
}

/// Whether the target lives in virtual time and runs beside others do not disturb it.
pub fn is_simulated(spec: &TargetSpec) -> bool {
    matches!(spec, TargetSpec::Sim { .. })
}

/// Bytes of memory that it takes to simulate the drive; nothing for other targets.
pub fn memory_bytes(spec: &TargetSpec) -> Result<u64, IoError> {
    match spec {
        TargetSpec::Sim { name, settings } => io::engine::sim::memory_bytes(name, settings),
        _ => Ok(0),
    }
}

/// Refuses a simulated drive that does not fit into the memory.
pub fn check_memory(spec: &TargetSpec) -> Result<(), IoError> {
    device::host::memory::check(&spec.to_string(), memory_bytes(spec)?)
}

/// Refuses a method of purging where there is none to choose.
pub fn check_purge(spec: &TargetSpec, wanted: Option<PurgeMethod>) -> Result<(), IoError> {
    let instead = match spec {
        TargetSpec::Sim { .. } => "a simulated drive is built anew",
        TargetSpec::Null { .. } => "the null target holds nothing",
        TargetSpec::File { .. } | TargetSpec::Block { .. } => return Ok(()),
    };
    let Some(wanted) = wanted else { return Ok(()) };
    Err(IoError::Unsupported(format!(
        "--purge {} is not for {spec}: {instead}; leave --purge away there, or run it in a call of its own",
        wanted.name()
    )))
}

/// Refuses what was asked of the engine where there is none: a simulated drive has one clock, hence one thread, and
/// nothing reaches the kernel there or on the null target.
pub fn check_engine(spec: &TargetSpec, wanted: &EngineArgs) -> Result<(), IoError> {
    let (has_threads, has_engine) = match spec {
        TargetSpec::Sim { .. } => (false, false),
        TargetSpec::Null { .. } => (true, false),
        TargetSpec::File { .. } => return check_commands(spec, wanted.engine),
        TargetSpec::Block { .. } => return Ok(()),
    };
    let flag = match wanted {
        _ if !has_threads && wanted.workers > 1 => "--workers",
        _ if !has_threads && wanted.cpu != Placement::default() => "--cpu",
        _ if !has_engine && wanted.engine != EngineChoice::Auto => "--engine",
        _ => return Ok(()),
    };
    Err(IoError::Unsupported(format!(
        "{flag} is not for {spec}: it is about real drives; leave {flag} away there, or run it in a call of its own"
    )))
}

/// Refuses NVMe commands for a file, which takes none, before another target of the call is touched.
fn check_commands(spec: &TargetSpec, engine: EngineChoice) -> Result<(), IoError> {
    if !matches!(engine, EngineChoice::Passthrough(_)) {
        return Ok(());
    }
    Err(IoError::Unsupported(format!(
        "--engine {engine} is not for {spec}: a file takes no NVMe commands; leave passthrough away there, or run it \
         in a call of its own"
    )))
}
