//! Sections for limits on what the drive accepts from the host.

mod cleaning_states;
mod throttle;
pub(in crate::model) mod write_caps;

pub use cleaning_states::CleaningStatesModel;
pub use throttle::ThrottleModel;
pub use write_caps::WriteCapsModel;
