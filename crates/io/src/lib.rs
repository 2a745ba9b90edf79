//! Targets: anything that takes I/O.
//!
//! Reading order: [`target`] is the contract; [`spec`] reads target strings; [`open`] is the one
//! way in to files and block devices; [`guard`] is what stands between them and somebody's data;
//! [`engine`] holds one file per kind of target, of which [`engine::uring`] and [`engine::sync`] are
//! the real ones; [`buffer`] is their memory. [`discover`] and [`environment`] describe the devices
//! and the machine; [`nvme`] and [`ata`] ask the drives themselves: for their
//! [`health`], and to forget everything ([`purge`]). [`meter`] reads what they draw,
//! [`rest`] switches how deep they may sleep.
//!
//! `unsafe` code stands in [`buffer`], [`engine::uring`], `ioctl` and [`huge_pages`] only.

pub mod affinity;
pub mod ata;
pub mod block_tracer;
pub mod buffer;
mod bytes;
pub mod discover;
pub mod engine;
pub mod environment;
pub mod error;
pub mod guard;
pub mod health;
pub mod huge_pages;
pub mod identity;
mod interrupts;
mod ioctl;
mod journal;
pub mod memory;
pub mod meter;
pub mod nvme;
pub mod open;
mod ownership;
pub mod purge;
pub mod rest;
pub mod shell;
pub mod small_file;
pub mod spec;
mod sysfs;
pub mod target;
pub mod verifiable;

pub use discover::DeviceReport;
pub use error::IoError;
pub use identity::{Identity, TargetKind};
pub use open::{EngineChoice, OpenOptions, Polling, RealTarget, open_block, open_file};
pub use purge::{Patient, PurgeOption, Waiter};
pub use spec::TargetSpec;
pub use sysfs::DeviceNumber;
pub use target::{Limits, PurgeMethod, Rest, Target};
