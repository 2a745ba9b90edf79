//! An operation as it waits in a die's queue: three numbers instead of an enum with fields.
//!
//! Operations are copied from queue to die to device, once for every program and read. An enum is
//! written field by field and copied in larger pieces at once, for which the processor waits; numbers
//! stay in registers.

use super::DieOp;
use crate::ftl::StreamId;
use crate::mapping::MapWrite;

/// What a die is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    #[default]
    Erase,
    HostProgram,
    GcProgram,
    ColdProgram,
    PslcProgram,
    Parity,
    Journal,
    Segment,
    Commit,
    GcRead,
    HostRead,
}

/// One operation on one die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    kind: Kind,
    /// Unit over the whole drive; for an erase the superblock.
    place: u32,
    /// Sequence of a program, valid pages of a read for collection, tag and pages of a host read.
    detail: u64,
}

impl Job {
    /// Data goes into the array.
    #[inline]
    pub(super) fn is_program(self) -> bool {
        (Kind::HostProgram as u32..=Kind::Commit as u32).contains(&(self.kind as u32))
    }

    /// It writes the drive's own tables.
    pub(super) fn is_map(self) -> bool {
        matches!(self.kind, Kind::Journal | Kind::Segment | Kind::Commit)
    }

    /// A drive on capacitors still programs it: data and journal.
    pub(super) fn is_promised(self) -> bool {
        self.is_program() && !matches!(self.kind, Kind::Segment | Kind::Commit)
    }

    #[inline]
    pub(super) fn is_erase(self) -> bool {
        self.kind == Kind::Erase
    }

    #[inline]
    pub(super) fn is_host_read(self) -> bool {
        self.kind == Kind::HostRead
    }

    /// A host read may interrupt it.
    pub(super) fn is_suspendable(self) -> bool {
        self.is_program() || self.is_erase()
    }

    /// Unit over the whole drive; for an erase the superblock.
    #[inline]
    pub(super) fn place(self) -> u32 {
        self.place
    }

    /// Pages that move to the controller once the array is done.
    #[inline]
    pub(super) fn read_pages(self) -> u32 {
        match self.kind {
            Kind::GcRead => self.detail.count_ones(),
            Kind::HostRead => self.detail as u32,
            _ => 0,
        }
    }
}

impl From<DieOp> for Job {
    #[inline]
    fn from(op: DieOp) -> Self {
        let (kind, place, detail) = match op {
            DieOp::Program { unit, stream, sequence } => {
                let kind = match stream {
                    StreamId::Host => Kind::HostProgram,
                    StreamId::Gc => Kind::GcProgram,
                    StreamId::Cold => Kind::ColdProgram,
                    StreamId::Pslc => Kind::PslcProgram,
                };
                (kind, unit, sequence)
            }
            DieOp::Parity { unit } => (Kind::Parity, unit, 0),
            DieOp::Map { unit, write: MapWrite::Journal { sequence } } => {
                (Kind::Journal, unit, sequence)
            }
            DieOp::Map { unit, write: MapWrite::Segment } => (Kind::Segment, unit, 0),
            DieOp::Map { unit, write: MapWrite::Commit } => (Kind::Commit, unit, 0),
            DieOp::GcRead { unit, valid } => (Kind::GcRead, unit, valid),
            DieOp::HostRead { tag, unit, pages } => {
                (Kind::HostRead, unit, u64::from(tag) << 32 | u64::from(pages))
            }
            DieOp::Erase { superblock } => (Kind::Erase, superblock, 0),
        };
        Self { kind, place, detail }
    }
}

impl From<Job> for DieOp {
    #[inline]
    fn from(job: Job) -> Self {
        let Job { kind, place: unit, detail } = job;
        let program = |stream| Self::Program { unit, stream, sequence: detail };
        let map = |write| Self::Map { unit, write };
        match kind {
            Kind::HostProgram => program(StreamId::Host),
            Kind::GcProgram => program(StreamId::Gc),
            Kind::ColdProgram => program(StreamId::Cold),
            Kind::PslcProgram => program(StreamId::Pslc),
            Kind::Parity => Self::Parity { unit },
            Kind::Journal => map(MapWrite::Journal { sequence: detail }),
            Kind::Segment => map(MapWrite::Segment),
            Kind::Commit => map(MapWrite::Commit),
            Kind::GcRead => Self::GcRead { unit, valid: detail },
            Kind::HostRead => {
                Self::HostRead { tag: (detail >> 32) as u32, unit, pages: detail as u32 }
            }
            Kind::Erase => Self::Erase { superblock: unit },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_survives_the_queue() {
        let program = |stream| DieOp::Program { unit: 7, stream, sequence: 1 << 40 };
        let map = |write| DieOp::Map { unit: 9, write };
        let programs = [
            program(StreamId::Host),
            program(StreamId::Gc),
            program(StreamId::Cold),
            program(StreamId::Pslc),
            DieOp::Parity { unit: 3 },
            map(MapWrite::Journal { sequence: u64::MAX }),
            map(MapWrite::Segment),
            map(MapWrite::Commit),
        ];
        let erase = DieOp::Erase { superblock: u32::MAX };
        let reads = [
            (DieOp::GcRead { unit: u32::MAX, valid: 0b1011 }, 3),
            (DieOp::HostRead { tag: 31, unit: 5, pages: 8 }, 8),
        ];
        let pages = programs.iter().chain([&erase]).map(|&op| (op, 0)).chain(reads);
        for (op, read_pages) in pages {
            let job = Job::from(op);
            assert_eq!(DieOp::from(job), op);
            assert_eq!(job.is_program(), programs.contains(&op));
            assert_eq!(job.is_map(), matches!(op, DieOp::Map { .. }));
            assert_eq!(job.is_erase(), op == erase);
            assert_eq!(job.is_host_read(), matches!(op, DieOp::HostRead { .. }));
            assert_eq!(job.read_pages(), read_pages);
        }
    }
}
