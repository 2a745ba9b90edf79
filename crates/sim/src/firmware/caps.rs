//! Limits of the firmware on what it accepts from the host, whatever the drive could do.

pub mod cleaning_states;
pub mod throttle;
pub mod wear_budget;
pub mod write_caps;
