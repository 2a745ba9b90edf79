//! The static binary on drives that the present machine lacks: an emulated NVMe drive, a SATA
//! drive, drives that are slow, fail or disappear. One machine boots, runs all of `guest.sh` and
//! records the output of every command; each test here examines one part.
//!
//! `SSDLAB_BIN` names a statically linked binary, `SSDLAB_KERNEL` a directory with `boot/` and
//! `lib/modules/`; `cargo xtask test --only qemu` provides both.

mod commands;
mod engines;
mod faults;
mod health;
mod latency;
mod machine;
mod nvme_files;
mod nvme_placement;
mod nvme_placement_lab;
mod nvme_review;
mod nvme_tcp;
mod nvme_zones;
mod nvme_zones_lab;
mod passthrough;
mod power;
mod promises;
mod purges;
mod refusals;
