//! A rate instead of a queue that is kept full.
//!
//! An open loop shows the effect on a demand: the lateness of due commands. Tests that search for
//! the most a drive does, or for a depth, have no answer to that; a rate would only hide theirs.

use load::Pacing;

use crate::params::Param;

/// Commands per second, in tests that accept a rate.
pub const RATE: Param = Param {
    name: "rate",
    default: "max",
    help: "commands a second: max (a new one for each that ends), 1000, or poisson:1000",
};

/// The reason of tests that search for a maximum.
pub(crate) const QUEUE_FULL: &str =
    "its figures are the most that a drive does with its queue full";

/// The pace of a run in sentences: `QD 1`, or `1000 a second`.
pub(crate) fn pace_in_words(pacing: Pacing, queue_depth: u32) -> String {
    match pacing {
        Pacing::ClosedLoop => format!("QD {queue_depth}"),
        Pacing::Fixed { rate_iops } => format!("{rate_iops} a second"),
        Pacing::Poisson { rate_iops } => format!("{rate_iops} a second at random"),
        pacing @ (Pacing::Bursts { .. } | Pacing::Ramp { .. }) => pacing.to_string(),
    }
}
