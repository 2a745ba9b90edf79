//! Contract of a mechanism: the keys of its section give a plan, and the plan begins as a state.

use base::Ratio;

use crate::geometry::Geometry;
use crate::model::schema::{Check, ModelError};

/// The rest of a model, as far as mechanisms depend on it.
pub struct Basis<'a> {
    pub(crate) check: Check<'a>,
    pub(crate) scale: Ratio,
    pub(crate) geometry: &'a Geometry,
    /// `gc.free_low`.
    pub(crate) free_low: u32,
    /// `nand.program_ns`.
    pub(crate) program_ns: u64,
    /// `interface.placement_handles`.
    pub(crate) placement_handles: u32,
    pub(crate) has_power: bool,
    pub(crate) has_compression: bool,
    pub(crate) has_cleaning_states: bool,
}

/// The section of a mechanism.
pub trait Section {
    /// Its integers.
    type Plan: Plan;

    /// Checks the rules between keys; each value lies in the range of its key.
    fn resolve(&self, basis: &Basis<'_>) -> Result<Self::Plan, ModelError>;
}

/// The integers of a mechanism.
pub trait Plan {
    /// The mechanism at work.
    type State;

    /// The mechanism of a new drive that takes this number of commands.
    fn begin(self, geometry: &Geometry, queue_depth: usize) -> Self::State;
}
