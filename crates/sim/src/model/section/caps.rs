//! Sections for limits on what the drive accepts from the host.

mod throttle;

pub use throttle::ThrottleModel;
