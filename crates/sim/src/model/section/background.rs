//! Sections for work that no command asks for.

mod housekeeping;
mod quantum;

pub use housekeeping::HousekeepingModel;
