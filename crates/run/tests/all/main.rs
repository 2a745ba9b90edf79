//! Tests of the crate through its public items, as one program: it is linked once.

mod advise;
mod common;
mod consistency;
mod each_check;
mod idle;
mod jobs;
mod journal_disk;
mod late;
mod metrics;
mod null_load;
mod open_loop;
mod power;
mod precondition;
mod questions;
mod read_only;
mod refusals;
mod replay;
mod resume;
mod retention;
mod suite;
mod thermal;
mod watches;
mod workers;
mod zones;
