//! Block devices and files as Linux describes them: a list, their users, and their contents.
//!
//! Reads sysfs, tables of the kernel, and the devices and files themselves; writes nothing.

pub mod contents;
pub mod kernel;
pub mod links;
mod loops;
mod overlay;
pub(crate) mod reading;
pub mod report;
pub mod sharing;
pub mod signature;
mod tables;
#[cfg(test)]
mod tests;
pub mod thing;
pub mod usage;

pub use report::{DeviceReport, Protocol};
