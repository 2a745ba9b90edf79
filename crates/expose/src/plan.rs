//! The commands of the drive that carry a request out.
//!
//! A drive takes whole logical blocks. A write of a part of a block becomes a read of the block and a write of all of
//! it; both take their time. A drive deallocates whole pages, so that the partial ones at the ends of a trim stay, and
//! those at the ends of a request for zeroes are written.

use std::ops::Range;

use base::{Data, Op, OpKind};

use crate::request::{Action, Request};

/// Longest command, in bytes: what an ATA command can carry.
const COMMAND_BYTES_MAX: u64 = 32 << 20;

/// The units of a drive that decide on its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Smallest addressable unit, a power of two.
    pub block_bytes: u64,
    /// Bytes of a page of the map, a power of two and a multiple of the block.
    pub page_bytes: u64,
    /// Bytes of the whole drive.
    pub capacity_bytes: u64,
    /// Whether a deallocation makes pages empty.
    pub deallocates: bool,
}

impl Shape {
    /// The pages that the bytes touch.
    pub fn pages_touched(&self, bytes: &Range<u64>) -> Range<u64> {
        bytes.start / self.page_bytes..bytes.end.div_ceil(self.page_bytes)
    }

    /// The pages that lie within the bytes as a whole; empty if there is none.
    pub fn pages_within(&self, bytes: &Range<u64>) -> Range<u64> {
        let first = bytes.start.div_ceil(self.page_bytes);
        first..(bytes.end / self.page_bytes).max(first)
    }
}

impl Request {
    /// The bytes that it is about.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes
    }

    /// The pages whose map or content it changes.
    pub fn pages_changed(&self, shape: &Shape) -> Range<u64> {
        match self.action {
            Action::Write
            | Action::Copy
            | Action::Append
            | Action::Zero { .. }
            | Action::Zone { .. } => shape.pages_touched(&self.range()),
            Action::Trim | Action::Overwrite => shape.pages_within(&self.range()),
            Action::Read | Action::Fetch | Action::Scan | Action::Flush => 0..0,
        }
    }
}

/// The commands of a request, to be carried out one after the other; their tag is 0. A trim of no whole page has none.
pub fn commands(request: &Request, shape: &Shape) -> Vec<Op> {
    let (fua, placement) = (request.fua, request.placement);
    let mut plan = Plan { shape, fua, placement, commands: Vec::with_capacity(1) };
    let range = request.range();
    match request.action {
        Action::Read | Action::Fetch | Action::Scan => {
            plan.add(OpKind::Read, plan.blocks(&range));
        }
        Action::Write | Action::Overwrite | Action::Append => plan.write(&range),
        Action::Copy => {
            request.sources.iter().for_each(|source| plan.add(OpKind::Read, plan.blocks(source)));
            plan.write(&range);
        }
        Action::Flush => plan.add(OpKind::Flush, 0..0),
        Action::Trim => plan.trim(&range),
        Action::Zero { keeps_pages: false } if shape.deallocates => plan.zero(&range),
        Action::Zero { .. } => plan.write(&range),
        // The disk knows the zones.
        Action::Zone { .. } => {}
    }
    plan.commands
}

struct Plan<'a> {
    shape: &'a Shape,
    fua: bool,
    placement: u8,
    commands: Vec<Op>,
}

