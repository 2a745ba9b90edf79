//! The low-water mark of the programs of a stream.
//!
//! Programs of one stream end out of order, because dies differ in their other work. A flush, and
//! the erase of a superblock with moved data, must wait until everything up to a point is in NAND:
//! the low-water mark is that point.

use crate::ftl::{STREAMS, StreamId};
use crate::ring::Ring;

/// Issued and finished programs of one stream, by sequence number.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Durability {
    /// Whether the programs from `low_water` on have ended.
    ended: Ring<bool>,
    low_water: u64,
}

impl Durability {
    /// Number of the next program; call once for each.
    pub fn issue(&mut self) -> u64 {
        self.ended.push_back(false);
        self.issued() - 1
    }

    /// Number of programs issued so far.
    pub fn issued(&self) -> u64 {
        self.low_water + self.ended.len() as u64
    }

    /// The low-water mark: every program below this number has ended.
    pub fn low_water(&self) -> u64 {
        self.low_water
    }

    /// Marks a program as ended; true if the low-water mark rose.
    pub fn end(&mut self, sequence: u64) -> bool {
        if let Some(ended) = self.ended.get_mut((sequence - self.low_water) as usize) {
            *ended = true;
        }
        let before = self.low_water;
        while self.ended.front() == Some(true) {
            self.ended.pop_front();
            self.low_water += 1;
        }
        self.low_water > before
    }
}

/// A point in the programs of some streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// Programs of each stream that must have ended.
    programs: [u64; STREAMS],
}

impl Mark {
    /// Moves the point behind this number of programs of a stream as well.
    #[inline]
    pub fn reach(&mut self, stream: StreamId, programs: u64) {
        let mine = &mut self.programs[stream as usize];
        *mine = programs.max(*mine);
    }

    /// Moves the point behind that of another mark as well.
    #[inline]
    pub fn extend(&mut self, other: Self) {
        for (mine, other) in self.programs.iter_mut().zip(other.programs) {
            *mine = other.max(*mine);
        }
    }
}

/// The programs of all streams.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct StreamPrograms {
    streams: [Durability; STREAMS],
}

impl StreamPrograms {
    /// Number of the next program of a stream; call once for each.
    #[inline]
    pub fn issue(&mut self, stream: StreamId) -> u64 {
        self.streams[stream as usize].issue()
    }

    /// Marks a program as ended; true if the stream's low-water mark rose.
    #[inline]
    pub fn end(&mut self, stream: StreamId, sequence: u64) -> bool {
        self.streams[stream as usize].end(sequence)
    }

    /// Point behind all programs that these streams have issued.
    pub fn mark(&self, streams: &[StreamId]) -> Mark {
        let mut mark = Mark::default();
        for &stream in streams {
            mark.programs[stream as usize] = self.streams[stream as usize].issued();
        }
        mark
    }

    /// Number of programs of a stream up to its latest page, in an open unit or one just issued.
    #[inline]
    pub fn behind_last(&self, stream: StreamId, is_open: bool) -> u64 {
        self.streams[stream as usize].issued() + u64::from(is_open)
    }

    /// A stream that has not issued all programs before the mark: its open unit delays the mark.
    pub fn not_issued(&self, mark: Mark) -> Option<StreamId> {
        let is_open = |&stream: &StreamId| {
            mark.programs[stream as usize] > self.streams[stream as usize].issued()
        };
        StreamId::ALL.into_iter().find(is_open)
    }

    /// Whether every program before the mark has ended.
    #[inline]
    pub fn reached(&self, mark: Mark) -> bool {
        self.streams
            .iter()
            .zip(mark.programs)
            .all(|(stream, programs)| programs <= stream.low_water())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_waits_for_the_oldest() {
        let mut durability = Durability::default();
        assert_eq!([durability.issue(), durability.issue(), durability.issue()], [0, 1, 2]);
        assert!(!durability.end(1));
        assert_eq!(durability.low_water(), 0);
        assert!(durability.end(0));
        assert_eq!(durability.low_water(), 2);
        assert!(durability.end(2));
        assert_eq!((durability.low_water(), durability.issued()), (3, 3));
    }

    #[test]
    fn a_mark_looks_at_its_own_streams() {
        let mut programs = StreamPrograms::default();
        programs.issue(StreamId::Gc);
        let host = programs.mark(&[StreamId::Host]);
        let gc = programs.mark(&[StreamId::Host, StreamId::Gc]);
        assert!(programs.reached(host) && !programs.reached(gc));
        assert!(programs.end(StreamId::Gc, 0));
        assert!(programs.reached(gc));
        let mut open = Mark::default();
        open.reach(StreamId::Gc, programs.behind_last(StreamId::Gc, true));
        assert!(!programs.reached(open) && programs.not_issued(open) == Some(StreamId::Gc));
        let mut issued = Mark::default();
        issued.reach(StreamId::Gc, programs.behind_last(StreamId::Gc, false));
        assert!(programs.reached(issued));
    }
}
