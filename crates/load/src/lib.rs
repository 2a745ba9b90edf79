//! What to issue: workloads as data, and the commands they turn into.
//!
//! Reading order: [`workload`] (the description), [`composite`] (sizes and regions of the PTS), [`address`] (which block
//! comes next), [`pacing`] (when), [`generator`] (description to commands), [`trace`] (what somebody's system issued,
//! read, counted, written). Knows nothing of targets and of clocks.

pub mod address;
pub mod composite;
pub mod generator;
pub mod pacing;
pub mod trace;
pub mod workload;

pub use composite::Composite;
pub use generator::Generator;
pub use pacing::Pacing;
pub use workload::{Mix, Order, Shares, Workload, WorkloadError};
