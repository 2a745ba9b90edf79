//! Drive models: TOML files with a source for every value.
//!
//! ```toml
//! [nand]
//! channels = { value = 8, from = "published: eight channels (AnandTech 6433)" }
//! ```
//!
//! `from` begins with the certainty of the value: `published`, `rated`, `measured`, `derived`,
//! `fitted` or `assumed`.
//! A file that `extends` another one has the values of that one, less those that it gives itself and those that it
//! lists in `without`.
//!
//! Loading goes text -> table with the values of all parents -> overrides -> [`Model`] (unknown keys are errors) ->
//! scale -> [`Config`] (integers, checked). An accepted model can neither panic nor deadlock.

mod check;
mod config;
mod extends;
mod host_profile;
pub(crate) mod schema;
mod section;
mod toml_file;

pub use base::facts::Sourced;
use std::fmt;

use base::{Bytes, Facts, Fnv, Ratio, UnitError};
pub use config::{Config, Options};
pub use extends::Beside;
pub use host_profile::{HOSTS, HostProfile, NO_HOST, built_in_host};
pub use schema::{Key, Kind, ModelError};
pub use section::*;

use crate::ftl::allocation::Allocation;
use crate::ftl::gc::VictimPolicy;
use crate::ftl::gc::handle_choice::HandleChoice;
use crate::ftl::pacing::PacingKind;
use crate::ftl::placement::Isolation;
use crate::ftl::reclaim_groups::VictimScope;
use crate::geometry::PAGE_BYTES;
use crate::host::DeallocateSupport;
use crate::mechanism::mechanisms;
use crate::mechanism::parity::ParitySection;
use crate::mechanism::pslc::WhenFull;
use crate::mechanism::streams::ColdPolicy;
use crate::nand::aging::past::AgeSection;
use crate::nand::rank::ReadRank;
use schema::{Field, Value, section};

/// A value of a model as text, with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelValue {
    /// Dotted name of the value.
    pub key: String,
    /// The value, with its conditions or its date if it has any.
    pub value: String,
    /// Certainty and source of the value.
    pub from: String,
    /// The model that gives the value, or `None` if it is the model itself.
    pub inherited_from: Option<String>,
}

