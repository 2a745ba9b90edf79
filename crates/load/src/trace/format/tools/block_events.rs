//! Events of the Linux block layer, from blktrace's binary and blkparse's text, into I/Os.
//!
//! One event is the I/O (by choice the moment it is queued, or the moment it is issued to the device), completions
//! tell how many were outstanding. A write with a preflush and data is one write with [`Flags::PREFLUSH`]; fio takes
//! it for a flush and loses its data.

use base::OpKind;

use crate::trace::format::options::Event;
use crate::trace::format::raw::Parsed;
use crate::trace::{Flags, Record};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Queue,
    Issue,
    Complete,
    Other,
}

/// What was asked for, as letters or bits say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// An operation on data, or a flush without any.
    Op(OpKind),
    /// Nothing that touches data: a notification, a pass-through command.
    Nothing,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockEvent {
    pub(super) time_ns: u64,
    pub(super) offset: u64,
    pub(super) bytes: u32,
    pub(super) action: Action,
    pub(super) asked: Asked,
    pub(super) flags: Flags,
    pub(super) pid: u32,
    pub(super) device: u32,
}

/// I/Os outstanding that are kept track of; with more, the oldest are taken for lost.
const OUTSTANDING_MAX: usize = 4096;

/// Turns events into I/Os and counts what is outstanding.
pub(super) struct BlockEvents {
    event: Event,
    /// The device of the first I/O; others are left out, or a stacked device would count twice.
    device: Option<u32>,
    /// Byte ranges under way; a flush without data has an empty one.
    outstanding: Vec<(u64, u64)>,
}

impl BlockEvents {
    pub(super) fn new(event: Event) -> Self {
        Self { event, device: None, outstanding: Vec::new() }
    }

    pub(super) fn take(&mut self, event: &BlockEvent) -> Parsed {
        let begins = match self.event {
            Event::Queue => Action::Queue,
            Event::Issue => Action::Issue,
        };
        let Asked::Op(op) = event.asked else { return Parsed::Other };
        if event.action != begins && event.action != Action::Complete {
            return Parsed::Other;
        }
        let ours = *self.device.get_or_insert(event.device) == event.device;
        match event.action {
            Action::Complete => {
                if ours {
                    self.completed(event);
                }
                Parsed::Other
            }
            _ if ours => Parsed::Io(self.began(event, op).into()),
            _ => Parsed::OtherDevice,
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
        if flush && event.asked == Asked::Op(OpKind::Write) {
            // Nothing was written that could be forced.
            record.flags.0 &= !Flags::FUA.0;
        }
        record
    }

    /// Takes out everything that the completed range covers: merged I/Os complete as one.
    ///
    /// A flush reaches the device as a command of its own (`D FN`, `C FN`); what was queued as a write without data
    /// completes as one.
    fn completed(&mut self, event: &BlockEvent) {
        let end = event.offset.saturating_add(u64::from(event.bytes));
        if event.bytes == 0 {
            let step = event.asked == Asked::Op(OpKind::Flush);
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
