//! Is the write amplification that `waf` and `streams` find that of theory, and is its source told?

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::{Bytes, HealthSnapshot, Nanos};
use run::{Event, Outcome, Request, SpanRequest};
use target::TargetError;
use target::health::HealthProbe;
use target::scripted::{Reply, ScriptedTarget};

use super::must_refuse;
use crate::common::{metric, request, run_quietly, run_with, settings, simulated, test};

/// A small drive that cleans its oldest block first, for which there are formulas.
const FIFO: [(&str, &str); 2] = [("scale", "1/512"), ("gc.policy", "fifo")];

fn run_on(keys: &[(&str, &str)], span: SpanRequest, name: &str, own: &str) -> Outcome {
    let mut drive = simulated("sandisk-extreme-ii-480gb", keys);
    let library = tempfile::tempdir().unwrap();
    let request = Request { span, ..request(library.path(), test(name), &settings(own)) };
    let outcome = run_quietly(&mut drive, &request).unwrap();
    println!("seed {}", outcome.run.seed);
    outcome
}

/// Pages of a share of the data with a share of the writes.
type Group = (f64, f64);

/// One log, FIFO (Desnoyers 2012): a page of a group with the share s of the data and p of the writes survives a
/// turn of the log with the probability e^-x, x = p alpha / (s A), so that A is the sum of p / (1 - e^-x); for
/// data that is never written that is s A / alpha.
fn fifo(alpha: f64, groups: &[Group]) -> f64 {
    let moved = |waf: f64, &(data, writes): &Group| match writes {
        0.0 => data * waf / alpha,
        _ => writes / -f64::exp_m1(-writes * alpha / (data * waf)),
    };
    (0..100_000).fold(2.0, |waf, _| groups.iter().map(|group| moved(waf, group)).sum())
}

/// Data and writes of pages by Zipf's law, page after page for the first ones and then in groups.
fn zipf(theta: f64, pages: u64) -> Vec<Group> {
    let (mut groups, mut first) = (Vec::new(), 1_u64);
    while first <= pages {
        let len = (first / 64).max(1).min(pages - first + 1);
        let middle = first as f64 + (len - 1) as f64 / 2.0;
        groups.push((len as f64 / pages as f64, len as f64 * middle.powf(-theta)));
        first += len;
    }
    let sum: f64 = groups.iter().map(|group| group.1).sum();
    groups.into_iter().map(|(data, writes)| (data, writes / sum)).collect()
}

/// The effective spare area at which uniform writes have this write amplification.
fn alpha_of(waf: f64) -> f64 {
    let (mut low, mut high) = (1.001, 3.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if fifo(middle, &[(1.0, 1.0)]) > waf { low = middle } else { high = middle }
    }
    low
}

/// Uniform writes show the spare area in use; with it, the formulas predict the other patterns.
#[test]
fn patterns_amplify_as_theory_says() {
    let patterns = "patterns=uniform;zones(20:80);read-only(30%);zipf(0.8)";
    let outcome = run_on(&FIFO, SpanRequest::Default, "waf", &format!("{patterns} overwrites=5"));
    let found = |step: &str| metric(&outcome, &format!("waf.{step}.waf"));
    let alpha = alpha_of(found("uniform"));
    let pages = outcome.run.span.span_bytes / 4096;
    for (step, groups, tolerance) in [
        ("zones_20_80", vec![(0.2, 0.8), (0.8, 0.2)], 0.01),
        ("read_only_30", vec![(0.7, 1.0), (0.3, 0.0)], 0.01),
        ("zipf_0_8", zipf(0.8, pages), 0.02),
    ] {
        let theory = fifo(alpha, &groups);
        let error = found(step) / theory - 1.0;
        println!("{step}: {:.3}, theory {theory:.3} ({:+.2}%)", found(step), 100.0 * error);
        assert!(error.abs() < tolerance, "{step}: {} against {theory}", found(step));
    }
    let table = &outcome.run.tables[0];
    assert_eq!(table.conditions["WAF"], "pages counted by the simulated drive");
    let marks = outcome.run.marks.iter().filter(|mark| mark.metric.ends_with(".waf"));
    assert_eq!(marks.count(), 0, "all are steady: {:?}", outcome.run.marks);
}

/// A drive of 3 GB at its full size, of which `waf` simulates a quarter: it stays the same drive, and a purge makes it
/// whole again.
#[test]
fn a_part_of_a_drive_amplifies_as_the_whole_and_is_the_same_drive() {
    let keys = [
        ("nand.dies_per_channel", "1"),
        ("nand.pages_per_block", "16"),
        ("capacity_gb", "3"),
        ("buffer.write_bytes", "2097152"),
    ];
    let mut drive = simulated("sandisk-extreme-ii-480gb", &keys);
    let library = tempfile::tempdir().unwrap();
    let mut run = |scale: &str| {
        let own = format!("patterns=uniform;zipf(0.8) overwrites=2 scale={scale}");
        let request = request(library.path(), test("waf"), &settings(&own));
        run_quietly(&mut drive, &request).unwrap()
    };
    let (part, whole) = (run("1/4"), run("1"));
    for step in ["uniform", "zipf_0_8"] {
        let found = |outcome| metric(outcome, &format!("waf.{step}.waf"));
        println!("{step}: {:.3} of a quarter, {:.3} of the whole", found(&part), found(&whole));
        assert!((found(&part) / found(&whole) - 1.0).abs() < 0.02, "{step}");
    }
    let bytes = |outcome: &Outcome| outcome.run.phases.iter().map(|phase| phase.bytes).sum::<u64>();
    let share = bytes(&part) as f64 / bytes(&whole) as f64;
    assert!((share - 0.25).abs() < 0.01, "a quarter of the work, not {share}");
    let of = |outcome: &Outcome| {
        let run = outcome.run.clone();
        (run.target, run.span, run.purge)
    };
    assert_eq!(of(&part), of(&whole), "the same drive");
    let told = |outcome: &Outcome| outcome.run.tables[0].conditions.get("scale").cloned();
    assert_eq!(told(&part).as_deref(), Some("25% of the drive is simulated"));
    assert_eq!(told(&whole), None);
}

