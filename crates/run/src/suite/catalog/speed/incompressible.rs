//! Incompressible transfers in the manner of AS-SSD: rates without the help of compression.
//!
//! Method (AS-SSD): 1 GiB written and read sequentially in 16 MiB units; 4 KiB random reads and
//! writes at QD 1 and with 64 outstanding; access time as the mean latency of 4 KiB reads at QD 1
//! over the whole span and of 512 B writes within 1 GiB. Differences: a unit of 16 MiB is sixteen
//! commands of 1 MiB, as a block layer would split it; a target below 64 commands uses its own
//! limit; 30 s for each random step; a purge first, a purge and a fill of the 1 GiB before each
//! step of random writes, and a fill of the whole span before the access time of reads.
//! Interpretation: compare with `corners`, whose repeating data may be faster on a compressing
//! controller.

use std::collections::BTreeMap;

use base::OpKind;
use load::{Order, Workload};
use result::schema::TableRow;

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Duration, Key, Plain, Reading, Region, settings};
use crate::suite::rates;
use crate::suite::{
    Chapter, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step, TestSettings,
    open_loop, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "incompressible",
    heading: "Incompressible transfers",
    question: "how fast is the drive with data that no controller can compress?",
    reads_alone: true,
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("time=5s")],
    ..Definition::of::<Settings>(Chapter::Speed, 2)
};

const STEPS: [(&str, &str); 8] = [
    ("sequential_write", "16 MiB sequential write, in commands of 1 MiB"),
    ("sequential_read", "16 MiB sequential read, in commands of 1 MiB"),
    ("read", "4 KiB random read"),
    ("write", "4 KiB random write"),
    ("read_deep", "4 KiB random read, deep queue"),
    ("write_deep", "4 KiB random write, deep queue"),
    ("access_read", "4 KiB reads over the whole span"),
    ("access_write", "512 B writes"),
];

const UNIT_BLOCK_BYTES: u32 = 1 << 20;
const UNIT_BLOCKS: u32 = 16;
const SECTOR_BYTES: u32 = 512;

settings! {
    /// Length, span and depth of the steps.
    struct Settings {
        time: Duration = Param::new("time", "30s", "length of each random step");
        small_span_bytes: Region = Param::new("small_span", "1GiB", "span of all steps but one");
        deep_queue_depth: DeepQueueDepth = Param::new(
            "deep_queue_depth",
            "64",
            "commands outstanding, deep steps",
        );
        fill: Plain<bool> = Param::new("fill", "true", "write the whole span before access_read");
    }
}

/// Commands outstanding in the deep steps; only the default adapts to a target with a lower limit.
enum DeepQueueDepth {}

impl Key for DeepQueueDepth {
    type Value = u32;

    fn read(Reading { name, params, site, notes }: Reading<'_>) -> Result<u32, RunError> {
        let asked = params.queue_depth(name)?;
        let deep = asked.min(site.limits.queue_depth_max);
        if params.is_set(name) {
            site.depths(params, name, notes)?;
        } else if deep < asked {
            notes.push(format!(
                "the target takes {deep} commands at a time, so the deep steps keep {deep} outstanding \
                 and not {asked}"
            ));
        }
        Ok(deep)
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let (small, deep) = (self.small_span_bytes, self.deep_queue_depth);
        let unit = |kind| {
            let order = Order::SequentialOnce;
            Workload::new(kind, order, UNIT_BLOCK_BYTES, UNIT_BLOCKS, small)
        };
        let random = |name, kind, block, depth, span| {
            let workload = Workload::new(kind, Order::Uniform, block, depth, span);
            steps::for_time(name, workload, self.time)
        };
        let (read, write) = (OpKind::Read, OpKind::Write);
        let mut phases = vec![
            steps::purge(),
            steps::to_its_end("sequential_write", unit(write)),
            steps::to_its_end("sequential_read", unit(read)),
            random("read", read, 4096, 1, small),
            random("read_deep", read, 4096, deep, small),
        ];
        let from_filled = |step| site.from_filled(small, step);
        phases.extend(from_filled(random("write", write, 4096, 1, small)));
        phases.extend(from_filled(random("write_deep", write, 4096, deep, small)));
        if site.limits.logical_block_bytes <= SECTOR_BYTES {
            phases.extend(from_filled(random("access_write", write, SECTOR_BYTES, 1, small)));
        } else {
            notes.push(site.too_small(SECTOR_BYTES));
        }
        phases.extend(self.fill.then(|| site.fill("fill", site.span_bytes)));
        phases.push(random("access_read", read, 4096, 1, site.span_bytes));
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = rates::of_steps(measured, "Incompressible transfers", &STEPS);
        let deep = format!("{} outstanding", self.deep_queue_depth);
        for row in figures.tables.iter_mut().flat_map(|table| &mut table.rows) {
            row.label = row.label.replace("deep queue", &deep);
        }
        figures.tables.push(access_times(measured, &mut figures.metrics));
        let rate = |step: &str| figures.value(&format!("incompressible.{step}.mb_per_s"));
        if let (Some(read), Some(write)) = (rate("sequential_read"), rate("sequential_write")) {
            let text = format!(
                "reads {} of incompressible data in 16 MiB units at {} and writes them at {}",
                steps::size(self.small_span_bytes),
                rates::mb_per_s(read),
                rates::mb_per_s(write)
            );
            let metric = "incompressible.sequential_write.mb_per_s";
            figures.findings.push(rates::finding(measured, metric, &text));
        }
        figures
    }
}

/// Access time is the mean latency of single commands.
fn access_times(
    measured: &Measurements<'_>,
    metrics: &mut BTreeMap<String, Option<f64>>,
) -> result::schema::Table {
    let columns = [("mean", "ns"), ("longest", "ns")];
    let mut table = rates::table("access", "Access time", "command", &columns);
    for (phase, label) in STEPS.iter().filter(|(phase, _)| phase.starts_with("access")) {
        let part = measured.complete(phase);
        let mean = part.and_then(|part| part.latency_ns_mean());
        metrics.insert(format!("incompressible.{phase}.latency_ns_mean"), mean);
        let values = vec![mean, part.and_then(|part| part.latency_ns_max())];
        table.rows.push(TableRow { label: (*label).to_owned(), values });
    }
    table
}
