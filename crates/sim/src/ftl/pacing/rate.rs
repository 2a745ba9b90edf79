//! Rate: the host's writes keep a constant rate, and collection runs ahead of them.
//!
//! Phenomenon: a drive that settles at one rate with almost no variation, near its rated random write, whatever its
//! collection costs at the moment. Source: the Samsung PM9A3 holds 292.6 MB/s for several kinds of skew (published
//! measurements; that firmware paces it is a reading of them). Superblocks are collected as soon as fewer than
//! `free_high` are erased. While the newest victim held valid data, the write buffer admits pages of 4 KiB at the rate
//! at most ([`crate::mechanism::throttle::Bucket`]); a new, a trimmed and a linearly overwritten drive know no limit.
//! At `free_low` the host waits: there the drive is too slow for the rate. Simplification: one rate for all sizes of
//! writes. Tests: `tests/formulas/evenness.rs`, `tests/mechanisms/pacing.rs`.

/// The level that the policy keeps, in half superblocks: `free_high` erased or nearly so, less a half that is open, and
/// half of both open superblocks.
pub(super) const fn steady_half_superblocks(free_high: u64) -> u64 {
    2 * free_high + 1
}
