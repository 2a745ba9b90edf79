//! Zones that are written in order, several at a time: log-structured stores, zoned file systems.
//!
//! Each command continues one of the active zones, drawn at random. A full zone is exchanged for a random
//! one that is not active, as SSD-iq does (Haas et al., PVLDB 18(11), 2025). The next zone of each stream is
//! known, and deallocated, one zone ahead: no write can then overtake the deallocation of its place.

use base::Rng;

use crate::order::Append;
use crate::workload::Workload;

/// The longest deallocation in one command.
const DEALLOCATION_BYTES_MAX: u64 = 1 << 30;

/// A command of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppendStep {
    /// Write a block under a placement handle, 0 for none: offset, length, handle.
    Write(u64, u32, u8),
    /// Deallocate: offset, length.
    Deallocate(u64, u32),
}

/// An active zone.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Number of the zone, and written bytes of it.
    zone: u32,
    written_bytes: u64,
    /// Number of the zone after it.
    next_zone: u32,
}

/// State of the order.
#[derive(Clone, Debug)]
pub struct Appends {
    append: Append,
    rng: Rng,
    offset: u64,
    streams: Vec<Stream>,
    /// Zones that are neither active nor next.
    free: Vec<u32>,
    /// Offset and length of each range that is still to be deallocated.
    stale: Vec<(u64, u64)>,
}

impl Appends {
    pub(super) fn new(workload: &Workload, append: Append, mut rng: Rng) -> Self {
        let zones = u32::try_from(workload.span_bytes / append.zone_bytes).unwrap_or(u32::MAX);
        let mut free: Vec<u32> = (0..zones).rev().collect();
        let mut stream = || {
            let mut take = || taken(&mut free, &mut rng);
            Stream { zone: take(), written_bytes: 0, next_zone: take() }
        };
        let streams: Vec<_> = (0..append.zones).map(|_| stream()).collect();
        let mut order = Self {
            append,
            rng,
            offset: workload.span_offset_bytes,
            streams,
            free,
            stale: Vec::new(),
        };
        for stream in 0..order.streams.len() {
            order.make_stale(order.streams[stream].next_zone);
        }
        order
    }

    /// The next command; a write has this length, or less at the end of its zone.
    #[inline]
    pub(crate) fn next_step(&mut self, len: u32) -> AppendStep {
        if let Some((offset, len)) = self.deallocation() {
            return AppendStep::Deallocate(offset, len);
        }
        let index = self.rng.below(self.streams.len() as u64) as usize;
        let zone_bytes = self.append.zone_bytes;
        let stream = &mut self.streams[index];
        let len = u64::from(len).min(zone_bytes - stream.written_bytes);
        let offset = self.offset + u64::from(stream.zone) * zone_bytes + stream.written_bytes;
        stream.written_bytes += len;
        if stream.written_bytes == zone_bytes {
            self.advance(index);
        }
        let handle = match self.append.handles {
            0 => 0,
            handles => (index % usize::from(handles)) as u8,
        };
        AppendStep::Write(offset, len as u32, handle)
    }

    /// The part of a range that one command deallocates.
    fn deallocation(&mut self) -> Option<(u64, u32)> {
        let (offset, left) = self.stale.pop()?;
        let len = left.min(DEALLOCATION_BYTES_MAX);
        if left > len {
            self.stale.push((offset + len, left - len));
        }
        Some((offset, len as u32))
    }

    /// Goes on to the next zone of a stream, and frees the written one.
    fn advance(&mut self, index: usize) {
        let chosen = taken(&mut self.free, &mut self.rng);
        let stream = &mut self.streams[index];
        self.free.push(stream.zone);
        *stream = Stream { zone: stream.next_zone, written_bytes: 0, next_zone: chosen };
        self.make_stale(chosen);
    }

    fn make_stale(&mut self, zone: u32) {
        if self.append.deallocate {
            let zone_bytes = self.append.zone_bytes;
            self.stale.push((self.offset + u64::from(zone) * zone_bytes, zone_bytes));
        }
    }
}

/// A random one of these; there is at least one.
fn taken(free: &mut Vec<u32>, rng: &mut Rng) -> u32 {
    let at = rng.below(free.len() as u64) as usize;
    free.swap_remove(at)
}
