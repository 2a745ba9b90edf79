//! `[read_ahead]`: streams that are read ahead of the host.

use serde::Deserialize;

use crate::firmware::read_ahead::ReadAheadPlan;
use crate::geometry::PAGE_BYTES;
use crate::model::check::Check;
use crate::model::{ModelError, Sourced};

/// Most streams, window and buffer.
const STREAMS_MAX: u64 = 64;
const WINDOW_BYTES_MAX: u64 = 1 << 30;
const BUFFER_BYTES_MAX: u64 = 1 << 34;

/// Streams that are read ahead of the host, see [`crate::firmware::read_ahead`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAheadModel {
    /// Streams followed at a time.
    pub streams: Sourced<u32>,
    /// Data read ahead of a stream, at most.
    pub window_bytes: Sourced<u64>,
    /// DRAM for all streams, of which each has an even share.
    pub buffer_bytes: Sourced<u64>,
}

impl ReadAheadModel {
    pub(in crate::model) fn resolve(&self, check: &Check<'_>) -> Result<ReadAheadPlan, ModelError> {
        let streams = u64::from(self.streams.value);
        check.within("read_ahead.streams", streams, 1, STREAMS_MAX)?;
        let window_bytes = self.window_bytes.value;
        check.within("read_ahead.window_bytes", window_bytes, PAGE_BYTES, WINDOW_BYTES_MAX)?;
        let buffer_bytes = self.buffer_bytes.value;
        let buffer_min = streams * PAGE_BYTES;
        check.within("read_ahead.buffer_bytes", buffer_bytes, buffer_min, BUFFER_BYTES_MAX)?;
        let window_pages = window_bytes.min(buffer_bytes / streams) / PAGE_BYTES;
        Ok(ReadAheadPlan { streams: self.streams.value, window_pages: window_pages as u32 })
    }
}
