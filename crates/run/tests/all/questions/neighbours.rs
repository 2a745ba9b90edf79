//! Do `matrix` and `neighbours` show how two jobs share a target that serves one command at a time?

use run::Outcome;
use target::scripted::{Reply, ScriptedTarget};

use super::must_refuse;
use crate::common::{metric, request, run_quietly, settings, test};

const MIB: u64 = 1 << 20;
const SERVICE_NS: f64 = 100_000.0;

/// A run on a target that takes 100 us for every command, one at a time.
fn on_one_server(name: &str, own: &str) -> Outcome {
    let mut target = ScriptedTarget::new(64 * MIB, Reply::after_ns(SERVICE_NS as u64));
    target.one_at_a_time = true;
    let library = tempfile::tempdir().unwrap();
    run_quietly(&mut target, &request(library.path(), test(name), &settings(own))).unwrap()
}

/// The shares add up: what reads take is missing for writes.
#[test]
fn the_border_of_the_matrix_of_one_server_is_a_straight_line() {
    let outcome = on_one_server("matrix", "points=4 time=4s alone_time=2s queue_depth=64");
    let [mean, p99] = ["mean", "p99"]
        .map(|name| outcome.run.tables.iter().find(|table| table.name == name).expect("the table"));
    let labels: Vec<_> = mean.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["0%", "25%", "50%", "75%", "100%"]);
    for (writes, row) in mean.rows.iter().enumerate() {
        for (at, value) in row.values.iter().enumerate() {
            let load = writes + at + 1;
            if load != 4 {
                assert_eq!(value.is_some(), load < 4, "{writes}/4 writes, {}/4 reads", at + 1);
            }
            let tail = p99.rows[writes].values[at];
            assert!(tail.zip(*value).is_none_or(|(tail, mean)| tail >= mean));
        }
    }
    // Reads alone at half the rate: M/D/1.
    let half = mean.rows[0].values[1].expect("kept");
    assert!((half / (1.5 * SERVICE_NS) - 1.0).abs() < 0.05, "{half}");
    let finding = &outcome.run.findings[0].text;
    assert!(finding.contains("does 10,000 reads a second or writes"), "{finding}");
}

#[test]
fn a_quiet_read_waits_for_the_queue_of_its_neighbour() {
    let own = "time=4s quiet=5 ratios=1,8 noises=random_write queue_depth=16 precondition=none";
    let outcome = on_one_server("neighbours", own);
    let mean = |step: &str| metric(&outcome, &format!("neighbours.{step}.latency_ns_mean"));
    // At 5% and at 10% of the rate there is hardly a wait, at 45% one of half a service, by M/D/1.
    for (step, rho) in [("alone", 0.05), ("random_write_x1", 0.1), ("random_write_x8", 0.45)] {
        let expected = SERVICE_NS * (1.0 + rho / (2.0 * (1.0 - rho)));
        assert!((mean(step) / expected - 1.0).abs() < 0.05, "{step}: {}", mean(step));
    }
    // A quarter of the depth is quiet; twelve commands of the neighbour stand before each read.
    let full = mean("random_write_full") / SERVICE_NS;
    assert!((12.0..14.0).contains(&full), "{full} services");
    let slowdown = metric(&outcome, "neighbours.random_write_full.slowdown");
    assert!(slowdown > 5.0, "{slowdown}");
    let table = &outcome.run.tables[0];
    let labels: Vec<_> = table.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["0", "1", "8", "full queue"]);
    assert_eq!(table.rows[0].values[4], Some(1.0), "alone it is as slow as alone");
}

#[test]
fn jobs_that_cannot_be_are_named() {
    must_refuse(&[
        ("matrix", "points=101", "expected at most 100"),
        ("matrix", "write_pattern=zipf", "sequential or uniform"),
        ("matrix", "queue_depth=1", "no room for reads and writes at once"),
        ("neighbours", "quiet=0", "between 1 and 100 percent"),
        ("neighbours", "ratios=4,1", "rising multiples"),
        ("neighbours", "noises=flushes", "expected some of random_write"),
    ]);
}
