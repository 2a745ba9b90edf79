//! A disk as an NVMe drive over TCP.
//!
//! ```text
//! queue (units) -> fabrics, admin (identify, features, logs) -> channel (completions)
//!               -> io -> disk: plan -> drive (time, maps) -> contents (bytes) -> channel
//! ```
//!
//! A [`Subsystem`] has one namespace, which is the disk, until a host divides it, and a controller for each host that
//! connects. Each queue of a controller is a connection with a thread of its own. Left out: keyed and segmented descriptors, metadata, fused
//! commands, reservations, authentication and TLS.

pub mod admin;
pub mod channel;
pub mod controller;
mod division;
mod erasure;
pub mod errors;
mod fabrics;
mod features;
pub mod io;
pub mod logs;
pub mod namespaces;
mod placement;
pub mod placement_events;
pub mod queue;
mod self_test;
pub mod self_tests;
pub mod subsystem;
mod zones;

pub use queue::QueueError;
pub use subsystem::{Names, Subsystem};
