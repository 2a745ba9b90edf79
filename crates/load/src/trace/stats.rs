//! Statistics of a trace: counts, sizes, depths, sequential share, footprint, reuse, idle times,
//! mix over time. One file per question; all of them stream, in memory that does not grow with the
//! trace.

mod depth;
mod footprint;
mod mix;
mod pauses;
mod reuse;
mod sequential;
mod sizes;
mod streams;

use base::OpKind;
use serde::Serialize;

pub use depth::{DEPTH_BINS, DepthTable};
pub use footprint::Footprint;
pub use mix::MixSlice;
pub use pauses::{PauseBin, Pauses};
pub use reuse::Reuse;
pub use sequential::WINDOW as SEQUENTIAL_WINDOW;
pub use sizes::{SIZE_BINS, SizeRow, size_bin};
pub use streams::{StreamRow, Streams};

use super::Record;

/// I/Os and bytes of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindTotal {
    /// I/Os.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// All statistics during counting.
#[derive(Default)]
pub struct TraceStats {
    kinds: [KindTotal; 4],
    preflush_ios: u64,
    aligned_ios: u64,
    end_bytes: u64,
    last_ns: u64,
    sizes: sizes::Sizes,
    depths: depth::Depths,
    sequential: sequential::Sequential,
    footprint: footprint::Pages,
    reuse: reuse::ReuseSampler,
    pauses: pauses::PauseCounter,
    mix: mix::Mix,
    streams: streams::StreamCounter,
}

/// Statistics of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// I/Os of all kinds.
    pub ios: u64,
    /// Reads.
    pub reads: KindTotal,
    /// Writes.
    pub writes: KindTotal,
    /// Flushes without data.
    pub flushes: u64,
    /// Deallocations.
    pub deallocates: KindTotal,
    /// Writes that flush first.
    pub preflush_ios: u64,
    /// Time from the first to the last issue.
    pub duration_ns: u64,
    /// The byte after the last one touched.
    pub end_bytes: u64,
    /// Share of reads and writes that begin and end on a multiple of 4,096.
    pub aligned_share: f64,
    /// Share of reads and writes that begin at the end of one of the [`SEQUENTIAL_WINDOW`]
    /// preceding reads and writes.
    pub sequential_share: f64,
    /// Reads and writes by size.
    pub sizes: Vec<SizeRow>,
    /// Commands outstanding at issue, the new one included; `None` if the trace does not know.
    pub queue_depth: Option<DepthTable>,
    /// Amount of distinct data.
    pub footprint: Footprint,
    /// Distances to the previous use of the same data; `None` if no data was used twice.
    pub reuse: Option<Reuse>,
    /// Times between issues.
    pub pauses: Pauses,
    /// Reads and writes over time, in slices of equal length.
    pub mix: Vec<MixSlice>,
    /// The work of each stream.
    pub streams: Streams,
}

impl TraceStats {
    /// Counts a record.
    pub fn add(&mut self, record: &Record) {
        let total = &mut self.kinds[record.op.index()];
        total.ios += 1;
        total.bytes += u64::from(record.len);
        self.last_ns = record.issue_ns;
        self.pauses.add(record);
        self.depths.add(record);
        self.mix.add(record);
        self.streams.add(record);
        if record.op != OpKind::Flush {
            self.end_bytes = self.end_bytes.max(record.end());
        }
        if record.moves_data() {
            self.preflush_ios += u64::from(record.flags.contains(super::Flags::PREFLUSH));
            self.aligned_ios += u64::from((record.offset | u64::from(record.len)) & 4095 == 0);
            self.sizes.add(record);
            self.sequential.add(record);
            self.footprint.add(record);
            self.reuse.add(record);
        }
    }

    /// The figures so far.
    pub fn summary(&self) -> Summary {
        let [reads, writes, flushes, deallocates] = self.kinds;
        let data_ios = reads.ios + writes.ios;
        Summary {
            ios: data_ios + flushes.ios + deallocates.ios,
            reads,
            writes,
            flushes: flushes.ios,
            deallocates,
            preflush_ios: self.preflush_ios,
            duration_ns: self.last_ns,
            end_bytes: self.end_bytes,
            aligned_share: share(self.aligned_ios, data_ios),
            sequential_share: share(self.sequential.ios(), data_ios),
            sizes: self.sizes.rows(),
            queue_depth: self.depths.table(),
            footprint: self.footprint.footprint(),
            reuse: self.reuse.reuse(),
            pauses: self.pauses.pauses(),
            mix: self.mix.slices(),
            streams: self.streams.streams(),
        }
    }
}

/// A share; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests;
