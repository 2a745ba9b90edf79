//! The tests of the suite: each one a file with its question, its parameters, its steps and its figures.
//!
//! A test is data until it runs: [`Definition::procedure`] turns its parameters into steps, which `plan`
//! prints and [`crate::session`] carries out. A new test is a file, a variant of [`Test`] and its arm in
//! [`Test::definition`].

pub mod conditions;
pub mod consistency;
pub mod corners;
pub mod full_write;
pub mod incompressible;
pub mod latency;
pub mod linear;
pub mod measured;
pub mod mixed;
pub mod open_loop;
pub mod power;
pub mod precondition;
pub mod pslc;
pub mod pts;
pub mod qd_sweep;
mod rates;
pub mod steps;
pub mod storage_bench;
pub mod sweep;
pub mod trim;
mod zones;

use std::collections::BTreeMap;
use std::str::FromStr;

use base::{Bytes, Nanos};
use load::Workload;
use result::schema::{Finding, Mark, Table, Verdict};
use target::Identity;
use target::Limits;
use target::Rest;

use crate::error::RunError;
use crate::event::Length;
use crate::params::{Param, Params};
use crate::recorder::Zones;
use crate::replay::ReplaySpec;
pub use measured::{Measured, Part};

/// A test of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// See [`consistency`].
    Consistency,
    /// See [`trim`].
    Trim,
    /// See [`corners`].
    Corners,
    /// See [`incompressible`].
    Incompressible,
    /// See [`sweep`].
    Sweep,
    /// See [`linear`].
    Linear,
    /// See [`latency`].
    Latency,
    /// See [`qd_sweep`].
    QdSweep,
    /// See [`mixed`].
    Mixed,
    /// See [`full_write`].
    FullWrite,
    /// See [`pslc`].
    Pslc,
    /// See [`power`].
    Power,
    /// See [`storage_bench`].
    Heavy,
    /// See [`storage_bench`].
    Light,
    /// See [`storage_bench`].
    Destroyer,
    /// See [`storage_bench`].
    Replay,
    /// See [`pts::iops`].
    PtsIops,
    /// See [`pts::throughput`].
    PtsThroughput,
    /// See [`pts::latency`].
    PtsLatency,
    /// See [`pts::write_saturation`].
    PtsWriteSaturation,
    /// See [`pts::host_idle`].
    PtsHostIdle,
    /// See [`pts::cross_stimulus`].
    PtsCrossStimulus,
    /// See [`pts::composite`].
    PtsComposite,
    /// See [`pts::demand`].
    PtsDemand,
}

/// The definition of a test.
#[derive(Debug)]
pub struct Definition {
    /// The word on the command line and in results.
    pub name: &'static str,
    /// The question it answers, in one sentence.
    pub question: &'static str,
    /// Whether it destroys the data on the target.
    pub writes: bool,
    /// Its parameters with defaults.
    pub params: &'static [Param],
    /// Its procedure with these parameters at a site.
    pub procedure: fn(&Params, &Site<'_>) -> Result<Procedure, RunError>,
    /// Its figures, from all measurements so far.
    pub figures: fn(&Measured<'_>) -> Figures,
}

/// The place where a test is to run.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Bytes it may use, from LBA 0.
    pub span_bytes: u64,
    /// The target's identity.
    pub identity: &'a Identity,
    /// The target's limits.
    pub limits: &'a Limits,
    /// Whether a meter reads its power.
    pub has_meter: bool,
}

impl Site<'_> {
    /// The first bytes of the span, as many as the parameter says. A default that is too large for the span
    /// becomes all of it, with a note that says so.
    ///
    /// # Errors
    /// [`RunError::Usage`] where the user asked for more than the span: nothing else may be measured instead.
    pub fn region(&self, params: &Params, name: &str) -> Result<(u64, Vec<String>), RunError> {
        let asked: Bytes = params.get(name)?;
        if asked.0 == 0 {
            return Err(RunError::Usage(format!(
                "`--set {name}={}` would measure nothing; expected a size above 0, such as 1GiB",
                params.text(name)
            )));
        }
        if asked.0 <= self.span_bytes {
            return Ok((asked.0, Vec::new()));
        }
        let span = steps::size(self.span_bytes);
        if params.is_set(name) {
            return Err(RunError::Usage(format!(
                "`--set {name}={asked}` asks for {}, more than the span of {span} on {}; ask for no more than that",
                steps::size(asked.0),
                self.identity.name
            )));
        }
        let note = format!(
            "the span is only {span}, so the test uses that and not {}",
            steps::size(asked.0)
        );
        Ok((self.span_bytes, vec![note]))
    }

