//! The checkout, the programs of other people and the emulated machine: shared by the developer verbs, their tests
//! and the programs in `bench/`.

pub mod guest;
pub mod kernel;
pub mod log;
pub mod proc;
pub mod setup;
pub mod web;
pub mod workspace;
