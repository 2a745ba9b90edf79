//! Sections for limits on what the drive accepts from the host.

mod cleaning_states;
mod throttle;
mod wear_budget;
pub(in crate::model) mod write_caps;

pub use cleaning_states::CleaningStatesModel;
pub use throttle::ThrottleModel;
pub use wear_budget::WearBudgetModel;
pub use write_caps::WriteCapsModel;
