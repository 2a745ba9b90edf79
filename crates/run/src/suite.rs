//! The tests of the suite: each one a file with its question, its parameters and its phases.
//!
//! A test is data until it runs: [`Test::phases`] turns its parameters into phases, which `plan` prints and
//! [`crate::session`] carries out. A new test is a file, a variant of [`Test`] and its arms here.

pub mod consistency;

use std::collections::BTreeMap;
use std::str::FromStr;

use base::Nanos;
use load::Workload;
use result::rows::PhaseRows;
use result::schema::{Finding, Run};

use crate::error::RunError;
use crate::event::Length;
use crate::params::{Param, Params};

/// A test of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// See [`consistency`].
    Consistency,
}

/// One step of a test.
#[derive(Clone, Debug)]
pub struct PhaseSpec {
    /// Name in the result.
    pub name: &'static str,
    /// What it does, in words.
    pub what: String,
    /// What to do.
    pub action: Action,
}

/// What a phase does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Bring the target to its fresh state.
    Purge,
    /// Issue a workload to its end, or for a time.
    Load {
        /// What to issue.
        workload: Workload,
        /// How long; `None` until the workload ends.
        duration: Option<Nanos>,
    },
}

impl PhaseSpec {
    /// How the phase knows that it is done.
    #[must_use]
    pub fn length(&self) -> Length {
        match &self.action {
            Action::Purge => Length::Unknown,
            Action::Load { duration: Some(duration), .. } => Length::Time(*duration),
            Action::Load { workload, duration: None } => Length::Bytes(workload.span_bytes),
        }
    }

    /// True where it destroys what is on the target.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        match &self.action {
            Action::Purge => true,
            Action::Load { workload, .. } => workload.kind != base::OpKind::Read,
        }
    }
}

/// Figures and sentences of a finished run.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Figures by name; `None` where unknown.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// Sentences.
    pub findings: Vec<Finding>,
    /// What may make the figures less trustworthy.
    pub warnings: Vec<String>,
}

impl Test {
    /// Every test, in the order of the suite.
    pub const ALL: [Self; 1] = [Self::Consistency];

    /// The word on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Consistency => "consistency",
        }
    }

    /// The question it answers.
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Self::Consistency => consistency::QUESTION,
        }
    }

    /// True where it destroys what is on the target.
    #[must_use]
    pub const fn writes(self) -> bool {
        match self {
            Self::Consistency => true,
        }
    }

    /// Its parameters with defaults.
    #[must_use]
    pub const fn params(self) -> &'static [Param] {
        match self {
            Self::Consistency => consistency::PARAMS,
        }
    }

    /// Its phases on a span.
    ///
    /// # Errors
    /// Where a parameter cannot be used.
    pub fn phases(self, params: &Params, span_bytes: u64) -> Result<Vec<PhaseSpec>, RunError> {
        match self {
            Self::Consistency => consistency::phases(params, span_bytes),
        }
    }

    /// The resolved parameters as they go into `run.json`.
    ///
    /// # Errors
    /// Where a parameter cannot be used.
    pub fn config(self, params: &Params) -> Result<BTreeMap<String, serde_json::Value>, RunError> {
        match self {
            Self::Consistency => consistency::config(params),
        }
    }

    /// The figures of what was measured; `rows` are those of [`Test::measured_phase`].
    #[must_use]
    pub fn figures(self, run: &Run, rows: &PhaseRows) -> Figures {
        match self {
            Self::Consistency => consistency::figures(run, rows),
        }
    }

    /// The phase on which the figures rest.
    #[must_use]
    pub const fn measured_phase(self) -> &'static str {
        match self {
            Self::Consistency => consistency::LOAD,
        }
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
