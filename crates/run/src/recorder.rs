//! From completions to rows: counts, histograms, telemetry.
//!
//! A completion belongs to the second in which it ended. A completion after the end of a timed
//! phase is in no rate, because the phase has no second for it. Its latency counts in the last
//! second, because a stall that outlasts the phase is a stall of the phase. A command without an
//! answer counts with its time so far. In a linear pass a row is not a second but a zone of the
//! address space: it ends when all its bytes are done.
//!
//! Histograms need most of the memory: hundreds of bins per second, and a replay may take a day. In
//! a phase that ends by itself, neighbouring seconds share one when there are too many bins, so
//! that their memory has a bound.

use base::{Completion, Histogram, Nanos, Op, OpKind, Ratio, Status, TelemetryRow};
use device::host::processors::ProcessorTime;
use result::rows::{LatencyRow, PhaseRows, SecondRow};
use result::schema::Phase;
use result::store::ios::IosTap;

use crate::backlog::Backlog;

const SECOND_NS: u64 = Nanos::SECOND.0;

/// Number of stored bins beyond which seconds share a histogram: 100 MB, hours of a busy drive.
const LATENCY_ROWS_MAX: usize = 1 << 22;

/// The longest phase: the memory holds one row per second for 30 days. No setting of a length
/// exceeds it, and a phase that ends by itself is stopped there.
pub const LENGTH_MAX: Nanos = Nanos(30 * 86_400 * SECOND_NS);

/// The places of the zones of a linear pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zones {
    /// First byte of the first zone.
    pub start_bytes: u64,
    /// Length of a zone; the last one may be shorter.
    pub zone_bytes: u64,
}

/// Records one phase.
#[derive(Clone, Debug)]
pub struct Recorder {
    start_ns: u64,
    /// Completions from here on are late.
    end_ns: u64,
    /// Whether the phase ends by itself, so that reaching `end_ns` is a failure.
    ends_by_itself: bool,
    /// Index of the open row.
    second: u32,
    /// Start of the open row.
    row_start_ns: u64,
    zones: Option<Zones>,
    open: SecondRow,
    /// Latencies of the open second by kind, in the order of [`OpKind::ALL`].
    latencies: [Histogram; 4],
    latency_ns_max: u64,
    /// Largest latency of the ended seconds.
    within_ns_max: u64,
    /// Kinds and latencies of the commands that ended after the phase.
    late: Vec<(OpKind, u64)>,
    late_ns_max: u64,
    rows: PhaseRows,
    /// Seconds per histogram in `rows`, and number of stored bins at which it doubles.
    histogram_seconds: u32,
    latency_rows_max: usize,
    /// Stored telemetry rows, by second.
    telemetry: Vec<TelemetryRow>,
    /// Commands that ended within the phase.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Commands that failed.
    pub errors: u64,
    /// Commands that ended after the phase.
    pub ios_after_end: u64,
    /// Commands that failed, or were outstanding at the loss of the target.
    pub ios_unanswered: u64,
    /// Commands of an open loop that were due within the phase and found no room in the queue until its
    /// end.
    pub ios_not_issued: u64,
    /// Processor time of the busiest thread.
    pub busy_ns: u64,
    /// Processor time of all threads but that of the session.
    pub processor_time: ProcessorTime,
    /// Waits of due commands for room, of each job of the phase; empty without jobs.
    pub backlogs: Vec<Backlog>,
    /// Reads of blocks without data before the phase, as the target counts them; `None` if it does
    /// not, or nobody asks.
    pub unwritten_before: Option<u64>,
    /// Reads that found nothing but one repeated byte, such as zeros, or `None` if nobody looks.
    pub reads_constant: Option<u64>,
    /// The first failure: its command and errno.
    pub first_error: Option<(Op, i32)>,
    taps: Taps,
}

/// The way of each command into `ios.parquet`, one for each thread; empty without that file. A copy of
/// a recorder is for figures of the moment, and has none.
#[derive(Debug, Default)]
struct Taps(Vec<IosTap>);

