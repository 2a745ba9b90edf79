//! Mixed sizes: small commands among large ones.
//!
//! Method: random commands of two sizes, 4 and 128 KiB, within 8 GiB after a sequential write, with
//! 0% to 100% of large ones, at QD 32; reads for 10 s each, writes each on a purged and filled drive.
//! Interpretation: if a command took the time that it takes among its own size, a mix would take the
//! mean of both, weighted by number (`expected`). Less shows that small commands wait behind large
//! ones, or that small writes break up large ones; the 99th percentile shows the same to a user.

use base::{Bytes, OpKind};
use load::{Order, Sizes, Workload};
use result::schema::{Finding, Table, TableRow};
use result::stats::findings::percent;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::keys::{Block, Content, Duration, List, QueueDepth, Region, settings};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, ReviewEntry, Site, Step,
    TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "mixed-sizes",
    heading: "Mixed sizes",
    question: "what do large commands cost the small ones beside them?",
    reads_alone: true,
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry::alone(
        "time=5s random_span=1GiB large_percents=0,10,50,100",
        "other shares, percentiles of slow drives, and cleaning: it has 1 GiB",
    )],
    charts: &[
        Chart::Curves { table: "reads", units: &["IOPS", "MB/s", "ns"], log_rows: false },
        Chart::Curves { table: "writes", units: &["IOPS", "MB/s", "ns"], log_rows: false },
    ],
    ..Definition::of::<Settings>(Chapter::Speed, 5)
};

const KINDS: [(OpKind, &str); 2] = [(OpKind::Read, "reads"), (OpKind::Write, "writes")];

settings! {
    /// Sizes and shares.
    struct Settings {
        time: Duration = Param::new("time", "10s", "length of each step");
        random_span_bytes: Region = Param::new(
            "random_span",
            "8GiB",
            "span of the commands, from LBA 0",
        );
        small_bytes: Block = Param::new("small", "4KiB", "size of small commands, and alignment");
        large_bytes: Block = Param::new("large", "128KiB", "size of large commands");
        large_percents: List<u32> = Param::new(
            "large_percents",
            "0,5,10,25,50,75,100",
            "shares of large commands in their number, in order",
        );
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        data: Content = steps::DATA;
    }
}

impl TestSettings for Settings {
    fn check(&mut self, params: &Params, _: &Site<'_>, _: &mut Notes) -> Result<(), RunError> {
        let (small, large) = (self.small_bytes, self.large_bytes);
        if !large.is_multiple_of(small) || large == small {
            return Err(RunError::Usage(format!(
                "`--set large={}` must be a multiple of the small size {}, and not that itself",
                Bytes(large.into()),
                Bytes(small.into())
            )));
        }
        match self.large_percents.iter().find(|percent| **percent > 100) {
            None => Ok(()),
            Some(percent) => Err(RunError::Usage(format!(
                "`--set large_percents={}` has {percent}; expected shares from 0 to 100",
                params.text("large_percents")
            ))),
        }
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let span = self.random_span_bytes;
        let mut phases = vec![steps::purge(), site.fill("prepare", span)];
        let timed = |kind, percent| {
            steps::for_time(&step(kind, percent), self.workload(kind, percent), self.time)
        };
        phases.extend(self.large_percents.iter().map(|&percent| timed(OpKind::Read, percent)));
        for &percent in &self.large_percents {
            phases.extend(site.from_filled(span, timed(OpKind::Write, percent)));
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        for (kind, name) in KINDS {
            let table = self.table(&mut figures, measured, (kind, name));
            figures.findings.extend(self.sentence(measured, &figures, (kind, name)));
            figures.tables.push(table);
        }
        figures
    }
}

const COLUMNS: [(&str, &str); 5] =
    [("all", "IOPS"), ("expected", "IOPS"), ("rate", "MB/s"), ("mean", "ns"), ("p99", "ns")];

fn step(kind: OpKind, percent: u32) -> String {
    format!("{}_large{percent}", kind.name())
}

/// The figure of a step, or `None` if it is unknown.
fn figure(figures: &Figures, kind: OpKind, percent: u32, end: &str) -> Option<f64> {
    let metric = format!("mixed-sizes.{}.{end}", step(kind, percent));
    figures.value(&metric)
}

impl Settings {
    fn workload(&self, kind: OpKind, percent: u32) -> Workload {
        let (small, large) = (self.small_bytes, self.large_bytes);
        let longest = if percent == 0 { small } else { large };
        let (depth, span) = (self.queue_depth, self.random_span_bytes);
        let workload = Workload::new(kind, Order::Uniform, longest, depth, span);
        // A size without weight is none.
        let sizes = Sizes::new(&[(small, 100 - percent), (large, percent)]);
        Workload { sizes, align_bytes: Some(small), data: self.data.kind, ..workload }
    }

    /// The figures of one kind, one row for each share.
    fn table(
        &self,
        figures: &mut Figures,
        measured: &Measurements<'_>,
        (kind, name): (OpKind, &str),
    ) -> Table {
        for &percent in &self.large_percents {
            let part = measured.complete(&step(kind, percent));
            let metric = format!("mixed-sizes.{}", step(kind, percent));
            rates::add_rates(figures, &metric, part);
            rates::add_latencies(figures, &metric, part);
        }
        let title = format!(
            "Mixed sizes, {name}: {} among {}",
            Bytes(self.large_bytes.into()),
            Bytes(self.small_bytes.into())
        );
        let mut table = rates::table(name, &title, "large commands", &COLUMNS);
        for &percent in &self.large_percents {
            let expected = self.expected(figures, kind, percent);
            let iops = figure(figures, kind, percent, "iops");
            let share = iops.zip(expected).map(|(iops, expected)| iops / expected);
            let metric = format!("mixed-sizes.{}.of_expected_share", step(kind, percent));
            figures.metrics.insert(metric, share);
            let others = ["mb_per_s", "latency_ns_mean", "latency_ns_p99"];
            let others = others.map(|end| figure(figures, kind, percent, end));
            let values = [iops, expected].into_iter().chain(others).collect();
            table.rows.push(TableRow { label: format!("{percent}%"), values });
        }
        table
    }

    /// IOPS of a mix whose commands take the time that they take among their own size; `None`
    /// without both.
    fn expected(&self, figures: &Figures, kind: OpKind, percent: u32) -> Option<f64> {
        let alone = |percent| figure(figures, kind, percent, "iops").filter(|iops| *iops > 0.0);
        let (small, large) = (alone(0)?, alone(100)?);
        let share = f64::from(percent) / 100.0;
        Some(1.0 / ((1.0 - share) / small + share / large))
    }

    /// The share with the largest loss.
    fn sentence(
        &self,
        measured: &Measurements<'_>,
        figures: &Figures,
        (kind, name): (OpKind, &str),
    ) -> Option<Finding> {
        let known = self.large_percents.iter().filter_map(|&percent| {
            Some((percent, figure(figures, kind, percent, "of_expected_share")?))
        });
        let (worst, share) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let text = format!(
            "does {} of the {name} that both sizes alone let expect, where {worst}% of the commands are large",
            percent(share)
        );
        let metric = format!("mixed-sizes.{}.of_expected_share", step(kind, worst));
        Some(rates::finding(measured, &metric, &text))
    }
}
