//! Limits of the firmware on what it accepts from the host.

mod cleaning_states;
mod throttle;
mod wear_budget;
mod write_caps;
