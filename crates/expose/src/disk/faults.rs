//! Faults that an operator gives to a disk: ranges that cannot be read, and a disk that takes no changes.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::plan::Shape;
use crate::request::{Action, Fault, Request};

/// Most blocks that may be unreadable at a time.
pub const BAD_BLOCKS_MAX: u64 = 1 << 20;

/// The faults of a disk.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Faults {
    bad_blocks: BTreeSet<u64>,
    /// Whether every change is refused, as by a drive at the end of its life.
    pub is_read_only: bool,
}

impl Faults {
    /// Number of logical blocks that cannot be read.
    pub fn bad_blocks(&self) -> u64 {
        self.bad_blocks.len() as u64
    }

    /// Whether they can be those of a disk of this shape.
    pub(super) fn is_sound(&self, shape: &Shape) -> bool {
        let last = self.bad_blocks.last();
        self.bad_blocks() <= BAD_BLOCKS_MAX
            && last.is_none_or(|&block| block < shape.capacity_bytes / shape.block_bytes)
    }

    /// Makes the blocks that the bytes touch unreadable until they are written; false if they are too many.
    pub fn spoil(&mut self, shape: &Shape, bytes: &Range<u64>) -> bool {
        let blocks = blocks_touched(shape, bytes);
        let is_possible = self.bad_blocks() + (blocks.end - blocks.start) <= BAD_BLOCKS_MAX;
        if is_possible {
            self.bad_blocks.extend(blocks);
        }
        is_possible
    }

    /// The begin of the first unreadable block among the bytes, or `None` if all are readable.
    pub fn first_bad(&self, shape: &Shape, bytes: &Range<u64>) -> Option<u64> {
        let blocks = blocks_touched(shape, bytes);
        self.bad_blocks.range(blocks).next().map(|block| block * shape.block_bytes)
    }

    /// Makes every block readable.
    pub fn heal(&mut self) {
        self.bad_blocks.clear();
    }

    /// Checks a request before it is carried out.
    ///
    /// # Errors
    /// [`Fault::ReadOnly`], [`Fault::Source`], and [`Fault::Io`] for a read of an unreadable block, also of one that is
    /// written in part.
    pub fn check(&self, shape: &Shape, request: &Request) -> Result<(), Fault> {
        let range = request.range();
        match request.action {
            Action::Flush => return Ok(()),
            Action::Read | Action::Fetch | Action::Scan => {}
            _ if self.is_read_only => return Err(Fault::ReadOnly),
            Action::Trim | Action::Overwrite | Action::Zone { .. } => return Ok(()),
            Action::Write | Action::Copy | Action::Append | Action::Zero { .. } => {
                let whole = blocks_within(shape, &range);
                let touched = blocks_touched(shape, &range);
                let partial = (touched.start..whole.start).chain(whole.end..touched.end);
                let mut sources = request.sources.iter();
                return if sources.any(|source| self.first_bad(shape, source).is_some()) {
                    Err(Fault::Source)
                } else if self.is_any_bad(partial) {
                    Err(Fault::Io)
                } else {
                    Ok(())
                };
            }
        }
        if self.first_bad(shape, &range).is_some() { Err(Fault::Io) } else { Ok(()) }
    }

    fn is_any_bad(&self, mut blocks: impl Iterator<Item = u64>) -> bool {
        !self.bad_blocks.is_empty() && blocks.any(|block| self.bad_blocks.contains(&block))
    }

    /// Records that the bytes are written or forgotten: their blocks are replaced by good ones.
    pub fn replaced(&mut self, shape: &Shape, bytes: &Range<u64>) {
        if !self.bad_blocks.is_empty() {
            let blocks = blocks_within(shape, bytes);
            self.bad_blocks.retain(|block| !blocks.contains(block));
        }
    }
}

fn blocks_touched(shape: &Shape, bytes: &Range<u64>) -> Range<u64> {
    bytes.start / shape.block_bytes..bytes.end.div_ceil(shape.block_bytes)
}

fn blocks_within(shape: &Shape, bytes: &Range<u64>) -> Range<u64> {
    let first = bytes.start.div_ceil(shape.block_bytes);
    first..(bytes.end / shape.block_bytes).max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape =
        Shape { block_bytes: 512, page_bytes: 4096, capacity_bytes: 1 << 20, deallocates: true };

    #[test]
    fn a_bad_block_fails_reads_until_it_is_written() {
        let mut faults = Faults::default();
        assert!(faults.spoil(&SHAPE, &(1000..1001)));
        let check = |faults: &Faults, action, range: Range<u64>| {
            let (offset, bytes) = (range.start, range.end - range.start);
            faults.check(&SHAPE, &Request::new(action, offset, bytes))
        };
        assert_eq!(check(&faults, Action::Read, 0..512), Ok(()));
        assert_eq!(check(&faults, Action::Read, 0..513), Err(Fault::Io));
        assert_eq!(check(&faults, Action::Write, 600..1024), Err(Fault::Io), "it is read before");
        assert_eq!(check(&faults, Action::Write, 512..1024), Ok(()));
        let copy = |sources| Request { sources, ..Request::new(Action::Copy, 4096, 512) };
        assert_eq!(faults.check(&SHAPE, &copy(vec![0..256, 600..856])), Err(Fault::Source));
        assert_eq!(faults.check(&SHAPE, &copy(vec![0..256, 1024..1280])), Ok(()));
        faults.replaced(&SHAPE, &(512..1024));
        assert_eq!(check(&faults, Action::Read, 0..4096), Ok(()));
        assert!(!faults.spoil(&SHAPE, &(0..u64::MAX - 511)), "it is too much");
    }

    #[test]
    fn a_read_only_disk_refuses_changes() {
        let faults = Faults { is_read_only: true, ..Faults::default() };
        let of = |action| Request::new(action, 0, 512);
        for action in [Action::Write, Action::Trim, Action::Zero { keeps_pages: true }] {
            assert_eq!(faults.check(&SHAPE, &of(action)), Err(Fault::ReadOnly), "{action:?}");
        }
        for action in [Action::Read, Action::Fetch, Action::Flush] {
            assert_eq!(faults.check(&SHAPE, &of(action)), Ok(()), "{action:?}");
        }
    }
}
