//! The engines: one file each, side by side, all with the same face ([`target::Target`]).
//!
//! `medium` is the open file with its LBA fence and its clock. [`uring`] and [`sync`] implement the
//! trait of `queue` on it: they differ only in how a command reaches the kernel. [`sim`] is a simulated
//! drive, a target by itself.

pub(crate) mod medium;
pub(crate) mod queue;
pub mod sim;
pub(crate) mod sync;
pub(crate) mod uring;
