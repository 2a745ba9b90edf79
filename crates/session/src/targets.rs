//! The only way from target strings to usable targets, for every front end.
//!
//! [`inspect`] finds every objection to any of them and changes nothing; `ssdlab plan` ends there.
//! [`Inspection::hold`] then opens and holds all that exist. Changes begin only after that: no target
//! is changed while another one of the call may still be refused.

mod beside;
mod flags;

use std::path::{Path, PathBuf};

use ::target::{PurgeMethod, TargetError, TargetSpec};
use io::open::{self, Held, Inspected};
use io::{EngineChoice, OpenOptions};
use run::Workers;

use self::beside::{Beside, Turn};
use crate::facts::FactsFiles;
use crate::pool::Demand;

/// The requirements of a call for its targets.
#[derive(Clone, Copy)]
pub struct Requirements<'a> {
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
    /// The engine for real targets.
    pub engine: EngineChoice,
    /// The threads for real targets.
    pub workers: Workers,
    /// Files with facts of the targets.
    pub facts: &'a [PathBuf],
    /// The library, which may have facts of the targets, too, or `None` if the command records none.
    pub library: Option<&'a Path>,
    /// Whether real targets are measured at the same time.
    pub parallel: bool,
}

impl Requirements<'_> {
    /// The requirements of a call that reads, with every default.
    pub const READ: Self = Self {
        write: false,
        read_only: false,
        erase: &[],
        erase_signatures: false,
        purge: None,
        engine: EngineChoice::Auto,
        workers: Workers::PLAIN,
        facts: &[],
        library: None,
        parallel: false,
    };

    fn options(&self) -> OpenOptions {
        OpenOptions {
            write: self.write,
            read_only: self.read_only,
            erase: self.erase.to_vec(),
            erase_signatures: self.erase_signatures,
            purge: self.purge,
            engine: self.engine,
            ..OpenOptions::default()
        }
    }
}

/// Reads target strings.
///
/// # Errors
/// [`TargetError::Usage`] for an invalid one.
pub fn parse(texts: &[String]) -> Result<Vec<TargetSpec>, TargetError> {
    texts.iter().map(|text| text.parse()).collect()
}

/// All targets of a call, inspected.
pub struct Inspection {
    options: OpenOptions,
    targets: Vec<Inspected>,
    /// The objection to two targets that are the same thing, or that disturb more than each other's figures.
    same: Option<TargetError>,
    /// The objection to a confirmation without a target.
    stray: Option<TargetError>,
    /// The threads of each target, or `None` if they are measured one after the other.
    parallel: Option<u32>,
}

/// Inspects all targets of a call.
///
/// # Errors
/// If there can be no such target, or its kind does not have a requested property.
pub fn inspect(
    specs: Vec<TargetSpec>,
    requirements: Requirements<'_>,
) -> Result<Inspection, TargetError> {
    for spec in &specs {
        flags::check_purge(spec, requirements.purge)?;
        flags::check_engine(spec, requirements.engine, requirements.workers)?;
    }
    if requirements.parallel {
        beside::check_several(&specs)?;
    }
    let options = requirements.options();
    let same = open::check_apart(&specs).err();
    let is_beside = requirements.parallel && requirements.write;
    let same = same.or_else(|| is_beside.then(|| open::check_beside(&specs).err())?);
    let names_one = |word: &str| specs.iter().any(|spec| open::is_named_by(spec, word));
    let stray =
        requirements.erase.iter().find(|word| !names_one(word)).map(|word| names_none(word));
    let targets = specs.into_iter().map(|spec| open::inspect(&spec, &options));
    let mut targets = targets.collect::<Result<Vec<_>, _>>()?;
    let identities = targets.iter_mut().map(|target| &mut target.identity);
    FactsFiles::read(requirements.facts, requirements.library)?.give(identities)?;
    let parallel = requirements.parallel.then_some(requirements.workers.count);
    Ok(Inspection { options, targets, same, stray, parallel })
}

/// A user who confirms a drive outside the call means another target than those in it.
fn names_none(word: &str) -> TargetError {
    TargetError::Refused {
        code: "wrong-serial",
        message: format!(
            "--erase {word} names no target of this call; leave it away, or compare with `ssdlab list`"
        ),
    }
}

impl Inspection {
    /// The targets, in the order of the call.
    pub fn targets(&self) -> &[Inspected] {
        &self.targets
    }

    /// One of the targets.
    ///
    /// # Errors
    /// If it is not one of them.
    pub fn target(&self, spec: &TargetSpec) -> Result<&Inspected, TargetError> {
        self.targets.iter().find(|target| &target.spec == spec).ok_or_else(|| unknown(spec))
    }

