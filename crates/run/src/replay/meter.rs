//! The figures of a replay: busy time, service time, data rate, depth, lateness; of all and of each group.

use base::{Completion, Histogram, Op, OpKind};

use super::Changes;
use crate::backlog::Backlog;

/// Time, commands and bytes of one kind, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Commands that ended.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their times from issue to completion.
    pub service_ns: u64,
    /// Time in which at least one of them was outstanding.
    pub busy_ns: u64,
    outstanding: u32,
    busy_since_ns: u64,
}

impl Total {
    fn issued(&mut self, now_ns: u64) {
        if self.outstanding == 0 {
            // Time that was counted already does not count again.
            self.busy_since_ns = self.busy_since_ns.max(now_ns);
        }
        self.outstanding += 1;
    }

    fn ended(&mut self, bytes: u64, end: &Completion) {
        self.ios += 1;
        self.bytes += bytes;
        self.service_ns += end.latency().0;
        self.outstanding = self.outstanding.saturating_sub(1);
        // Each end moves the border of what was busy, so ends of one moment may come in any order.
        self.busy_ns += end.done.0.saturating_sub(self.busy_since_ns);
        self.busy_since_ns = self.busy_since_ns.max(end.done.0);
    }

    /// Decimal megabytes per second of busy time.
    pub fn mb_per_s(&self) -> Option<f64> {
        (self.busy_ns > 0 && self.ios > 0).then(|| self.bytes as f64 * 1e3 / self.busy_ns as f64)
    }

    /// Mean time from issue to completion in us.
    pub fn service_us(&self) -> Option<f64> {
        (self.ios > 0).then(|| self.service_ns as f64 / 1e3 / self.ios as f64)
    }
}

/// All, reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Reads and writes together.
    pub all: Total,
    /// Reads.
    pub reads: Total,
    /// Writes.
    pub writes: Total,
}

impl Totals {
    fn of(&mut self, kind: OpKind) -> Option<&mut Total> {
        match kind {
            OpKind::Read => Some(&mut self.reads),
            OpKind::Write => Some(&mut self.writes),
            OpKind::Flush | OpKind::Deallocate => None,
        }
    }

    fn issued(&mut self, kind: OpKind, now_ns: u64) {
        if let Some(total) = self.of(kind) {
            total.issued(now_ns);
            self.all.issued(now_ns);
        }
    }

    fn ended(&mut self, kind: OpKind, bytes: u64, end: &Completion) {
        if let Some(total) = self.of(kind) {
            total.ended(bytes, end);
            self.all.ended(bytes, end);
        }
    }
}

/// Counts a replay.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// The whole replay.
    pub totals: Totals,
    /// Time with any command outstanding, flushes and deallocations included.
    pub busy_ns: u64,
    any: Total,
    /// Parts of the trace with one name.
    pub groups: Vec<(String, Totals)>,
    /// The group of each stream.
    group_of: Vec<usize>,
    /// Lateness of commands with a time of their own.
    pub lateness: Histogram,
    /// Times from issue to completion in the open form, whose latencies count from the recorded
    /// times.
    pub device_latency: Histogram,
    /// Waits of due commands for room in the open form.
    pub backlog: Backlog,
    /// The changes between the trace and the target.
    pub changes: Changes,
    depth_sum: u64,
    depth_1: u64,
    issued: u64,
}

impl Meter {
    /// A counter for a trace with streams of these names; the part before a `/` names the group.
    pub fn new(streams: &[String]) -> Self {
        let mut meter = Self::default();
        for stream in streams {
            let Some((name, _)) = stream.split_once('/') else { return Self::default() };
            let known = meter.groups.iter().position(|(known, _)| known == name);
            let group = known.unwrap_or_else(|| {
                meter.groups.push((name.to_owned(), Totals::default()));
                meter.groups.len() - 1
            });
            meter.group_of.push(group);
        }
        meter
    }

