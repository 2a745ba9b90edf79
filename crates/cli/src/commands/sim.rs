//! `ssdlab sim`: simulated drives.

pub mod check;
pub mod control;
pub mod expose;
pub mod fit;
pub mod save;
mod state;
pub mod sweep;
