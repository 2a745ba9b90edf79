//! Conversion of records to commands that fit the target: mapped, aligned, split.

use base::{Data, Op, OpKind};
use load::trace::{Flags, Problems, Record, Source, TraceError, TraceInfo};

use super::{Mapping, ReplaySpec};
use crate::error::RunError;

/// A command with the facts of the trace about its issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayCommand {
    /// The command; its tag is not set.
    pub op: Op,
    /// Recorded depth, this command included; 0 if unknown.
    pub queue_depth: u16,
    /// Time since the preceding command in ns; 0 for the further parts of one record.
    pub pause_ns: u64,
    /// Its issuer.
    pub stream: u32,
}

/// The changed or omitted commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Commands that were widened (deallocations: narrowed) to whole blocks.
    pub aligned_ios: u64,
    /// Split commands.
    pub split_ios: u64,
    /// Commands outside the span.
    pub outside_ios: u64,
    /// Commands with a place on the target.
    pub placed_ios: u64,
    /// Commands among them that share their place with other addresses of the trace, which has more
    /// addresses than the span.
    pub folded_ios: u64,
    /// Flushes and deallocations that were omitted by choice or because the target cannot do them.
    pub dropped_ios: u64,
    /// Commands recorded at a greater depth than the replay permits.
    pub shallow_ios: u64,
    /// The greatest recorded depth.
    pub deepest: u16,
}

/// The commands of a trace, in order.
pub struct Feed {
    source: Box<dyn Source>,
    spec: ReplaySpec,
    /// Bytes of the trace's own address space; only a scaled mapping needs them.
    trace_bytes: u64,
    /// Recorded time of the preceding command.
    last_ns: u64,
    /// The rest of the current record: a flush in front, then this number of bytes of its command.
    pending: Vec<ReplayCommand>,
    changes: Changes,
    depth_unknown: bool,
}

impl Feed {
    /// Feeds the records of `source`.
    ///
    /// # Errors
    /// If a scaled mapping is requested and the size of the trace's address space is not known.
    pub fn new(source: Box<dyn Source>, spec: &ReplaySpec) -> Result<Self, RunError> {
        let trace_bytes = source.info().span_bytes.unwrap_or(0);
        if spec.mapping == Mapping::Scale && trace_bytes == 0 {
            return Err(RunError::Usage(format!(
                "the address space of {} is not known before its end; import it first (ssdlab trace import), or use \
                 --set mapping=wrap",
                spec.trace
            )));
        }
        Ok(Self {
            source,
            spec: spec.clone(),
            trace_bytes,
            last_ns: 0,
            pending: Vec::new(),
            changes: Changes::default(),
            depth_unknown: false,
        })
    }

    /// The facts about the trace.
    pub fn info(&self) -> TraceInfo {
        self.source.info()
    }

    /// The unreadable parts of it.
    pub fn problems(&self) -> Problems {
        self.source.problems()
    }

    /// The changes and omissions so far.
    pub fn changes(&self) -> Changes {
        self.changes
    }

    /// Whether a record had no queue depth.
    pub fn depth_unknown(&self) -> bool {
        self.depth_unknown
    }

    /// The next command, or `None` at the end of the trace.
    ///
    /// # Errors
    /// If the rest of the trace cannot be read.
    pub fn next_command(&mut self) -> Result<Option<ReplayCommand>, TraceError> {
        while self.pending.is_empty() {
            let Some(record) = self.source.next_record()? else { return Ok(None) };
            self.take(&record);
        }
        Ok(self.pending.pop())
    }