    /// Of depths that the parameter names, those that the target takes; for the rest of a default there is a note.
    ///
    /// # Errors
    /// [`RunError::Usage`] where the user asked for a deeper queue than the target has.
    pub fn depths(&self, params: &Params, name: &str) -> Result<(Vec<u32>, Vec<String>), RunError> {
        let most = self.limits.queue_depth_max;
        let takes = format!("the target takes {most} commands at a time");
        let asked: Vec<u32> = params.list(name)?;
        let (possible, too_deep): (Vec<u32>, Vec<u32>) =
            asked.iter().partition(|depth| **depth <= most);
        match too_deep.first() {
            Some(depth) if params.is_set(name) => Err(RunError::Usage(format!(
                "`--set {name}={}` is not possible: QD {depth} is too deep, {takes}",
                params.text(name)
            ))),
            _ => {
                let note = |depth| format!("QD {depth} is not supported: {takes}");
                Ok((possible, too_deep.into_iter().map(note).collect()))
            }
        }
    }

    /// Writes the first `span_bytes` in LBA order, so that every LBA holds data.
    #[must_use]
    pub fn fill(&self, name: &str, span_bytes: u64) -> PhaseSpec {
        steps::fill(name, span_bytes, self.fill_depth())
    }

    /// A step after a purge and a fill of the first `span_bytes`: steps whose figures are compared begin alike,
    /// whatever the steps before them wrote.
    #[must_use]
    pub fn from_filled(&self, span_bytes: u64, step: PhaseSpec) -> [PhaseSpec; 3] {
        [steps::purge(), self.fill("prepare", span_bytes), step]
    }

    /// Commands that a fill keeps outstanding: nobody measures it, so it may be as fast as the target takes.
    #[must_use]
    pub fn fill_depth(&self) -> u32 {
        steps::FILL_QUEUE_DEPTH.min(self.limits.queue_depth_max)
    }

    /// Says that commands of this size are too small for the target.
    #[must_use]
    pub fn too_small(&self, block_bytes: u32) -> String {
        let block = Bytes(block_bytes.into());
        let smallest = Bytes(self.limits.logical_block_bytes.into());
        format!("transfers of {block} are not supported: the target's blocks are {smallest}")
    }

    /// Whether time is virtual, so that hours cost minutes.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.identity.kind.is_simulated()
    }
}

/// A test resolved against its parameters and a site.
#[derive(Clone, Debug, Default)]
pub struct Procedure {
    /// The parameters as they go into `run.json`.
    pub config: BTreeMap<String, serde_json::Value>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The facts about it that a reader must know, e.g. steps that this target cannot do.
    pub notes: Vec<String>,
}

/// A part of a procedure.
#[derive(Clone, Debug)]
pub enum Step {
    /// Something done once.
    Phase(PhaseSpec),
    /// Phases done again and again until the test has what it wants.
    Rounds {
        /// Most rounds.
        rounds_max: u32,
        /// The phases of each round; in the result the names end in `.r1`, `.r2` and so on.
        phases: Vec<PhaseSpec>,
        /// Asked after each round; true ends the step.
        settled: fn(&Measured<'_>) -> bool,
    },
    /// Some of these phases, in order: which ones depends on what was measured before.
    Chosen {
        /// All that may be done.
        phases: Vec<PhaseSpec>,
        /// Most of them that will be.
        phases_max: u32,
        /// Asked before each phase by its name; true where it is to be done.
        wanted: fn(&Measured<'_>, &str) -> bool,
    },
}

impl Step {
    /// Its phases, each once.
    #[must_use]
    pub fn phases(&self) -> &[PhaseSpec] {
        match self {
            Self::Phase(phase) => std::slice::from_ref(phase),
            Self::Rounds { phases, .. } | Self::Chosen { phases, .. } => phases,
        }
    }

    /// How often each of its phases is done at most.
    #[must_use]
    pub const fn rounds_max(&self) -> u32 {
        match self {
            Self::Phase(_) | Self::Chosen { .. } => 1,
            Self::Rounds { rounds_max, .. } => *rounds_max,
        }
    }

    /// How many of its phases are done at most, where that is not all of them.
    #[must_use]
    pub const fn phases_max(&self) -> Option<u32> {
        match self {
            Self::Phase(_) | Self::Rounds { .. } => None,
            Self::Chosen { phases_max, .. } => Some(*phases_max),
        }
    }
}

/// One thing to do.
#[derive(Clone, Debug)]
pub struct PhaseSpec {
    /// Name in the result.
    pub name: String,
    /// Its work, in words.
    pub what: String,
    /// Its action.
    pub action: Action,
}

/// The action of a phase.
#[derive(Clone, Debug)]
pub enum Action {
    /// Bring the target to its fresh state.
    Purge,
    /// Tell the target that a range holds no data.
    Deallocate {
        /// First byte.
        offset_bytes: u64,
        /// Length.
        len_bytes: u64,
    },
    /// Leave the target alone, and note each second what it does.
    Idle(Nanos),
    /// Switch what link and drive may do while there is nothing to do; where that fails, the run goes on.
    SetRest(Rest),
    /// Issue the commands of a trace.
    Replay(ReplaySpec),
    /// Issue a workload to its end, or for a time.
    Load {
        /// The commands to issue.
        workload: Workload,
        /// How long; `None` until the workload ends.
        duration: Option<Nanos>,
        /// A row for each of these zones instead of one for each second.
        zones: Option<Zones>,
    },
}

impl PhaseSpec {
    /// How the phase knows that it is done.
    #[must_use]
    pub fn length(&self) -> Length {
        match &self.action {
            Action::Purge | Action::Deallocate { .. } | Action::SetRest(_) => Length::Unknown,
            Action::Replay(replay) => replay
                .moved_bytes
                .map_or(Length::Unknown, |(read, written)| Length::Bytes(read + written)),
            Action::Idle(duration) | Action::Load { duration: Some(duration), .. } => {
                Length::Time(*duration)
            }
            Action::Load { workload, duration: None, .. } => {
                workload.total_bytes().map_or(Length::Unknown, Length::Bytes)
            }
        }
    }

    /// Whether it destroys the data on the target.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        match &self.action {
            Action::Purge | Action::Deallocate { .. } | Action::Replay(_) => true,
            Action::Idle(_) | Action::SetRest(_) => false,
            Action::Load { workload, .. } => workload.mix.writes(),
        }
    }
}

