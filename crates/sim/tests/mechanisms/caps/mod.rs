//! Limits of the firmware on what it accepts from the host.

mod throttle;
mod write_caps;