    fn take(&mut self, record: &Record) {
        self.depth_unknown |= record.queue_depth == 0;
        let is_deeper = u32::from(record.queue_depth) > self.spec.queue_depth_max;
        self.changes.shallow_ios += u64::from(is_deeper);
        self.changes.deepest = self.changes.deepest.max(record.queue_depth);
        let pause_ns = record.issue_ns.saturating_sub(self.last_ns);
        let op = op(record);
        let command =
            ReplayCommand { op, queue_depth: record.queue_depth, pause_ns, stream: record.stream };
        match record.op {
            OpKind::Flush if self.spec.keep_flush => self.pending.push(command),
            OpKind::Deallocate if self.spec.keep_trim => self.place(command, record),
            OpKind::Flush | OpKind::Deallocate => self.changes.dropped_ios += 1,
            OpKind::Read | OpKind::Write => self.place(command, record),
        }
        if record.flags.contains(Flags::PREFLUSH) && record.op == OpKind::Write {
            self.flush_first(command);
        }
        // The pause in front of a record that is left out belongs to the next command.
        if !self.pending.is_empty() {
            self.last_ns = record.issue_ns;
        }
    }

    /// Puts a flush in front of the pending part; the pause is now before it.
    fn flush_first(&mut self, command: ReplayCommand) {
        if !self.spec.keep_flush {
            self.changes.dropped_ios += 1;
            return;
        }
        if let Some(first) = self.pending.last_mut() {
            first.pause_ns = 0;
        }
        let op = Op { kind: OpKind::Flush, offset: 0, len: 0, fua: false, ..command.op };
        self.pending.push(ReplayCommand { op, ..command });
    }

    /// Maps, aligns and splits a command; the parts are pending in reverse order.
    fn place(&mut self, command: ReplayCommand, record: &Record) {
        let Some((mut offset, mut left)) = self.extent(record) else { return };
        let longest = u64::from(self.spec.transfer_bytes_max);
        self.changes.split_ios += u64::from(left > longest);
        let mut pause_ns = command.pause_ns;
        let mut parts = Vec::new();
        while left > 0 {
            let len = left.min(longest);
            let op = Op { offset, len: len as u32, ..command.op };
            parts.push(ReplayCommand { op, pause_ns, ..command });
            (offset, left, pause_ns) = (offset + len, left - len, 0);
        }
        self.pending.extend(parts.into_iter().rev());
    }

    /// Offset and length on the target in whole blocks; `None` if nothing is left.
    fn extent(&mut self, record: &Record) -> Option<(u64, u64)> {
        let block = u64::from(self.spec.block_bytes);
        let span = self.spec.span_bytes / block * block;
        let (start, end) = (record.offset, record.end());
        let (start, end) = if record.op == OpKind::Deallocate {
            (start.next_multiple_of(block), end / block * block)
        } else {
            (start / block * block, end.next_multiple_of(block))
        };
        self.changes.aligned_ios += u64::from((start, end) != (record.offset, record.end()));
        let len = end.saturating_sub(start).min(span);
        if len == 0 {
            self.changes.dropped_ios += 1;
            return None;
        }
        let folds = match self.spec.mapping {
            Mapping::Wrap => start + len > span,
            Mapping::Scale => self.trace_bytes > span,
            Mapping::Offset(_) => false,
        };
        let offset = match self.spec.mapping {
            // A command that would cross the end is moved down, so that it stays one command.
            Mapping::Wrap => (start % span).min(span - len),
            Mapping::Scale => {
                let scaled = u128::from(start) * u128::from(span) / u128::from(self.trace_bytes);
                let scaled = u64::try_from(scaled).unwrap_or(u64::MAX) / block * block;
                scaled.min(span - len)
            }
            Mapping::Offset(bytes) => {
                let offset = start.saturating_add(bytes.0 / block * block);
                if offset.saturating_add(len) > span {
                    self.changes.outside_ios += 1;
                    return None;
                }
                offset
            }
        };
        self.changes.placed_ios += 1;
        self.changes.folded_ios += u64::from(folds);
        Some((offset, len))
    }
}

fn op(record: &Record) -> Op {
    let data = match record.physical_percent {
        0 | 100 => Data::Incompressible,
        physical_percent => Data::Compressible { physical_percent },
    };
    Op {
        kind: record.op,
        data,
        fua: record.flags.contains(Flags::FUA),
        placement: 0,
        len: record.len,
        tag: 0,
        offset: record.offset,
    }
}
