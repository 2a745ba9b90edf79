//! The files that a run directory may hold.

use super::ios::{IOS_FILE, IOS_FILE_UNFINISHED};
use super::{LATENCY_FILE, LIVE_FILE, RUN_FILE, SERIES_FILE};

/// The files of a run directory.
pub(super) const OWN: [&str; 8] = [
    RUN_FILE,
    SERIES_FILE,
    LATENCY_FILE,
    IOS_FILE,
    IOS_FILE_UNFINISHED,
    LIVE_FILE,
    "words.md",
    "report.html",
];

/// Whether a name is that of a file of a run, or of one that a kill left half written.
pub(super) fn is_own(name: &str) -> bool {
    let half = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    OWN.contains(&name) || half.is_some_and(|name| OWN.contains(&name))
}
