//! Cost-benefit: the most free space per cost of reading and writing, times age.
//!
//! Source: Rosenblum and Ousterhout 1992 (log-structured file systems), (1 - u) x age / 2u with u
//! the share of valid pages. The age is the number of superblocks closed since. Test:
//! `tests/formulas/theory.rs`.

use std::cmp::Reverse;

use super::scope::{Scope, closed};
use crate::ftl::Ftl;

pub(super) fn select(ftl: &Ftl, scope: Scope) -> Option<u32> {
    let superblock_pages = u64::from(ftl.geometry.superblock_data_pages());
    let score = |superblock: u32| {
        let valid = u64::from(ftl.valid_pages[superblock as usize]);
        let age = ftl.closed_total - ftl.closed_at[superblock as usize] + 1;
        let benefit = u128::from(superblock_pages - valid) * u128::from(age);
        // In millionths, so that an integer keeps the order; an empty one beats all.
        if valid == 0 { u128::MAX } else { benefit * 1_000_000 / u128::from(2 * valid) }
    };
    closed(ftl, scope).min_by_key(|&superblock| Reverse(score(superblock)))
}
