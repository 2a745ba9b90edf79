//! The procedures of the measurements, on a simulated drive behind the host of its model.
//!
//! A drive below full size keeps WAF and means; spans and zones are in proportion to the scale, and so
//! are times of the onset of cleaning.

use base::{Completion, Data, Histogram, Nanos, Op, OpKind, Permutation, Ratio, Rng};
use sim::model::{HostProfile, built_in_host};
use sim::{Drive, Model, PAGE_BYTES};

use super::power_law::PowerLaw;

/// Outstanding commands of SSD-iq: four threads of 128.
const WRITE_DEPTH: u32 = 512;
/// Pages of a command of a zone stream, and of a fill.
const STREAM_PAGES: u64 = 128;
const FILL_PAGES: u64 = 32;
/// Length of a zone.
const ZONE_GIB: u64 = 8;
const SECOND_NS: u64 = 1_000_000_000;

/// A simulated drive, filled or to be filled.
pub struct Bench {
    drive: Drive,
    scale: Ratio,
    /// Capacity at full size.
    capacity_gib: u64,
    pages: u64,
    rng: Rng,
}

/// The end of a run of writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Pages programmed for each page of the host.
    pub waf: f64,
    /// Rate of the host.
    pub mb_per_s: f64,
}

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
    #[must_use]
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

impl Bench {
    /// A new drive of a built-in model.
    ///
    /// # Errors
    /// If there is no such model, or it is refused.
    pub fn new(drive: &str, scale: Ratio) -> Result<Self, String> {
        let text = sim::model::built_in(drive).ok_or("no model")?;
        let model = Model::load(drive, text, &[]).map_err(|error| error.to_string())?;
        let resolve = |scale| model.resolve(scale).map_err(|error| error.to_string());
        let capacity_gib = resolve(Ratio::ONE)?.capacity_bytes() >> 30;
        let host = model.host.as_ref().and_then(|host| {
            let text = built_in_host(&host.value)?;
            HostProfile::load(&host.value, text).ok()
        });
        let config = resolve(scale)?.behind(host.as_ref().map(HostProfile::system));
        let pages = config.geometry.logical_pages;
        Ok(Self { drive: Drive::new(config), scale, capacity_gib, pages, rng: Rng::new(1) })
    }

    /// IOPS at a queue depth within a filled eighth: writes stay within the spare, like those of the
    /// measurement, which wrote the same pages in each of its runs.
    pub fn random(&mut self, kind: OpKind, depth: u32) -> f64 {
        let pages = self.pages / 8;
        self.fill(pages);
        self.rest(60);
        self.per_second((kind, depth, pages), 1_000, 20_000)
    }

    /// Uniform random writes within a span after a fill of it: the last fifth of four overwrites.
    pub fn settled(&mut self, span_gib: Option<u64>) -> Settled {
        let span = self.filled(span_gib);
        self.last_fifth(4 * span, |rng, _| rng.below(span))
    }

    /// Overwrites of a span after a fill of it until the mean of a minute falls below 0.9 of that of
    /// the first minute, in steps of 10 s.
    pub fn onset(&mut self, span_gib: Option<u64>) -> f64 {
        let span = self.filled(span_gib);
        let step_ns = self.scale.of(10 * SECOND_NS);
        let mut rng = Rng::new(1);
        let next = |tag| page_op(OpKind::Write, rng.below(span), 1, tag);
        let steps = self.steps(3 * span, step_ns, next);
        let minute = |steps: &[u64]| steps.iter().sum::<u64>();
        let first = minute(&steps[..steps.len().min(6)]);
        let slow = steps.windows(6).position(|steps| minute(steps) * 10 < first * 9);
        let end = slow.map_or(steps.len(), |slow| slow + 6);
        minute(&steps[..end]) as f64 / span as f64
    }

    /// Random writes to the whole drive but this share, whose pages lie among the others; as much as the measurement
    /// wrote.
    pub fn beside_read_only(&mut self, percent: u64) -> Settled {
        let span = self.filled(None);
        let place = self.place_beside_read_only(span, percent);
        self.last_fifth(read_only_overwrites(percent) * span, |rng, _| place(rng))
    }

    /// The same writes: time in s of full size until the mean of a minute falls below a quarter of that of the first, or
    /// `None` if it does not.
    pub fn fall_beside_read_only(&mut self, percent: u64) -> Option<f64> {
        let span = self.filled(None);
        let place = self.place_beside_read_only(span, percent);
        let (minute_ns, mut rng) = (self.scale.of(60 * SECOND_NS), Rng::new(1));
        let writes = read_only_overwrites(percent) * span;
        let minutes =
            self.steps(writes, minute_ns, |tag| page_op(OpKind::Write, place(&mut rng), 1, tag));
        let whole = minutes.len().saturating_sub(1);
        let fall = minutes[..whole].iter().position(|minute| minute * 4 < minutes[0]);
        fall.map(|minute| minute as f64 * 60.0)
    }

