//! Sections for work that no command asks for.

mod housekeeping;
mod quantum;
mod quiet_gc;

pub use housekeeping::HousekeepingModel;
pub use quiet_gc::{BackgroundGcModel, IdleGcModel};
