//! Sections for limits on what the drive accepts from the host.

mod throttle;
mod write_caps;

pub use throttle::ThrottleModel;
pub use write_caps::WriteCapsModel;