impl Clone for Taps {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Recorder {
    /// Begins at `start`; `length` is `None` if the phase ends by itself.
    pub fn new(start: Nanos, length: Option<Nanos>) -> Self {
        Self {
            start_ns: start.0,
            end_ns: start.0.saturating_add(length.unwrap_or(LENGTH_MAX).0),
            ends_by_itself: length.is_none(),
            second: 0,
            row_start_ns: start.0,
            zones: None,
            open: SecondRow::default(),
            latencies: std::array::from_fn(|_| Histogram::new()),
            latency_ns_max: 0,
            within_ns_max: 0,
            late: Vec::new(),
            late_ns_max: 0,
            rows: PhaseRows::default(),
            histogram_seconds: 1,
            // A user who sets a length may ask for a part of it, such as its steady state.
            latency_rows_max: if length.is_some() { usize::MAX } else { LATENCY_ROWS_MAX },
            telemetry: Vec::new(),
            ios: 0,
            bytes: 0,
            errors: 0,
            busy_ns: 0,
            processor_time: ProcessorTime::default(),
            ios_after_end: 0,
            ios_unanswered: 0,
            ios_not_issued: 0,
            backlogs: Vec::new(),
            unwritten_before: None,
            reads_constant: None,
            first_error: None,
            taps: Taps::default(),
        }
    }

    /// Adds taps for the commands, one for each thread of the phase; none without `ios.parquet`.
    #[must_use]
    pub fn with_taps(self, taps: Vec<IosTap>) -> Self {
        Self { taps: Taps(taps), ..self }
    }

    /// A recorder with the same begin and end, for another thread in the same phase. It gets one of the
    /// taps.
    pub fn another(&mut self) -> Self {
        let length = self.deadline().map(|end| Nanos(end.0 - self.start_ns));
        let taps = self.taps.0.pop().into_iter().collect();
        let reads_constant = self.reads_constant.map(|_| 0);
        Self { reads_constant, ..Self::new(self.start(), length).with_taps(taps) }
    }

    /// Merges the recorders of all threads of the phase; the phase ends `now`.
    pub fn join(&mut self, parts: Vec<Self>, now: Nanos) {
        let mut rows = Vec::new();
        for part in parts {
            self.ios += part.ios;
            self.bytes += part.bytes;
            self.errors += part.errors;
            self.ios_after_end += part.ios_after_end;
            self.ios_unanswered += part.ios_unanswered;
            self.ios_not_issued += part.ios_not_issued;
            self.busy_ns = self.busy_ns.max(part.busy_ns);
            self.processor_time = self.processor_time + part.processor_time;
            self.reads_constant =
                self.reads_constant.map(|reads| reads + part.reads_constant.unwrap_or(0));
            self.first_error = self.first_error.or(part.first_error);
            self.within_ns_max =
                self.within_ns_max.max(part.within_ns_max).max(part.latency_ns_max);
            self.late_ns_max = self.late_ns_max.max(part.late_ns_max);
            rows.push(part.finish(now).0);
        }
        self.rows = PhaseRows::merged(&rows);
        // Nothing stays open: the rows of the parts reach to the end, and that is now.
        self.end_ns = self.end_ns.min(now.0);
        self.row_start_ns = self.end_ns;
    }

    /// Begin of the phase.
    pub fn start(&self) -> Nanos {
        Nanos(self.start_ns)
    }

    /// Begins a linear pass at `start`, with a row for each zone.
    pub fn of_zones(start: Nanos, zones: Zones) -> Self {
        Self { zones: Some(zones), ..Self::new(start, None) }
    }

    /// End of the phase; `None` if it ends by itself.
    pub fn deadline(&self) -> Option<Nanos> {
        (!self.ends_by_itself).then_some(Nanos(self.end_ns))
    }

    /// Whether a phase that should end by itself has exceeded [`LENGTH_MAX`].
    pub fn is_overlong(&self, now: Nanos) -> bool {
        self.ends_by_itself && now.0 >= self.end_ns
    }

