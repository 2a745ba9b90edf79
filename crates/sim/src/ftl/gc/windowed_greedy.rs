//! Windowed greedy: the fewest valid pages among the superblocks closed longest ago.
//!
//! Source: Hu et al. 2009, Iliadis 2010: between FIFO (a window of one) and greedy (a window of
//! all). No closed form. Simplification: a scan finds the window. Test: `tests/formulas/theory.rs`.

use super::scope::{Scope, closed};
use crate::ftl::Ftl;

pub(super) fn select(ftl: &Ftl, scope: Scope, candidates: u32) -> Option<u32> {
    let mut oldest: Vec<u32> = closed(ftl, scope).collect();
    let age = |superblock: &u32| ftl.closed_at[*superblock as usize];
    let window = candidates.clamp(1, u32::MAX) as usize;
    if window < oldest.len() {
        oldest.select_nth_unstable_by_key(window, age);
        oldest.truncate(window);
    }
    oldest.into_iter().min_by_key(|superblock| {
        (ftl.valid_pages[*superblock as usize], ftl.closed_at[*superblock as usize])
    })
}
