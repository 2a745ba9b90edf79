//! Conversion of events of the Linux block layer, from blktrace's binary and blkparse's text, to
//! I/Os.
//!
//! One event is the I/O (by choice the moment of queueing, or the moment of issue to the device),
//! and completions give the number of outstanding I/Os. A write with a preflush and data is one
//! write with [`Flags::PREFLUSH`]; fio treats it as a flush and loses its data.

use base::OpKind;

use crate::trace::format::options::Event;
use crate::trace::format::raw::LineContent;
use crate::trace::{Flags, Record};

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Queue,
    Issue,
    Complete,
    Other,
}

/// The requested operation, by letters or bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventOp {
    /// An operation on data, or a flush without data.
    Op(OpKind),
    /// No access to data: a notification, a pass-through command.
    Nothing,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockEvent {
    pub(super) time_ns: u64,
    pub(super) offset: u64,
    pub(super) bytes: u32,
    pub(super) action: Action,
    pub(super) asked: EventOp,
    pub(super) flags: Flags,
    pub(super) pid: u32,
    pub(super) device: u32,
}

/// Most tracked outstanding I/Os; beyond this number, the oldest count as lost.
const OUTSTANDING_MAX: usize = 4096;

/// Converts events to I/Os and counts outstanding ones.
pub(super) struct BlockEvents {
    event: Event,
    /// The device of the first I/O; others are omitted, because a stacked device would count twice.
    device: Option<u32>,
    /// Byte ranges in progress; a flush without data has an empty one.
    outstanding: Vec<(u64, u64)>,
    /// Whether an I/O was seen to end.
    has_completions: bool,
}

impl BlockEvents {
    pub(super) fn new(event: Event) -> Self {
        Self { event, device: None, outstanding: Vec::new(), has_completions: false }
    }

    /// Whether no I/O of the device was seen to end, so that depths are only counts of I/Os.
    pub(super) fn lacks_completions(&self) -> bool {
        !self.has_completions
    }

    pub(super) fn take(&mut self, event: &BlockEvent) -> LineContent {
        let begins = match self.event {
            Event::Queue => Action::Queue,
            Event::Issue => Action::Issue,
        };
        let EventOp::Op(op) = event.asked else { return LineContent::Other };
        if event.action != begins && event.action != Action::Complete {
            return LineContent::Other;
        }
        let ours = *self.device.get_or_insert(event.device) == event.device;
        match event.action {
            Action::Complete => {
                if ours {
                    self.has_completions = true;
                    self.completed(event);
                }
                LineContent::Other
            }
            _ if ours => LineContent::Io(self.began(event, op).into()),
            _ => LineContent::OtherDevice,
        }
    }

    fn began(&mut self, event: &BlockEvent, op: OpKind) -> Record {
        // A preflush without data is a flush, wherever its sector points.
        let flush = op == OpKind::Flush || (event.bytes == 0 && op == OpKind::Write);
        let (op, offset) = if flush { (OpKind::Flush, 0) } else { (op, event.offset) };
        if self.outstanding.len() == OUTSTANDING_MAX {
            self.outstanding.remove(0);
        }
        self.outstanding.push((offset, offset.saturating_add(u64::from(event.bytes))));
        let mut record = Record::new(event.time_ns, op, offset, event.bytes);
        record.queue_depth = u16::try_from(self.outstanding.len()).unwrap_or(u16::MAX);
        record.stream = event.pid;
        record.flags = event.flags;
        if flush {
            record.flags.0 &= !Flags::PREFLUSH.0;
        }
        if flush && event.asked == EventOp::Op(OpKind::Write) {
            // Nothing was written that could be forced.
            record.flags.0 &= !Flags::FUA.0;
        }
        record
    }

    /// Removes every I/O that the completed range covers: merged I/Os complete as one.
    ///
    /// A flush reaches the device as a separate command (`D FN`, `C FN`); a queued write without
    /// data completes as one.
    fn completed(&mut self, event: &BlockEvent) {
        let end = event.offset.saturating_add(u64::from(event.bytes));
        if event.bytes == 0 {
            let step = event.asked == EventOp::Op(OpKind::Flush);
            let flush = self.outstanding.iter().position(|&(from, to)| from == to);
            if let (Some(flush), true) = (flush, step == (self.event == Event::Issue)) {
                self.outstanding.remove(flush);
            }
            return;
        }
        let inside = |&(from, to): &(u64, u64)| from >= event.offset && to <= end && from < to;
        self.outstanding.retain(|range| !inside(range));
    }
}
