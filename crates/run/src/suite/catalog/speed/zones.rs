//! Zones: the pace of a drive that is written zone by zone.
//!
//! Method: on a purged drive, `bytes` are written into 1, 2, 4 … and at last as many zones as may be open:
//! with one command outstanding in each zone, as writes need it, and with 1, 4, 16 and 64 over all zones
//! in turn, as appends may. Then zones with nothing, half or all of their capacity written are reset, and
//! zones with one command or half of it finished, `orders` of them one after the other, each a second after
//! its last write. At last random reads of 4 KiB in a full zone: alone, beside appends at half of their
//! rate, and beside as many as the drive takes. The last step writes whole zones a second time.
//!
//! Interpretation: the rate rises with zones and depth until the controller, the link or the dies are busy. A reset
//! costs an erase, a finish the fill of what is left. No data has to move, so that the write amplification
//! of whole zones is 1. A simulated drive takes a write where the write pointer stands, so that a write and an
//! append cost the same there.

use base::OpKind;
use load::order::WholeZones;
use load::{Order, Pacing, Workload};
use result::schema::{Finding, Table, TableRow};
use result::stats::findings::time;
use target::{ZoneLimits, ZoneOrder};

use crate::error::RunError;
use crate::jobs::{JobSpec, Jobs};
use crate::params::Param;
use crate::suite::keys::{Block, Count, Duration, Key, QueueDepth, Reading, Region, settings};
use crate::suite::{
    Action, Chapter, Chart, Definition, Figures, Formula, Measurements, Notes, PhaseSpec,
    ReviewEntry, Site, Step, TestSettings, amplification, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "zones",
    heading: "Zones",
    question: "how fast are the zones of a zoned drive written, emptied and read?",
    zoned: true,
    closed_loop: Some("the number of commands outstanding is what it varies"),
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry {
            whole: true,
            ..ReviewEntry::quick("bytes=256MiB time=2s open_zones=1,4 depths=1,16 orders=4")
        },
    ],
    charts: &[Chart::Curves { table: "scaling", units: &["MB/s"], log_rows: true }],
    ..Definition::of::<Settings>(Chapter::Speed, 6)
};

/// Names of the jobs beside each other.
const READS: &str = "reads";
const APPENDS: &str = "appends";
/// The steps with reads, and the share of the appends' rate in percent beside them, if there is a limit.
const BESIDE: [(&str, &str, Option<u32>); 3] = [
    ("reads_alone", "none", Some(0)),
    ("reads_beside_half", "half of their rate", Some(50)),
    ("reads_beside_all", "no limit", None),
];
/// The orders to zones, with the share of their capacity in percent that is written before; a command at least, but for
/// the empty zone.
const ORDERS: [(&str, ZoneOrder, u64, &str); 5] = [
    ("reset_empty", ZoneOrder::Reset, 0, "reset of an empty zone"),
    ("reset_half", ZoneOrder::Reset, 50, "reset of a half written zone"),
    ("reset_full", ZoneOrder::Reset, 100, "reset of a full zone"),
    ("finish_begun", ZoneOrder::Finish, 0, "finish of a zone with one command"),
    ("finish_half", ZoneOrder::Finish, 50, "finish of a half written zone"),
];
/// Size of a random read.
const READ_BYTES: u32 = 4096;

settings! {
    /// Zones, depths and lengths.
    struct Settings {
        bytes: Region = Param::new("bytes", "2GiB", "written in each step of writes");
        open_zones: OpenZones = Param::new(
            "open_zones",
            "1,2,4,8,16,32,64,128",
            "zones written at a time, rising; the default ends with as many as the drive keeps open",
        );
        depths: Depths = Param::new("depths", "1,4,16,64", "appends outstanding over all zones");
        block_bytes: Block = Param::new("block", "4KiB", "size of writes and appends");
        orders: Count = Param::new("orders", "16", "zones that are reset or finished in a step");
        time: Duration = Param::new("time", "5s", "length of the reads without appends");
        read_queue_depth: QueueDepth = Param::new("read_queue_depth", "4", "reads outstanding");
    }
}

