//! What to issue: workloads as data, and the commands they turn into.
//!
//! Reading order: [`workload`] (the description), [`address`] (which block comes next), [`generator`]
//! (description to commands). Knows nothing of targets and of time.

pub mod address;
pub mod generator;
pub mod workload;

pub use generator::Generator;
pub use workload::{Order, Workload, WorkloadError};