    fn place_beside_read_only(
        &mut self,
        span: u64,
        percent: u64,
    ) -> impl Fn(&mut Rng) -> u64 + use<> {
        let places = Permutation::new(span, &mut self.rng);
        let written = span / 100 * (100 - percent);
        move |rng| places.at(rng.below(written))
    }

    /// Random writes by Zipf's law, with the exponent in tenths, over pages whose ranks are scattered.
    pub fn zipf(&mut self, theta_tenths: u64) -> Settled {
        let span = self.filled(None);
        let places = Permutation::new(span, &mut self.rng);
        let full_pages = (self.capacity_gib << 30) / PAGE_BYTES;
        let law = PowerLaw::new(theta_tenths as f64 / 10.0, full_pages, span);
        self.last_fifth(5 * span, |rng, _| places.at(law.draw(rng)))
    }

    /// Random writes of which this share goes to as large a share of the others of the pages.
    pub fn two_zones(&mut self, hot_percent: u64) -> Settled {
        let span = self.filled(None);
        let places = Permutation::new(span, &mut self.rng);
        let hot = span / 100 * (100 - hot_percent);
        self.last_fifth(6 * span, |rng, _| {
            let is_hot = rng.chance(hot_percent, 100);
            let rank = if is_hot { rng.below(hot) } else { hot + rng.below(span - hot) };
            places.at(rank)
        })
    }

    /// Sequential writes of 512 KiB into this many active zones of 8 GiB, one command at a time: a
    /// stream takes a random zone that is not in use, writes it in order, and takes the next.
    pub fn zone_streams(&mut self, streams: u64) -> Settled {
        let span = self.filled(None);
        let zone = self.scale.of(ZONE_GIB << 30) / PAGE_BYTES / STREAM_PAGES * STREAM_PAGES;
        let mut zones = Zones::new(span / zone, streams, zone, Rng::new(1));
        let commands = 4 * span / STREAM_PAGES;
        let mut next = |tag| page_op(OpKind::Write, zones.next_page(), STREAM_PAGES, tag);
        closed_loop(&mut self.drive, 1, commands / 5 * 4, &mut next, |_| ());
        self.measured(|drive| closed_loop(drive, 1, commands / 5, &mut next, |_| ()))
    }

    /// Percentiles in us of a probe of 10,000 commands a second, half reads and half writes, beside a
    /// load of 99% writes with exponential gaps, after three overwrites and a pause.
    pub fn under_load(&mut self, iops: u64) -> [(UnderLoad, f64); 4] {
        const PROBE_IOPS: u64 = 10_000;
        let span = self.filled(None);
        self.last_fifth(3 * span, |rng, _| rng.below(span));
        self.rest(60);
        let load = iops.saturating_sub(PROBE_IOPS / 2).max(1);
        let gaps = (SECOND_NS / PROBE_IOPS, SECOND_NS as f64 / load as f64);
        let mut open = OpenLoop::new(&mut self.drive, span);
        open.run(gaps.0, gaps.1, 3 * SECOND_NS);
        open.forget();
        open.run(gaps.0, gaps.1, 12 * SECOND_NS);
        UnderLoad::ALL.map(|figure| {
            let histogram = if figure.is_read { &open.reads } else { &open.writes };
            let share = Ratio::new(figure.percent, 100).unwrap_or(Ratio::ONE);
            (figure, histogram.quantile(share).unwrap_or(0) as f64 / 1e3)
        })
    }

    /// Commands that end in each step of a time, until so many have.
    fn steps(&mut self, count: u64, step_ns: u64, mut next: impl FnMut(u32) -> Op) -> Vec<u64> {
        let (start_ns, mut steps) = (self.drive.now().0, Vec::new());
        closed_loop(&mut self.drive, WRITE_DEPTH, count, &mut next, |now| {
            let step = ((now.0 - start_ns) / step_ns) as usize;
            steps.resize(steps.len().max(step + 1), 0_u64);
            steps[step] += 1;
        });
        steps
    }

    /// Fills a span of full size, as large a share of this drive, and returns its pages.
    fn filled(&mut self, span_gib: Option<u64>) -> u64 {
        let share = span_gib.map_or(self.pages, |gib| self.pages * gib / self.capacity_gib);
        let span = share.min(self.pages) / STREAM_PAGES * STREAM_PAGES;
        self.fill(span);
        span
    }

