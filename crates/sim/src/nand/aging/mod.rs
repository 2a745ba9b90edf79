//! Wear and age of blocks and of the data in them.

pub mod retry;