    /// Removes targets without any work.
    pub fn only(mut self, wanted: impl Fn(&TargetSpec) -> bool) -> Self {
        self.targets.retain(|target| wanted(&target.spec));
        self
    }

    /// The objections to the call now; the first one decides.
    pub fn objections(&self) -> impl Iterator<Item = &TargetError> {
        let of_targets = self.targets.iter().flat_map(|target| &target.obstacles);
        self.same.iter().chain(of_targets).chain(&self.stray)
    }

    /// The links that targets measured at the same time share: name, and the targets as typed.
    pub fn shared_links(&self) -> Vec<(String, Vec<String>)> {
        self.parallel.map_or_else(Vec::new, |_| beside::shared_links(&self.targets))
    }

    /// Opens and holds every target that exists, up to its engine.
    ///
    /// The caller then restores what a killed run left changed ([`restore_left_behind`]), which
    /// would otherwise pass for the original settings.
    ///
    /// # Errors
    /// The first objection to any of them; nothing has changed then.
    pub fn hold(self) -> Result<Targets, TargetError> {
        let Self { options, mut targets, same, stray, parallel } = self;
        let mut obstacles = Vec::from_iter(same);
        for target in &mut targets {
            obstacles.append(&mut target.obstacles);
        }
        if let Some(first) = obstacles.into_iter().chain(stray).next() {
            return Err(first);
        }
        let held = targets.into_iter().map(|target| target.hold(&options));
        let targets = held.collect::<Result<Vec<_>, _>>()?;
        let beside = parallel.map(|workers| Beside::new(&targets, workers));
        Ok(Targets { options, targets, beside })
    }
}

/// The targets of a call, all of them checked; existing ones are held until this is dropped.
pub struct Targets {
    options: OpenOptions,
    targets: Vec<Held>,
    /// Those that are measured at the same time, or `None` if none are.
    beside: Option<Beside>,
}

impl Targets {
    /// The options of the check of every target; queue depth, transfer size and data belong to the
    /// run.
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// One of the targets, to be opened for one run after the other.
    ///
    /// # Errors
    /// If it is not one of them.
    pub fn target(&self, spec: &TargetSpec) -> Result<&Held, TargetError> {
        let target = self.targets.iter().find(|target| &target.inspected.spec == spec);
        target.ok_or_else(|| unknown(spec))
    }

    /// Whether real targets are measured at the same time.
    pub fn is_parallel(&self) -> bool {
        self.beside.is_some()
    }

    /// Takes note of a run of this target that will begin; returns its demands, with the lane of the target.
    pub fn expect(&self, spec: &TargetSpec, demand: Demand) -> Demand {
        let lane = self.beside.as_ref().and_then(|beside| beside.expect(spec));
        Demand { lane: lane.unwrap_or_default(), ..demand }
    }

    /// The turn of a run of this target, or `None` if nothing runs beside it.
    pub(crate) fn turn(&self, spec: &TargetSpec) -> Option<Turn<'_>> {
        self.beside.as_ref()?.turn(spec)
    }
}

fn unknown(spec: &TargetSpec) -> TargetError {
    TargetError::Usage(format!("{spec} is not a target of this call"))
}

/// Restores the settings of drives and of the kernel that a killed run left changed; each restored
/// one in words, or the error against it.
pub fn restore_left_behind() -> impl Iterator<Item = Result<String, TargetError>> {
    device::rest::restore_left_behind()
        .into_iter()
        .chain(device::host::tracer::restore_left_behind())
}

#[cfg(test)]
mod each_check;

#[cfg(test)]
mod tests {
    use super::*;

    fn objections(texts: &[&str], requirements: Requirements<'_>) -> Vec<String> {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let inspection = inspect(parse(&texts).unwrap(), requirements).unwrap();
        inspection.objections().map(|error| crate::exit::of_target(error).0.to_owned()).collect()
    }

    #[test]
    fn a_promise_not_to_write_holds_for_every_kind_of_target() {
        let requirements = Requirements { write: true, read_only: true, ..Requirements::READ };
        for text in ["sim:samsung-840-pro-256gb", "null:", "file:/tmp/never-created?size=1MiB"] {
            let objections = objections(&[text], requirements);
            assert_eq!(objections.first().map(String::as_str), Some("read-only"), "{text}");
        }
    }

    #[test]
    fn a_confirmation_must_be_for_one_of_the_targets() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file").display().to_string();
        let target = format!("file:{path}?size=1MiB");
        for (word, expected) in [(&*path, None), ("/dev/sdzz", Some("wrong-serial"))] {
            let erase = [word.to_owned()];
            let requirements = Requirements { write: true, erase: &erase, ..Requirements::READ };
            let found = objections(&["null:", &target], requirements);
            assert_eq!(found.first().map(String::as_str), expected, "{word}");
        }
    }
}
