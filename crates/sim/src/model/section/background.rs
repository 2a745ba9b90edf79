//! Sections for work that no command asks for.

mod housekeeping;
mod idle_sort;
mod quantum;
mod quiet_gc;

pub use housekeeping::HousekeepingModel;
pub use idle_sort::IdleSortModel;
pub use quiet_gc::{BackgroundGcModel, IdleGcModel};
