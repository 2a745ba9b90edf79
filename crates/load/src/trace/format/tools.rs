//! Formats of tools that record and repeat I/O: ssdlab itself, fio, blktrace.

mod blkparse;
mod blktrace;
mod block_events;
mod iolog;
mod own;

use super::about::About;

pub use blktrace::BlktraceSource;

/// Each of them.
pub(super) static FORMATS: [&About; 4] =
    [&own::FORMAT, &iolog::FORMAT, &blktrace::FORMAT, &blkparse::FORMAT];
