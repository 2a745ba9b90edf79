//! NVMe on the wire: commands and completions, the structures that they carry, and NVMe/TCP.
//!
//! Everything here turns bytes into values and back. There is no I/O and no state. A short structure reads as zeros, a
//! reserved value is kept where it may matter, and nothing panics.
//!
//! Sources: NVM Express Base Specification 2.0, NVM Command Set Specification 1.0, Zoned Namespace Command Set
//! Specification 1.1, NVMe TCP Transport Specification 1.0, OCP Datacenter NVMe SSD Specification 2.0.

pub mod bytes;
pub mod command;
pub mod fabrics;
pub mod fdp;
pub mod identify;
pub mod log;
pub mod pdu;
pub mod power;
pub mod self_test;
pub mod status;
pub mod zns;
