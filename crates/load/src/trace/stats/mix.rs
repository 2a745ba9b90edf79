//! Reads and writes over time, in slices of equal length. A slice starts at a second; if there are
//! too many, pairs of slices merge.

use base::OpKind;
use serde::Serialize;

use crate::trace::Record;

/// Largest number of slices.
const SLICES_MAX: usize = 240;

const FIRST_SLICE_NS: u64 = 1_000_000_000;

/// One slice of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MixSlice {
    /// Its start.
    pub start_ns: u64,
    /// Reads in it.
    pub reads: u64,
    /// Writes in it.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

pub(super) struct Mix {
    slice_ns: u64,
    slices: Vec<MixSlice>,
}

impl Default for Mix {
    fn default() -> Self {
        Self { slice_ns: FIRST_SLICE_NS, slices: Vec::new() }
    }
}

impl Mix {
    pub(super) fn add(&mut self, record: &Record) {
        while record.issue_ns / self.slice_ns >= SLICES_MAX as u64 {
            self.halve();
        }
        let index = (record.issue_ns / self.slice_ns) as usize;
        if self.slices.len() <= index {
            self.slices.resize(index + 1, MixSlice::default());
        }
        let slice = &mut self.slices[index];
        match record.op {
            OpKind::Read => {
                slice.reads += 1;
                slice.read_bytes += u64::from(record.len);
            }
            OpKind::Write => {
                slice.writes += 1;
                slice.write_bytes += u64::from(record.len);
            }
            OpKind::Flush | OpKind::Deallocate => {}
        }
    }

    fn halve(&mut self) {
        self.slice_ns = self.slice_ns.saturating_mul(2);
        let pairs = self.slices.chunks(2).map(|pair| {
            pair.iter().fold(MixSlice::default(), |a, b| MixSlice {
                start_ns: 0,
                reads: a.reads + b.reads,
                writes: a.writes + b.writes,
                read_bytes: a.read_bytes + b.read_bytes,
                write_bytes: a.write_bytes + b.write_bytes,
            })
        });
        self.slices = pairs.collect();
    }

    pub(super) fn slices(&self) -> Vec<MixSlice> {
        let starts = (0_u64..).map(|index| index * self.slice_ns);
        self.slices
            .iter()
            .zip(starts)
            .map(|(slice, start_ns)| MixSlice { start_ns, ..*slice })
            .collect()
    }
}