    fn fill(&mut self, pages: u64) {
        let mut page = 0;
        let mut next = |tag| {
            let length = FILL_PAGES.min(pages - page);
            page += length;
            page_op(OpKind::Write, page - length, length, tag)
        };
        closed_loop(&mut self.drive, 32, pages.div_ceil(FILL_PAGES), &mut next, |_| ());
    }

    fn rest(&mut self, seconds: u64) {
        let until = self.drive.now().0 + seconds * SECOND_NS;
        self.drive.run_until(Nanos(until));
    }

    /// Commands per second of random pages within the first `pages`, after `warm_up` of them.
    fn per_second(
        &mut self,
        (kind, depth, pages): (OpKind, u32, u64),
        warm_up: u64,
        count: u64,
    ) -> f64 {
        let mut rng = Rng::new(1);
        let mut next = |tag| page_op(kind, rng.below(pages), 1, tag);
        let (mut begin_ns, mut ended) = (self.drive.now().0, 0);
        closed_loop(&mut self.drive, depth, warm_up + count, &mut next, |now| {
            ended += 1;
            if ended == warm_up {
                begin_ns = now.0;
            }
        });
        count as f64 * SECOND_NS as f64 / (self.drive.now().0 - begin_ns) as f64
    }

    /// The last fifth of single-page writes to these places.
    fn last_fifth(&mut self, writes: u64, mut place: impl FnMut(&mut Rng, u64) -> u64) -> Settled {
        let (mut rng, mut count) = (Rng::new(1), 0);
        let mut next = |tag| {
            count += 1;
            page_op(OpKind::Write, place(&mut rng, count), 1, tag)
        };
        closed_loop(&mut self.drive, WRITE_DEPTH, writes / 5 * 4, &mut next, |_| ());
        self.measured(|drive| closed_loop(drive, WRITE_DEPTH, writes / 5, &mut next, |_| ()))
    }

    fn measured(&mut self, work: impl FnOnce(&mut Drive)) -> Settled {
        let (before, begin_ns) = (self.drive.telemetry(), self.drive.now().0);
        work(&mut self.drive);
        let after = self.drive.telemetry();
        let host = (after.host_pages - before.host_pages) as f64;
        let programmed = (after.programmed_pages - before.programmed_pages) as f64;
        let seconds = (self.drive.now().0 - begin_ns) as f64 / 1e9;
        Settled { waf: programmed / host, mb_per_s: host * PAGE_BYTES as f64 / 1e6 / seconds }
    }
}

/// Writes beside this share of read-only data, in drives: a few less beside much of it.
const fn read_only_overwrites(percent: u64) -> u64 {
    if percent > 80 { 5 } else { 7 }
}

/// A command of whole pages.
fn page_op(kind: OpKind, page: u64, pages: u64, tag: u32) -> Op {
    let data = Data::Incompressible;
    let (offset, len) = (page * PAGE_BYTES, (pages * PAGE_BYTES) as u32);
    Op { kind, data, fua: false, placement: 0, len, tag, offset }
}

/// Keeps commands outstanding until `count` have ended, and passes the time of each end to `watch`.
fn closed_loop(
    drive: &mut Drive,
    depth: u32,
    count: u64,
    next: &mut impl FnMut(u32) -> Op,
    mut watch: impl FnMut(Nanos),
) {
    let depth = depth.min(drive.config().queue_depth);
    let first: Vec<_> = (0..depth.min(count as u32)).map(&mut *next).collect();
    drive.submit(&first);
    let (mut issued, mut ended) = (first.len() as u64, 0);
    let mut out: Vec<Completion> = Vec::new();
    while ended < count {
        out.clear();
        drive.reap(1, &mut out);
        for end in &out {
            watch(drive.now());
            ended += 1;
            if issued < count {
                drive.submit(&[next(end.tag)]);
                issued += 1;
            }
        }
    }
}

/// Zones and the streams that write them.
struct Zones {
    free: Vec<u64>,
    /// Zone and next page in it, of each stream.
    active: Vec<(u64, u64)>,
    zone_pages: u64,
    rng: Rng,
}

impl Zones {
    fn new(count: u64, streams: u64, zone_pages: u64, rng: Rng) -> Self {
        let mut zones = Self { free: (0..count).collect(), active: Vec::new(), zone_pages, rng };
        zones.active = (0..streams).map(|_| (zones.take(), 0)).collect();
        zones
    }

    fn take(&mut self) -> u64 {
        let index = self.rng.below(self.free.len() as u64) as usize;
        self.free.swap_remove(index)
    }