/// A zone is one superblock: 64 dies x 2 planes x 1 page of 16 KiB at this scale. The span is of whole ones, so that
/// the fill leaves none half full.
#[test]
fn zones_of_whole_superblocks_cost_nothing_where_they_stay_apart() {
    let keys =
        [("scale", "1/256"), ("interface.kind", "nvme"), ("interface.placement_handles", "8")];
    let append = |handles: u32, zones: &str| {
        let own = format!(
            "zones={zones} zone_sizes=2MiB deallocate=true handles={handles} overwrites=1 queue_depth=8"
        );
        run_on(&keys, SpanRequest::Bytes(Bytes(880 * (2 << 20))), "streams", &own)
    };
    let apart = append(8, "1,2,4,8");
    for zones in [1, 2, 4, 8] {
        let waf = metric(&apart, &format!("streams.zones{zones}_2MiB_deallocated.waf"));
        println!("{zones} zones apart: {waf:.4}");
        assert!((0.995..1.005).contains(&waf), "{zones}: {waf}");
    }
    let together = append(0, "8");
    let waf = metric(&together, "streams.zones8_2MiB_deallocated.waf");
    println!("8 zones in one stream: {waf:.3}");
    assert!(waf > 1.05, "zones in one stream share superblocks: {waf}");
}

/// Counts three bytes of NAND for each of the host, and both with every reading.
#[derive(Debug, Default)]
struct Counters(AtomicU64);

impl HealthProbe for Counters {
    fn now(&self) -> Nanos {
        // The target's time is virtual: a second from the start is in the measured step.
        Nanos(Nanos::SECOND.0 * self.0.load(Ordering::Relaxed))
    }

    fn is_harmless(&self) -> bool {
        true
    }

    fn interval(&self) -> Duration {
        Duration::from_micros(200)
    }

    fn read(&self) -> Result<HealthSnapshot, TargetError> {
        let looks = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(HealthSnapshot {
            source: "nvme-smart-log".to_owned(),
            host_written_bytes: Some(1_000_000 * looks),
            nand_written_bytes: Some(3_000_000 * looks),
            ..HealthSnapshot::default()
        })
    }
}

#[test]
fn a_drive_that_counts_its_nand_writes_is_believed_and_another_one_is_judged_by_its_rate() {
    // Fill and one pass take 169 s, and so does the measured step behind them.
    const LOOKS_MIN: u64 = 200;
    for counts in [true, false] {
        let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(10_000_000));
        let counters = Arc::new(Counters::default());
        let probe: Arc<dyn HealthProbe> = Arc::clone(&counters) as _;
        target.health = counts.then_some(probe);
        let library = tempfile::tempdir().unwrap();
        let own = settings("patterns=uniform overwrites=1 queue_depth=1");
        let request = request(library.path(), test("waf"), &own);
        let outcome = run_with(&mut target, &request, |event, _| {
            let is_second = matches!(event, Event::Second { .. });
            while is_second && counts && counters.0.load(Ordering::Relaxed) < LOOKS_MIN {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let outcome = outcome.unwrap();
        let metrics = &outcome.run.metrics;
        let (words, finding) = if counts {
            let waf = metrics["waf.uniform.waf"].expect("two readings in the step");
            assert!((waf - 3.0).abs() < 1e-9, "{waf}");
            ("counters of the drive", "programs 3.00 pages for each page written by `uniform`")
        } else {
            assert_eq!(metrics["waf.uniform.waf"], None);
            let implied = metrics["waf.uniform.waf_implied"].expect("two rates");
            assert!((implied - 1.0).abs() < 0.01, "an even target: {implied}");
            ("implied by the rate", "which implies a write amplification of about that")
        };
        assert!(outcome.run.tables[0].conditions["WAF"].contains(words));
        assert!(outcome.run.findings[0].text.contains(finding), "{:?}", outcome.run.findings);
    }
}

#[test]
fn patterns_and_zones_that_cannot_be_used_are_named() {
    must_refuse(&[
        ("waf", "patterns=uniform;zipf(9)", "exponent from 0 to 4"),
        ("waf", "patterns=sequential", "a pattern of random writes"),
        ("waf", "patterns=uniform;uniform", "`uniform` twice"),
        ("streams", "zones=64 zone_sizes=1MiB", "64 active zones need at least 129"),
        ("streams", "zones=1 zone_sizes=5000B", "it must be a multiple of"),
    ]);
}
