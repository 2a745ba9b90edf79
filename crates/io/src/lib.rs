//! Targets: anything that takes I/O.
//!
//! Reading order: [`target`] is the contract; [`spec`] reads target strings; [`open`] is the one
//! way in to files and block devices; [`engine`] holds one file per kind of target, of which
//! [`engine::uring`] and [`engine::sync`] are the real ones; [`buffer`] is their memory.
//!
//! The only library crate with `unsafe` code, and only in [`buffer`], [`engine::uring`] and `ioctl`.

pub mod buffer;
pub mod engine;
pub mod error;
pub mod identity;
mod ioctl;
pub mod open;
mod ownership;
pub mod spec;
pub mod target;

pub use error::IoError;
pub use identity::{Identity, TargetKind};
pub use open::{EngineChoice, OpenOptions, RealTarget, open_file};
pub use spec::TargetSpec;
pub use target::{Limits, PurgeMethod, Target};
