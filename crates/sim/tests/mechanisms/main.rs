//! Does each mechanism of the firmware have its known effects?
#![allow(clippy::print_stdout, reason = "tests that show their figures")]

#[path = "../common/mod.rs"]
mod common;

mod cleaning_states;
mod compression;
mod early_gc;
mod housekeeping;
mod idle_sort;
mod map_cache;
mod map_unit;
mod mapping;
mod noisy_handles;
mod pacing;
mod parity;
mod performance_mode;
mod placement;
mod power;
mod pslc;
mod quiet_gc;
mod read_ahead;
mod streams;
mod thermal;
mod throttle;
mod wear_budget;
mod wear_leveling;
mod write_caps;
mod zn540;
mod zones;
