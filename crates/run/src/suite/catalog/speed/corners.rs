//! The four corners: random and sequential, reads and writes, at the depths of desktops.
//!
//! Method (Iometer, as in the reviews of AnandTech): 4 KiB random commands within 8 GiB at QD 3 for
//! three minutes, writes once with random and once with repeating data, and both again at QD 32;
//! then 128 KiB sequential commands at QD 1 over the whole span for one minute, writes with random and with
//! repeating data. Additions: random reads at QD 32; a purge and a sequential fill of the 8 GiB before the random
//! reads and before each step of random writes; a purge before the sequential writes, and a fill of the whole
//! span before the sequential read, so that no step reads unwritten data; random commands at QD 3 that begin
//! 512 B off their alignment, as programs of 2011 issued them, where the target has blocks of 512 B. Interpretation:
//! MB/s over the entire time of a step. 50 MB/s of random writes serve a desktop; a large difference between the
//! two kinds of data indicates a compressing controller.

use base::{Data, OpKind};
use load::{Order, Workload};

use crate::params::Param;
use crate::suite::keys::{Duration, Plain, QueueDepth, Region, settings};
use crate::suite::rates;
use crate::suite::{
    Chapter, Definition, Figures, Headline, Measurements, Notes, PhaseSpec, ReviewEntry, Site,
    Step, TestSettings, open_loop, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "corners",
    heading: "The four corners",
    question: "how fast is the drive in the four corners: random and sequential, read and write?",
    reads_alone: true,
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry::FULL,
        ReviewEntry::quick("time=10s sequential_time=10s random_span=1GiB"),
    ],
    headlines: &[
        Headline::column("corners.random_read.iops", ("Random, IOPS", "Read"), "Random reads"),
        Headline::column("corners.random_write.iops", ("Random, IOPS", "Write"), "Random writes"),
        Headline::column(
            "corners.sequential_read.mb_per_s",
            ("Sequential, MB/s", "Read"),
            "Sequential reads",
        ),
        Headline::column(
            "corners.sequential_write.mb_per_s",
            ("Sequential, MB/s", "Write"),
            "Sequential writes",
        ),
    ],
    ..Definition::of::<Settings>(Chapter::Speed, 1)
};

const STEPS: [(&str, &str); 11] = [
    ("random_read", "4 KiB random read"),
    ("random_read_deep", "4 KiB random read, deep queue"),
    ("random_write", "4 KiB random write"),
    ("random_write_repeating", "4 KiB random write, repeating data"),
    ("random_write_deep", "4 KiB random write, deep queue"),
    ("random_write_deep_repeating", "4 KiB random write, deep queue, repeating data"),
    ("random_read_unaligned", "4 KiB random read, unaligned"),
    ("random_write_unaligned", "4 KiB random write, unaligned"),
    ("sequential_write", "128 KiB sequential write"),
    ("sequential_read", "128 KiB sequential read"),
    ("sequential_write_repeating", "128 KiB sequential write, repeating data"),
];

/// Distance of the unaligned commands from their alignment.
const SECTOR_BYTES: u32 = 512;

/// The rate that serves a desktop, by the rule of thumb of the reviews.
const DESKTOP_MB_PER_S: f64 = 50.0;

settings! {
    /// Lengths, depths and the span of the random steps.
    struct Settings {
        time: Duration = Param::new("time", "3m", "length of each random step");
        sequential_time: Duration = Param::new(
            "sequential_time",
            "1m",
            "length of each sequential step",
        );
        random_span_bytes: Region = Param::new(
            "random_span",
            "8GiB",
            "span of the random steps, from LBA 0",
        );
        queue_depth: QueueDepth = Param::new(
            "queue_depth",
            "3",
            "commands kept outstanding, random",
        );
        deep_queue_depth: QueueDepth = Param::new(
            "deep_queue_depth",
            "32",
            "the same for the deep steps",
        );
        fill: Plain<bool> = Param::new(
            "fill",
            "true",
            "write the whole span before reading from it",
        );
    }
}

