//! Trials of simulated drives: the power fails again and again under a busy host, and an oracle
//! knows the permitted states of each page after each failure.
//!
//! The simulator contains neither host nor oracle; its tests and `ssdlab verify sim:NAME
//! --power-cuts` use these. `crates/sim/tests/power_loss.rs` tests the trials themselves:
//! [`damage`] to NAND shows that the oracle detects broken recoveries. Promises to a host:
//! `docs/reference/power-loss.md`.

pub mod damage;
pub mod oracle;
pub mod trial;

pub use oracle::{Broken, Finding, Found, Oracle};
pub use trial::{Cost, Host, Report, Trial};
