//! The emulated machine: what it boots, and what it says. The tests in `tests/qemu` and the bench of recipes include
//! these files.

pub(crate) mod initramfs;
pub(crate) mod records;
