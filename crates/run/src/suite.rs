//! The tests of the suite: each one a file with its question, its parameters, its steps and its figures.
//!
//! A test is data until it runs: [`Definition::procedure`] turns its parameters into steps, which `plan`
//! prints and [`crate::session`] carries out. A new test is a file, a variant of [`Test`] and its arm in
//! [`Test::definition`].

pub mod conditions;
mod definition;
mod measured;
pub mod open_loop;
pub mod precondition;
mod procedure;
mod pts;
mod rates;
mod settings;
mod site;
pub mod steps;
pub mod storage_bench;
mod test;
mod tests;
mod zones;

pub use definition::Definition;
pub use measured::{Measured, Part};
pub use procedure::{
    Action, Computed, Conditions, Config, Figures, Notes, PhaseSpec, Procedure, Step,
};
pub(crate) use settings::TestSettings;
pub use site::Site;
pub use test::Test;