    /// The counts in the form of a phase; name, length and completeness are those of the caller.
    pub(crate) fn record(&self) -> Phase {
        Phase {
            start_ns: self.start_ns,
            ios: self.ios,
            bytes: self.bytes,
            errors: self.errors,
            ios_after_end: self.ios_after_end,
            ios_unanswered: self.ios_unanswered,
            ios_not_issued: self.ios_not_issued,
            latency_ns_max_after_end: self.longest_is_late().map(|longest| longest.0),
            ..Phase::default()
        }
    }

    /// Number of ended rows.
    pub fn seconds(&self) -> &[SecondRow] {
        &self.rows.seconds
    }

    /// The destination of the target's telemetry.
    pub fn telemetry_mut(&mut self) -> &mut Vec<TelemetryRow> {
        &mut self.telemetry
    }

    /// Counts the end of `op`.
    #[inline]
    pub fn completed(&mut self, op: &Op, end: &Completion) {
        if end.done.0 >= self.end_ns || end.status != Status::Ok {
            self.ended_apart(op, end);
            return;
        }
        self.close_seconds(end.done.0);
        let kind = op.kind.index();
        let latency_ns = end.latency().0;
        self.open.ios[kind] += 1;
        self.open.bytes[kind] += u64::from(op.len);
        self.latencies[kind].record(latency_ns);
        self.latency_ns_max = self.latency_ns_max.max(latency_ns);
        self.ios += 1;
        // A deallocation moves nothing, whatever its length.
        let moved = if op.kind == OpKind::Deallocate { 0 } else { op.len };
        self.bytes += u64::from(moved);
        if let Some(zones) = self.zones
            && self.open.bytes.iter().sum::<u64>() >= zones.zone_bytes
        {
            self.close_row(end.done.0.max(self.row_start_ns + 1));
        }
    }

    /// Hands a command that has ended to its tap, if there is one. `end` has the time from which its
    /// latency counts as its `submitted`; the target got the command when it was `issued`.
    #[inline]
    pub fn point(&mut self, op: &Op, issued: Nanos, end: &Completion, job: u32) {
        if let Some(tap) = self.taps.0.first_mut() {
            tap.add(op, issued, end, job);
        }
    }

    /// Counts the end of a command that is in no rate: it failed, or came after the phase.
    #[cold]
    fn ended_apart(&mut self, op: &Op, end: &Completion) {
        match end.status {
            Status::Ok => self.ios_after_end += 1,
            Status::Failed { errno } => {
                self.errors += 1;
                self.ios_unanswered += 1;
                self.first_error.get_or_insert((*op, errno));
            }
        }
        let is_failed = end.status != Status::Ok;
        if self.waited(op.kind, end.latency(), end.done) && is_failed {
            self.open.errors += 1;
        }
    }

    /// Counts a command of a job that is outstanding since `since` and never ends: the target is lost.
    pub fn given_up(&mut self, op: &Op, since: Nanos, now: Nanos, job: u32) {
        if let Some(tap) = self.taps.0.first_mut() {
            tap.given_up(op, since, now, job);
        }
        self.ios_unanswered += 1;
        self.waited(op.kind, Nanos(now.0.saturating_sub(since.0)), now);
    }

    /// Counts the latency of a command that is in no rate; true if `now` lies within the phase.
    fn waited(&mut self, kind: OpKind, latency: Nanos, now: Nanos) -> bool {
        let is_within = now.0 < self.end_ns;
        if is_within {
            self.close_seconds(now.0);
            self.latencies[kind.index()].record(latency.0);
            self.latency_ns_max = self.latency_ns_max.max(latency.0);
        } else {
            self.late.push((kind, latency.0));
            self.late_ns_max = self.late_ns_max.max(latency.0);
        }
        is_within
    }

    /// The longest latency of all, or `None` if it belongs to a command that ended within the
    /// phase.
    pub fn longest_is_late(&self) -> Option<Nanos> {
        let within_ns = self.within_ns_max.max(self.latency_ns_max);
        (self.late_ns_max > within_ns).then_some(Nanos(self.late_ns_max))
    }

    /// Closes the seconds that ended by `now`, so that a stalled target shows its empty seconds.
    #[inline]
    pub fn passed(&mut self, now: Nanos) {
        self.close_seconds(now.0.min(self.end_ns));
    }

