//! Linux and drives: what they say about themselves, and what they can be told to do.
//!
//! Reading order: [`host`] is the machine; [`describe`] tells which block devices there are, who uses
//! them and what lies on them; [`guard`] stands between them and somebody's data. [`nvme`] and [`ata`]
//! talk to the drives: about their [`health`], and to make them forget everything ([`purge`]).
//! [`meter`] reads their power, [`rest`] switches how deep they may sleep.

pub mod ata;
pub mod describe;
pub mod guard;
pub mod health;
pub mod host;
pub mod meter;
pub mod nvme;
pub mod purge;
pub mod rest;

pub use describe::DeviceReport;
pub use host::sysfs::DeviceNumber;