macro_rules! model {
    ($($(#[doc = $about:literal])* $name:ident: $section:ty,)*) => {
        section! {
            /// A drive as its file describes it.
            pub struct Model {
                /// Name for people.
                pub name: String,
                /// User capacity in decimal GB, as sold; the IDEMA rule gives the LBAs. Absent: see `capacity`.
                pub capacity_gb: Option<Sourced<u64>> [1, 1_000_000],
                /// User capacity to the byte with its unit, such as `64MB` or `60GiB`, in whole pages of the map; absent: that of `capacity_gb`.
                pub capacity: Option<Sourced<Capacity>>,
                /// The published facts, for lists and reports.
                #[serde(default)]
                pub facts: Facts,
                /// Default host of measurements; absent: none.
                pub host: Option<Sourced<String>>,
                /// Path between host and drive.
                pub interface: Interface,
                /// Controller cost.
                pub controller: Controller,
                /// NAND array.
                pub nand: NandModel,
                /// Past of the drive; absent: it is new.
                pub age: Option<AgeSection>,
                /// Write buffer.
                pub buffer: Buffer,
                /// Garbage collection.
                pub gc: GcModel,
                /// The map; absent: an entry of it stands for 4 KiB.
                pub map: Option<MapModel>,
                /// Parity over dies; absent: none.
                pub parity: Option<ParitySection>,
                $(
                    $(#[doc = $about])*
                    pub $name: Option<$section>,
                )*
            }
        }
    };
}

mechanisms!(model);

section! {
    /// The write buffer.
    pub struct Buffer {
        /// DRAM for data on its way to NAND.
        pub write_bytes: Sourced<u64> [PAGE_BYTES, 1 << 43],
        /// Whether capacitors make an acknowledged write safe: a flush then costs nothing.
        pub power_loss_protected: Sourced<bool>,
    }
}

/// A size with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Capacity(Bytes);

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for Capacity {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, UnitError> {
        text.parse().map(Self)
    }
}

/// The drive models in ssdlab, which are the files in `drives/`: name and text, in the order of the names.
pub const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/drives.rs"));

/// Built-in models for tests and measurements that take long, one of each kind.
pub const ONE_OF_EACH_KIND: [&str; 11] = [
    "intel-ssd-730-480gb",
    "intel-ssd-750-400gb",
    "kingston-dc500m-480gb",
    "micron-7450-max-800gb",
    "micron-7450-pro-960gb",
    "ocz-vertex-3-240gb",
    "samsung-840-evo-250gb",
    "samsung-840-pro-256gb",
    "samsung-860-pro-512gb",
    "sandisk-extreme-ii-480gb",
    "solidigm-d7-p5520-1920gb",
];

/// The text of a built-in model.
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(built_in, _)| *built_in == name).map(|(_, text)| *text)
}

/// Types of values that are one of some words.
macro_rules! words {
    ($($word:ty),* $(,)?) => {
        $(impl Value for $word {})*
    };
}

words!(
    Allocation,
    Capacity,
    ColdPolicy,
    DeallocateSupport,
    InterfaceKind,
    HandleChoice,
    Isolation,
    PacingKind,
    ReadRank,
    VictimPolicy,
    VictimScope,
    WhenFull,
);

/// LBAs of a drive sold as `capacity_gb`: IDEMA LBA1-03, 512-byte sectors, from 50 GB on; smaller
/// ones count as decimal.
fn idema_bytes(capacity_gb: u64) -> Option<u64> {
    if capacity_gb < 50 {
        return capacity_gb.checked_mul(1_000_000_000);
    }
    let sectors = (capacity_gb - 50).checked_mul(1_953_504)?.checked_add(97_696_368)?;
    sectors.checked_mul(512)
}

impl Model {
    /// The user capacity in bytes, or `None` if it is absent or too large for any drive.
    pub fn user_bytes(&self) -> Option<u64> {
        match (&self.capacity, &self.capacity_gb) {
            (Some(capacity), _) => Some(capacity.value.0.0),
            (None, Some(capacity_gb)) => idema_bytes(capacity_gb.value),
            (None, None) => None,
        }
    }

    /// Key and text of the user capacity, for errors.
    pub(crate) fn capacity_text(&self) -> (&'static str, String) {
        match (&self.capacity, &self.capacity_gb) {
            (Some(capacity), _) => ("capacity", capacity.value.to_string()),
            (None, Some(capacity_gb)) => ("capacity_gb", capacity_gb.value.to_string()),
            (None, None) => ("capacity_gb", "absent".to_owned()),
        }
    }

    /// Every key that a model may have, in the order of the sections.
    pub fn keys() -> Vec<Key> {
        let mut keys = Vec::new();
        let root = Key {
            name: String::new(),
            kind: Kind::Word,
            range: None,
            is_optional: false,
            about: "",
        };
        Self::list(root, &mut keys);
        keys
    }

    /// Reads a model that extends a built-in one or none, and applies overrides (`("gc.free_low", "4")`), in
    /// order. `name` is for messages.
    ///
    /// # Errors
    /// [`ModelError`] with the key, the value and the rule.
    pub fn load(
        name: &str,
        text: &str,
        overrides: &[(String, String)],
    ) -> Result<Self, ModelError> {
        Self::load_beside(name, text, overrides, &no_file)
    }

    /// Reads a model that may extend a file beside it, which `beside` reads.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_beside(
        name: &str,
        text: &str,
        overrides: &[(String, String)],
        beside: Beside<'_>,
    ) -> Result<Self, ModelError> {
        toml_file::load(name, extends::resolve(name, text, beside)?.table, overrides)
    }

    /// All values of a model that may extend a file beside it, in the order of their names.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn values(
        name: &str,
        text: &str,
        beside: Beside<'_>,
    ) -> Result<Vec<ModelValue>, ModelError> {
        let mut resolved = extends::resolve(name, text, beside)?;
        let mut values = toml_file::values(&resolved.table);
        for value in &mut values {
            value.inherited_from = resolved.origins.remove(&value.key);
        }
        Ok(values)
    }

    /// The integers of the simulation, for a drive of `scale` times the size.
    ///
    /// # Errors
    /// [`ModelError::Value`] if values contradict each other or the limits of the simulator.
    pub fn resolve(&self, scale: Ratio) -> Result<Config, ModelError> {
        config::resolve(self, scale)
    }
}

/// The values of a built-in model and of those that it extends, or `None` if there is none of this name.
pub fn built_in_table(name: &str) -> Option<toml::Table> {
    Some(extends::resolve(name, built_in(name)?, &no_file).ok()?.table)
}

/// A fingerprint over the values of a built-in model that decide its results, or `None` if there is none of this
/// name.
pub fn fingerprint(name: &str) -> Option<u64> {
    let mut fingerprint = Fnv::EMPTY;
    for ModelValue { key, value, .. } in Model::values(name, built_in(name)?, &no_file).ok()? {
        if !key.starts_with("facts.") {
            fingerprint.add(format!("{key}={value};").bytes().map(u64::from));
        }
    }
    Some(fingerprint.value())
}

/// No files beside a model.
fn no_file(_: &str) -> Result<String, String> {
    Err("a built-in model extends built-in ones".to_owned())
}
