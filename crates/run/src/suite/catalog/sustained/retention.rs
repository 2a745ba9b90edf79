//! Data that grows old: reads of what was written months ago.
//!
//! Method: purge; `cycles` of wear, if any; the first `span` written sequentially; then reads of it with one command
//! outstanding, at once and again at each age: sequential reads of 128 KiB, which pass over all of the span or end
//! after `time`, and random reads of 4 KiB for `time`. Between the ages the drive lies without power, and `reads` of
//! every block may come on top. Nobody can wait for that with a real drive, so only a simulated one takes the step; its
//! model says how errors grow. Interpretation: a drive that senses old pages again and again reads them slowly; refresh
//! and read reclaim of a drive, if its model has them, rewrite data under power only.

use base::OpKind;
use load::{Order, Workload};
use result::schema::TableRow;
use target::Past;

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Duration, Key, Plain, Reading, Region, settings};
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, PhaseSpec, Site, Step, TestSettings,
    open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "retention",
    heading: "Old data",
    question: "how fast is data read that was written months ago?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    ..Definition::of::<Settings>(Chapter::Sustained, 40)
};

/// A hundred years, as in drive models.
const DAYS_MAX: u32 = 36_500;
/// Bytes of a random read.
const PAGE_BYTES: u32 = 4096;

/// The kinds of reads, with their words for people.
const READS: [(&str, Order, u32, &str); 2] = [
    ("sequential_read", Order::Sequential, steps::LINEAR_BLOCK_BYTES, "sequential reads"),
    ("random_read", Order::Uniform, PAGE_BYTES, "random reads"),
];

settings! {
    /// Ages, wear and span of the reads.
    struct Settings {
        days: Days = Param::new("days", "30,180,365", "ages of the data, in order");
        cycles: Plain<u32> = Param::new(
            "cycles",
            "0",
            "wear of every block before the data is written",
        );
        reads: Plain<u32> = Param::new("reads", "0", "reads of every block before each age");
        span_bytes: Region = Param::new("span", "8GiB", "data, from LBA 0");
        time: Duration = Param::new("time", "10s", "length of the reads at each age");
    }
}

/// Ages of data, rising.
enum Days {}

impl Key for Days {
    type Value = Vec<u32>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<u32>, RunError> {
        let days: Vec<u32> = params.list(name)?;
        let increases = days.windows(2).all(|pair| pair[0] < pair[1]);
        if increases && days.iter().all(|days| (1..=DAYS_MAX).contains(days)) {
            return Ok(days);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={}` must be ages from 1 to {DAYS_MAX} days, each higher than the one before, such as 30,180",
            params.text(name)
        )))
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let mut phases = vec![steps::purge()];
        if self.cycles > 0 {
            let worn = Past { cycles: self.cycles, ..Past::default() };
            phases.push(steps::age("wear", worn));
        }
        phases.push(site.fill("fill", self.span_bytes));
        phases.extend(self.reads_at(0));
        let mut before = 0;
        for &days in &self.days {
            let past = Past { days: days - before, cycles: 0, reads: self.reads };
            phases.push(steps::age(&format!("age_{days}d"), past));
            phases.extend(self.reads_at(days));
            before = days;
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let columns =
            [("sequential", "MB/s"), ("random", "IOPS"), ("mean", "ns"), ("slowest", "ns")];
        let mut table =
            rates::table("ages", "Old data, read one command at a time", "age", &columns);
        for days in self.ages() {
            table.rows.push(row(&mut figures, measured, days));
        }
        if let Some(text) = self.sentence(measured) {
            let metric = format!("retention.{}.mb_per_s", phase(READS[0].0, self.oldest()));
            figures.findings.push(rates::finding(measured, &metric, &text));
        }
        figures.tables.push(table);
        figures
    }
}

impl Settings {
    fn oldest(&self) -> u32 {
        self.days.last().copied().unwrap_or(0)
    }

    fn ages(&self) -> impl Iterator<Item = u32> {
        std::iter::once(0).chain(self.days.iter().copied())
    }

    /// The reads at one age of the data.
    fn reads_at(&self, days: u32) -> impl Iterator<Item = PhaseSpec> {
        let (span_bytes, time) = (self.span_bytes, self.time);
        READS.into_iter().map(move |(name, order, block, _)| {
            let workload = Workload::new(OpKind::Read, order, block, 1, span_bytes);
            steps::for_time(&phase(name, days), workload, time)
        })
    }

    /// The rate of new and of the oldest data; `None` where one is not known.
    fn sentence(&self, measured: &Measurements<'_>) -> Option<String> {
        let of = |days| measured.complete(&phase(READS[0].0, days))?.mb_per_s();
        let (new, old) = (of(0)?, of(self.oldest())?);
        let share = 100.0 * old / new;
        Some(format!(
            "reads data of {} days sequentially at {}, {share:.0}% of the {} of new data",
            self.oldest(),
            rates::mb_per_s(old),
            rates::mb_per_s(new)
        ))
    }
}

/// Increasing numbers of days, at least one.
/// The name of the reads of data of this age.
fn phase(name: &str, days: u32) -> String {
    format!("{name}_{days}d")
}

/// The figures of one age, and their row.
fn row(figures: &mut Figures, measured: &Measurements<'_>, days: u32) -> TableRow {
    let [sequential, random] = READS.map(|(name, ..)| measured.complete(&phase(name, days)));
    for ((name, ..), part) in READS.iter().zip([sequential, random]) {
        let metric = format!("retention.{}", phase(name, days));
        rates::add_rates(figures, &metric, part);
        rates::add_latencies(figures, &metric, part);
    }
    let values = vec![
        sequential.and_then(|part| part.mb_per_s()),
        random.and_then(|part| part.iops()),
        random.and_then(|part| part.latency_ns_mean()),
        random.and_then(|part| part.latency_ns_max()),
    ];
    let label = if days == 0 { "new".to_owned() } else { format!("{days} days") };
    TableRow { label, values }
}
