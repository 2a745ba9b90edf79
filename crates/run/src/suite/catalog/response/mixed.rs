//! Reads and writes at the same time: the effect of writes on reads.
//!
//! Method (after later suites): 4 KiB random commands at QD 32 within 16 GiB, with 100% reads, 90%
//! and so on down to 0%, 30 s each. Each step begins on a purged drive after a sequential write of
//! the 16 GiB. Interpretation: on a bathtub curve (high at both ends, low between), reads wait for
//! programs and erases of the writes. With a rate (`--set rate=1000`), IOPS equal the rate as long
//! as the drive keeps up, and the percentiles show the effect on the demand.

use base::OpKind;
use load::{Mix, Order, Shares, Workload};
use result::schema::TableRow;
use result::stats::findings::count;

use crate::params::Param;
use crate::suite::keys::{
    Block, Content, Duration, List, Plain, QueueDepth, Rate, Region, settings,
};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "mixed",
    heading: "Mixed reads and writes",
    question: "how fast is the drive when it reads and writes at the same time?",
    reads_alone: true,
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry::quick("time=5s random_span=1GiB read_percents=100,65,35,0"),
    ],
    charts: &[Chart::Curves { table: "shares", units: &["IOPS", "ns"], log_rows: false }],
    ..Definition::of::<Settings>(Chapter::Response, 3)
};

/// The latencies of the table: ends of their metrics' names, with words.
const LATENCIES: [(&str, &str); 6] = [
    ("latency_ns_mean_read", "read mean"),
    ("latency_ns_p50_read", "read median"),
    ("latency_ns_p99_read", "read p99"),
    ("latency_ns_mean_write", "write mean"),
    ("latency_ns_p50_write", "write median"),
    ("latency_ns_p99_write", "write p99"),
];

settings! {
    /// Mixes, span and pace of the steps.
    struct Settings {
        time: Duration = Param::new("time", "30s", "length of each step");
        random_span_bytes: Region = Param::new(
            "random_span",
            "16GiB",
            "span of the commands, from LBA 0",
        );
        block_bytes: Block = Param::new("block", "4KiB", "size and alignment of the commands");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        pacing: Rate = open_loop::RATE;
        read_percents: List<u8> = Param::new(
            "read_percents",
            "100,90,80,70,60,50,40,30,20,10,0",
            "shares of reads, in order",
        );
        trim_percent: Plain<u8> = Param::new(
            "trim_percent",
            "0",
            "share of deallocations in all commands, beside reads and writes",
        );
        flush_percent: Plain<u8> = Param::new("flush_percent", "0", "share of flushes, the same");
        data: Content = steps::DATA;
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let Self { block_bytes, queue_depth, random_span_bytes: span, pacing, .. } = *self;
        let step = |&percent: &u8| {
            let order = Order::Uniform;
            let workload = Workload::new(OpKind::Write, order, block_bytes, queue_depth, span);
            let (mix, data) = (self.mix(percent), self.data.kind);
            let workload = Workload { mix, data, pacing, ..workload };
            let step = steps::for_time(&format!("read{percent}"), workload, self.time);
            site.from_filled(span, step)
        };
        steps::once(self.read_percents.iter().flat_map(step))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let latencies = LATENCIES.map(|(_, words)| (words, "ns"));
        let columns = [[("all", "IOPS"), ("rate", "MB/s")].as_slice(), &latencies].concat();
        let mut table = rates::table("shares", "Mixed reads and writes", "reads", &columns);
        for percent in &self.read_percents {
            let part = measured.complete(&format!("read{percent}"));
            let metric = format!("mixed.read{percent}");
            rates::add_rates(&mut figures, &metric, part);
            rates::add_latencies_by_kind(&mut figures, &metric, part);
            let value = |end: &str| figures.value(&format!("{metric}.{end}"));
            let ends = ["iops", "mb_per_s"].into_iter().chain(LATENCIES.map(|(end, _)| end));
            let values = ends.map(value).collect();
            table.rows.push(TableRow { label: format!("{percent}%"), values });
        }
        let known = table.rows.iter().filter_map(|row| Some((row.label.as_str(), row.values[0]?)));
        if let Some((label, iops)) = known.min_by(|a, b| a.1.total_cmp(&b.1)) {
            let text = format!("is slowest with {label} reads, at {} IOPS", count(iops));
            let metric = format!("mixed.read{}.iops", label.trim_end_matches('%'));
            figures.findings.push(rates::finding(measured, &metric, &text));
        }
        figures.tables.push(table);
        figures
    }
}

impl Settings {
    /// Reads and writes, optionally with deallocations and flushes among them.
    const fn mix(&self, read_percent: u8) -> Mix {
        let (deallocate_percent, flush_percent) = (self.trim_percent, self.flush_percent);
        if deallocate_percent == 0 && flush_percent == 0 {
            return Mix::ReadPercent(read_percent);
        }
        let writes = 100_u8.saturating_sub(read_percent);
        Mix::Shares(Shares { flush_percent, deallocate_percent, reads: read_percent, writes })
    }
}
