//! A test as data: its steps, what each of them does, and what comes out.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base::Nanos;
use load::Workload;
use result::schema::{Finding, Mark, Table, Verdict};
use target::Rest;

use super::measured::Measured;
use crate::event::Length;
use crate::recorder::Zones;
use crate::replay::ReplaySpec;

/// The settings of a run by name, as `run.json` holds them.
pub type Config = BTreeMap<String, serde_json::Value>;

/// Conditions of figures, label to value.
pub type Conditions = BTreeMap<String, String>;

/// The facts that a reader of the result must know, e.g. steps that a target cannot do.
pub type Notes = Vec<String>;

/// A test resolved against its parameters and a site.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// The settings as they go into `run.json`.
    pub config: Config,
    /// The conditions of its figures that the steps do not tell.
    pub conditions: Conditions,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The facts about it that a reader must know.
    pub notes: Notes,
    /// Its figures, from all measurements so far.
    pub figures: Computed<Figures>,
}

/// A value that follows from what was measured so far.
pub struct Computed<T>(Arc<dyn Fn(&Measured<'_>) -> T + Send + Sync>);

impl<T> Computed<T> {
    /// A value that this function computes.
    pub fn new(function: impl Fn(&Measured<'_>) -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// The value as of now.
    #[must_use]
    pub fn of(&self, measured: &Measured<'_>) -> T {
        (self.0)(measured)
    }
}

impl<T> Clone for Computed<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Computed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Computed")
    }
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
        /// Whether the step ends, asked after each round.
        settled: Computed<bool>,
    },
    /// Some of these phases, in order: which ones depends on what was measured before.
    Chosen {
        /// All that may be done.
        phases: Vec<PhaseSpec>,
        /// Most of them that will be.
        phases_max: u32,
        /// The names of the phases to do, asked before each phase.
        wanted: Computed<Vec<String>>,
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
