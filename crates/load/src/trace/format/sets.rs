//! Formats of public sets of traces, and of their simulators and hypervisors.

mod alibaba;
mod disksim;
mod fiu;
mod ms_production;
mod msr;
mod oracle_general;
mod spc;
mod systor;
mod tencent;
mod vscsi;
mod vscsi_text;

use super::about::About;

pub use vscsi::VscsiSource;

/// Each of them.
pub(super) static FORMATS: [&About; 12] = [
    &msr::FORMAT,
    &fiu::FORMAT,
    &spc::FORMAT,
    &tencent::FORMAT,
    &alibaba::FORMAT,
    &ms_production::FORMAT,
    &disksim::FORMAT,
    &disksim::MQSIM,
    &systor::FORMAT,
    &vscsi::FORMAT,
    &vscsi_text::FORMAT,
    &oracle_general::FORMAT,
];
