//! The emulated machine: what it boots, and what it says. The tests in `tests/qemu` and the bench of
//! recipes use it.

pub mod initramfs;
pub mod records;
