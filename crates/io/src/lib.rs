//! Targets: anything that takes I/O.

pub mod error;
pub mod identity;
pub mod target;

pub use error::IoError;
pub use identity::{Identity, TargetKind};
pub use target::{Limits, PurgeMethod, Target};
