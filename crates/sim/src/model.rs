//! Drive models: TOML files in which every value says where it comes from.
//!
//! ```toml
//! [nand]
//! channels = { value = 8, from = "published: eight channels (AnandTech 6433)" }
//! ```
//!
//! `from` begins with how sure the value is: `published`, `rated`, `measured`, `derived`,
//! `fitted` or `assumed`.
//! Loading goes text -> [`Model`] (as written, unknown keys are errors) -> overrides and scale ->
//! [`Config`] (integers, checked). An accepted model can neither panic nor deadlock.

mod check;
mod config;
mod host_profile;
mod section;
mod toml_file;

use std::collections::BTreeMap;

use base::Ratio;
use serde::Deserialize;

pub use config::{Config, Options};
pub use host_profile::{HOSTS, HostProfile, NO_HOST, built_in_host};
pub use section::*;

use crate::ftl::gc::VictimPolicy;
use crate::ftl::pacing::PacingKind;

/// Why a model was not accepted. Names the key, the value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The text is no TOML, lacks a key, has an unknown one or one of the wrong type.
    #[error("drive model `{name}`: {message}")]
    Parse {
        /// Which model.
        name: String,
        /// The parser's words, with the place.
        message: String,
    },
    /// A value breaks a rule.
    #[error("drive model `{name}`: `{key}` is {value}, but {rule}")]
    Value {
        /// Which model.
        name: String,
        /// Dotted name of the value.
        key: String,
        /// The value.
        value: String,
        /// The rule it breaks.
        rule: String,
    },
    /// A host profile is no TOML, lacks a key, or has a value that breaks a rule.
    #[error("host profile `{name}`: {message}")]
    Host {
        /// Which profile.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// An override names no value of the model.
    #[error("drive model `{name}` has no value `{key}`; {known}")]
    UnknownKey {
        /// Which model.
        name: String,
        /// The key that was asked for.
        key: String,
        /// The keys that exist.
        known: String,
    },
}

/// A value with its provenance.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// How sure it is and where it comes from.
    pub from: String,
}

/// A drive as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Name for people.
    pub name: String,
    /// User capacity in decimal GB, as sold; turned into LBAs by the IDEMA rule.
    pub capacity_gb: Sourced<u64>,
    /// The parts inside, for the report.
    pub parts: BTreeMap<String, Sourced<String>>,
    /// The host that it is measured with unless another is named; absent: none.
    pub host: Option<Sourced<String>>,
    /// How the host reaches it.
    pub interface: Interface,
    /// Controller cost.
    pub controller: Controller,
    /// NAND array.
    pub nand: NandModel,
    /// Write buffer.
    pub buffer: Buffer,
    /// DRAM that keeps what was read; absent: none.
    pub read_cache: Option<ReadCacheModel>,
    /// Streams that are read ahead of the host; absent: none.
    pub read_ahead: Option<ReadAheadModel>,
    /// Power states and energy; absent: no energy is counted.
    pub power: Option<PowerModel>,
    /// Garbage collection.
    pub gc: GcModel,
    /// Collection in the gaps of a busy host.
    pub background_gc: Option<BackgroundGcModel>,
    /// Collection while the host is away.
    pub idle_gc: Option<IdleGcModel>,
    /// A stream for cold data; absent: none.
    pub streams: Option<StreamsModel>,
    /// Journal and checkpoints of the map; absent: the map costs no NAND traffic.
    pub mapping: Option<MappingModel>,
    /// A cap on sustained host writes; absent: none.
    pub throttle: Option<ThrottleModel>,
    /// Fast writes into a drive that is not half full; absent: none.
    pub performance_mode: Option<PerformanceModeModel>,
    /// How erases are spread; absent: the superblock erased first comes first, and cold data stays.
    pub wear_leveling: Option<WearLevelingModel>,
    /// Patrol reads and refresh; absent: none.
    pub housekeeping: Option<HousekeepingModel>,
    /// Parity over dies; absent: none.
    pub parity: Option<ParityModel>,
    /// A cache of blocks with one bit per cell; absent: none.
    pub pslc: Option<PslcModel>,
    /// A compressing controller; absent: data is stored as it is.
    pub compression: Option<CompressionModel>,
}

/// The write buffer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// DRAM for data on its way to NAND.
    pub write_bytes: Sourced<u64>,
    /// Whether capacitors make an acknowledged write safe: a flush then costs nothing.
    pub power_loss_protected: Sourced<bool>,
}

/// Garbage collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcModel {
    /// Which superblock.
    pub policy: Sourced<VictimPolicy>,
    /// Superblocks looked at by policies that look at some only (d-choices, windowed-greedy).
    pub candidates: Sourced<u32>,
    /// When.
    pub pacing: Sourced<PacingKind>,
    /// Erased superblocks below which the host waits.
    pub free_low: Sourced<u32>,
    /// Superblocks of writable space at which collection starts or stops.
    pub free_high: Sourced<u32>,
}

/// The drive models that come with ssdlab: name and text.
pub const BUILT_IN: [(&str, &str); 11] = [
    ("intel-ssd-730-480gb", include_str!("../../../drives/intel-ssd-730-480gb.toml")),
    ("intel-ssd-750-400gb", include_str!("../../../drives/intel-ssd-750-400gb.toml")),
    ("kingston-dc500m-480gb", include_str!("../../../drives/kingston-dc500m-480gb.toml")),
    ("micron-7450-max-800gb", include_str!("../../../drives/micron-7450-max-800gb.toml")),
    ("micron-7450-pro-960gb", include_str!("../../../drives/micron-7450-pro-960gb.toml")),
    ("ocz-vertex-3-240gb", include_str!("../../../drives/ocz-vertex-3-240gb.toml")),
    ("samsung-840-evo-250gb", include_str!("../../../drives/samsung-840-evo-250gb.toml")),
    ("samsung-840-pro-256gb", include_str!("../../../drives/samsung-840-pro-256gb.toml")),
    ("samsung-860-pro-512gb", include_str!("../../../drives/samsung-860-pro-512gb.toml")),
    ("sandisk-extreme-ii-480gb", include_str!("../../../drives/sandisk-extreme-ii-480gb.toml")),
    ("solidigm-d7-p5520-1920gb", include_str!("../../../drives/solidigm-d7-p5520-1920gb.toml")),
];

/// The text of a built-in model.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, text)| *text)
}

impl Model {
    /// Reads a model and applies overrides (`("gc.free_low", "4")`), in order. `name` is for messages.
    ///
    /// # Errors
    /// [`ModelError`] with the key, the value and the rule.
    pub fn load(
        name: &str,
        text: &str,
        overrides: &[(String, String)],
    ) -> Result<Self, ModelError> {
        toml_file::load(name, text, overrides)
    }

    /// The integers that the simulator runs on, for a drive of `scale` times the size.
    ///
    /// # Errors
    /// [`ModelError::Value`] where values contradict each other or the simulator's limits.
    pub fn resolve(&self, scale: Ratio) -> Result<Config, ModelError> {
        config::resolve(self, scale)
    }
}
