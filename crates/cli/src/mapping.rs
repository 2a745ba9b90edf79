//! The map in NAND that a power loss needs, for drive models without one.

use ::target::TargetError;
use io::engine::sim::configure;
use sim::Config;

/// The map records of a drive whose model has none: entries of the usual sizes.
const ASSUMED_MAPPING: [(&str, &str); 3] = [
    ("mapping.entry_bytes", "8"),
    ("mapping.map_entry_bytes", "4"),
    ("mapping.journal_superblocks", "4"),
];

/// The drive, with a mapping of usual size if its model has none, and the assumptions.
pub fn with_mapping(
    name: &str,
    settings: &[(String, String)],
) -> Result<(Config, Vec<(String, String)>), TargetError> {
    let is_mapping = |key: &str| key.starts_with("mapping.");
    let others: Vec<_> = settings.iter().filter(|(key, _)| !is_mapping(key)).cloned().collect();
    let options = configure(name, &others)?.options;
    if options.mapping.is_some() || options.zones.is_some() {
        return Ok((configure(name, settings)?, Vec::new()));
    }
    let is_given = |key: &str| settings.iter().any(|(given, _)| given == key);
    let assumed: Vec<_> = ASSUMED_MAPPING
        .into_iter()
        .filter(|(key, _)| !is_given(key))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    Ok((configure(name, &[settings, &assumed].concat())?, assumed))
}
