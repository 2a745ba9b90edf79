//! The facts about a target, and the obstacles to a run on it, without changing it.

use std::collections::BTreeMap;

use device::host::memory;
use target::{Identity, Limits, PurgeMethod, PurgeOption, TargetError, TargetSpec};

use crate::options::{self, OpenOptions};

/// Default limit for the length of a command on a file or block device.
const TRANSFER_BYTES_MAX: u32 = 32 << 20;

/// A target with the facts that are known without changing it.
#[derive(Debug)]
pub struct Inspected {
    /// Its target string.
    pub spec: TargetSpec,
    pub identity: Identity,
    pub limits: Limits,
    /// Bytes of memory that it takes beside those of the engine; above 0 for simulated drives.
    pub memory_bytes: u64,
    /// The purge methods, the best first; empty if there is no choice.
    pub purge_options: Vec<PurgeOption>,
    /// Whether it is a file that the run creates.
    pub is_new: bool,
    /// Whether the pages or bytes programmed into its NAND are counted.
    pub counts_nand_writes: bool,
    /// The reasons for a refusal now, in the order of the checks.
    pub obstacles: Vec<TargetError>,
    /// The argument that a run needs, e.g. `--erase SERIAL`, or `None` if it needs none.
    pub needs: Option<String>,
}

impl Inspected {
    /// A target without objections, which needs no permission.
    pub(super) fn harmless(spec: &TargetSpec, identity: Identity, limits: Limits) -> Self {
        Self {
            spec: spec.clone(),
            identity,
            limits,
            memory_bytes: 0,
            purge_options: Vec::new(),
            is_new: false,
            counts_nand_writes: false,
            obstacles: Vec::new(),
            needs: None,
        }
    }

    /// Adds every objection to opening it with these options; `first` is that of a dry run.
    pub(super) fn object(&mut self, first: Option<TargetError>, options: &OpenOptions) {
        // Readers may share the device.
        let mut in_use = std::mem::take(&mut self.obstacles);
        let is_first = |other: &TargetError| {
            first.as_ref().is_some_and(|first| first.to_string() == other.to_string())
        };
        in_use.retain(|other| options.write && !is_first(other));
        self.obstacles = first.into_iter().chain(in_use).collect();
        self.obstacles.extend(memory::check(&self.identity.spec, self.memory_bytes).err());
        if options.purge.is_some() {
            self.obstacles.extend(self.purge_method(options.purge).err());
        }
    }

    /// Its name for people, which distinguishes a simulated drive from the drive.
    pub fn name(&self) -> String {
        let mark = if self.identity.kind.is_simulated() { " (simulated)" } else { "" };
        format!("{}{mark}", self.identity.name)
    }

    /// The method of a purge, or `None` if there is no choice.
    ///
    /// # Errors
    /// [`TargetError::Unsupported`] if the requested method, or every method, has an obstacle.
    pub fn purge_method(
        &self,
        wanted: Option<PurgeMethod>,
    ) -> Result<Option<PurgeMethod>, TargetError> {
        if self.purge_options.is_empty() {
            return Ok(None);
        }
        target::purge::choose(&self.purge_options, wanted, &self.identity.name).map(Some)
    }
}

/// The argument that confirms `word`, with the consent to lose recognised contents if there are
/// any.
pub(super) fn confirmation(word: &str, has_contents: bool) -> String {
    format!("--erase {word}{}", if has_contents { " --erase-signatures" } else { "" })
}

/// An identity with nothing but a size.
pub(super) fn bare_identity(spec: &TargetSpec, capacity_bytes: u64) -> Identity {
    Identity {
        kind: spec.kind(),
        name: spec.to_string(),
        spec: spec.to_string(),
        serial: None,
        firmware: None,
        capacity_bytes,
        raw_bytes: None,
        log_bytes: None,
        engine: String::new(),
        facts: base::Facts::default(),
        details: BTreeMap::new(),
    }
}

/// The limits of the real engines, as opened by a run.
pub(super) fn engine_limits() -> Limits {
    Limits {
        transfer_bytes_max: TRANSFER_BYTES_MAX,
        queue_depth_max: options::QUEUE_DEPTH_MAX,
        ..Limits::BARE
    }
}
