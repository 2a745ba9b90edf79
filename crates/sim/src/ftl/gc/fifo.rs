//! FIFO: the superblock that was closed first, as in a circular log.
//!
//! Source: Robinson 1996, Desnoyers 2014: WAF = `alpha / (alpha + W(-alpha e^-alpha))`, whatever the size
//! of a superblock. Test: `tests/formulas/theory.rs`.

use super::scope::{Scope, closed};
use crate::ftl::Ftl;

pub(super) fn select(ftl: &Ftl, scope: Scope) -> Option<u32> {
    closed(ftl, scope).min_by_key(|&superblock| ftl.closed_at[superblock as usize])
}