    /// Closes the seconds that ended by `now_ns`; zones end by their bytes.
    #[inline]
    fn close_seconds(&mut self, now_ns: u64) {
        while now_ns >= self.row_start_ns + SECOND_NS && self.zones.is_none() {
            self.close_row(self.row_start_ns + SECOND_NS);
        }
    }

    /// Ends the phase at `now` and returns its rows and its length.
    pub fn finish(mut self, now: Nanos) -> (PhaseRows, Nanos) {
        let end_ns = now.0.min(self.end_ns);
        self.passed(Nanos(end_ns));
        // A command that ended at the very last moment opened a row of no length; one ns keeps it countable.
        let is_homeless = self.rows.seconds.is_empty() && !self.late.is_empty();
        let holds_ends = self.latencies.iter().any(|kind| kind.count() > 0) || is_homeless;
        if holds_ends || (self.zones.is_none() && end_ns > self.row_start_ns) {
            self.close_row(end_ns.max(self.row_start_ns + 1));
        }
        if !self.late.is_empty() {
            self.rows.count_late(&self.late);
        }
        if self.histogram_seconds > 1 {
            self.merge_latencies();
        }
        // Telemetry comes by the second and says nothing about a zone.
        if self.zones.is_none() {
            for (row, telemetry) in self.rows.seconds.iter_mut().zip(self.telemetry) {
                row.telemetry = Some(telemetry);
            }
        }
        (self.rows, Nanos(end_ns.saturating_sub(self.start_ns)))
    }

    fn close_row(&mut self, end_ns: u64) {
        let mut row = std::mem::take(&mut self.open);
        row.second = self.second;
        row.start_ns = self.row_start_ns - self.start_ns;
        row.duration_ns = end_ns - self.row_start_ns;
        let offset_bytes =
            |zones: Zones| zones.start_bytes + u64::from(self.second) * zones.zone_bytes;
        row.offset_bytes = self.zones.map(offset_bytes);
        self.close_latencies(&mut row);
        self.rows.seconds.push(row);
        self.second += 1;
        self.row_start_ns = end_ns;
    }

    /// Moves the histograms of the second into rows and its percentiles into `row`.
    fn close_latencies(&mut self, row: &mut SecondRow) {
        let counts = self.latencies.each_ref().map(Histogram::count);
        let count: u64 = counts.iter().sum();
        if count == 0 {
            return;
        }
        let busiest = (0..4).max_by_key(|&kind| counts[kind]).unwrap_or(0);
        let mut all = None;
        if counts[busiest] < count {
            let mut merged = self.latencies[0].clone();
            self.latencies[1..].iter().for_each(|other| merged.merge(other));
            all = Some(merged);
        }
        let all = all.as_ref().unwrap_or(&self.latencies[busiest]);
        row.latency_ns_p50 = all.percentile(Ratio::new(1, 2).unwrap_or(Ratio::ONE));
        row.latency_ns_p99 = all.percentile(Ratio::new(99, 100).unwrap_or(Ratio::ONE));
        self.within_ns_max = self.within_ns_max.max(self.latency_ns_max);
        row.latency_ns_max = Some(std::mem::take(&mut self.latency_ns_max));
        for op in OpKind::ALL {
            let histogram = &mut self.latencies[op.index()];
            if histogram.count() > 0 {
                let second = row.second;
                let bins = histogram.bins();
                let bins = bins.map(|(lower_ns, count)| LatencyRow { second, op, lower_ns, count });
                self.rows.latencies.extend(bins);
                histogram.clear();
            }
        }
        while self.rows.latencies.len() > self.latency_rows_max {
            self.merge_latencies();
            if self.rows.latencies.len() > self.latency_rows_max / 2 {
                self.histogram_seconds *= 2;
            }
        }
    }

