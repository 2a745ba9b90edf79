//! Latency of a probe beside a load whose commands have their times.

use base::{Completion, Data, Histogram, Nanos, Op, OpKind, Ratio, Rng};
use sim::{Drive, PAGE_BYTES};

/// Commands a second of the probe, half reads and half writes, at fixed intervals.
const PROBE_IOPS: u64 = 10_000;
/// Threads of the measurement, each with a queue of its own: the probe and six of the load.
pub(super) const THREADS: u32 = 7;
/// Most outstanding commands of a thread. For the probe it follows from the overloaded SN640, whose 7,200 probes a second
/// take 8.9 ms.
const THREAD_DEPTH: u32 = 64;
/// The time for which the load waits for a free place before it looks again.
const LOOK_NS: u64 = 5_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A percentile of the latency of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnderLoad {
    is_read: bool,
    percent: u64,
}

impl UnderLoad {
    /// All percentiles.
    pub const ALL: [Self; 4] = [Self::READ_P50, Self::READ_P99, Self::WRITE_P50, Self::WRITE_P99];
    /// Median of the reads.
    pub const READ_P50: Self = Self { is_read: true, percent: 50 };
    /// 99th percentile of the reads.
    pub const READ_P99: Self = Self { is_read: true, percent: 99 };
    /// Median of the writes.
    pub const WRITE_P50: Self = Self { is_read: false, percent: 50 };
    /// 99th percentile of the writes.
    pub const WRITE_P99: Self = Self { is_read: false, percent: 99 };

    /// Its name among the quantities.
    pub const fn name(self) -> &'static str {
        match (self.is_read, self.percent) {
            (true, 50) => "read under load p50",
            (true, _) => "read under load p99",
            (false, 50) => "write under load p50",
            (false, _) => "write under load p99",
        }
    }

    /// Whether it is a median.
    pub(super) const fn is_median(self) -> bool {
        self.percent == 50
    }
}

/// A command of whole pages.
pub(super) fn page_op(kind: OpKind, page: u64, pages: u64, tag: u32) -> Op {
    let data = Data::Incompressible;
    let (offset, len) = (page * PAGE_BYTES, (pages * PAGE_BYTES) as u32);
    Op { kind, data, fua: false, placement: 0, len, tag, offset }
}

/// The scale of a drive under load where others have this one: eight times, since a smaller drive stalls for longer.
pub(super) fn scale(other: Ratio) -> Ratio {
    const WHOLE: u64 = 1 << 30;
    Ratio::new(other.of(8 * WHOLE).min(WHOLE), WHOLE).unwrap_or(Ratio::ONE)
}

/// Whether a tag is the probe's: a drive with as many queues as threads takes the queue of a command from its tag.
const fn is_of_probe(tag: &u32) -> bool {
    tag.is_multiple_of(THREADS)
}

/// A probe and a load.
pub(super) struct OpenLoop<'a> {
    drive: &'a mut Drive,
    span: u64,
    rng: Rng,
    probe_tags: Vec<u32>,
    load_tags: Vec<u32>,
    /// The kind of the command with each tag, of which the probe's count.
    kinds: Vec<OpKind>,
    probes: u64,
    reads: Histogram,
    writes: Histogram,
    out: Vec<Completion>,
}

impl<'a> OpenLoop<'a> {
    pub(super) fn new(drive: &'a mut Drive, span: u64) -> Self {
        let places = THREAD_DEPTH.min(drive.config().queue_depth / THREADS) * THREADS;
        let (probe_tags, load_tags) = (0..places).partition(is_of_probe);
        Self {
            drive,
            span,
            rng: Rng::new(2),
            probe_tags,
            load_tags,
            kinds: vec![OpKind::Read; places as usize],
            probes: 0,
            reads: Histogram::new(),
            writes: Histogram::new(),
            out: Vec::new(),
        }
    }

    /// The percentiles in us at a rate of both together: the latencies of 5 s after one second.
    pub(super) fn percentiles(&mut self, iops: u64) -> [(UnderLoad, f64); 4] {
        let load = iops.saturating_sub(PROBE_IOPS).max(1);
        self.run(load, SECOND_NS);
        self.reads.clear();
        self.writes.clear();
        self.run(load, 5 * SECOND_NS);
        UnderLoad::ALL.map(|figure| {
            let histogram = if figure.is_read { &self.reads } else { &self.writes };
            let share = Ratio::new(figure.percent, 100).unwrap_or(Ratio::ONE);
            (figure, histogram.quantile(share).unwrap_or(0) as f64 / 1e3)
        })
    }

