//! A simulated drive as a disk for any other program.
//!
//! ```text
//! client -> nbd or nvme (bytes) -> connection -> disk: plan -> drive (time, maps) -> contents (bytes) -> reply
//! ```
//!
//! The simulator knows when a command ends and where its pages lie, and no data. A [`Disk`] joins it with
//! [`Contents`]: it carries requests out as commands of the drive, and reads or changes the bytes when the
//! drive has ended them. It has no thread, no socket and no clock. The [`server`] has those.
//!
//! Reading order: [`request`], [`plan`], [`disk`], [`nbd`], [`nvme`], [`server`].

pub mod clock;
pub mod connection;
pub mod contents;
pub mod control;
pub mod disk;
pub mod fuse;
mod input_buffer;
pub mod nbd;
pub mod nvme;
pub mod outbox;
pub mod plan;
pub mod request;
pub mod server;
pub mod shared;
pub mod snapshot;
pub mod socket;

pub use clock::Pace;
pub use contents::{Contents, ContentsError};
pub use disk::Disk;
pub use server::{Server, ServerError, Service};
pub use shared::SharedDisk;
pub use socket::Address;
