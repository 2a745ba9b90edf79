//! Contract of a mechanism: the keys of its section give a plan, and the plan begins as a state.

use base::Ratio;

use crate::ftl::placement::Placement;
use crate::geometry::Geometry;
use crate::model::schema::{Check, Entry, Field, ModelError};

/// The rest of a drive, as far as mechanisms depend on it.
pub struct Basis<'a> {
    pub(crate) check: Check<'a>,
    pub(crate) scale: Ratio,
    pub(crate) geometry: &'a Geometry,
    pub(crate) blocks: Blocks,
    pub(crate) placement: Option<Placement>,
    /// Key and text of the user capacity, for errors.
    pub(crate) capacity: (&'static str, String),
    pub(crate) model: &'a dyn Field,
}

impl Basis<'_> {
    /// Whether the model has a section or a key of this dotted name.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.model.find(key).is_some()
    }

    /// The number under a dotted name, or `None` if the model has none.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        match self.model.find(key)? {
            Entry::Number(number) => Some(number),
            Entry::Other => None,
        }
    }
}

/// Blocks of a drive before and after its scale.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    /// `nand.blocks_per_plane`.
    pub(crate) per_plane: u32,
    /// Blocks of a plane that the scale leaves.
    pub(crate) scaled_per_plane: u32,
    /// `nand.pages_per_block`.
    pub(crate) pages: u32,
    /// Pages of a block that the scale leaves.
    pub(crate) scaled_pages: u32,
    /// `nand.reserved_superblocks`.
    pub(crate) reserved: u32,
    /// Groups of planes of a die that take turns.
    pub(crate) plane_groups: u32,
}

impl Blocks {
    /// The share of the pages of a drive that the scale leaves.
    pub(crate) fn kept_share(self) -> Ratio {
        let of_plane = |pages, blocks| u64::from(pages) * u64::from(blocks);
        let kept = of_plane(self.scaled_pages, self.scaled_per_plane);
        Ratio::new(kept, of_plane(self.pages, self.per_plane)).unwrap_or(Ratio::ONE)
    }

    /// Reserved superblocks in proportion to the number of blocks kept.
    pub(crate) fn scaled_reserved(self) -> u32 {
        let reserved = u64::from(self.reserved) * u64::from(self.scaled_per_plane);
        reserved.div_ceil(u64::from(self.per_plane)) as u32
    }
}

/// The section of a mechanism.
pub trait Section {
    /// Its integers.
    type Plan;
    /// The mechanism at work.
    type State;

    /// Checks the rules between keys; each value lies in the range of its key.
    fn resolve(&self, basis: &Basis<'_>) -> Result<Self::Plan, ModelError>;

    /// The mechanism of a new drive that takes this number of commands.
    fn begin(plan: Self::Plan, geometry: &Geometry, queue_depth: usize) -> Self::State;
}
