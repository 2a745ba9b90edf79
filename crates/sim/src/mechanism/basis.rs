//! Contract of a mechanism: the keys of its section give a plan, and the plan begins as a state.

use base::Ratio;

use crate::geometry::Geometry;
use crate::model::schema::{Check, ModelError};

/// The rest of a model, as far as mechanisms depend on it.
pub struct Basis<'a> {
    pub(crate) check: Check<'a>,
    pub(crate) scale: Ratio,
    pub(crate) geometry: &'a Geometry,
    pub(crate) blocks: Blocks,
    /// `gc.free_low`.
    pub(crate) free_low: u32,
    /// `gc.free_high`.
    pub(crate) free_high: u32,
    /// `cleaning_states.reserve_free`.
    pub(crate) reserve_free: Option<u32>,
    /// `nand.program_ns`.
    pub(crate) program_ns: u64,
    /// `interface.placement_handles`.
    pub(crate) placement_handles: u32,
    pub(crate) has_power: bool,
    pub(crate) has_compression: bool,
    pub(crate) has_mapping: bool,
    pub(crate) has_pslc: bool,
}

/// Blocks of a drive before and after its scale.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    /// `nand.blocks_per_plane`.
    pub(crate) per_plane: u32,
    /// Those that the scale leaves.
    pub(crate) scaled_per_plane: u32,
    /// `nand.pages_per_block`.
    pub(crate) pages: u32,
    /// Those that the scale leaves.
    pub(crate) scaled_pages: u32,
    /// `nand.reserved_superblocks`.
    pub(crate) reserved: u32,
    /// Groups of planes of a die that take turns.
    pub(crate) plane_groups: u32,
}

/// The section of a mechanism.
pub trait Section {
    /// Its integers.
    type Plan;

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
