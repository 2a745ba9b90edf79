//! Latency of one command at a time: the wait of a person.
//!
//! Method: 4 KiB random reads, then random writes, then sequential writes of 4 KiB, at QD 1 within
//! 8 GiB, 60 s each. Each step begins on a purged drive after a sequential write of the 8 GiB.
//! Interpretation: with one command outstanding, IOPS are only the inverse of the mean latency; the
//! percentiles show the rest of the distribution. With a rate (`--set rate=1000`), commands do not
//! wait for the preceding one, and latencies count from their due times.

use base::OpKind;
use load::{Order, Pacing, Workload};
use result::schema::TableRow;
use result::stats::findings;
use result::stats::latency::{self, Latencies, PERCENTILES, Percentile};

use crate::error::RunError;
use crate::params::Param;
use crate::suite::keys::{Block, Duration, Key, Rate, Reading, Region, settings};
use crate::suite::{
    Chapter, Definition, Figures, Headline, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "latency",
    heading: "Latency at QD 1",
    question: "how long does a single command take, and how long at worst?",
    reads_alone: true,
    reviews: &[ReviewEntry::FULL, ReviewEntry::quick("time=5s random_span=1GiB")],
    headlines: &[
        Headline::column(
            "latency.random_read.latency_ns_mean",
            ("One command", "Read"),
            "A single random read",
        ),
        Headline::column(
            "latency.random_write.latency_ns_mean",
            ("One command", "Write"),
            "A single random write",
        ),
    ],
    ..Definition::of::<Settings>(Chapter::Response, 1)
};

const STEPS: [(&str, OpKind, Order, &str); 3] = [
    ("random_read", OpKind::Read, Order::Uniform, "random read"),
    ("random_write", OpKind::Write, Order::Uniform, "random write"),
    ("sequential_write", OpKind::Write, Order::Sequential, "sequential write"),
];

/// Default of the most outstanding commands with a rate: the limit of SATA.
const PACED_QUEUE_DEPTH: u32 = 32;

/// The figures of the table, by the end of their metric's name.
const COLUMNS: [&str; 6] = ["mean", "p50", "p99", "p999", "p9999", "max"];

settings! {
    /// Span and pace of the steps.
    struct Settings {
        time: Duration = Param::new("time", "60s", "length of each step");
        random_span_bytes: Region = Param::new(
            "random_span",
            "8GiB",
            "span of the commands, from LBA 0",
        );
        block_bytes: Block = Param::new("block", "4KiB", "size and alignment of the commands");
        pacing: Rate = open_loop::RATE;
        queue_depth: PacedQueueDepth = Param::new(
            "queue_depth",
            "1",
            "commands kept outstanding; with a rate the most that may be, by default 32",
        );
    }
}

/// One command at a time, unless another depth is set. A schedule does not wait for the preceding
/// command, so that it may have several outstanding.
enum PacedQueueDepth {}

impl Key for PacedQueueDepth {
    type Value = u32;

    fn read(Reading { name, params, site, .. }: Reading<'_>) -> Result<u32, RunError> {
        let pacing: Pacing = params.get(open_loop::RATE.name)?;
        if pacing == Pacing::ClosedLoop || params.is_set(name) {
            return params.queue_depth(name);
        }
        Ok(PACED_QUEUE_DEPTH.min(site.limits.queue_depth_max))
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let Self { block_bytes, queue_depth, random_span_bytes: span, pacing, .. } = *self;
        let step = |(name, kind, order, _)| {
            let workload = Workload::new(kind, order, block_bytes, queue_depth, span);
            let step = steps::for_time(name, Workload { pacing, ..workload }, self.time);
            site.from_filled(span, step)
        };
        steps::once(STEPS.into_iter().flat_map(step))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let pace = open_loop::pace_in_words(self.pacing, self.queue_depth);
        let columns = COLUMNS.map(|column| (column, "ns"));
        let title = format!("Latency at {pace}");
        let mut table = rates::table("latencies", &title, "command", &columns);
        for (name, _, _, label) in STEPS {
            let metric = format!("latency.{name}");
            let part = measured.complete(name);
            rates::add_rates(&mut figures, &metric, part);
            rates::add_latencies(&mut figures, &metric, part);
            let value = |end: &str| figures.value(&format!("{metric}.latency_ns_{end}"));
            let values = COLUMNS.map(value);
            let holds = measured.holds(&format!("{metric}.latency_ns_max"));
            let text = part.and_then(|part| sentence(label, &pace, &part.latencies(), holds));
            if let Some(text) = text {
                let finding = rates::finding(measured, &format!("{metric}.latency_ns_mean"), &text);
                figures.findings.push(finding);
            }
            table.rows.push(TableRow { label: label.to_owned(), values: values.to_vec() });
        }
        figures.tables.push(table);
        figures
    }
}

/// The mean, the rarest percentile with enough commands, and the slowest command; `None` if none
/// ended. Without `rare` cases, only mean and median.
fn sentence(label: &str, pace: &str, latencies: &Latencies, rare: bool) -> Option<String> {
    let (mean, max) = (latencies.mean_ns()?, latencies.max_ns()?);
    let known = |percentile: &Percentile| {
        let ns = latencies.percentile_ns(percentile.share())?;
        Some(format!("in {} {}, ", findings::time(ns), percentile.cases))
    };
    let median = known(&PERCENTILES[0]).unwrap_or_default();
    if !rare {
        let text =
            format!("answers a {label} at {pace} in {} on average, {median}", findings::time(mean));
        return Some(text.trim_end_matches(", ").to_owned());
    }
    let rarest = PERCENTILES[1..].iter().rev().find_map(known).unwrap_or_default();
    let [.., last] = PERCENTILES;
    let is_complete = latencies.percentile_ns(last.share()).is_some();
    let why = latency::too_few_words(latencies.commands());
    let why =
        if is_complete { String::new() } else { format!("; {why} for {} of them", last.words) };
    Some(format!(
        "answers a {label} at {pace} in {} on average, {median}{rarest}in {} at worst{why}",
        findings::time(mean),
        findings::time(max)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Histogram;

    fn sentence_of(commands: u64) -> String {
        let mut histogram = Histogram::new();
        histogram.record_bin(100_000, commands);
        let latencies = Latencies::of_histogram(histogram);
        sentence("random read", "QD 1", &latencies, true).unwrap_or_default()
    }

    #[test]
    fn a_sentence_names_the_rarest_case_that_there_are_commands_for() {
        let of_all = sentence_of(100_000);
        assert!(of_all.contains("in 9,999 of 10,000 cases, in"), "{of_all}");
        assert!(!of_all.contains("too few"), "{of_all}");
        let of_few = sentence_of(440);
        assert!(of_few.contains("half the time") && !of_few.contains("cases"), "{of_few}");
        assert!(
            of_few.ends_with("at worst; too few commands (440) for 99.99% of them"),
            "{of_few}"
        );
        let of_nine = sentence_of(9);
        assert!(!of_nine.contains("half the time"), "{of_nine}");
        assert_eq!(sentence_of(0), "");
    }
}
