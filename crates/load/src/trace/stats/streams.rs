//! The work of each stream: its commands, bytes, distinct data and place.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::footprint::Bits;
use crate::trace::Record;
use crate::trace::streams::STREAMS_MAX;

/// One stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StreamRow {
    /// Its number.
    pub stream: u32,
    /// Its commands of all kinds.
    pub ios: u64,
    /// Bytes of its reads and writes.
    pub bytes: u64,
    /// Bytes in distinct pages of 4 KiB that it read or wrote.
    pub footprint_bytes: u64,
}

/// The streams of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Streams {
    /// Each, by its number.
    pub rows: Vec<StreamRow>,
    /// Whether every footprint is exact; otherwise those of some are lower bounds.
    pub exact: bool,
    /// Commands of streams beyond the 65,536 distinct ones.
    pub other_ios: u64,
}

#[derive(Default)]
pub(super) struct StreamCounter {
    rows: HashMap<u32, StreamRow>,
    pages: Bits<STREAM_CHUNK_PAGES, STREAM_CHUNKS_MAX>,
    other_ios: u64,
}

/// Pages in a bit map of one stream (16 MiB of addresses): streams may be many and touch little.
const STREAM_CHUNK_PAGES: u64 = 1 << 12;

/// Bit maps of all streams: 64 MiB of memory.
const STREAM_CHUNKS_MAX: usize = 1 << 17;

impl StreamCounter {
    pub(super) fn add(&mut self, record: &Record) {
        if self.rows.len() == STREAMS_MAX && !self.rows.contains_key(&record.stream) {
            self.other_ios += 1;
            return;
        }
        let row = self.rows.entry(record.stream).or_default();
        row.ios += 1;
        if record.moves_data() {
            row.bytes += u64::from(record.len);
            row.footprint_bytes +=
                self.pages.add(record.stream, record) * super::footprint::PAGE_BYTES;
        }
    }

    pub(super) fn streams(&self) -> Streams {
        let rows: BTreeMap<_, _> = self.rows.iter().collect();
        let row = |(&stream, row): (&u32, &StreamRow)| StreamRow { stream, ..row.clone() };
        Streams {
            rows: rows.into_iter().map(row).collect(),
            exact: !self.pages.overflow,
            other_ios: self.other_ios,
        }
    }
}
