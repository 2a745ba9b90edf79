//! Runs that have ended: exports, new words, removal.

#[path = "../common/mod.rs"]
mod common;
mod export;
mod manage;
mod marks;
