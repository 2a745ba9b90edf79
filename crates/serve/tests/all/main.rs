//! Tests of the crate through its public items, as one program: it is linked once.

mod common;
mod each_check;
mod index;
mod serve;
