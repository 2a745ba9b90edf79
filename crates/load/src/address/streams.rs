//! Several sequential streams that take turns, each in an equal part of the span.

use crate::workload::Workload;

/// State of the order.
#[derive(Clone, Debug)]
pub struct Streams {
    /// Start and next offset of each stream.
    streams: Vec<(u64, u64)>,
    part_bytes: u64,
    turn: usize,
}

impl Streams {
    pub(super) fn new(workload: &Workload, count: u32) -> Self {
        let step = u64::from(workload.step_bytes());
        let part_bytes = workload.span_bytes / u64::from(count) / step * step;
        let start = |stream: u32| workload.span_offset_bytes + u64::from(stream) * part_bytes;
        let streams = (0..count).map(|stream| (start(stream), start(stream))).collect();
        Self { streams, part_bytes, turn: 0 }
    }

    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> (u64, u32) {
        let count = self.streams.len();
        let (start, next) = &mut self.streams[self.turn];
        self.turn = if self.turn + 1 == count { 0 } else { self.turn + 1 };
        if *next + u64::from(len) > *start + self.part_bytes {
            *next = *start;
        }
        let offset = *next;
        *next += u64::from(len);
        (offset, len)
    }
}
