//! Greedy: the closed superblock with the fewest valid pages.
//!
//! Source: Bux and Iliadis 2010, Desnoyers 2012; with superblocks of 16,384 pages and more its WAF
//! equals that of FIFO, `alpha / (alpha + W(-alpha e^-alpha))`. Simplification: a linear scan; it runs
//! once a superblock, a microsecond against tens of thousands of page moves. Ties go to the lower
//! number. Test: `tests/formulas/theory.rs`.

use super::scope::{Scope, closed};
use crate::ftl::Ftl;

pub(super) fn select(ftl: &Ftl, scope: Scope) -> Option<u32> {
    closed(ftl, scope).min_by_key(|&superblock| ftl.valid_pages[superblock as usize])
}
