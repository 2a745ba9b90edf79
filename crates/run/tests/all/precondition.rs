//! Does one pass leave a drive in the state of endless random writes? Valid pages of superblocks
//! and WAF right after it, compared with a converged drive.
#![allow(clippy::print_stdout, reason = "a test that shows its figures")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use base::OpKind;
use io::engine::sim::SimTarget;
use load::{Generator, Order, Workload};
use run::drive::drive;
use run::recorder::Recorder;
use run::session::Plan;
use run::{Request, SpanRequest, Test};
use target::Target;
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{request, simulated};

/// A simulated drive under writes of 4 KiB within a span.
struct Drive {
    target: SimTarget,
    span_bytes: u64,
    seed: u64,
}

impl Drive {
    fn new(name: &str, keys: &[(&str, &str)], span_percent: u64) -> Self {
        let target = simulated(name, keys);
        let span_bytes = target.capacity_bytes() * span_percent / 100 / 4096 * 4096;
        Self { target, span_bytes, seed: 0 }
    }

    fn write(&mut self, order: Order, block_bytes: u32, limit_bytes: Option<u64>) -> u64 {
        self.seed += 1;
        let workload = Workload::new(OpKind::Write, order, block_bytes, 32, self.span_bytes);
        let mut generator = Generator::new(Workload { limit_bytes, ..workload }, self.seed);
        let mut recorder = Recorder::new(self.target.now(), None);
        let never = AtomicBool::new(false);
        drive(&mut self.target, &mut generator, None, &mut recorder, &never, |_| ()).unwrap();
        recorder.bytes
    }

    /// A fill, and random writes of this number of spans.
    fn converge(&mut self, spans: u64) {
        self.write(Order::SequentialOnce, 128 << 10, None);
        if spans > 0 {
            self.write(Order::Uniform, 4096, Some(spans * self.span_bytes));
        }
    }

    /// The pass; returns its writes over the span.
    fn one_pass(&mut self) -> f64 {
        let log_bytes = self.target.identity().log_bytes.unwrap();
        let written = self.write(Order::OnePass { log_bytes }, 4096, None);
        written as f64 / self.span_bytes as f64
    }

    /// WAF over random writes of this percentage of the span.
    fn waf(&mut self, percent: u64) -> f64 {
        let before = self.target.drive().telemetry();
        self.write(Order::Uniform, 4096, Some(self.span_bytes / 100 * percent));
        let after = self.target.drive().telemetry();
        (after.programmed_pages - before.programmed_pages) as f64
            / (after.host_pages - before.host_pages) as f64
    }

    /// Valid shares of the superblocks that are neither erased nor open, ascending.
    fn valid_shares(&self) -> Vec<f64> {
        let ftl = self.target.drive().ftl();
        let pages = f64::from(ftl.geometry.superblock_data_pages());
        let full = (0..ftl.geometry.superblocks)
            .filter(|&superblock| ftl.written_pages(superblock) == ftl.geometry.superblock_pages());
        let mut shares: Vec<f64> =
            full.map(|sb| f64::from(ftl.valid_pages[sb as usize]) / pages).collect();
        shares.sort_by(f64::total_cmp);
        shares
    }
}

/// Largest distance between two distributions (Kolmogorov and Smirnov).
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let below =
        |of: &[f64], value: f64| of.partition_point(|v| *v <= value) as f64 / of.len() as f64;
    a.iter().chain(b).map(|&value| (below(a, value) - below(b, value)).abs()).fold(0.0, f64::max)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A drive, the used share of its LBAs, and the permitted distance of its first tenth of a span
/// from the steady WAF.
struct Case {
    name: &'static str,
    keys: &'static [(&'static str, &'static str)],
    span_percent: u64,
    error_max: f64,
}

