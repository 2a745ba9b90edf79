//! Engines: they carry commands to files, block devices and simulated drives.
//!
//! Reading order: [`open`] is the one way in to files and block devices, [`real`] the target that comes
//! out; [`engine`] holds one file per kind of engine, of which `engine::uring` and `engine::sync` are
//! the real ones; [`buffer`] is their memory.
//!
//! `unsafe` code is in [`buffer`], `engine::uring` and [`huge_pages`] only.

pub mod buffer;
pub mod engine;
pub mod huge_pages;
pub mod open;
pub mod options;
mod overwrite;
mod ownership;
pub mod real;
mod space;

pub use open::{open_block, open_file};
pub use options::{EngineChoice, OpenOptions, Polling};
pub use real::RealTarget;
