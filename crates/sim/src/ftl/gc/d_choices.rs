//! d-choices: the fewest valid pages among d superblocks drawn at random, with repetition.
//!
//! Source: Van Houdt 2013. d = 1 is random choice with WAF = `alpha / (alpha - 1)`; d = 10 is worse than FIFO
//! from 128 pages a superblock on. Test: `tests/formulas/theory.rs`.

use base::Rng;

use super::scope::{Scope, closed};
use crate::ftl::Ftl;

/// After this number of failed draws, hardly any superblock is closed: examine all of them.
const DRAWS_PER_CANDIDATE: u32 = 16;

pub(super) fn select(ftl: &Ftl, scope: Scope, candidates: u32, rng: &mut Rng) -> Option<u32> {
    let groups = ftl.geometry.reclaim_groups;
    let mut best: Option<u32> = None;
    let mut found = 0;
    for _ in 0..candidates.saturating_mul(DRAWS_PER_CANDIDATE) {
        let place = rng.below(u64::from(ftl.geometry.superblocks / groups)) as u32;
        let superblock = place * groups + scope.group;
        if !scope.contains(ftl, superblock) {
            continue;
        }
        let valid = |superblock: u32| ftl.valid_pages[superblock as usize];
        if best.is_none_or(|best| valid(superblock) < valid(best)) {
            best = Some(superblock);
        }
        found += 1;
        if found == candidates {
            return best;
        }
    }
    best.or_else(|| closed(ftl, scope).next())
}
