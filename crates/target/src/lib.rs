//! The contract between a workload and the target of its I/O; no system call.
//!
//! Reading order: [`contract`] is the trait; [`limits`], [`base::identity`], [`purge`], [`rest`],
//! [`age`] and [`health`] are its terms; [`spec`] reads target strings; [`error`] lists its failures. [`null`],
//! [`scripted`] and [`faulty`] are targets that need no engine: to measure the harness, and for
//! tests.
#![warn(missing_docs)]

pub mod age;
pub mod clock;
pub mod contract;
pub mod error;
pub mod faulty;
pub mod health;
pub mod limits;
pub mod null;
pub mod purge;
pub mod rest;
pub mod scripted;
pub mod spec;
mod use_probe;
mod zones;

pub use base::{Identity, TargetKind};

pub use age::{Ages, Past};
pub use clock::Clock;
pub use contract::Target;
pub use error::{Refusal, TargetError};
pub use limits::Limits;
pub use purge::{Patient, PurgeMethod, PurgeOption, Waiter};
pub use rest::Rest;
pub use spec::{Backing, TargetSpec};
pub use use_probe::UseProbe;
pub use zones::{ZoneLimits, ZoneOrder};