const CASES: [Case; 4] = [
    Case {
        name: "sandisk-extreme-ii-480gb",
        keys: &[("scale", "1/512")],
        span_percent: 100,
        error_max: 0.03,
    },
    Case {
        name: "sandisk-extreme-ii-480gb",
        keys: &[("scale", "1/512"), ("gc.pacing", "token")],
        span_percent: 80,
        error_max: 0.03,
    },
    // Superblocks of 64 pages: greedy gains what the FIFO form does not know, and finds it at once.
    Case {
        name: "samsung-840-pro-256gb",
        keys: &[("scale", "1/256")],
        span_percent: 100,
        error_max: 0.05,
    },
    Case {
        name: "samsung-840-pro-256gb",
        keys: &[("scale", "1/256"), ("gc.policy", "fifo")],
        span_percent: 90,
        error_max: 0.02,
    },
];

#[test]
fn one_pass_leaves_a_drive_where_endless_random_writes_do() {
    for Case { name, keys, span_percent, error_max } in CASES {
        let mut converged = Drive::new(name, keys, span_percent);
        converged.converge(4);
        let mut prepared = Drive::new(name, keys, span_percent);
        let cost = prepared.one_pass();
        let (want, got) = (converged.valid_shares(), prepared.valid_shares());
        let (want_mean, got_mean, distance) = (mean(&want), mean(&got), distance(&want, &got));
        let steady = converged.waf(50);
        let errors: Vec<f64> = (0..4).map(|_| prepared.waf(10) / steady - 1.0).collect();
        println!(
            "{name} {keys:?} {span_percent}%: {cost:.3} spans written; valid {got_mean:.4}, converged \
             {want_mean:.4}, KS {distance:.4}; WAF converged {steady:.3}, then off by {errors:+.4?}"
        );
        prepared.target.drive().check().unwrap();
        let log_share = prepared.target.identity().log_bytes.unwrap() as f64;
        assert!((cost * prepared.span_bytes as f64 / log_share - 1.0).abs() < 0.01, "{cost}");
        assert!((got_mean / want_mean - 1.0).abs() < 0.005, "{name}: {got_mean}, {want_mean}");
        assert!(distance < 0.15, "{name}: {distance}");
        assert!(errors.iter().all(|error| error.abs() < error_max), "{name}: {errors:?}");
    }
}

/// The same figures after the usual fill are far off: the test can distinguish them.
#[test]
fn a_fill_alone_does_not() {
    let Case { name, keys, span_percent, .. } = CASES[0];
    let mut converged = Drive::new(name, keys, span_percent);
    converged.converge(4);
    let mut filled = Drive::new(name, keys, span_percent);
    filled.converge(0);
    assert!(distance(&converged.valid_shares(), &filled.valid_shares()) > 0.5);
    assert!(filled.waf(10) < 0.8 * converged.waf(10), "collection has hardly begun");
}

fn plan(
    target: &impl Target,
    span: SpanRequest,
    settings: &[(&str, &str)],
) -> Result<Plan, String> {
    let request = Request { span, ..request(Path::new("unused"), Test::CONSISTENCY, settings) };
    let plan = run::session::plan(&request, &target.identity(), &target.limits());
    plan.map_err(|error| error.to_string())
}

const ONE_PASS: (&str, &str) = ("precondition", "one-pass");

#[test]
fn a_pass_needs_to_know_the_nand_and_room_in_it() {
    let unknown = ScriptedTarget::new(1 << 30, Reply::after_ns(1));
    let error = plan(&unknown, SpanRequest::Default, &[ONE_PASS]).unwrap_err();
    assert!(error.contains("--set raw_capacity="), "{error}");
    let none_left = [ONE_PASS, ("raw_capacity", "1GiB")];
    let error = plan(&unknown, SpanRequest::Default, &none_left).unwrap_err();
    assert!(error.contains("leave none"), "{error}");
    let plan_of = |span| plan(&unknown, span, &none_left).unwrap();
    let with_spare = plan_of(SpanRequest::Spare("10%".parse().unwrap()));
    assert_eq!(with_spare.procedure.config["log_bytes"], 1 << 30);
    let phases: Vec<_> = with_spare.phases().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["purge", "precondition", "load"]);
    let notes = with_spare.procedure.notes.join("\n");
    assert!(notes.contains("write amplification 5.17 in theory"), "{notes}");
    let error = plan(&unknown, SpanRequest::Default, &[("precondition", "twice")]).unwrap_err();
    assert!(error.contains("`--set precondition=twice` must be fill or one-pass"), "{error}");
}
