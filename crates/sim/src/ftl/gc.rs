//! The choice of the superblock to collect: one policy, one file.
//!
//! Contract: [`VictimSelector::select`] is called when garbage collection starts on a new
//! superblock. A policy sees the maps and names a closed superblock, or none if there is none. It
//! must be deterministic; a policy that draws at random gets its own generator. A new policy is a
//! file beside this one, a variant of [`VictimPolicy`] and an arm in `select`; one outside this crate is in [`own`].

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
pub mod handle_choice;
pub mod own;
mod scope;
mod windowed_greedy;

use base::Rng;
use serde::Deserialize;

use handle_choice::HandleFirst;
use scope::{Scope, full_pages};

use super::Ftl;

/// Rule for the choice of a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimPolicy {
    /// The fewest valid pages.
    Greedy,
    /// The oldest.
    Fifo,
    /// The fewest valid pages among some superblocks drawn at random; one candidate is random
    /// choice.
    DChoices,
    /// The fewest valid pages among the oldest.
    WindowedGreedy,
    /// The most gain for the cost, times age.
    CostBenefit,
}

impl VictimPolicy {
    /// The word used in drive models.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::Fifo => "fifo",
            Self::DChoices => "d-choices",
            Self::WindowedGreedy => "windowed-greedy",
            Self::CostBenefit => "cost-benefit",
        }
    }
}

/// A policy with its state.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct VictimSelector {
    policy: VictimPolicy,
    candidates: u32,
    handle_first: Option<HandleFirst>,
    rng: Rng,
}

impl VictimSelector {
    /// The policy; some policies examine only `candidates` superblocks.
    pub fn new(policy: VictimPolicy, candidates: u32, seed: u64) -> Self {
        Self { policy, candidates, handle_first: None, rng: Rng::split(seed, "victims") }
    }

    /// The same on a drive that chooses a placement handle first, if it does.
    #[must_use]
    pub fn with_handle_first(self, handle_first: Option<HandleFirst>) -> Self {
        Self { handle_first, ..self }
    }

    /// Valid pages of the emptiest closed superblock of a group.
    pub fn fewest_valid_pages(ftl: &Ftl, group: u32) -> Option<u32> {
        greedy::select(ftl, Scope::of_group(group))
            .map(|superblock| ftl.valid_pages[superblock as usize])
    }

    /// The superblock to collect next; `None` if no closed superblock would give room. A policy
    /// that ignores valid counts may choose a full one: that costs, but ends.
    pub fn select(&mut self, ftl: &Ftl) -> Option<u32> {
        self.select_in(ftl, 0)
    }

    /// The superblock of a reclaim group to collect next, or `None` if none of them would give room.
    pub fn select_in(&mut self, ftl: &Ftl, group: u32) -> Option<u32> {
        let emptiest = Self::emptiest(ftl, group)?;
        match (self.policy, self.handle_first) {
            (VictimPolicy::Greedy, None) => Some(emptiest),
            (_, None) => self.choose(ftl, Scope::of_group(group)),
            (_, Some(handle_first)) => self.choose(ftl, handle_first.scope(ftl, group)),
        }
    }

    /// The superblock of a group with the fewest valid pages, or `None` if it would not give room.
    pub fn emptiest(ftl: &Ftl, group: u32) -> Option<u32> {
        let full_pages = full_pages(ftl);
        greedy::select(ftl, Scope::of_group(group))
            .filter(|&superblock| ftl.valid_pages[superblock as usize] < full_pages)
    }

    fn choose(&mut self, ftl: &Ftl, scope: Scope) -> Option<u32> {
        let Self { candidates, ref mut rng, .. } = *self;
        match self.policy {
            VictimPolicy::Greedy => greedy::select(ftl, scope),
            VictimPolicy::Fifo => fifo::select(ftl, scope),
            VictimPolicy::DChoices => d_choices::select(ftl, scope, candidates, rng),
            VictimPolicy::WindowedGreedy => windowed_greedy::select(ftl, scope, candidates),
            VictimPolicy::CostBenefit => cost_benefit::select(ftl, scope),
        }
    }
}