    /// Counts the issue of a command, the `depth`-th outstanding one, `late_ns` after its time if
    /// it has one.
    #[inline]
    pub fn issued(&mut self, op: &Op, stream: u32, depth: u32, now_ns: u64, late_ns: Option<u64>) {
        self.any.issued(now_ns);
        self.totals.issued(op.kind, now_ns);
        if let Some(group) = self.group(stream) {
            group.issued(op.kind, now_ns);
        }
        self.depth_sum += u64::from(depth);
        self.depth_1 += u64::from(depth == 1);
        self.issued += 1;
        if let Some(late_ns) = late_ns {
            self.lateness.record(late_ns);
        }
    }

    /// Counts the end of a command.
    #[inline]
    pub fn ended(&mut self, op: &Op, stream: u32, end: &Completion) {
        let bytes = u64::from(op.len);
        self.any.ended(bytes, end);
        self.busy_ns = self.any.busy_ns;
        self.totals.ended(op.kind, bytes, end);
        if let Some(group) = self.group(stream) {
            group.ended(op.kind, bytes, end);
        }
    }

    fn group(&mut self, stream: u32) -> Option<&mut Totals> {
        let group = *self.group_of.get(stream as usize)?;
        self.groups.get_mut(group).map(|(_, totals)| totals)
    }

    /// Mean depth at issue.
    pub fn depth_mean(&self) -> Option<f64> {
        (self.issued > 0).then(|| self.depth_sum as f64 / self.issued as f64)
    }

    /// Share of the commands with a place on the target that share it with other addresses of the
    /// trace.
    pub fn folded_share(&self) -> Option<f64> {
        let Changes { placed_ios, folded_ios, .. } = self.changes;
        (placed_ios > 0).then(|| folded_ios as f64 / placed_ios as f64)
    }

    /// Share of commands issued at depth 1.
    pub fn depth_1_share(&self) -> Option<f64> {
        (self.issued > 0).then(|| self.depth_1 as f64 / self.issued as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Data, Nanos, Status};

    fn op(kind: OpKind) -> Op {
        Op {
            kind,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len: 1000,
            tag: 0,
            offset: 0,
        }
    }

    fn end(submitted: u64, done: u64) -> Completion {
        Completion { tag: 0, status: Status::Ok, submitted: Nanos(submitted), done: Nanos(done) }
    }

    #[test]
    fn busy_time_leaves_idle_out_and_counts_overlap_once() {
        let mut meter = Meter::new(&["a/x".to_owned(), "b/y".to_owned()]);
        let (read, write) = (op(OpKind::Read), op(OpKind::Write));
        meter.issued(&read, 0, 1, 100, None);
        meter.issued(&write, 1, 2, 150, None);
        meter.ended(&read, 0, &end(100, 200));
        meter.ended(&write, 1, &end(150, 300));
        meter.issued(&read, 1, 1, 1000, Some(7));
        meter.ended(&read, 1, &end(1000, 1100));
        let Totals { all, reads, writes } = meter.totals;
        assert_eq!((all.busy_ns, reads.busy_ns, writes.busy_ns), (300, 200, 150));
        assert_eq!((all.ios, all.bytes, all.service_ns), (3, 3000, 100 + 150 + 100));
        assert_eq!(all.mb_per_s(), Some(3000.0 * 1e3 / 300.0));
        assert_eq!(reads.service_us(), Some(0.1));
        assert_eq!(meter.groups[1].1.all.busy_ns, 250);
        assert_eq!(meter.lateness.count(), 1);
        assert_eq!(meter.depth_mean(), Some(4.0 / 3.0));
    }

    #[test]
    fn ends_of_one_batch_may_come_in_any_order() {
        let busy = |ends: [(u64, u64); 3]| {
            let mut meter = Meter::default();
            ends.iter().for_each(|_| meter.issued(&op(OpKind::Read), 0, 1, 10, None));
            ends.iter().for_each(|&(s, d)| meter.ended(&op(OpKind::Read), 0, &end(s, d)));
            meter.totals.all.busy_ns
        };
        assert_eq!(busy([(10, 20), (10, 30), (10, 40)]), 30);
        assert_eq!(busy([(10, 40), (10, 20), (10, 30)]), 30);
    }
}