impl Plan<'_> {
    /// The whole blocks that the bytes touch.
    fn blocks(&self, bytes: &Range<u64>) -> Range<u64> {
        let block_bytes = self.shape.block_bytes;
        bytes.start & !(block_bytes - 1)..bytes.end.next_multiple_of(block_bytes)
    }

    fn add(&mut self, kind: OpKind, bytes: Range<u64>) {
        let mut offset = bytes.start;
        loop {
            let len = (bytes.end - offset).min(COMMAND_BYTES_MAX) as u32;
            let (data, fua) = (Data::Incompressible, self.fua && kind == OpKind::Write);
            let placement = if kind == OpKind::Write { self.placement } else { 0 };
            self.commands.push(Op { kind, data, fua, placement, len, tag: 0, offset });
            offset += u64::from(len);
            if offset >= bytes.end {
                return;
            }
        }
    }

    /// Reads the blocks of which only a part is written, and writes all.
    fn write(&mut self, bytes: &Range<u64>) {
        let block_bytes = self.shape.block_bytes;
        let whole = self.blocks(bytes);
        let last = whole.end - block_bytes;
        let is_partial_at_start = bytes.start != whole.start;
        if is_partial_at_start {
            self.add(OpKind::Read, whole.start..whole.start + block_bytes);
        }
        if bytes.end != whole.end && !(is_partial_at_start && last == whole.start) {
            self.add(OpKind::Read, last..whole.end);
        }
        self.add(OpKind::Write, whole);
    }

    fn trim(&mut self, bytes: &Range<u64>) {
        let pages = self.shape.pages_within(bytes);
        if !pages.is_empty() {
            let page_bytes = self.shape.page_bytes;
            self.add(OpKind::Deallocate, pages.start * page_bytes..pages.end * page_bytes);
        }
        if self.fua {
            self.add(OpKind::Flush, 0..0);
        }
    }

    /// Deallocates the whole pages, and writes zeroes before and behind them.
    fn zero(&mut self, bytes: &Range<u64>) {
        let pages = self.shape.pages_within(bytes);
        if pages.is_empty() {
            return self.write(bytes);
        }
        let page_bytes = self.shape.page_bytes;
        let (first, end) = (pages.start * page_bytes, pages.end * page_bytes);
        for edge in [bytes.start..first, end..bytes.end] {
            if !edge.is_empty() {
                self.write(&edge);
            }
        }
        self.trim(&(first..end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape =
        Shape { block_bytes: 512, page_bytes: 4096, capacity_bytes: 1 << 40, deallocates: true };

    fn plan_of(action: Action, range: Range<u64>, shape: &Shape) -> Vec<(OpKind, u64, u64, bool)> {
        let (offset, bytes) = (range.start, range.end - range.start);
        let request = Request { fua: true, ..Request::new(action, offset, bytes) };
        let of = |op: &Op| (op.kind, op.offset, u64::from(op.len), op.fua);
        commands(&request, shape).iter().map(of).collect()
    }

    #[test]
    fn a_part_of_a_block_is_read_before_the_whole_is_written() {
        use OpKind::{Read, Write};
        let write = |range| plan_of(Action::Write, range, &SHAPE);
        assert_eq!(write(512..1536), [(Write, 512, 1024, true)]);
        assert_eq!(write(10..20), [(Read, 0, 512, false), (Write, 0, 512, true)]);
        assert_eq!(write(500..1024), [(Read, 0, 512, false), (Write, 0, 1024, true)]);
        let both = [(Read, 512, 512, false), (Read, 1536, 512, false), (Write, 512, 1536, true)];
        assert_eq!(write(513..1537), both);
        assert_eq!(plan_of(Action::Read, 10..513, &SHAPE), [(Read, 0, 1024, false)]);
    }

    #[test]
    fn whole_pages_are_deallocated_and_edges_stay_or_become_zero() {
        use OpKind::{Deallocate, Flush, Write};
        let flush = (Flush, 0, 0, false);
        assert_eq!(
            plan_of(Action::Trim, 1..8200, &SHAPE),
            [(Deallocate, 4096, 4096, false), flush]
        );
        assert_eq!(plan_of(Action::Trim, 1..4096, &SHAPE), [flush]);
        let zero = Action::Zero { keeps_pages: false };
        let pages = (Deallocate, 4096, 4096, false);
        assert_eq!(
            plan_of(zero, 3584..8704, &SHAPE),
            [(Write, 3584, 512, true), (Write, 8192, 512, true), pages, flush]
        );
        let all = [(Write, 4096, 4096, true)];
        assert_eq!(plan_of(Action::Zero { keeps_pages: true }, 4096..8192, &SHAPE), all);
        let keeps = Shape { deallocates: false, ..SHAPE };
        assert_eq!(plan_of(zero, 4096..8192, &keeps), all);
    }

    #[test]
    fn long_requests_become_several_commands() {
        let lengths: Vec<_> = plan_of(Action::Trim, 0..(1 << 32) - 4096, &SHAPE)
            .into_iter()
            .map(|(_, _, bytes, _)| bytes)
            .collect();
        assert_eq!(lengths.len(), 129, "128 deallocations and a flush");
        assert_eq!(lengths.iter().sum::<u64>(), (1 << 32) - 4096);
    }
}
