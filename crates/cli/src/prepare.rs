//! The wishes of a command for its targets; `study` checks and holds them.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use ::target::{IoError, PurgeMethod, TargetSpec};
use study::prepare::{self, restore_left_behind};

use crate::args::{CommonArgs, DriveArgs, EngineArgs, RunArgs};
use crate::failure::Failure;
use crate::ui::out::talk;

pub use study::prepare::{Candidate, Prepared, parse};

/// The requirements of a call for its targets.
#[derive(Clone, Copy)]
pub struct Wish<'a> {
    /// Whether it writes.
    pub write: bool,
    /// Whether the user promised that nothing is written.
    pub read_only: bool,
    /// The targets that may be erased, as typed in this call.
    pub erase: &'a [String],
    /// Whether file systems and partition tables may be erased, too.
    pub erase_signatures: bool,
    /// The purge method, or `None` for the best one.
    pub purge: Option<PurgeMethod>,
    /// The engine and threads, or `None` if the command leaves no choice.
    pub engine: Option<&'a EngineArgs>,
    /// Files with facts of the targets.
    pub facts: &'a [PathBuf],
    /// The library, which may have facts of the targets, too, or `None` if the command records none.
    pub library: Option<&'a Path>,
}

impl<'a> Wish<'a> {
    /// Requirements of a test.
    pub fn of(args: &'a RunArgs) -> Self {
        let write = args.test.test.writes();
        let wish = Self::of_runs(&args.test.common, &args.drive);
        Self { write, read_only: args.read_only, ..wish }
    }

    /// Requirements of a command with several runs that write.
    pub fn of_runs(common: &'a CommonArgs, drive: &'a DriveArgs) -> Self {
        Self {
            write: true,
            read_only: false,
            erase: &drive.erase,
            erase_signatures: drive.erase_signatures,
            purge: common.purge,
            engine: Some(&drive.engine),
            facts: &drive.facts,
            library: Some(&common.library),
        }
    }

    fn of_study(self) -> prepare::Wish<'a> {
        prepare::Wish {
            write: self.write,
            read_only: self.read_only,
            erase: self.erase,
            erase_signatures: self.erase_signatures,
            purge: self.purge,
            engine: self.engine.map_or_else(Default::default, |args| args.engine),
            workers: self.engine.map_or_else(Default::default, EngineArgs::workers),
            facts: self.facts,
            library: self.library,
        }
    }
}

/// All targets of a call, inspected.
pub struct Looked(prepare::Looked);

/// Inspects all targets of a call.
///
/// # Errors
/// If there can be no such target, or its kind does not have a requested property.
pub fn look(specs: Vec<TargetSpec>, wish: Wish<'_>) -> Result<Looked, IoError> {
    prepare::look(specs, wish.of_study()).map(Looked)
}

impl Looked {
    /// Removes targets without any work.
    pub fn only(self, wanted: impl Fn(&TargetSpec) -> bool) -> Self {
        Self(self.0.only(wanted))
    }

    /// The objection to the call now; the first one decides.
    pub fn failures(&self) -> Vec<Failure> {
        self.0.objections().map(Failure::from_io).collect()
    }

    /// Opens and holds every target that exists, up to its engine; then restores the settings that
    /// a killed run left changed, which would otherwise pass for the original ones.
    ///
    /// # Errors
    /// The first objection to any of them; nothing has changed then.
    pub fn hold(self) -> Result<Prepared, IoError> {
        let prepared = self.0.hold()?;
        restore_settings();
        Ok(prepared)
    }
}

impl Deref for Looked {
    type Target = prepare::Looked;

    fn deref(&self) -> &prepare::Looked {
        &self.0
    }
}

/// Restores the settings that an earlier run left changed; otherwise this run would treat them as
/// the original ones.
pub fn restore_settings() {
    for outcome in restore_left_behind() {
        match outcome {
            Ok(words) => talk!("restored: {words}"),
            Err(error) => talk!("warning: {}", Failure::from_error(&error.into()).message),
        }
    }
}
