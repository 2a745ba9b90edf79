//! The tests of the suite: each one a file in `suite/catalog/CHAPTER/` with all of its declarations.
//!
//! A test is data before it runs: [`Definition::procedure`] reads its parameters into the struct of
//! its settings. These give the steps, which `plan` prints and [`crate::session`] carries out, and
//! the figures. A new test is its file; `cargo xtask schema` adds it to the list in
//! `suite/catalog.rs`.

mod amplification;
mod catalog;
pub mod conditions;
mod definition;
mod drive_share;
mod keys;
mod measured;
pub mod open_loop;
pub mod precondition;
mod procedure;
mod pts;
mod rates;
mod reading;
mod schema;
mod settings;
mod site;
pub mod steps;
pub mod storage_bench;
mod test;
mod zones;

/// Version of the suite. It rises with a change after which a test gives other figures of the same
/// drive: pages and comparisons then keep the runs of both versions apart.
pub const SUITE_VERSION: u32 = 2;

pub use catalog::storage_bench::workload::text_of as workload_text;
pub use definition::{Chapter, Chart, Definition, Headline, QUICK_SPAN, Review, ReviewEntry};
pub use measured::{Measurements, Part};
pub use procedure::{
    Action, Conditions, Config, Figures, Formula, Notes, PhaseSpec, Procedure, Step,
};
pub use schema::catalogue;
pub(crate) use settings::{Keys, TestSettings};
pub use site::{Site, in_proportion};
pub use test::Test;