    /// The place of the next command, of a random stream.
    fn next_page(&mut self) -> u64 {
        let stream = self.rng.below(self.active.len() as u64) as usize;
        let (zone, page) = self.active[stream];
        let place = zone * self.zone_pages + page;
        self.active[stream].1 = page + STREAM_PAGES;
        if page + STREAM_PAGES == self.zone_pages {
            self.free.push(zone);
            self.active[stream] = (self.take(), 0);
        }
        place
    }
}

/// A probe and a load whose commands have their times.
struct OpenLoop<'a> {
    drive: &'a mut Drive,
    span: u64,
    rng: Rng,
    tags: Vec<u32>,
    /// The kind of the probe's command with each tag, or `None` for one of the load.
    probe_kinds: Vec<Option<OpKind>>,
    probes: u64,
    reads: Histogram,
    writes: Histogram,
    out: Vec<Completion>,
}

impl<'a> OpenLoop<'a> {
    fn new(drive: &'a mut Drive, span: u64) -> Self {
        let depth = drive.config().queue_depth.min(WRITE_DEPTH);
        Self {
            drive,
            span,
            rng: Rng::new(2),
            tags: (0..depth).collect(),
            probe_kinds: vec![None; depth as usize],
            probes: 0,
            reads: Histogram::new(),
            writes: Histogram::new(),
            out: Vec::new(),
        }
    }

    /// Drops the latencies so far.
    fn forget(&mut self) {
        self.reads.clear();
        self.writes.clear();
    }

    /// Issues both for a time: probes at fixed intervals, the load with exponential gaps.
    fn run(&mut self, probe_gap_ns: u64, load_gap_ns: f64, length_ns: u64) {
        let start_ns = self.drive.now().0;
        let (mut probe_ns, mut load_ns) = (0_u64, 0.0_f64);
        while probe_ns < length_ns {
            let is_probe = probe_ns as f64 <= load_ns;
            let due_ns = if is_probe { probe_ns } else { load_ns as u64 };
            self.drive.run_until(Nanos(start_ns + due_ns));
            self.issue(is_probe);
            if is_probe {
                probe_ns += probe_gap_ns;
            } else {
                load_ns += load_gap_ns * self.exponential();
            }
        }
    }

    /// An exponential random number with the mean 1.
    fn exponential(&mut self) -> f64 {
        let share = (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        -(1.0 - share).ln()
    }

    /// Issues a command, after the end of another one if all are outstanding.
    fn issue(&mut self, is_probe: bool) {
        self.collect(usize::from(self.tags.is_empty()));
        let Some(tag) = self.tags.pop() else { return };
        let is_read = if is_probe {
            self.probes += 1;
            self.probes.is_multiple_of(2)
        } else {
            self.rng.chance(1, 100)
        };
        let kind = if is_read { OpKind::Read } else { OpKind::Write };
        self.probe_kinds[tag as usize] = is_probe.then_some(kind);
        let page = self.rng.below(self.span);
        self.drive.submit(&[page_op(kind, page, 1, tag)]);
    }

    /// Takes ended commands, at least so many.
    fn collect(&mut self, min: usize) {
        self.out.clear();
        self.drive.reap(min, &mut self.out);
        for end in &self.out {
            self.tags.push(end.tag);
            match self.probe_kinds[end.tag as usize] {
                Some(OpKind::Read) => self.reads.record(end.latency().0),
                Some(_) => self.writes.record(end.latency().0),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_written_in_order_and_none_by_two_streams() {
        let mut zones = Zones::new(6, 3, 4 * STREAM_PAGES, Rng::new(7));
        let mut next = [0; 6];
        for _ in 0..1_000 {
            let page = zones.next_page();
            let zone = (page / zones.zone_pages) as usize;
            assert_eq!(page % zones.zone_pages, next[zone], "in order");
            next[zone] = (next[zone] + STREAM_PAGES) % zones.zone_pages;
            let mut active: Vec<_> = zones.active.iter().map(|(zone, _)| *zone).collect();
            active.sort_unstable();
            active.dedup();
            assert_eq!((active.len(), zones.free.len()), (3, 3));
        }
    }

    #[test]
    fn an_open_loop_keeps_its_rate_and_counts_probes_alone() {
        let scale = Ratio::new(1, 1_024).unwrap();
        let mut bench = Bench::new("micron-7450-max-800gb", scale).unwrap();
        let span = bench.filled(None);
        let mut open = OpenLoop::new(&mut bench.drive, span);
        open.run(100_000, 50_000.0, SECOND_NS);
        let (reads, writes) = (open.reads.count(), open.writes.count());
        assert!(reads.abs_diff(5_000) < 50 && writes.abs_diff(5_000) < 50, "{reads} {writes}");
        let ended = open.drive.telemetry().host_pages - span;
        assert!(ended.abs_diff(24_800) < 700, "half of the probe and 99% of the load: {ended}");
    }
}
