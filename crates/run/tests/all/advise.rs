//! Is the smallest spare area the one of theory, and are impossible floors refused?
#![allow(clippy::print_stdout, reason = "a test that shows its figures")]

use std::path::Path;

use base::{Bytes, Nanos};
use io::engine::sim::SimTarget;
use result::schema::Run;
use run::advise::{Advice, Floor, Question, Search, Try};
use run::{Request, RunError, Test};
use target::scripted::{Reply, ScriptedTarget};
use target::{Identity, Target};

use crate::common::{request, run_quietly, simulated};

const DRIVE: &str = "sandisk-extreme-ii-480gb";

fn question(floor: Floor) -> Question {
    Question {
        floor,
        spare_max: "40%".parse().unwrap(),
        step: "1%".parse().unwrap(),
        raw_capacity: None,
        measure: Some(Nanos(10 * Nanos::SECOND.0)),
        queue_depth: 32,
    }
}

fn small_drive() -> SimTarget {
    simulated(DRIVE, &[("scale", "1/1024")])
}

/// The same as if it were a whole one: a drive below full size refuses floors of rare cases.
fn taken_as_whole() -> Identity {
    let mut identity = small_drive().identity();
    identity.details.remove(Identity::SCALE);
    identity
}

fn measure(at: &Try, library: &Path) -> Result<Run, RunError> {
    let settings = at.settings.clone();
    let request = Request { settings, span: at.span(), ..request(library, Test::CONSISTENCY, &[]) };
    run_quietly(&mut small_drive(), &request).map(|outcome| outcome.run)
}

fn ask(question: Question) -> Advice {
    let library = tempfile::tempdir().unwrap();
    let search = Search::new(question, &taken_as_whole()).unwrap();
    let advice = search.answer(|at| measure(at, library.path())).unwrap();
    assert!(advice.tried.len() <= search.tries_max() as usize, "{}", advice.tried.len());
    advice
}

/// The spare area, as a share of the raw capacity, at which greedy cleaning has this write amplification:
/// 1 / A = 1 - e^-y and alpha = A y.
fn spare_of(waf: f64, drive: &SimTarget) -> f64 {
    let alpha = waf * -f64::ln(1.0 - 1.0 / waf);
    let identity = drive.identity();
    1.0 - identity.log_bytes.unwrap() as f64 / alpha / identity.raw_bytes.unwrap() as f64
}

/// The controller limits this drive: a host page costs it a command and A - 1 moves.
fn waf_of(rate_iops: u64, drive: &SimTarget) -> f64 {
    let config = drive.config();
    let page_ns = 1e9 / rate_iops as f64;
    1.0 + (page_ns - config.write_command_ns as f64) / config.relocate_ns as f64
}

#[test]
fn the_spare_area_for_a_floor_is_that_of_theory() {
    let drive = small_drive();
    for rate_iops in [20_000, 30_000] {
        let advice = ask(question(Floor::MeanIops(rate_iops)));
        let found = &advice.tried[advice.answer.expect("there is one")];
        let theory = spare_of(waf_of(rate_iops, &drive), &drive);
        let points = 100.0 * (found.at.spare_share - theory);
        println!(
            "{rate_iops} IOPS: spare {:.2}%, theory {:.2}%, {points:+.2} points; {} tries",
            100.0 * found.at.spare_share,
            100.0 * theory,
            advice.tried.len()
        );
        assert!(points.abs() < 2.0, "{rate_iops}: {points}");
        let one_less = |tried: &&run::advise::SearchStep| {
            let more_bytes = tried.at.span_bytes.saturating_sub(found.at.span_bytes);
            more_bytes > 0 && more_bytes < found.at.span_bytes / 50
        };
        let below = advice.tried.iter().find(one_less).expect("a step less was tried");
        assert!(!below.holds, "{}", below.figure);
    }
}

#[test]
fn what_the_drive_keeps_anyway_may_do_and_what_none_gives_is_refused() {
    let easy = ask(question(Floor::EverySecondIops(5_000)));
    let found = &easy.tried[easy.answer.unwrap()];
    let capacity = small_drive().capacity_bytes();
    assert!(found.at.span_bytes > capacity - (128 << 10) && easy.tried.len() == 2);
    let impossible = ask(question(Floor::MeanIops(74_000)));
    assert_eq!((impossible.answer, impossible.tried.len()), (None, 1));
    let best = impossible.tried[impossible.best].figure;
    assert!((40_000.0..74_000.0).contains(&best), "{best}");
    let slow = ask(question(Floor::P99(Nanos(1_000))));
    assert!(slow.answer.is_none() && slow.tried[slow.best].figure > 1_000.0);
}

fn identity(capacity_bytes: u64) -> Identity {
    ScriptedTarget::new(capacity_bytes, Reply::after_ns(1)).identity()
}

#[test]
fn a_drive_of_unknown_nand_is_filled_and_settled_instead() {
    let search = Search::new(question(Floor::MeanIops(1_000)), &identity(1 << 30)).unwrap();
    assert_eq!((search.base, search.base_bytes), ("advertised", 1 << 30));
    let settings = format!("{:?}", search.largest().settings);
    assert!(!settings.contains("one-pass"), "{settings}");
    // Two spans of 262,144 blocks at 1,000 IOPS, and 10 s.
    assert!(settings.contains("\"534s\"") && settings.contains("\"524s\""), "{settings}");
    let known = Question { raw_capacity: Some(Bytes(5 << 28)), ..question(Floor::MeanIops(1_000)) };
    let search = Search::new(known, &identity(1 << 30)).unwrap();
    assert_eq!(search.base, "raw");
    assert!((search.largest().spare_share - 0.2).abs() < 1e-9);
    let settings = format!("{:?}", search.largest().settings);
    assert!(settings.contains("one-pass") && settings.contains("\"1280MiB\""), "{settings}");
}

#[test]
fn questions_without_sense_are_refused_with_the_reason() {
    let refused = |question| Search::new(question, &identity(1 << 30)).unwrap_err().to_string();
    let good = question(Floor::MeanIops(1_000));
    assert!(refused(question(Floor::MeanIops(0))).contains("a floor of 0"));
    for floor in [Floor::EverySecondIops(1_000), Floor::P99(Nanos(5_000_000))] {
        let error =
            Search::new(question(floor), &small_drive().identity()).unwrap_err().to_string();
        assert!(error.contains("at scale 1/1024") && error.contains("without scale="), "{error}");
    }
    let small = Question { raw_capacity: Some(Bytes(1 << 29)), ..good.clone() };
    assert!(refused(small).contains("--raw-capacity 536.9 MB is less"));
    let narrow = Question { spare_max: "0.5%".parse().unwrap(), ..good };
    let error = refused(narrow);
    assert!(error.contains("--max-spare 0.5%"), "{error}");
}

#[test]
fn a_floor_of_rare_cases_takes_commands_enough() {
    let floor = question(Floor::P99(Nanos(5_000_000)));
    let search = Search::new(floor, &taken_as_whole()).unwrap();
    let library = tempfile::tempdir().unwrap();
    let refused = search.answer(|_| {
        let settings = [("duration", "28s"), ("steady_from", "17s")];
        let mut slow = ScriptedTarget::new(2 << 20, Reply::after_ns(Nanos::SECOND.0));
        let request = request(library.path(), Test::CONSISTENCY, &settings);
        run_quietly(&mut slow, &request).map(|outcome| outcome.run)
    });
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("gives no latency_steady_ns_p99: too few commands (384)"), "{text}");
}