    /// Issues both for a time: probes at fixed intervals, the load of so many commands a second with exponential gaps.
    fn run(&mut self, load_iops: u64, length_ns: u64) {
        let start_ns = self.drive.now().0;
        let load_gap_ns = SECOND_NS as f64 / load_iops as f64;
        let (mut probe_ns, mut load_ns) = (0_u64, load_gap_ns * self.exponential());
        while probe_ns < length_ns {
            let look_ns = self.drive.now().0 - start_ns + LOOK_NS;
            let is_full = self.load_tags.is_empty();
            let load_at_ns = if is_full { look_ns.max(load_ns as u64) } else { load_ns as u64 };
            self.run_until(Nanos(start_ns + probe_ns.min(load_at_ns)));
            if probe_ns <= load_at_ns {
                self.issue_probe();
                probe_ns += SECOND_NS / PROBE_IOPS;
            } else if self.issue_load() {
                load_ns += load_gap_ns * self.exponential();
            }
        }
    }

    /// Issues a command of the probe, or none if too many are outstanding.
    fn issue_probe(&mut self) {
        let Some(tag) = self.probe_tags.pop() else { return };
        self.probes += 1;
        let kind = if self.probes.is_multiple_of(2) { OpKind::Read } else { OpKind::Write };
        self.issue(kind, tag);
    }

    /// Whether there was a place for a command of the load, which is issued then.
    fn issue_load(&mut self) -> bool {
        let Some(tag) = self.load_tags.pop() else { return false };
        let kind = if self.rng.chance(1, 100) { OpKind::Read } else { OpKind::Write };
        self.issue(kind, tag);
        true
    }

    fn issue(&mut self, kind: OpKind, tag: u32) {
        self.kinds[tag as usize] = kind;
        let page = self.rng.below(self.span);
        self.drive.submit(&[page_op(kind, page, 1, tag)]);
    }

    /// Lets time pass, and takes the commands that have ended.
    fn run_until(&mut self, time: Nanos) {
        self.drive.run_until(time);
        self.out.clear();
        self.drive.reap(0, &mut self.out);
        for end in &self.out {
            if !is_of_probe(&end.tag) {
                self.load_tags.push(end.tag);
                continue;
            }
            self.probe_tags.push(end.tag);
            match self.kinds[end.tag as usize] {
                OpKind::Read => self.reads.record(end.latency().0),
                _ => self.writes.record(end.latency().0),
            }
        }
    }

    /// An exponential random number with the mean 1.
    fn exponential(&mut self) -> f64 {
        let share = (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        -(1.0 - share).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::super::procedure::ExperimentDrive;
    use super::*;

    #[test]
    fn a_drive_under_load_has_eight_times_the_scale_up_to_full_size() {
        let of = |denominator| scale(Ratio::new(1, denominator).unwrap());
        assert_eq!(of(128).of(1 << 20), 1 << 16);
        assert_eq!([of(8), of(4)].map(|scale| scale.of(1 << 20)), [1 << 20; 2]);
    }

    #[test]
    fn an_open_loop_keeps_its_rate_and_counts_probes_alone() {
        let scale = Ratio::new(1, 1_024).unwrap();
        let mut bench = ExperimentDrive::new("micron-7450-max-800gb", &[], scale).unwrap();
        let span = bench.filled(None);
        let mut open = OpenLoop::new(bench.drive(), span);
        open.run(20_000, SECOND_NS);
        let (reads, writes) = (open.reads.count(), open.writes.count());
        assert!(reads.abs_diff(5_000) < 50 && writes.abs_diff(5_000) < 50, "{reads} {writes}");
        let ended = open.drive.telemetry().host_pages - span;
        assert!(ended.abs_diff(24_800) < 700, "half of the probe and 99% of the load: {ended}");
    }

    #[test]
    fn a_load_beyond_the_drive_fills_its_own_places_and_leaves_the_probe_those_it_has() {
        let scale = Ratio::new(1, 1_024).unwrap();
        let mut bench = ExperimentDrive::new("kingston-dc500m-480gb", &[], scale).unwrap();
        let span = bench.filled(None);
        let mut open = OpenLoop::new(bench.drive(), span);
        open.run(300_000, SECOND_NS / 4);
        assert!(open.load_tags.len() < 32, "{} places are free", open.load_tags.len());
        let done = open.drive.telemetry().host_pages - span;
        assert!(done < 25_000, "a quarter of what is asked at most: {done}");
    }
}