/// Figures and sentences of a run.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Figures by name; `None` where unknown.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// The facts about single figures that a reader must know.
    pub marks: Vec<Mark>,
    /// Figures in rows and columns.
    pub tables: Vec<Table>,
    /// The decision of a test that decides.
    pub verdict: Option<Verdict>,
    /// Sentences.
    pub findings: Vec<Finding>,
    /// The reasons why the figures may be less trustworthy.
    pub warnings: Vec<String>,
}

impl Test {
    /// Every test, in the order of the suite.
    pub const ALL: [Self; 24] = [
        Self::Consistency,
        Self::Trim,
        Self::Corners,
        Self::Incompressible,
        Self::Sweep,
        Self::Linear,
        Self::Latency,
        Self::QdSweep,
        Self::Mixed,
        Self::FullWrite,
        Self::Pslc,
        Self::Power,
        Self::Heavy,
        Self::Light,
        Self::Destroyer,
        Self::Replay,
        Self::PtsIops,
        Self::PtsThroughput,
        Self::PtsLatency,
        Self::PtsWriteSaturation,
        Self::PtsHostIdle,
        Self::PtsCrossStimulus,
        Self::PtsComposite,
        Self::PtsDemand,
    ];

    /// The definition of the test.
    #[must_use]
    pub const fn definition(self) -> &'static Definition {
        match self {
            Self::Consistency => &consistency::DEFINITION,
            Self::Trim => &trim::DEFINITION,
            Self::Corners => &corners::DEFINITION,
            Self::Incompressible => &incompressible::DEFINITION,
            Self::Sweep => &sweep::DEFINITION,
            Self::Linear => &linear::DEFINITION,
            Self::Latency => &latency::DEFINITION,
            Self::QdSweep => &qd_sweep::DEFINITION,
            Self::Mixed => &mixed::DEFINITION,
            Self::FullWrite => &full_write::DEFINITION,
            Self::Pslc => &pslc::DEFINITION,
            Self::Power => &power::DEFINITION,
            Self::Heavy => &storage_bench::HEAVY_2011,
            Self::Light => &storage_bench::LIGHT_2011,
            Self::Destroyer => &storage_bench::DESTROYER_2013,
            Self::Replay => &storage_bench::ANY,
            Self::PtsIops => &pts::iops::DEFINITION,
            Self::PtsThroughput => &pts::throughput::DEFINITION,
            Self::PtsLatency => &pts::latency::DEFINITION,
            Self::PtsWriteSaturation => &pts::write_saturation::DEFINITION,
            Self::PtsHostIdle => &pts::host_idle::DEFINITION,
            Self::PtsCrossStimulus => &pts::cross_stimulus::DEFINITION,
            Self::PtsComposite => &pts::composite::DEFINITION,
            Self::PtsDemand => &pts::demand::DEFINITION,
        }
    }

    /// The word on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// The question it answers.
    #[must_use]
    pub const fn question(self) -> &'static str {
        self.definition().question
    }

    /// Whether it destroys the data on the target.
    #[must_use]
    pub const fn writes(self) -> bool {
        self.definition().writes
    }

    /// Its parameters with defaults.
    #[must_use]
    pub const fn params(self) -> &'static [Param] {
        self.definition().params
    }
}

impl FromStr for Test {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        Self::ALL.into_iter().find(|test| test.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            RunError::Usage(format!("there is no test `{text}`; known are {names}"))
        })
    }
}
