//! Limits of the firmware on what it accepts from the host, whatever the drive could do.

pub mod cleaning_states;
pub mod throttle;
pub mod wear_budget;
pub mod write_caps;

pub use cleaning_states::CleaningStates;
pub use throttle::Bucket;
pub use wear_budget::WearBudget;
pub use write_caps::WriteCaps;
