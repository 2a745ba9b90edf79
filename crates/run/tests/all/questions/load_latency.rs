//! Does `load-latency` measure the wait that queueing theory gives, wherever the queue stands?

use run::Outcome;
use target::scripted::{Reply, ScriptedTarget};

use super::must_refuse;
use crate::common::{metric, request, run_quietly, settings, simulated, test};

const MIB: u64 = 1 << 20;
/// Time of one command.
const SERVICE_NS: f64 = 100_000.0;

/// Mean time in a system with one server, Poisson arrivals and a fixed service time, at the share `rho` of its rate
/// (Pollaczek and Khinchin).
fn md1_ns(rho: f64) -> f64 {
    SERVICE_NS * (1.0 + rho / (2.0 * (1.0 - rho)))
}

/// A run on a target that takes 100 us for every command, one at a time.
fn on_one_server(queue_depth: &str) -> Outcome {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(SERVICE_NS as u64));
    target.one_at_a_time = true;
    let library = tempfile::tempdir().unwrap();
    let mut own = settings("time=50s kinds=reads loads=20,50,80,90 precondition=none");
    own.push(("queue_depth", queue_depth));
    let outcome = run_quietly(&mut target, &request(library.path(), test("load-latency"), &own));
    outcome.unwrap()
}

/// The table's values of a load: done, mean, median, p99, p99.9.
fn row(outcome: &Outcome, load: u32) -> Vec<f64> {
    let table = &outcome.run.tables[0];
    let row = table.rows.iter().find(|row| row.label == format!("{load}%")).expect("the load");
    row.values.iter().map(|value| value.expect("enough commands")).collect()
}

/// With 64 commands outstanding the queue stands in the target. With one it stands at the host: only latencies
/// from due times contain it, and a loop that waited for the target would see 100 us at every load.
#[test]
fn waits_are_those_of_queueing_theory_whether_the_host_or_the_target_queues() {
    for queue_depth in ["64", "1"] {
        let outcome = on_one_server(queue_depth);
        println!("seed {}", outcome.run.seed);
        let saturated = metric(&outcome, "load-latency.reads_saturated.iops");
        assert!((saturated / (1e9 / SERVICE_NS) - 1.0).abs() < 0.001, "{saturated}");
        for load in [20, 50, 80, 90] {
            let rho = f64::from(load) / 100.0;
            let (found, theory) = (row(&outcome, load)[1], md1_ns(rho));
            println!("QD {queue_depth}, {load}%: {found:.0} ns, M/D/1 {theory:.0} ns");
            assert!((found / theory - 1.0).abs() < 0.05, "{load}%: {found} against {theory}");
            // The wait alone, where there is one to speak of.
            let (wait, expected) = (found - SERVICE_NS, theory - SERVICE_NS);
            assert!((wait / expected - 1.0).abs() < 0.05 || load < 50, "{wait}, not {expected}");
        }
        // Rate over time is rho / (1 + rho / (2 (1 - rho))), which is largest at 2 - sqrt(2) = 59%.
        assert_eq!(outcome.run.metrics["load-latency.reads.knee_share"], Some(0.5));
        let knee = metric(&outcome, "load-latency.reads_knee.latency_ns_mean");
        assert!((knee / md1_ns(0.5) - 1.0).abs() < 0.05, "{knee}");
        let finding = &outcome.run.findings[0].text;
        let words = "does 10,000 reads a second at most; its knee is at 50% of that";
        assert!(finding.contains(words), "{finding}");
    }
}

#[test]
fn a_drive_has_a_knee_for_reads_for_a_mix_and_for_writes() {
    let mut drive = simulated("samsung-840-pro-256gb", &[("scale", "1/512")]);
    let library = tempfile::tempdir().unwrap();
    let own = settings("time=2s loads=10,40,70,100");
    let outcome = run_quietly(&mut drive, &request(library.path(), test("load-latency"), &own));
    let outcome = outcome.unwrap();
    let names: Vec<_> = outcome.run.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["reads", "mixed", "writes"]);
    assert_eq!(outcome.run.config["precondition"], "one-pass");
    for kind in names {
        let full = metric(&outcome, &format!("load-latency.{kind}_saturated.iops"));
        let phase = |load: u32| {
            let name = format!("{kind}_at{load}");
            outcome.run.phases.iter().find(|phase| phase.name == name).expect("the step")
        };
        for load in [10, 40, 70] {
            // Poisson counts: five standard deviations.
            let due = phase(load).ios + phase(load).ios_after_end + phase(load).ios_not_issued;
            let expected = 2.0 * full * f64::from(load) / 100.0;
            assert!((due as f64 - expected).abs() < 5.0 * expected.sqrt(), "{kind} {load}%: {due}");
            assert!(phase(load).what.contains("a second at random (Poisson)"));
        }
        let unloaded = metric(&outcome, &format!("load-latency.{kind}_unloaded.latency_ns_mean"));
        let knee = metric(&outcome, &format!("load-latency.{kind}_knee.latency_ns_mean"));
        assert!(knee >= 0.9 * unloaded, "{kind}: {knee} against {unloaded}");
    }
}

#[test]
fn loads_and_kinds_that_cannot_be_used_are_named() {
    must_refuse(&[
        ("load-latency", "loads=50,10", "rising shares"),
        ("load-latency", "loads=0,10", "1 to 200"),
        ("load-latency", "kinds=reads,trims", "`trims`; expected some of reads, mixed, writes"),
        ("load-latency", "precondition=twice", "auto, one-pass, random or none"),
        ("load-latency", "rate=1000", "it sets the rates itself"),
    ]);
}