    /// Adds up the bins of seconds that share a histogram.
    fn merge_latencies(&mut self) {
        let (rows, seconds) = (&mut self.rows.latencies, self.histogram_seconds);
        rows.iter_mut().for_each(|row| row.second -= row.second % seconds);
        rows.sort_unstable_by_key(|row| (row.second, row.op.index(), row.lower_ns));
        rows.dedup_by(|row, kept| {
            let same = (row.second, row.op, row.lower_ns) == (kept.second, kept.op, kept.lower_ns);
            kept.count += if same { row.count } else { 0 };
            same
        });
    }
}

/// Whether all bytes are the same.
pub(crate) fn is_constant(bytes: &[u8]) -> bool {
    bytes.split_first().is_none_or(|(first, rest)| rest.iter().all(|byte| byte == first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Data;
    use result::store::ios::NO_JOB;

    fn op(kind: OpKind) -> Op {
        Op {
            kind,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len: 4096,
            tag: 0,
            offset: 0,
        }
    }

    fn end(submitted: u64, done: u64) -> Completion {
        Completion { tag: 0, status: Status::Ok, submitted: Nanos(submitted), done: Nanos(done) }
    }

    #[test]
    fn every_second_has_a_row_and_the_sums_agree() {
        let start = 500_000_000;
        let mut recorder = Recorder::new(Nanos(start), Some(Nanos(5 * SECOND_NS)));
        for at in [0, 10, 999_999_999, 1_000_000_000, 3_400_000_000, 4_999_999_999, 5_000_000_000] {
            recorder.completed(&op(OpKind::Write), &end(start, start + at));
        }
        let (ios, late) = (recorder.ios, recorder.ios_after_end);
        let (rows, length) = recorder.finish(Nanos(start + 7 * SECOND_NS));
        assert_eq!((ios, late, length), (6, 1, Nanos(5 * SECOND_NS)));
        let counts: Vec<_> =
            rows.seconds.iter().map(|row| row.ios[OpKind::Write.index()]).collect();
        assert_eq!(counts, [3, 1, 0, 1, 1]);
        assert_eq!(rows.histogram(OpKind::Write, 0..5).count(), ios + late);
        assert!(rows.seconds.iter().all(|row| row.duration_ns == SECOND_NS));
        assert_eq!(rows.seconds[2].latency_ns_max, None);
        assert_eq!(rows.seconds[3].latency_ns_max, Some(3_400_000_000));
        assert_eq!(rows.seconds[4].latency_ns_max, Some(5_000_000_000), "that of the late one");
    }

    #[test]
    fn what_has_no_answer_counts_with_the_time_it_waited() {
        let mut recorder = Recorder::new(Nanos(0), Some(Nanos::SECOND));
        let failed = |done| Completion { status: Status::Failed { errno: 5 }, ..end(0, done) };
        recorder.completed(&op(OpKind::Write), &failed(SECOND_NS / 2));
        recorder.completed(&op(OpKind::Write), &failed(30 * SECOND_NS));
        recorder.given_up(&op(OpKind::Read), Nanos(1), Nanos(40 * SECOND_NS), NO_JOB);
        let Recorder { ios, errors, ios_after_end, ios_unanswered, .. } = recorder;
        assert_eq!((ios, errors, ios_after_end, ios_unanswered), (0, 2, 0, 3));
        assert_eq!(recorder.longest_is_late(), Some(Nanos(40 * SECOND_NS - 1)));
        let (rows, length) = recorder.finish(Nanos(40 * SECOND_NS));
        assert_eq!((length, rows.seconds.len(), rows.seconds[0].errors), (Nanos::SECOND, 1, 1));
        assert_eq!(rows.seconds[0].latency_ns_max, Some(40 * SECOND_NS - 1));
        let counts = [OpKind::Read, OpKind::Write].map(|op| rows.histogram(op, 0..1).count());
        assert_eq!(counts, [1, 2]);
    }

    #[test]
    fn a_phase_that_ends_by_itself_has_a_short_last_row() {
        let mut recorder = Recorder::new(Nanos(0), None);
        recorder.completed(&op(OpKind::Read), &end(0, 1_250_000_000));
        let (rows, length) = recorder.finish(Nanos(1_250_000_000));
        assert_eq!(length, Nanos(1_250_000_000));
        assert_eq!(rows.seconds.len(), 2);
        assert_eq!(rows.seconds[1].duration_ns, 250_000_000);
    }

    #[test]
    fn a_linear_pass_has_a_row_for_each_zone_however_long_it_takes() {
        let zones = Zones { start_bytes: 1 << 20, zone_bytes: 8192 };
        let mut recorder = Recorder::of_zones(Nanos(100), zones);
        for done in [1_000, 2_000, 5_000_000_000, 6_000_000_000, 6_000_000_500] {
            recorder.completed(&op(OpKind::Write), &end(100, done));
            recorder.passed(Nanos(done));
        }
        recorder.telemetry_mut().push(TelemetryRow::default());
        let (rows, _) = recorder.finish(Nanos(6_000_001_000));
        let row = |row: &SecondRow| (row.offset_bytes.unwrap(), row.start_ns, row.duration_ns);
        let found: Vec<_> = rows.seconds.iter().map(row).collect();
        let offset = |zone: u64| (1 << 20) + zone * 8192;
        let last = (offset(2), 5_999_999_900, 1_000);
        assert_eq!(found, [(offset(0), 0, 1_900), (offset(1), 1_900, 5_999_998_000), last]);
        assert!(rows.seconds.iter().all(|row| row.telemetry.is_none()));
        assert_eq!(rows.histogram(OpKind::Write, 0..3).count(), 5);
    }

    #[test]
    fn a_long_phase_keeps_a_bound_on_its_bins_and_loses_no_count() {
        let mut recorder = Recorder::new(Nanos(0), None);
        recorder.latency_rows_max = 100;
        for io in 0..5000 {
            let done = io * SECOND_NS / 5;
            let kind = if io % 3 == 0 { OpKind::Write } else { OpKind::Read };
            recorder.completed(&op(kind), &end(done.saturating_sub(100 * (io % 7)), done));
            assert!(recorder.rows.latencies.len() <= 100);
        }
        let seconds = recorder.histogram_seconds;
        let (rows, _) = recorder.finish(Nanos(1000 * SECOND_NS));
        assert!(seconds > 1 && rows.latencies.iter().all(|row| row.second % seconds == 0));
        let count = |op| rows.histogram(op, 0..1000).count();
        assert_eq!((count(OpKind::Write), count(OpKind::Read)), (1667, 3333));
        assert_eq!(rows.seconds.len(), 1000, "every second keeps its row and its maximum");
        assert!(rows.seconds.iter().all(|row| row.latency_ns_max.is_some()));
    }

    /// A drive whose commands take an hour, or a pause of years, must not fill the memory with
    /// empty rows.
    #[test]
    fn a_phase_that_does_not_end_has_no_endless_rows() {
        let years = Nanos(10 * 365 * 86_400 * SECOND_NS);
        for zones in [None, Some(Zones { start_bytes: 0, zone_bytes: 4096 })] {
            let mut recorder = Recorder::new(Nanos(7), None);
            recorder.zones = zones;
            recorder.completed(&op(OpKind::Write), &end(7, 8));
            assert!(!recorder.is_overlong(Nanos(8)));
            recorder.completed(&op(OpKind::Write), &end(7, years.0));
            recorder.passed(years);
            assert!(recorder.is_overlong(years));
            let (rows, length) = recorder.finish(years);
            assert_eq!(length, LENGTH_MAX);
            assert!(rows.seconds.len() <= 30 * 86_400);
        }
        let timed = Recorder::new(Nanos(0), Some(Nanos::SECOND));
        assert!(!timed.is_overlong(years));
    }

    #[test]
    fn failures_are_in_no_rate() {
        let mut recorder = Recorder::new(Nanos(0), None);
        let failed = Completion { status: Status::Failed { errno: 5 }, ..end(0, 10) };
        recorder.completed(&op(OpKind::Write), &failed);
        assert_eq!((recorder.ios, recorder.errors), (0, 1));
        assert_eq!(recorder.first_error.map(|(_, errno)| errno), Some(5));
    }

    #[test]
    fn bytes_are_constant_if_they_are_all_the_same() {
        assert!(is_constant(&[0; 8]) && is_constant(&[255; 8]) && !is_constant(&[0, 0, 1]));
    }
}
