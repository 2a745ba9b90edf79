//! Headings over the options of a command; other options stand under `Options`.

/// The test, its parameters and its part of the target.
pub const TEST: &str = "Test and span";
/// Confirmations, and the limits of a call.
pub const SAFETY: &str = "Safety";
/// The engine of real targets, and work at the same time.
pub const ENGINE: &str = "Engine";
/// Words about runs and drives.
pub const WORDS: &str = "Words";
/// The choice of runs and metrics.
pub const RUNS: &str = "Which runs";
/// Places and forms of the outcome.
pub const OUTPUT: &str = "Output";
