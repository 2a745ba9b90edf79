//! Linux and drives: their properties, and the commands to them.
//!
//! Reading order: [`host`] is the machine; [`describe`] lists the block devices, their users and
//! their contents; [`guard`] protects somebody's data on them. [`nvme`] and [`ata`] talk to the
//! drives: about their [`health`], and to erase them ([`purge`]). [`zones`] reads the zones of a device
//! and gives them orders, [`meter`] reads the power of a drive, [`rest`] switches how deep it may sleep.

pub mod ata;
pub mod describe;
pub mod guard;
pub mod health;
pub mod host;
pub mod meter;
pub mod nvme;
pub mod purge;
pub mod rest;
pub mod zones;

pub use describe::DeviceReport;
pub use host::sysfs::DeviceNumber;
