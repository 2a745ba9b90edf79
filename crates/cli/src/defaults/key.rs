//! The options whose defaults the user can set, each with its rule.

use clap::ValueEnum;
use io::EngineChoice;

use crate::args::Format;

/// An option with a default of the user.
#[derive(Debug)]
pub struct Key {
    /// Name in the file.
    pub name: &'static str,
    /// Name of the environment variable.
    pub variable: &'static str,
    /// Value that nobody set.
    pub built_in: &'static str,
    /// The place of the value in a call.
    pub typed: &'static str,
    /// The reason against a value.
    pub check: fn(&str) -> Result<(), String>,
}

/// Every key of the file.
pub static KEYS: [Key; 4] = [LIBRARY, ENGINE, HOST, FORMAT];

/// Directory of run directories.
const LIBRARY: Key = Key {
    name: "library",
    variable: "SSDLAB_LIBRARY",
    built_in: "ssdlab-runs",
    typed: "--library DIR",
    check: |_| Ok(()),
};

/// Engine of real targets.
pub const ENGINE: Key = Key {
    name: "engine",
    variable: "SSDLAB_ENGINE",
    built_in: "auto",
    typed: "--engine ENGINE",
    check: |text| {
        let engine = text.parse::<EngineChoice>();
        engine.map(drop).map_err(|error| error.to_string())
    },
};

/// Host of simulated drives; the built-in one is that of each drive model.
pub const HOST: Key = Key {
    name: "host",
    variable: "SSDLAB_HOST",
    built_in: "",
    typed: "sim:NAME?host=HOST",
    check: |text| io::engine::sim::check_host(text).map_err(|error| error.to_string()),
};

/// Output on stdout.
pub const FORMAT: Key = Key {
    name: "format",
    variable: "SSDLAB_FORMAT",
    built_in: "text",
    typed: "--format FORMAT",
    check: |text| match Format::from_str(text, false) {
        Ok(_) => Ok(()),
        Err(_) => Err("expected text or json".to_owned()),
    },
};

/// Consents and deeds that no file and no variable can give.
const TYPED_EACH_TIME: [&str; 4] = ["erase", "erase_signatures", "purge", "read_only"];

/// Whether the name is that of a consent or of a deed that is typed in each call.
pub fn is_typed_each_time(name: &str) -> bool {
    TYPED_EACH_TIME.contains(&name.replace('-', "_").to_lowercase().as_str())
}

impl Key {
    /// Whether a value of this key is a path.
    pub fn is_path(&self, value: &str) -> bool {
        self.name == LIBRARY.name
            || self.name == HOST.name && ::target::spec::toml_path(value).is_some()
    }
}

/// The names of all keys, in words.
pub fn names() -> String {
    KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}
