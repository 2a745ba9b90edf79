//! The engines: one file each, side by side, all with the same face ([`crate::Target`]).
//!
//! `medium` holds what the two real engines share (the open file, the LBA fence, the clock);
//! [`uring`] and [`sync`] then differ only in how a command reaches the kernel. [`sim`] is a
//! simulated drive. [`null`], [`scripted`] and [`faulty`] are for measuring and testing the layers
//! above.

pub mod faulty;
pub(crate) mod medium;
pub mod null;
pub mod scripted;
pub mod sim;
pub mod sync;
pub mod uring;
