//! The times of garbage collection, and its price for the host: one policy, one file.
//!
//! The distribution of the same work (WAF) over time makes a drive even or uneven. Contract: the
//! device asks three questions, in this order, and never more often than once a unit:
//! [`Pacing::owed_pages`] after each host unit (number of valid pages that must move in return),
//! [`Pacing::must_collect`] (collect although nothing is owed), [`Pacing::host_may_open`] (whether
//! the host stream may take an erased superblock). A policy sees only [`Level`] for the first, and
//! for the others, which are asked far more often, the number of erased superblocks.

mod background;
pub mod early;
pub mod own;
mod proportional;
mod quantum;
mod rate;
mod token;
mod watermark;

use serde::Deserialize;

pub use quantum::{Bursts, Quantum};
pub use rate::{HostLimit, HostRate};

/// Fill level of the drive.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Writable pages: erased, left in open superblocks, or in the collected part of the victim.
    /// Changes by single pages, so that a policy on it is smooth.
    pub writable_pages: u64,
    /// Pages in a superblock.
    pub superblock_pages: u32,
    /// Valid pages of the newest victim at the time of its choice.
    pub victim_valid_pages: u32,
}

/// Name of a pacing policy in a drive model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacingKind {
    /// Collect only when nearly out of erased superblocks; the host waits.
    Watermark,
    /// Collect beside the host up to a share; where that is not enough, the host waits.
    Background,
    /// Collect a little for every host write, more as free space shrinks.
    Proportional,
    /// Collect for every host write the cost of the current victim.
    Token,
    /// Collect ahead of host writes, which have a constant rate.
    Rate,
}

impl PacingKind {
    /// The word used in drive models.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Watermark => "watermark",
            Self::Background => "background",
            Self::Proportional => "proportional",
            Self::Token => "token",
            Self::Rate => "rate",
        }
    }

    /// Writable pages that the policy keeps in steady state, on average over host writes: space
    /// without data, valid or not. Follows from the text of each policy.
    pub fn steady_pages(self, free_low: u32, free_high: u32, superblock_pages: u32) -> u64 {
        let (low, high) = (u64::from(free_low), u64::from(free_high));
        let (numerator, denominator) = match self {
            // From `free_high` down to `free_low`, and half of both open superblocks.
            Self::Watermark | Self::Background => (low + high + 2, 2),
            Self::Proportional => proportional::steady_superblocks(low, high),
            Self::Token => (low + high, 2),
            Self::Rate => (rate::steady_half_superblocks(high), 2),
        };
        numerator * u64::from(superblock_pages) / denominator
    }
}

/// Erased superblocks between which a policy works.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Limits {
    free_low: u32,
    free_high: u32,
}

impl Limits {
    /// A stop from the lower level to the next one.
    fn above_low(self) -> Self {
        Self { free_high: self.free_low + 1, ..self }
    }
}

/// The state of a policy.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Policy {
    Watermark { is_collecting: bool },
    Background { is_collecting: bool },
    Proportional,
    Token { rest: u64 },
    Rate,
}

/// A pacing policy with its state.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Pacing {
    limits: Limits,
    policy: Policy,
}

impl Pacing {
    /// The policy of this kind between the two levels, in superblocks.
    pub fn new(kind: PacingKind, free_low: u32, free_high: u32) -> Self {
        let policy = match kind {
            PacingKind::Watermark => Policy::Watermark { is_collecting: false },
            PacingKind::Background => Policy::Background { is_collecting: false },
            PacingKind::Proportional => Policy::Proportional,
            PacingKind::Token => Policy::Token { rest: 0 },
            PacingKind::Rate => Policy::Rate,
        };
        Self { limits: Limits { free_low, free_high }, policy }
    }

    /// Valid pages to move in return for `host_pages` written.
    #[inline]
    pub fn owed_pages(&mut self, level: Level, host_pages: u32) -> u64 {
        match &mut self.policy {
            Policy::Watermark { .. } | Policy::Rate => 0,
            Policy::Background { .. } => background::owed_pages(self.limits, level, host_pages),
            Policy::Proportional => proportional::owed_pages(self.limits, level, host_pages),
            Policy::Token { rest } => token::owed_pages(rest, self.limits, level, host_pages),
        }
    }

    /// Whether garbage must be collected although nothing is owed.
    #[inline]
    pub fn must_collect(&mut self, free_superblocks: u32) -> bool {
        match &mut self.policy {
            Policy::Watermark { is_collecting } => {
                watermark::must_collect(is_collecting, self.limits, free_superblocks)
            }
            Policy::Background { is_collecting } => {
                watermark::must_collect(is_collecting, self.limits.above_low(), free_superblocks)
            }
            Policy::Proportional | Policy::Token { .. } => free_superblocks <= self.limits.free_low,
            Policy::Rate => free_superblocks < self.limits.free_high,
        }
    }

    /// Whether the host stream may take an erased superblock.
    #[inline]
    pub fn host_may_open(&mut self, free_superblocks: u32) -> bool {
        match &mut self.policy {
            Policy::Watermark { is_collecting } => {
                watermark::host_may_open(is_collecting, self.limits, free_superblocks)
            }
            Policy::Background { is_collecting } => {
                watermark::host_may_open(is_collecting, self.limits.above_low(), free_superblocks)
            }
            _ => free_superblocks > self.limits.free_low,
        }
    }
}
