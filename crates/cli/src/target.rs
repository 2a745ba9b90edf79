//! From a target string to an open target, and to a description that touches nothing.

use io::engine::null::NullTarget;
use io::engine::sim::SimTarget;
use io::{
    EngineChoice, IoError, OpenOptions, PurgeMethod, RealTarget, Target, TargetSpec, open_block,
    open_file,
};

use crate::args::EngineArgs;

/// An open target of any kind. The kinds stay apart so that the hot loop is compiled for each.
pub enum Opened {
    /// A simulated drive.
    Sim(Box<SimTarget>),
    /// A file or block device.
    Real(Box<RealTarget>),
    /// The null target.
    Null(NullTarget),
}

/// Something to do with a target of any kind.
pub trait Visitor {
    /// What comes out.
    type Output;
    /// Does it.
    fn visit<T: Target>(self, target: &mut T) -> Self::Output;
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

    /// What the reader of a result should know about how it was opened.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Real(target) => target.warnings().to_vec(),
            Self::Sim(_) | Self::Null(_) => Vec::new(),
        }
    }
}

/// True where the target lives in virtual time and runs beside others do not disturb it.
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
    io::memory::check(&spec.to_string(), memory_bytes(spec)?)
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
        TargetSpec::File { .. } | TargetSpec::Block { .. } => return Ok(()),
    };
    let flag = match wanted {
        _ if !has_threads && wanted.workers > 1 => "--workers",
        _ if !has_threads && wanted.pin => "--pin",
        _ if !has_threads && wanted.float => "--float",
        _ if !has_engine && wanted.engine != EngineChoice::Auto => "--engine",
        _ => return Ok(()),
    };
    Err(IoError::Unsupported(format!(
        "{flag} is not for {spec}: it is about real drives; leave {flag} away there, or run it in a call of its own"
    )))
}

/// Opens a target. Simulated drives and the null target need no permission, but a promise not to write holds
/// for them, too.
pub fn open(spec: &TargetSpec, options: &OpenOptions) -> Result<Opened, IoError> {
    options.check_read_only(&spec.to_string())?;
    match spec {
        TargetSpec::Sim { name, settings } => {
            let target = SimTarget::open(&spec.to_string(), name, settings)?;
            Ok(Opened::Sim(Box::new(target)))
        }
        TargetSpec::File { path, size_bytes, keep } => {
            let target = open_file(path, *size_bytes, *keep, options)?;
            Ok(Opened::Real(Box::new(target)))
        }
        TargetSpec::Block { path } => Ok(Opened::Real(Box::new(open_block(path, options)?))),
        TargetSpec::Null { size_bytes } => Ok(Opened::Null(NullTarget::new(*size_bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_not_to_write_holds_for_every_kind_of_target() {
        let options = OpenOptions { write: true, read_only: true, ..OpenOptions::default() };
        for text in ["sim:ideal", "null:", "file:/tmp/never-created?size=1MiB", "/dev/null"] {
            let refused = open(&text.parse().unwrap(), &options).err();
            assert!(
                matches!(refused, Some(IoError::Refused { code: "read-only", .. })),
                "{text}: {refused:?}"
            );
        }
    }
}
