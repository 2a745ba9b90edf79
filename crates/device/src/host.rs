//! The machine: its devices in sysfs, its system calls, clock, memory, processors and interrupts.

pub mod affinity;
pub mod clock;
pub mod environment;
pub mod interrupts;
pub mod ioctl;
pub(crate) mod journal;
#[cfg(test)]
pub(crate) mod machine;
pub mod memory;
pub mod patience;
pub mod processors;
pub mod shell;
pub mod small_file;
pub mod sysfs;
pub mod tracer;
