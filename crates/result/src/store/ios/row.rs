//! One command of `ios.parquet`.

use base::{Completion, Nanos, Op, OpKind, Status};

/// The job of a command in a phase without jobs.
pub const NO_JOB: u32 = u32::MAX;

/// The status of a command without an answer: the target was lost.
pub const UNANSWERED: i32 = -1;

/// One command. Times count in ns from the start of its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRow {
    /// Time from which its latency counts: its due time in an open loop, else that of its issue.
    pub due_ns: u64,
    /// Time at which the target got it.
    pub issued_ns: u64,
    /// Time of its end.
    pub done_ns: u64,
    /// First byte.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u32,
    /// Position in the names of the phase's jobs, or [`NO_JOB`].
    pub job: u32,
    /// 0 for success, the errno of a failure, or [`UNANSWERED`].
    pub status: i32,
    /// Kind of the command.
    pub kind: OpKind,
}

impl IoRow {
    /// The row of a command in a phase that began at `start`. `end` has the time from which the
    /// latency counts as its `submitted`.
    #[inline]
    pub fn new(start: Nanos, op: &Op, issued: Nanos, end: &Completion, job: u32) -> Self {
        let since = |time: Nanos| time.0.saturating_sub(start.0);
        Self {
            due_ns: since(end.submitted),
            issued_ns: since(issued),
            done_ns: since(end.done),
            offset_bytes: op.offset,
            length_bytes: op.len,
            job,
            status: match end.status {
                Status::Ok => 0,
                Status::Failed { errno } => errno,
            },
            kind: op.kind,
        }
    }

    /// Time from due to done.
    #[inline]
    pub fn latency_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.due_ns)
    }

    /// The second of the phase in which it ended.
    #[inline]
    pub fn second(&self) -> u32 {
        u32::try_from(self.done_ns / Nanos::SECOND.0).unwrap_or(u32::MAX)
    }
}
