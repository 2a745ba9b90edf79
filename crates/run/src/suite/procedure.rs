//! A test as data: its steps, their actions, and its figures.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base::{Nanos, Ratio};
use load::Workload;
use result::marks;
use result::schema::{Finding, Mark, Table, Verdict};
use target::{Past, Rest, ZoneOrder};

use super::measured::Measurements;
use crate::event::Length;
use crate::jobs::{self, Jobs};
use crate::recorder::Zones;
use crate::replay::ReplaySpec;

/// The settings of a run by name, as in `run.json`.
pub type Config = BTreeMap<String, serde_json::Value>;

/// Conditions of figures, label to value.
pub type Conditions = BTreeMap<String, String>;

/// Facts for a reader of the result, e.g. steps that a target cannot do.
pub type Notes = Vec<String>;

/// A test resolved against its parameters and a site.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// The settings in the form of `run.json`.
    pub config: Config,
    /// The conditions of its figures that the steps do not contain.
    pub conditions: Conditions,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Facts about it for a reader.
    pub notes: Notes,
    /// Its figures, from all measurements so far.
    pub figures: Formula<Figures>,
}

/// A value that depends on the measurements so far.
pub struct Formula<T>(Arc<dyn Fn(&Measurements<'_>) -> T + Send + Sync>);

impl<T> Formula<T> {
    /// A value that this function computes.
    pub fn new(function: impl Fn(&Measurements<'_>) -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// The present value.
    pub fn of(&self, measured: &Measurements<'_>) -> T {
        (self.0)(measured)
    }
}

impl<T> Clone for Formula<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Formula<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Computed")
    }
}

/// A part of a procedure.
#[derive(Clone, Debug)]
pub enum Step {
    /// A phase that is done once.
    Phase(PhaseSpec),
    /// A phase with details that follow from earlier measurements, such as a rate.
    Adapted {
        /// The phase as far as it is known before the start.
        planned: PhaseSpec,
        /// The phase, asked before it begins; its name and its kind of action are those of the plan.
        actual: Formula<PhaseSpec>,
    },
    /// Phases that repeat until the test has enough.
    Rounds {
        /// Most rounds.
        rounds_max: u32,
        /// The phases of each round; in the result the names end in `.r1`, `.r2` and so on.
        phases: Vec<PhaseSpec>,
        /// Whether the step ends, asked after each round.
        settled: Formula<bool>,
    },
    /// Some of these phases, in order; earlier measurements select them.
    Chosen {
        /// All possible phases.
        phases: Vec<PhaseSpec>,
        /// Largest number of them that are done.
        phases_max: u32,
        /// The names of the next phases, asked before each phase.
        wanted: Formula<Vec<String>>,
    },
}

impl Step {
    /// Its phases, each once.
    pub fn phases(&self) -> &[PhaseSpec] {
        match self {
            Self::Phase(phase) | Self::Adapted { planned: phase, .. } => {
                std::slice::from_ref(phase)
            }
            Self::Rounds { phases, .. } | Self::Chosen { phases, .. } => phases,
        }
    }

    /// Largest number of times that each of its phases is done.
    pub const fn rounds_max(&self) -> u32 {
        match self {
            Self::Phase(_) | Self::Adapted { .. } | Self::Chosen { .. } => 1,
            Self::Rounds { rounds_max, .. } => *rounds_max,
        }
    }

    /// Largest number of its phases that are done, or `None` for all of them.
    pub const fn phases_max(&self) -> Option<u32> {
        match self {
            Self::Phase(_) | Self::Adapted { .. } | Self::Rounds { .. } => None,
            Self::Chosen { phases_max, .. } => Some(*phases_max),
        }
    }
}

/// A phase of a procedure.
#[derive(Clone, Debug)]
pub struct PhaseSpec {
    /// Name in the result.
    pub name: String,
    /// Its work, in words.
    pub what: String,
    pub action: Action,
}

/// The action of a phase.
#[derive(Clone, Debug)]
pub enum Action {
    /// Bring the target to its fresh state.
    Purge,
    /// Bring a simulated drive to its fresh state, at a part of its size up to the next purge.
    PurgeToScale(Ratio),
    /// Deallocate a range.
    Deallocate {
        /// First byte.
        offset_bytes: u64,
        /// Length.
        len_bytes: u64,
    },
    /// Give an order to every zone, one after the other, and record the time of each.
    ManageZones {
        /// The order.
        order: ZoneOrder,
        /// Writes into a zone before its order; the span is that of all zones.
        writes: Workload,
    },
    /// Leave the target alone, and record its state each second.
    Idle(Nanos),
    /// Give the target a past at once: days without power, cycles, reads.
    Age(Past),
    /// Switch the permission of link and drive to rest; after a failure, the run continues.
    SetRest(Rest),
    /// Issue the commands of a trace.
    Replay(ReplaySpec),
    /// Issue the commands of several jobs at once.
    Jobs(Jobs),
    /// Issue a workload to its end, or for a time.
    Load {
        /// The commands to issue.
        workload: Workload,
        /// Length; `None` until the workload ends.
        duration: Option<Nanos>,
        /// The zones with one row each, instead of one row per second.
        zones: Option<Zones>,
    },
}

impl Action {
    /// The workloads that it issues at the same time or one after the other; none for other actions.
    pub fn workloads(&self) -> Vec<&Workload> {
        match self {
            Self::Load { workload, .. } | Self::ManageZones { writes: workload, .. } => {
                vec![workload]
            }
            Self::Jobs(jobs) => jobs.jobs.iter().map(|job| &job.workload).collect(),
            _ => Vec::new(),
        }
    }
}

impl PhaseSpec {
    /// End of the phase.
    pub fn length(&self) -> Length {
        match &self.action {
            Action::Purge
            | Action::PurgeToScale(_)
            | Action::Deallocate { .. }
            | Action::ManageZones { .. }
            | Action::Age(_)
            | Action::SetRest(_) => Length::Unknown,
            Action::Replay(replay) => replay
                .moved_bytes
                .map_or(Length::Unknown, |(read, written)| Length::Bytes(read + written)),
            Action::Jobs(jobs) => jobs::length(jobs),
            Action::Idle(duration) | Action::Load { duration: Some(duration), .. } => {
                Length::Time(*duration)
            }
            Action::Load { workload, duration: None, .. } => {
                workload.total_bytes().map_or(Length::Unknown, Length::Bytes)
            }
        }
    }

    /// Whether it issues commands, and all of them are reads.
    pub fn only_reads(&self) -> bool {
        let workloads = self.action.workloads();
        !workloads.is_empty() && workloads.iter().all(|workload| workload.mix.only_reads())
    }

    /// Whether it destroys the data on the target.
    pub fn is_destructive(&self) -> bool {
        match &self.action {
            Action::Purge
            | Action::PurgeToScale(_)
            | Action::Deallocate { .. }
            | Action::ManageZones { .. }
            | Action::Replay(_) => true,
            Action::Idle(_) | Action::Age(_) | Action::SetRest(_) => false,
            Action::Jobs(jobs) => jobs.writes(),
            Action::Load { workload, .. } => workload.mix.writes(),
        }
    }
}

/// Figures and sentences of a run.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Figures by name; `None` if unknown.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// Marks of single figures.
    pub marks: Vec<Mark>,
    /// Figures in rows and columns.
    pub tables: Vec<Table>,
    /// The decision of a test that decides.
    pub verdict: Option<Verdict>,
    /// Sentences.
    pub findings: Vec<Finding>,
    /// Reasons to trust the figures less.
    pub warnings: Vec<String>,
}

impl Figures {
    /// The figure of this name, or `None` if it is unknown or not one of them.
    pub(crate) fn value(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied().flatten()
    }

    /// Adds the marks that follow from the run. Sentences about figures that do not hold
    /// at full size, or that were interrupted, make room for the reason.
    #[must_use]
    pub fn with_marks(mut self, measured: &Measurements<'_>) -> Self {
        if let Some(scaled) = measured.scaled() {
            self.marks.extend(scaled.marks(&self.metrics));
            self.findings = scaled.findings(self.findings, &self.metrics);
        }
        self.marks.extend(marks::run::marks(measured.run, &self.metrics, &self.marks));
        self.findings = marks::run::findings(self.findings, &self.marks);
        self
    }
}
