//! An operation in a die's queue: two words instead of an enum with fields.
//!
//! Operations travel from queue to die to device, once for every program and read. If code writes a
//! value field by field and copies it as a whole, the processor waits for its own stores; two words
//! stay in registers.

use super::op::DieOp;
use crate::ftl::StreamId;
use crate::mechanism::mapping::MapWrite;

/// The kinds of die job: programs between the erase and the reads, those of data by their streams.
mod kind {
    use crate::ftl::STREAMS;

    pub(super) const ERASE: u64 = 0;
    pub(super) const PROGRAM: u64 = 1;
    pub(super) const PARITY: u64 = PROGRAM + STREAMS as u64;
    pub(super) const JOURNAL: u64 = PARITY + 1;
    pub(super) const SEGMENT: u64 = PARITY + 2;
    pub(super) const COMMIT: u64 = PARITY + 3;
    pub(super) const GC_READ: u64 = PARITY + 4;
    pub(super) const MAP_LOAD: u64 = PARITY + 5;
    pub(super) const READ_AHEAD: u64 = PARITY + 6;
    pub(super) const PATROL: u64 = PARITY + 7;
    pub(super) const SORT_READ: u64 = PARITY + 8;
    pub(super) const HOST_READ: u64 = PARITY + 9;
    pub(super) const MAP_READ: u64 = PARITY + 10;
}

/// One operation on one die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Job {
    /// From bit 0: place (32 bits), number of pages that cross the channel (16 bits), kind.
    head: u64,
    /// Sequence of a program, valid pages of a read for collection, number of a read ahead; of a host read the tag and,
    /// from bit 32, the number of its only page plus 1.
    detail: u64,
}

const PAGES_SHIFT: u32 = 32;
const KIND_SHIFT: u32 = 48;
const PAGE_SHIFT: u32 = 32;

impl Job {
    /// An operation of a die whose programs take `unit_pages`.
    #[inline]
    pub(super) fn new(op: DieOp, unit_pages: u32) -> Self {
        let (kind, place, pages, detail) = match op {
            DieOp::Program { unit, stream, sequence } => {
                (kind::PROGRAM + stream as u64, unit, unit_pages, sequence)
            }
            DieOp::Parity { unit } => (kind::PARITY, unit, unit_pages, 0),
            DieOp::Map { unit, write } => match write {
                MapWrite::Journal { sequence } => (kind::JOURNAL, unit, unit_pages, sequence),
                MapWrite::Segment => (kind::SEGMENT, unit, unit_pages, 0),
                MapWrite::Commit => (kind::COMMIT, unit, unit_pages, 0),
            },
            DieOp::GcRead { unit, pages, valid } => (kind::GC_READ, unit, pages, valid),
            DieOp::HostRead { tag, unit, transfers, page } => {
                let page = page.map_or(0, |page| u64::from(page) + 1);
                (kind::HOST_READ, unit, transfers, page << PAGE_SHIFT | u64::from(tag))
            }
            DieOp::MapRead { tag, unit, transfers } => {
                (kind::MAP_READ, unit, transfers, u64::from(tag))
            }
            DieOp::MapLoad { unit } => (kind::MAP_LOAD, unit, 1, 0),
            DieOp::ReadAhead { fetch, unit, pages } => (kind::READ_AHEAD, unit, pages, fetch),
            DieOp::Patrol { unit } => (kind::PATROL, unit, unit_pages, 0),
            DieOp::SortRead { unit, pages } => (kind::SORT_READ, unit, pages, 0),
            DieOp::Erase { superblock } => (kind::ERASE, superblock, 0, 0),
        };
        let head = kind << KIND_SHIFT | u64::from(pages as u16) << PAGES_SHIFT | u64::from(place);
        Self { head, detail }
    }

    #[inline]
    fn kind(self) -> u64 {
        self.head >> KIND_SHIFT
    }

    /// Unit over the whole drive; for an erase the superblock.
    #[inline]
    pub(super) fn place(self) -> u32 {
        self.head as u32
    }

    /// Pages that cross the channel, of a read for the host transfers: before the array works on a program, after it has
    /// loaded a read.
    #[inline]
    pub(super) fn pages(self) -> u32 {
        u32::from((self.head >> PAGES_SHIFT) as u16)
    }

    /// Whether data goes into the array.
    #[inline]
    pub(super) fn is_program(self) -> bool {
        (kind::PROGRAM..=kind::COMMIT).contains(&self.kind())
    }

    /// The stream of a program of data, or `None` for other operations.
    #[inline]
    fn stream(self) -> Option<StreamId> {
        StreamId::ALL.get(self.kind().wrapping_sub(kind::PROGRAM) as usize).copied()
    }

    /// Whether data comes out of the array.
    #[inline]
    pub(super) fn is_read(self) -> bool {
        self.kind() >= kind::GC_READ
    }

    /// A command of the host waits for what comes out.
    #[inline]
    pub(super) fn is_host_read(self) -> bool {
        self.kind() >= kind::HOST_READ
    }

    /// The valid pages of a read for collection, bit 0 first; `None` for other operations.
    pub(super) fn valid(self) -> Option<u64> {
        (self.kind() == kind::GC_READ).then_some(self.detail)
    }

