//! Runs that have ended: exports, new words, removal.

mod export;
mod manage;
mod marks;
