//! Work of the firmware for its own sake, by the clock, whether the host is there or not.

pub mod map_flush;
pub mod patrol;
pub mod refresh;

pub use map_flush::MapFlush;
pub use patrol::Patrol;
pub use refresh::{Refresh, RefreshPlan};
