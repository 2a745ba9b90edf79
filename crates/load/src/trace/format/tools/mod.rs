//! Formats of the tools that record and repeat I/O: ssdlab itself, fio, blktrace.

pub(crate) mod blkparse;
pub mod blktrace;
pub(crate) mod block_events;
pub(crate) mod iolog;
