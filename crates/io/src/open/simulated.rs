//! Simulated drives: built at their turn, if they fit into the memory.

use target::{IoError, TargetSpec};

use super::described::Described;
use super::unopened::Unopened;
use crate::engine::sim::{self, SimTarget};

/// A drive model with the changes to it.
pub(super) struct Simulated {
    spec: String,
    name: String,
    settings: Vec<(String, String)>,
}

impl Simulated {
    pub(super) fn new(spec: &TargetSpec, name: &str, settings: &[(String, String)]) -> Self {
        Self { spec: spec.to_string(), name: name.to_owned(), settings: settings.to_vec() }
    }

    /// Builds the drive.
    pub(super) fn open(&self) -> Result<SimTarget, IoError> {
        SimTarget::open(&self.spec, &self.name, &self.settings)
    }
}

impl Unopened for Simulated {
    fn describe(&self) -> Result<Described, IoError> {
        let (identity, limits) = sim::describe(&self.spec, &self.name, &self.settings)?;
        let memory_bytes = sim::memory_bytes(&self.name, &self.settings)?;
        Ok(Described {
            memory_bytes,
            counts_nand_writes: true,
            ..Described::harmless(identity, limits)
        })
    }
}
