//! The real binary, asked from outside what its contract promises. `SSDLAB_BIN` names the binary;
//! `cargo xtask test --only integration` (or `devices`, `agreement`, `acceptance`) sets it.

mod acceptance;
mod advise;
mod agreement;
mod confirmation;
mod devices;
mod engine_flags;
mod full_disk;
mod hostile;
mod interrupt;
mod killed;
mod lab;
mod limits;
mod loop_device;
mod messages;
mod output;
mod recording;
mod simulated;
mod stall;
mod stopped;
mod suite;
mod traces;
mod trim;
mod usage;
mod verify;