    /// The page of its unit that a host read wants, or `None` if there are several.
    pub(super) fn only_page(self) -> Option<u32> {
        let page = (self.detail >> PAGE_SHIFT) as u32;
        if self.kind() == kind::HOST_READ { page.checked_sub(1) } else { None }
    }

    #[inline]
    pub(super) fn is_read_ahead(self) -> bool {
        self.kind() == kind::READ_AHEAD
    }

    /// The number of a read ahead.
    pub(super) fn fetch(self) -> u64 {
        self.detail
    }

    #[inline]
    pub(super) fn is_erase(self) -> bool {
        self.kind() == kind::ERASE
    }

    /// Whether it writes the drive's own tables.
    pub(super) fn is_map(self) -> bool {
        (kind::JOURNAL..=kind::COMMIT).contains(&self.kind())
    }

    /// Whether a drive on capacitors still programs it: data and journal.
    pub(super) fn is_promised(self) -> bool {
        (kind::PROGRAM..=kind::JOURNAL).contains(&self.kind())
    }

    /// Whether it is a read of the patrol.
    pub(super) fn is_patrol(self) -> bool {
        self.kind() == kind::PATROL
    }

    /// Whether it moves data or makes room: a read for collection, a program of moved data, an erase.
    pub(super) fn is_gc(self) -> bool {
        let kind = self.kind();
        kind == kind::GC_READ
            || kind == kind::ERASE
            || self.stream().is_some_and(StreamId::is_moved)
    }

    /// Whether a host read may interrupt it, where such reads go first.
    pub(super) fn is_suspendable(self) -> bool {
        self.is_program() || self.is_erase()
    }
}

impl From<Job> for DieOp {
    #[inline]
    fn from(job: Job) -> Self {
        let (unit, detail) = (job.place(), job.detail);
        let map = |write| Self::Map { unit, write };
        if let Some(stream) = job.stream() {
            return Self::Program { unit, stream, sequence: detail };
        }
        match job.kind() {
            kind::PARITY => Self::Parity { unit },
            kind::JOURNAL => map(MapWrite::Journal { sequence: detail }),
            kind::SEGMENT => map(MapWrite::Segment),
            kind::COMMIT => map(MapWrite::Commit),
            kind::GC_READ => Self::GcRead { unit, pages: job.pages(), valid: detail },
            kind::HOST_READ => {
                let page = job.only_page().map(|page| page as u16);
                Self::HostRead { tag: detail as u32, unit, transfers: job.pages(), page }
            }
            kind::MAP_READ => Self::MapRead { tag: detail as u32, unit, transfers: job.pages() },
            kind::MAP_LOAD => Self::MapLoad { unit },
            kind::READ_AHEAD => Self::ReadAhead { fetch: detail, unit, pages: job.pages() },
            kind::PATROL => Self::Patrol { unit },
            kind::SORT_READ => Self::SortRead { unit, pages: job.pages() },
            _ => Self::Erase { superblock: unit },
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
        let others = [
            DieOp::Parity { unit: 3 },
            map(MapWrite::Journal { sequence: u64::MAX }),
            map(MapWrite::Segment),
            map(MapWrite::Commit),
        ];
        let programs: Vec<_> = StreamId::ALL.map(program).into_iter().chain(others).collect();
        let erase = DieOp::Erase { superblock: u32::MAX };
        let reads = [
            (DieOp::GcRead { unit: u32::MAX, pages: 3, valid: 0b1011 }, 3),
            (DieOp::HostRead { tag: 31, unit: 5, transfers: 8, page: None }, 8),
            (DieOp::HostRead { tag: 31, unit: 5, transfers: 1, page: Some(0) }, 1),
            (DieOp::HostRead { tag: u32::MAX, unit: 5, transfers: 1, page: Some(511) }, 1),
            (DieOp::MapRead { tag: 31, unit: 5, transfers: 4 }, 4),
            (DieOp::MapLoad { unit: 7 }, 1),
            (DieOp::ReadAhead { fetch: 1 << 40, unit: 5, pages: 8 }, 8),
            (DieOp::Patrol { unit: 5 }, 16),
            (DieOp::SortRead { unit: 5, pages: 3 }, 3),
        ];
        let pages = programs.iter().map(|&op| (op, 16)).chain([(erase, 0)]).chain(reads);
        for (op, pages) in pages {
            let job = Job::new(op, 16);
            assert_eq!(DieOp::from(job), op);
            assert_eq!(job.is_program(), programs.contains(&op));
            assert_eq!(job.is_map(), matches!(op, DieOp::Map { .. }));
            assert_eq!(job.is_erase(), op == erase);
            assert_eq!(job.is_read(), reads.contains(&(op, pages)));
            assert_eq!(
                job.is_host_read(),
                matches!(op, DieOp::HostRead { .. } | DieOp::MapRead { .. })
            );
            assert_eq!(job.is_read_ahead(), matches!(op, DieOp::ReadAhead { .. }));
            assert_eq!(job.pages(), pages);
        }
    }
}
