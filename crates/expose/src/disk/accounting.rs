//! The account of a disk: its requests, and the work of its drive, also over losses of power.

use std::collections::BTreeMap;

use base::telemetry::ColumnKind;
use base::{Completion, Histogram, Nanos, Op, OpKind, TelemetryRow};
use serde::{Deserialize, Serialize};

/// Length of a row of telemetry.
const ROW_NS: u64 = Nanos::SECOND.0;

/// An event of a disk, for somebody who follows it.
#[derive(Clone, Copy, Debug)]
pub enum DiskEvent<'a> {
    /// A request has ended; as a command of its kind.
    Request(&'a Op, &'a Completion),
    /// A second of the drive's clock has passed, with this work in it.
    Second(&'a TelemetryRow, Nanos),
}

/// Takes the events of a disk.
pub type Follower = Box<dyn FnMut(DiskEvent<'_>) + Send>;

/// Requests and bytes, in the order of [`base::OpKind::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Successful requests.
    pub ios: [u64; 4],
    /// Their bytes.
    pub bytes: [u64; 4],
    /// Failed requests.
    pub errors: u64,
}

/// Everything that is counted, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Requests.
    pub counts: Counts,
    /// Work of the drive.
    pub telemetry: TelemetryRow,
    /// Time of the drive.
    pub now: Nanos,
}

impl Totals {
    /// Pages programmed for each page of the host since `earlier`, or `None` if the host has written none.
    pub fn waf_since(&self, earlier: &Self) -> Option<f64> {
        let row = self.telemetry.since(&earlier.telemetry);
        (row.host_pages > 0).then(|| row.programmed_pages as f64 / row.host_pages as f64)
    }
}

/// The account.
#[derive(Default, Serialize, Deserialize)]
pub struct Accounting {
    counts: Counts,
    latencies: Histogram,
    /// Work of the drive before the last loss of power.
    earlier_lives: TelemetryRow,
    /// Lead of the clock of the account over that of the drive, which jumps back when a snapshot is restored.
    lead_ns: u64,
    /// The counters count from here.
    zero: Totals,
    marks: BTreeMap<String, Totals>,
    #[serde(skip)]
    follower: Option<Follower>,
    /// Totals at the begin of the present row, and its end.
    row_start: TelemetryRow,
    row_end_ns: u64,
}

impl std::fmt::Debug for Accounting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accounting").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl Accounting {
    /// Most marks at a time.
    pub const MARKS_MAX: usize = 256;

    /// Everything so far, for a drive with these totals since it last got power.
    pub fn totals(&self, telemetry: TelemetryRow, now: Nanos) -> Totals {
        let telemetry = sum(&self.earlier_lives, telemetry);
        Totals { counts: self.counts, telemetry, now: self.shown(now) }
    }

    /// The totals at the last reset of the counters.
    pub fn zero(&self) -> &Totals {
        &self.zero
    }

    /// Latencies of the requests since the last reset, in ns of the drive's clock.
    pub fn latencies(&self) -> &Histogram {
        &self.latencies
    }

    /// Lets the counters begin at these totals.
    pub fn reset(&mut self, totals: Totals) {
        self.zero = totals;
        self.latencies.clear();
    }

    /// Names a moment; false if there are too many names.
    pub fn mark(&mut self, name: String, totals: Totals) -> bool {
        let has_room = self.marks.len() < Self::MARKS_MAX || self.marks.contains_key(&name);
        if has_room {
            self.marks.insert(name, totals);
        }
        has_room
    }

    /// The moments with names.
    pub fn marks(&self) -> &BTreeMap<String, Totals> {
        &self.marks
    }

    /// Lets somebody follow from now on; rows of seconds begin now.
    pub fn follow(&mut self, follower: Follower, totals: Totals) {
        (self.row_start, self.row_end_ns) = (totals.telemetry, totals.now.0 + ROW_NS);
        self.follower = Some(follower);
    }

    /// Whether the present second of a followed drive has ended by `now`.
    pub fn is_row_due(&self, now: Nanos) -> bool {
        self.follower.is_some() && self.shown(now).0 >= self.row_end_ns
    }

    /// Ends the rows that are due. Those behind the first one had no work, or too little to be looked at.
    pub fn end_rows(&mut self, totals: &Totals) {
        while self.follower.is_some() && totals.now.0 >= self.row_end_ns {
            let row = totals.telemetry.since(&self.row_start);
            if let Some(follower) = &mut self.follower {
                follower(DiskEvent::Second(&row, Nanos(self.row_end_ns)));
            }
            self.row_start = totals.telemetry;
            self.row_end_ns += ROW_NS;
        }
    }

    /// The work in the present second of a followed drive with these totals.
    pub fn open_row(&self, totals: &Totals) -> TelemetryRow {
        totals.telemetry.since(&self.row_start)
    }

    /// Counts a request.
    pub fn ended(&mut self, op: &Op, end: &Completion) {
        let kind = op.kind.index();
        if end.status == base::Status::Ok {
            self.counts.ios[kind] += 1;
            self.counts.bytes[kind] += u64::from(op.len);
            self.latencies.record(end.latency().0);
        } else {
            self.counts.errors += 1;
        }
        let (submitted, done) = (self.shown(end.submitted), self.shown(end.done));
        let shown = Completion { submitted, done, ..*end };
        if let Some(follower) = &mut self.follower {
            follower(DiskEvent::Request(op, &shown));
        }
    }

    /// Counts a copy, which is a write, among the reads as well, without its bytes: those go to no host.
    pub fn copied(&mut self) {
        self.counts.ios[OpKind::Read.index()] += 1;
    }

    /// Closes the account of a drive that loses its power.
    pub fn end_life(&mut self, telemetry: TelemetryRow) {
        self.earlier_lives = sum(&self.earlier_lives, telemetry);
    }

    /// Goes on after a change to another state of the drive, whose clock and counters are elsewhere: those of the
    /// account go on from `from`.
    pub fn jump(&mut self, from: &Totals, telemetry: TelemetryRow, now: Nanos) {
        // Wrapping differences: those of an earlier state are lower, and only the sums are ever shown.
        self.earlier_lives = from.telemetry.map(|column, value| match column.kind {
            ColumnKind::Counter => value.wrapping_sub((column.get)(&telemetry)),
            ColumnKind::Level => 0,
        });
        self.lead_ns = from.now.0.wrapping_sub(now.0);
    }

    fn shown(&self, time: Nanos) -> Nanos {
        Nanos(time.0.wrapping_add(self.lead_ns))
    }
}

/// Counters added up; levels are the later ones.
fn sum(earlier: &TelemetryRow, later: TelemetryRow) -> TelemetryRow {
    later.map(|column, value| match column.kind {
        ColumnKind::Counter => value.wrapping_add((column.get)(earlier)),
        ColumnKind::Level => value,
    })
}
