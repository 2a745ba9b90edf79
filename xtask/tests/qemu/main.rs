//! The static binary on drives that the machine at hand does not have: an emulated NVMe drive, a SATA
//! drive, drives that are slow, fail or go away. One machine boots, runs the whole of `guest.sh` and
//! writes down what every command said; each test here looks at one part of that.
//!
//! `SSDLAB_BIN` names a statically linked binary, `SSDLAB_KERNEL` a directory with `boot/` and
//! `lib/modules/`; `cargo xtask test --only qemu` provides both.

mod commands;
mod engines;
mod faults;
mod health;
mod initramfs;
mod latency;
mod machine;
mod passthrough;
mod power;
mod promises;
mod purges;
mod refusals;
