//! The procedures of the measurements, on a simulated drive behind the host of its model.
//!
//! A drive below full size keeps WAF and means; spans and zones are in proportion to the scale, and so
//! are times of the onset of cleaning.

use base::{Completion, Nanos, Op, OpKind, Permutation, Ratio, Rng};
use sim::model::{HostProfile, built_in_host};
use sim::{Drive, Model, PAGE_BYTES};

use super::power_law::PowerLaw;
use super::under_load::{OpenLoop, UnderLoad, page_op};
use super::zones::{STREAM_PAGES, ZoneStreams};

/// Outstanding commands of SSD-iq: four threads of 128.
const WRITE_DEPTH: u32 = 512;
/// Pages of a command of a fill.
const FILL_PAGES: u64 = 32;
/// Length of a zone.
const ZONE_GIB: u64 = 8;
/// Rates of the probe and its load together, in the order of the measurement, which begins beyond what the drives reach.
pub(super) const LOADS: [u64; 18] = [
    505_000, 305_000, 255_000, 205_000, 155_000, 135_000, 125_000, 115_000, 105_000, 95_000,
    85_000, 75_000, 65_000, 55_000, 45_000, 35_000, 25_000, 15_000,
];
pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// A simulated drive, filled or to be filled.
pub struct ExperimentDrive {
    pub(super) drive: Drive,
    pub(super) scale: Ratio,
    /// Capacity at full size.
    capacity_gib: u64,
    pub(super) pages: u64,
    pub(super) rng: Rng,
}

/// The end of a run of writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteRates {
    /// Pages programmed for each page of the host.
    pub waf: f64,
    /// Rate of the host.
    pub mb_per_s: f64,
}

impl ExperimentDrive {
    /// A new drive of a built-in model, with other values for some of its keys.
    ///
    /// # Errors
    /// If there is no such model, or it is refused.
    pub fn new(drive: &str, values: &[(String, String)], scale: Ratio) -> Result<Self, String> {
        Self::of(&model(drive, values)?, scale)
    }

    /// The drive with bursts of cleaning as long as at full size, where the time of a single command counts, and with this
    /// number of queues if it has several, or its own with `None`.
    pub(super) fn with_whole_bursts(
        drive: &str,
        values: &[(String, String)],
        scale: Ratio,
        queues: Option<u32>,
    ) -> Result<Self, String> {
        let mut model = model(drive, values)?;
        if let (Some(own), Some(queues)) = (&mut model.interface.queues, queues) {
            own.value = queues;
        }
        if let Some(quantum) = &mut model.gc.quantum_bytes {
            quantum.value = (quantum.value as f64 / scale.as_f64()) as u64;
        }
        Self::of(&model, scale)
    }

