//! The times of garbage collection, and its price for the host: one policy, one file.
//!
//! The distribution of the same work (WAF) over time makes a drive even or uneven. Contract: the
//! device asks three questions, in this order, and never more often than once a unit:
//! [`Pacing::owed_pages`] after each host unit (number of valid pages that must move in return),
//! [`Pacing::must_collect`] (collect although nothing is owed), [`Pacing::host_may_open`] (whether
//! the host stream may take an erased superblock). A policy sees only [`Level`] for the first, and
//! for the others, which are asked far more often, the number of erased superblocks.

mod proportional;
mod quantum;
mod rate;
mod token;
mod watermark;

use serde::Deserialize;

pub use proportional::Proportional;
pub use quantum::{Bursts, Quantum};
pub use rate::Rate;
pub use token::Token;
pub use watermark::Watermark;

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
            Self::Watermark => (low + high + 2, 2),
            Self::Proportional => proportional::steady_superblocks(low, high),
            Self::Token => (low + high, 2),
            Self::Rate => (rate::steady_half_superblocks(high), 2),
        };
        numerator * u64::from(superblock_pages) / denominator
    }
}

/// A pacing policy with its state.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum Pacing {
    /// See [`Watermark`].
    Watermark(Watermark),
    /// See [`Proportional`].
    Proportional(Proportional),
    /// See [`Token`].
    Token(Token),
    /// See [`Rate`].
    Rate(Rate),
}

impl Pacing {
    /// The policy of this kind between the two levels, in superblocks.
    pub fn new(kind: PacingKind, free_low: u32, free_high: u32) -> Self {
        match kind {
            PacingKind::Watermark => Self::Watermark(Watermark::new(free_low, free_high)),
            PacingKind::Proportional => Self::Proportional(Proportional::new(free_low, free_high)),
            PacingKind::Token => Self::Token(Token::new(free_low, free_high)),
            PacingKind::Rate => Self::Rate(Rate::new(free_low, free_high)),
        }
    }

    /// Valid pages to move in return for `host_pages` written.
    #[inline]
    pub fn owed_pages(&mut self, level: Level, host_pages: u32) -> u64 {
        match self {
            Self::Watermark(_) | Self::Rate(_) => 0,
            Self::Proportional(policy) => policy.owed_pages(level, host_pages),
            Self::Token(policy) => policy.owed_pages(level, host_pages),
        }
    }

    /// Whether garbage must be collected although nothing is owed.
    #[inline]
    pub fn must_collect(&mut self, free_superblocks: u32) -> bool {
        match self {
            Self::Watermark(policy) => policy.must_collect(free_superblocks),
            Self::Proportional(policy) => policy.must_collect(free_superblocks),
            Self::Token(policy) => policy.must_collect(free_superblocks),
            Self::Rate(policy) => policy.must_collect(free_superblocks),
        }
    }

    /// Whether the host stream may take an erased superblock.
    #[inline]
    pub fn host_may_open(&mut self, free_superblocks: u32) -> bool {
        match self {
            Self::Watermark(policy) => policy.host_may_open(free_superblocks),
            Self::Proportional(policy) => policy.host_may_open(free_superblocks),
            Self::Token(policy) => policy.host_may_open(free_superblocks),
            Self::Rate(policy) => policy.host_may_open(free_superblocks),
        }
    }
}
