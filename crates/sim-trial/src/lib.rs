//! Trials of simulated drives: power goes again and again under a busy host, and an oracle knows what each page
//! may hold afterwards.
//!
//! The simulator carries neither host nor oracle; its tests and `ssdlab verify sim:NAME --power-cuts` use these.
//! The trials themselves are tested by `crates/sim/tests/power_loss.rs`, where [`damage`] done to NAND shows that
//! broken recoveries do not get past the oracle. Promises to a host: `docs/power-loss.md`.

pub mod damage;
pub mod oracle;
pub mod trial;

pub use oracle::{Broken, Finding, Found, Oracle};
pub use trial::{Cost, Host, Report, Trial};
