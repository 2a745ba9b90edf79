//! Which superblock to collect: one policy, one file.
//!
//! Contract: [`select_victim`] is called when garbage collection starts on a new superblock. A policy
//! sees the valid counts of the closed superblocks and names one, or none where there is none. It
//! must be deterministic. A new policy is a file beside this one, a variant of [`VictimPolicy`] and an
//! arm in [`select_victim`].

mod greedy;

use serde::Deserialize;

use super::Ftl;

/// How a victim is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimPolicy {
    /// The fewest valid pages.
    Greedy,
}

impl VictimPolicy {
    /// The word used in drive models.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
        }
    }
}

/// The superblock to collect next, by `policy`.
#[must_use]
pub fn select_victim(policy: VictimPolicy, ftl: &Ftl) -> Option<u32> {
    match policy {
        VictimPolicy::Greedy => greedy::select(ftl),
    }
}
