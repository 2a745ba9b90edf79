//! Formats in which public sets of traces are published.

pub(crate) mod alibaba;
pub(crate) mod disksim;
pub(crate) mod fiu;
pub(crate) mod ms_production;
pub(crate) mod msr;
pub(crate) mod spc;
pub(crate) mod systor;
pub(crate) mod tencent;
pub mod vscsi;
pub(crate) mod vscsi_text;