/// Numbers of zones up to the most that may be open.
enum OpenZones {}

impl Key for OpenZones {
    type Value = Vec<u32>;

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<Vec<u32>, RunError> {
        let most = limits(site).open_max;
        let mut numbers: Vec<u32> = params.list(name)?;
        let is_set = params.is_set(name);
        if let Some(wrong) = numbers.iter().find(|zones| !(1..=most).contains(*zones) && is_set) {
            return Err(RunError::Usage(format!(
                "`--set {name}={}`: {wrong} zones cannot be open; {} keeps 1 to {most} open at a time",
                params.text(name),
                site.identity.name
            )));
        }
        if !is_set {
            numbers.retain(|zones| *zones < most);
            numbers.push(most);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

/// Depths that the target supports.
enum Depths {}

impl Key for Depths {
    type Value = Vec<u32>;

    fn read(Reading { name, params, site, notes }: Reading<'_>) -> Result<Vec<u32>, RunError> {
        site.depths(params, name, notes)
    }
}

/// The zones of the target within the span; it has some, for the plan refuses others.
fn limits(site: &Site<'_>) -> ZoneLimits {
    let none = ZoneLimits { zones: 0, size_bytes: 1, capacity_bytes: 1, open_max: 0 };
    let limits = site.limits.zones.unwrap_or(none);
    let within = site.span_bytes / limits.capacity_bytes;
    ZoneLimits { zones: limits.zones.min(within.try_into().unwrap_or(u32::MAX)), ..limits }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let zones = limits(site);
        let mut list = Vec::new();
        for &open in &self.open_zones {
            list.extend([steps::purge(), self.writes(site, open)]);
            for &depth in &self.depths {
                let appends = self.appends(site, open, depth);
                let name = format!("append_zones{open}_qd{depth}");
                list.extend([steps::purge(), steps::to_its_end(&name, appends)]);
            }
        }
        for (name, order, percent, what) in ORDERS {
            list.extend([steps::purge(), self.order(zones, name, order, percent, what)]);
        }
        let mut list = steps::once(list);
        for (name, words, percent) in BESIDE {
            let one = Workload { span_bytes: zones.size_bytes, ..Self::whole(zones, 1, 1) };
            list.extend(steps::once([steps::purge(), steps::to_its_end("prepare", one)]));
            list.push(self.beside(site, name, words, percent));
        }
        let open = zones.open_max;
        let twice = Workload {
            span_bytes: u64::from((2 * open).min(zones.zones)) * zones.size_bytes,
            ..Self::whole(zones, open, open)
        };
        let reset = Workload { limit_bytes: Some(0), ..twice.clone() };
        list.extend(steps::once([
            steps::purge(),
            steps::to_its_end("prepare_zones", twice.clone()),
            PhaseSpec {
                name: "prepare_reset".to_owned(),
                what: "reset these zones".to_owned(),
                action: Action::ManageZones { order: ZoneOrder::Reset, writes: reset },
            },
            steps::to_its_end("whole_zones", twice),
        ]));
        list
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let scaling = self.scaling(&mut figures, measured);
        let orders = self.order_figures(&mut figures, measured);
        let beside = self.beside_figures(&mut figures, measured);
        let whole = measured.complete("whole_zones");
        rates::add_rates(&mut figures, "zones.whole_zones", whole);
        amplification::add_inside(&mut figures, "zones.whole_zones.", measured, whole);
        figures.findings.extend(self.sentence(measured, &scaling));
        figures.tables.extend([scaling, orders, beside]);
        figures
    }
}

impl Settings {
    /// Writes of all zones of the target, so many at a time.
    fn whole(zones: ZoneLimits, at_a_time: u32, depth: u32) -> Workload {
        let ZoneLimits { size_bytes, capacity_bytes, .. } = zones;
        let order = Order::WholeZones(WholeZones { at_a_time, size_bytes, capacity_bytes });
        let span = u64::from(zones.zones) * size_bytes;
        Workload::new(OpKind::Write, order, steps::LINEAR_BLOCK_BYTES, depth, span)
    }

    fn appends(&self, site: &Site<'_>, open: u32, depth: u32) -> Workload {
        let whole = Self::whole(limits(site), open, depth);
        Workload { block_bytes: self.block_bytes, limit_bytes: Some(self.bytes), ..whole }
    }

    /// One write outstanding in each of so many zones: a job for each.
    fn writes(&self, site: &Site<'_>, open: u32) -> PhaseSpec {
        let zones = limits(site);
        let part = u64::from(zones.zones / open) * zones.size_bytes;
        let block = u64::from(self.block_bytes);
        let each = (self.bytes / u64::from(open)).div_ceil(block) * block;
        let job = |zone: u32| {
            let workload = Workload {
                span_offset_bytes: u64::from(zone) * part,
                span_bytes: part,
                block_bytes: self.block_bytes,
                limit_bytes: Some(each),
                ..Self::whole(zones, 1, 1)
            };
            JobSpec::new(&format!("zone{zone}"), workload)
        };
        let what = format!(
            "writes into {open} zones at a time, one outstanding in each, {} in all",
            steps::size(each * u64::from(open))
        );
        let jobs = Jobs { jobs: (0..open).map(job).collect(), duration: None };
        PhaseSpec { name: format!("write_zones{open}"), what, action: Action::Jobs(jobs) }
    }

    fn order(
        &self,
        zones: ZoneLimits,
        name: &str,
        order: ZoneOrder,
        percent: u64,
        what: &str,
    ) -> PhaseSpec {
        let block = u64::from(steps::LINEAR_BLOCK_BYTES);
        let least = if order == ZoneOrder::Finish { block } else { 0 };
        let bytes = zones.capacity_bytes * percent / 100;
        let writes = Workload {
            span_bytes: u64::from(self.orders.min(zones.zones)) * zones.size_bytes,
            limit_bytes: Some(bytes.max(least)),
            ..Self::whole(zones, 1, 1)
        };
        let what = format!("{what}, {} times one after the other", self.orders);
        PhaseSpec { name: name.to_owned(), what, action: Action::ManageZones { order, writes } }
    }

    /// Reads in the first zone beside appends to others, at a share of their rate that is known when the step begins.
    fn beside(&self, site: &Site<'_>, name: &str, words: &str, percent: Option<u32>) -> Step {
        let zones = limits(site);
        let (open, depth) = (zones.open_max, self.depths.iter().max().copied().unwrap_or(1));
        let (block, capacity) = (READ_BYTES, zones.capacity_bytes);
        let reads =
            Workload::new(OpKind::Read, Order::Uniform, block, self.read_queue_depth, capacity);
        let appends = self.appends(site, open.saturating_sub(1).max(1), depth);
        let span_bytes = appends.span_bytes - zones.size_bytes;
        let appends = Workload { span_offset_bytes: zones.size_bytes, span_bytes, ..appends };
        let what = format!(
            "4 KiB random reads in a full zone, QD {}, beside appends: {words}",
            self.read_queue_depth
        );
        let (name, time, block) = (name.to_owned(), self.time, f64::from(self.block_bytes));
        let phase = move |mb_per_s: f64| {
            let mut jobs = vec![JobSpec::new(READS, reads.clone())];
            let rate_iops = percent.map(|percent| {
                (mb_per_s * 1e6 / block * f64::from(percent) / 100.0).round().max(1.0) as u64
            });
            let pacing =
                rate_iops.map_or(Pacing::ClosedLoop, |rate_iops| Pacing::Fixed { rate_iops });
            let is_alone = percent == Some(0);
            if !is_alone {
                jobs.push(JobSpec::new(APPENDS, Workload { pacing, ..appends.clone() }));
            }
            let action = Action::Jobs(Jobs { jobs, duration: is_alone.then_some(time) });
            PhaseSpec { name: name.clone(), what: what.clone(), action }
        };
        let planned = phase(1.0);
        let saturated = format!("append_zones{open}_qd{depth}");
        let actual = Formula::new(move |measured: &Measurements<'_>| {
            phase(measured.complete(&saturated).and_then(|part| part.mb_per_s()).unwrap_or(1.0))
        });
        Step::Adapted { planned, actual }
    }

    /// Rates by the number of zones: writes, and appends by their depth.
    fn scaling(&self, figures: &mut Figures, measured: &Measurements<'_>) -> Table {
        let depths = self.depths.iter().map(|depth| format!("append QD {depth}"));
        let names: Vec<String> = ["write".to_owned()].into_iter().chain(depths).collect();
        let columns: Vec<_> = names.iter().map(|name| (name.as_str(), "MB/s")).collect();
        let mut table = rates::table("scaling", "Writes and appends", "zones at a time", &columns);
        for open in &self.open_zones {
            let appends = self.depths.iter().map(|depth| format!("append_zones{open}_qd{depth}"));
            let steps = [format!("write_zones{open}")].into_iter().chain(appends);
            let rate = |step: String| {
                let part = measured.complete(&step);
                rates::add_rates(figures, &format!("zones.{step}"), part);
                rates::add_latencies(figures, &format!("zones.{step}"), part);
                part.and_then(|part| part.mb_per_s())
            };
            let values = steps.map(rate).collect();
            table.rows.push(TableRow { label: open.to_string(), values });
        }
        table
    }

    fn order_figures(&self, figures: &mut Figures, measured: &Measurements<'_>) -> Table {
        let columns = [("mean", "ns"), ("longest", "ns")];
        let mut table = rates::table("orders", "Resets and finishes", "order", &columns);
        for (name, _, _, what) in ORDERS {
            let part = measured.complete(name);
            rates::add_latencies(figures, &format!("zones.{name}"), part);
            let of =
                |value: fn(&crate::suite::Part<'_>) -> Option<f64>| part.as_ref().and_then(value);
            let values = vec![of(|part| part.latency_ns_mean()), of(|part| part.latency_ns_max())];
            table.rows.push(TableRow { label: what.to_owned(), values });
        }
        table
    }

    fn beside_figures(&self, figures: &mut Figures, measured: &Measurements<'_>) -> Table {
        let columns = [("reads", "IOPS"), ("read, mean", "ns"), ("appends", "MB/s")];
        let mut table = rates::table("beside", "Reads beside appends", "appends", &columns);
        for (name, words, _) in BESIDE {
            let reads = measured.complete_job(name, READS);
            rates::add_rates(figures, &format!("zones.{name}"), reads);
            rates::add_latencies(figures, &format!("zones.{name}"), reads);
            let appends = measured.complete_job(name, APPENDS);
            let values = vec![
                reads.and_then(|part| part.iops()),
                reads.and_then(|part| part.latency_ns_mean()),
                appends.and_then(|part| part.mb_per_s()),
            ];
            table.rows.push(TableRow { label: words.to_owned(), values });
        }
        table
    }

    /// The least and the most of the rates, and the time of a reset.
    fn sentence(&self, measured: &Measurements<'_>, scaling: &Table) -> Option<Finding> {
        let rates = scaling.rows.iter().flat_map(|row| row.values.iter().flatten().copied());
        let (least, most) = (rates.clone().fold(f64::MAX, f64::min), rates.fold(0.0, f64::max));
        let reset_ns = measured.complete("reset_full")?.latency_ns_mean()?;
        let text = format!(
            "writes its zones with {} to {}, and empties a full one in {}",
            rates::mb_per_s(least),
            rates::mb_per_s(most),
            time(reset_ns)
        );
        Some(rates::finding(measured, "zones.reset_full.latency_ns_mean", &text))
    }
}
