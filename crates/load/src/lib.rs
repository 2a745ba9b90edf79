//! Workloads as data, and their commands.
//!
//! Reading order: [`workload`] (the description), [`composite`] (sizes and regions of the PTS),
//! [`order`] and [`address`] (order of blocks), [`pacing`] (due times), [`generator`] (description to commands),
//! [`trace`] (commands of real systems: reading, statistics, writing). It knows nothing of targets
//! and of clocks.

pub mod address;
pub mod composite;
pub mod fio;
pub mod generator;
pub mod jobs;
pub mod order;
pub mod pacing;
mod sizes;
pub mod spec;
pub mod trace;
pub mod workload;

pub use composite::Composite;
pub use generator::Generator;
pub use order::Order;
pub use pacing::Pacing;
pub use sizes::Sizes;
pub use workload::{Mix, Shares, Workload, WorkloadError};