    fn of(model: &Model, scale: Ratio) -> Result<Self, String> {
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

    /// Uniform random writes within a span after a fill of it: the last fifth of four overwrites, and the overwrites
    /// until the mean of a minute falls below 0.9 of that of the first minute, in steps of 10 s.
    pub(super) fn uniform(&mut self, span_gib: Option<u64>) -> (WriteRates, f64) {
        let span = self.filled(span_gib);
        let (writes, mut rng) = (4 * span, Rng::new(1));
        let mut next = |tag| page_op(OpKind::Write, rng.below(span), 1, tag);
        let steps = self.steps(writes / 5 * 4, 10 * SECOND_NS, &mut next);
        let minute = |steps: &[u64]| steps.iter().sum::<u64>();
        let first = minute(&steps[..steps.len().min(6)]);
        let slow = steps.windows(6).position(|steps| minute(steps) * 10 < first * 9);
        let end = slow.map_or(steps.len(), |slow| slow + 6);
        let onset = minute(&steps[..end]) as f64 / span as f64;
        (self.last_writes(writes / 5, &mut next), onset)
    }

    /// Random writes to the whole drive but this share, whose pages lie among the others, as much as the measurement
    /// wrote; and the time in s of full size until the mean of a minute falls below a quarter of that of the first, or
    /// `None` if it does not.
    pub(super) fn beside_read_only(&mut self, percent: u64) -> (WriteRates, Option<f64>) {
        let span = self.filled(None);
        let place = self.place_beside_read_only(span, percent);
        let (writes, mut rng) = (read_only_overwrites(percent) * span, Rng::new(1));
        let mut next = |tag| page_op(OpKind::Write, place(&mut rng), 1, tag);
        let minutes = self.steps(writes / 5 * 4, 60 * SECOND_NS, &mut next);
        let whole = minutes.len().saturating_sub(1);
        let fall = minutes[..whole].iter().position(|minute| minute * 4 < minutes[0]);
        let settled = self.last_writes(writes / 5, &mut next);
        (settled, fall.map(|minute| minute as f64 * 60.0))
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
    pub(super) fn zipf(&mut self, theta_tenths: u64) -> WriteRates {
        let span = self.filled(None);
        let places = Permutation::new(span, &mut self.rng);
        let full_pages = (self.capacity_gib << 30) / PAGE_BYTES;
        let law = PowerLaw::new(theta_tenths as f64 / 10.0, full_pages, span);
        self.last_fifth(5 * span, |rng, _| places.at(law.draw(rng)))
    }

    /// Random writes of which this share goes to as large a share of the others of the pages.
    pub(super) fn two_zones(&mut self, hot_percent: u64) -> WriteRates {
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
    pub(super) fn zone_streams(&mut self, streams: u64) -> WriteRates {
        let span = self.filled(None);
        let zone = self.scale.of(ZONE_GIB << 30) / PAGE_BYTES / STREAM_PAGES * STREAM_PAGES;
        let mut zones = ZoneStreams::new(span / zone, streams, zone, Rng::new(1));
        let commands = 4 * span / STREAM_PAGES;
        let mut next = |tag| page_op(OpKind::Write, zones.next_page(), STREAM_PAGES, tag);
        closed_loop(&mut self.drive, 1, commands / 5 * 4, &mut next, |_| ());
        self.measured(|drive| closed_loop(drive, 1, commands / 5, &mut next, |_| ()))
    }

    /// Percentiles in us of a probe of 10,000 commands a second, half reads and half writes, beside a load of 99% writes
    /// with exponential gaps, after three overwrites and a pause; from the highest rate downwards.
    pub(super) fn under_load(&mut self) -> Vec<(u64, UnderLoad, f64)> {
        let span = self.filled(None);
        self.last_fifth(3 * span, |rng, _| rng.below(span));
        self.rest(60);
        let mut open = OpenLoop::new(&mut self.drive, span);
        let rate = |iops| open.percentiles(iops).map(|(figure, us)| (iops, figure, us));
        LOADS.into_iter().flat_map(rate).collect()
    }

    /// Commands that end in each step of a time of full size, until so many have.
    fn steps(&mut self, count: u64, step_ns: u64, next: &mut impl FnMut(u32) -> Op) -> Vec<u64> {
        let step_ns = self.scale.of(step_ns);
        let (start_ns, mut steps) = (self.drive.now().0, Vec::new());
        closed_loop(&mut self.drive, WRITE_DEPTH, count, next, |now| {
            let step = ((now.0 - start_ns) / step_ns) as usize;
            steps.resize(steps.len().max(step + 1), 0_u64);
            steps[step] += 1;
        });
        steps
    }

    #[cfg(test)]
    pub(super) fn drive(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// Fills a span of full size, as large a share of this drive, and returns its pages.
    pub(super) fn filled(&mut self, span_gib: Option<u64>) -> u64 {
        let share = span_gib.map_or(self.pages, |gib| self.pages * gib / self.capacity_gib);
        let span = share.min(self.pages) / STREAM_PAGES * STREAM_PAGES;
        self.fill(span);
        span
    }

    pub(super) fn fill(&mut self, pages: u64) {
        let mut page = 0;
        let mut next = |tag| {
            let length = FILL_PAGES.min(pages - page);
            page += length;
            page_op(OpKind::Write, page - length, length, tag)
        };
        closed_loop(&mut self.drive, 32, pages.div_ceil(FILL_PAGES), &mut next, |_| ());
    }

    pub(super) fn rest(&mut self, seconds: u64) {
        let until = self.drive.now().0 + seconds * SECOND_NS;
        self.drive.run_until(Nanos(until));
    }

    /// The last fifth of single-page writes to these places.
    fn last_fifth(
        &mut self,
        writes: u64,
        mut place: impl FnMut(&mut Rng, u64) -> u64,
    ) -> WriteRates {
        let (mut rng, mut count) = (Rng::new(1), 0);
        let mut next = |tag| {
            count += 1;
            page_op(OpKind::Write, place(&mut rng, count), 1, tag)
        };
        closed_loop(&mut self.drive, WRITE_DEPTH, writes / 5 * 4, &mut next, |_| ());
        self.last_writes(writes / 5, &mut next)
    }

    /// So many writes more.
    fn last_writes(&mut self, writes: u64, next: &mut impl FnMut(u32) -> Op) -> WriteRates {
        self.measured(|drive| closed_loop(drive, WRITE_DEPTH, writes, next, |_| ()))
    }

    fn measured(&mut self, work: impl FnOnce(&mut Drive)) -> WriteRates {
        let (before, begin_ns) = (self.drive.telemetry(), self.drive.now().0);
        work(&mut self.drive);
        let after = self.drive.telemetry();
        let host = (after.host_pages - before.host_pages) as f64;
        let programmed = (after.programmed_pages - before.programmed_pages) as f64;
        let seconds = (self.drive.now().0 - begin_ns) as f64 / 1e9;
        WriteRates { waf: programmed / host, mb_per_s: host * PAGE_BYTES as f64 / 1e6 / seconds }
    }
}

/// A built-in model with other values for some of its keys.
fn model(drive: &str, values: &[(String, String)]) -> Result<Model, String> {
    let text = sim::model::built_in(drive).ok_or("no model")?;
    Model::load(drive, text, values).map_err(|error| error.to_string())
}

/// Writes beside this share of read-only data, in drives: a few less beside much of it.
const fn read_only_overwrites(percent: u64) -> u64 {
    if percent > 80 { 5 } else { 7 }
}

/// Keeps commands outstanding until `count` have ended, and passes the time of each end to `watch`.
pub(super) fn closed_loop(
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