impl TestSettings for Settings {
    fn steps(&self, site: &Site<'_>, notes: &mut Notes) -> Vec<Step> {
        let (depth, deep) = (self.queue_depth, self.deep_queue_depth);
        let (read, write) = (OpKind::Read, OpKind::Write);
        let mut phases = Vec::new();
        let step = self.random("random_read", read, depth, Data::Incompressible);
        phases.extend(site.from_filled(self.random_span_bytes, step));
        phases.push(self.random("random_read_deep", read, deep, Data::Incompressible));
        for (name, depth, data) in [
            ("random_write", depth, Data::Incompressible),
            ("random_write_repeating", depth, Data::Repeating),
            ("random_write_deep", deep, Data::Incompressible),
            ("random_write_deep_repeating", deep, Data::Repeating),
        ] {
            let step = self.random(name, write, depth, data);
            phases.extend(site.from_filled(self.random_span_bytes, step));
        }
        if site.limits.logical_block_bytes <= SECTOR_BYTES {
            for (name, kind) in [("random_read_unaligned", read), ("random_write_unaligned", write)]
            {
                let step = self.unaligned(name, kind);
                phases.extend(site.from_filled(self.random_span_bytes, step));
            }
        } else {
            notes.push(format!(
                "unaligned commands are left out: the target's blocks have {} bytes, and they would begin \
                 {SECTOR_BYTES} bytes off",
                site.limits.logical_block_bytes
            ));
        }
        phases.push(steps::purge());
        let span = site.span_bytes;
        phases.push(self.sequential("sequential_write", write, span, Data::Incompressible));
        phases.extend(self.fill.then(|| site.fill("fill", span)));
        phases.push(self.sequential("sequential_read", read, span, Data::Incompressible));
        phases.push(steps::purge());
        phases.push(self.sequential("sequential_write_repeating", write, span, Data::Repeating));
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = rates::of_steps(measured, "Four corners", &STEPS);
        let metric = "corners.random_write.mb_per_s";
        if let Some(rate) = figures.value(metric) {
            let rule = if rate >= DESKTOP_MB_PER_S { "more" } else { "less" };
            let text = format!(
                "writes 4 KiB at random within {} at QD {} at {}, {rule} than the 50 MB/s that \
                 serve a desktop",
                steps::size(self.random_span_bytes),
                self.queue_depth,
                rates::mb_per_s(rate)
            );
            figures.findings.push(rates::finding(measured, metric, &text));
        }
        figures.findings.extend(data_finding(measured, &figures));
        figures
    }
}

impl Settings {
    fn random(&self, name: &str, kind: OpKind, depth: u32, data: Data) -> PhaseSpec {
        let workload = Workload::new(kind, Order::Uniform, 4096, depth, self.random_span_bytes);
        steps::for_time(name, Workload { data, ..workload }, self.time)
    }

    /// Random commands that touch two blocks of 4 KiB each.
    fn unaligned(&self, name: &str, kind: OpKind) -> PhaseSpec {
        let span_bytes = self.random_span_bytes.saturating_sub(4096);
        let workload = Workload::new(kind, Order::Uniform, 4096, self.queue_depth, span_bytes);
        let workload = Workload { span_offset_bytes: SECTOR_BYTES.into(), ..workload };
        let step = steps::for_time(name, workload, self.time);
        PhaseSpec {
            what: format!("{}, each {SECTOR_BYTES} B off its alignment", step.what),
            ..step
        }
    }

    fn sequential(&self, name: &str, kind: OpKind, span_bytes: u64, data: Data) -> PhaseSpec {
        let block = steps::LINEAR_BLOCK_BYTES;
        let workload = Workload::new(kind, Order::Sequential, block, 1, span_bytes);
        steps::for_time(name, Workload { data, ..workload }, self.sequential_time)
    }
}

/// The effect of the kind of data, or `None` if there is none: only a controller that compresses
/// has one, and rates of a busy host do not tell.
fn data_finding(measured: &Measurements<'_>, figures: &Figures) -> Option<result::schema::Finding> {
    let rate = |step: &str| {
        let name = format!("corners.{step}.mb_per_s");
        figures.value(&name).filter(|rate| *rate > 0.0)
    };
    let (plain, repeating) = (rate("random_write_deep")?, rate("random_write_deep_repeating")?);
    let ratio = repeating / plain;
    let steps = ["random_write_deep", "random_write_deep_repeating"];
    let metrics = steps.map(|step| format!("corners.{step}.mb_per_s"));
    if metrics.iter().any(|metric| measured.is_host_limited(metric)) {
        return None;
    }
    (!(0.8..1.25).contains(&ratio)).then(|| {
        let text = format!(
            "writes repeating data {ratio:.1} times as fast as random data in the deep queue ({} and {})",
            rates::mb_per_s(repeating),
            rates::mb_per_s(plain)
        );
        rates::finding(measured, "corners.random_write_deep_repeating.mb_per_s", &text)
    })
}

#[cfg(test)]
mod tests {
    use result::schema::Phase;
    use target::scripted::{Reply, ScriptedTarget};
    use target::{Target, TargetKind};

    use super::*;
    use crate::session::bare_run;

    #[test]
    fn rates_of_a_busy_host_tell_nothing_about_the_kind_of_data() {
        let names = ["random_write_deep", "random_write_deep_repeating"];
        let metrics = names.map(|name| format!("corners.{name}.mb_per_s"));
        let metrics = metrics.into_iter().zip([Some(100.0), Some(200.0)]).collect();
        let figures = Figures { metrics, ..Figures::default() };
        let is_told = |busy_share: f64| {
            let identity = ScriptedTarget::new(64 << 20, Reply::after_ns(1)).identity();
            let mut run = bare_run("corners", &identity, 0);
            run.target.kind = TargetKind::Block;
            run.phases =
                names.map(|name| Phase { name: name.to_owned(), ..Phase::default() }).into();
            run.phases[1].host_busy_share = Some(busy_share);
            let measured = Measurements { run: &run, rows: &[], replay: None, jobs: &[] };
            data_finding(&measured, &figures).is_some()
        };
        assert!(is_told(0.5) && !is_told(0.99));
    }
}
