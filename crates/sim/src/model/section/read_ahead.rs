//! `[read_ahead]`: streams that are read ahead of the host.

use crate::firmware::read_ahead::ReadAheadPlan;
use crate::geometry::PAGE_BYTES;
use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};

/// Largest buffer.
const BUFFER_BYTES_MAX: u64 = 1 << 34;

section! {
    /// Streams that are read ahead of the host, see [`crate::firmware::read_ahead`].
    pub struct ReadAheadModel {
        /// Streams followed at a time.
        pub streams: Sourced<u32> [1, 64],
        /// Data read ahead of a stream, at most.
        pub window_bytes: Sourced<u64> [PAGE_BYTES, 1 << 30],
        /// DRAM for all streams, of which each has an even share.
        pub buffer_bytes: Sourced<u64>,
    }
}

impl ReadAheadModel {
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
    ) -> Result<ReadAheadPlan, ModelError> {
        let streams = u64::from(self.streams.value);
        let window_bytes = self.window_bytes.value;
        let buffer_bytes = self.buffer_bytes.value;
        let buffer_min = streams * PAGE_BYTES;
        check.within("read_ahead.buffer_bytes", buffer_bytes, buffer_min, BUFFER_BYTES_MAX)?;
        let window_pages = window_bytes.min(buffer_bytes / streams) / PAGE_BYTES;
        Ok(ReadAheadPlan { streams: self.streams.value, window_pages: window_pages as u32 })
    }
}
