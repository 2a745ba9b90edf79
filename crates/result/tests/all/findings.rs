//! The findings of a run, and the claims that it must not make.

use crate::common::{load_rows, phase, run_named};
use result::rows::PhaseRows;
use result::schema::Run;
use result::stats::{consistency::Consistency, findings};

fn story(run: &Run, rows: &PhaseRows) -> String {
    let mut run = run.clone();
    run.phases.push(phase("load", rows));
    let figures = Consistency::of(rows, 80).with_busy_shares(rows, &run.target.details);
    let found = findings::consistency(&run, rows, &figures);
    found.into_iter().map(|finding| finding.text + "\n").collect()
}

fn real_drive() -> Run {
    let mut run = run_named("r");
    run.target.kind = base::TargetKind::Block;
    run
}

fn without_telemetry(mut rows: PhaseRows) -> PhaseRows {
    for row in &mut rows.seconds {
        row.telemetry = None;
    }
    rows
}

#[test]
fn a_real_drive_is_not_simulated_and_hides_its_cause() {
    let story = story(&real_drive(), &without_telemetry(load_rows(120, 30)));
    assert!(story.contains("The drive falls from 700 to 130 IOPS after 30 s.\n"), "{story}");
    assert!(!story.contains("imulated") && !story.contains("NAND"), "{story}");
}

#[test]
fn spare_that_runs_out_at_another_time_is_no_cause() {
    for reached_s in [0, 10, 90] {
        let mut rows = load_rows(120, 30);
        for row in &mut rows.seconds {
            let free = if row.second < reached_s { 90 } else { 4 };
            row.telemetry.as_mut().unwrap().free_superblocks = free;
        }
        let story = story(&run_named("r"), &rows);
        assert!(story.contains("after 30 s.\n"), "{reached_s}: {story}");
        assert!(!story.contains("used up"), "{reached_s}: {story}");
    }
}

/// Ten minutes of 90,000 IOPS until `fall_s` and 39,000 from then on, with free superblocks by the second.
fn full_size(fall_s: u32, free: impl Fn(u32) -> u64) -> PhaseRows {
    let mut rows = load_rows(600, fall_s);
    for row in &mut rows.seconds {
        row.ios[1] = if row.second < fall_s { 90_000 } else { 39_000 };
        row.telemetry.as_mut().unwrap().free_superblocks = free(row.second);
    }
    rows
}

#[test]
fn spare_that_sinks_slowly_to_nothing_at_the_fall_is_its_cause() {
    // A full-size drive: 977 superblocks at first, 5.5 fewer each second, then 3 and now and then 2 or 4.
    let later = |second: u32| [3, 4, 3, 2][second as usize % 4];
    let free = |second: u32| {
        if second < 178 { 977 - 972 * u64::from(second) / 177 } else { later(second) }
    };
    let story = story(&run_named("r"), &full_size(178, free));
    let want = "falls from 90,000 to 39,000 IOPS after 178 s, when its spare blocks are used up.";
    assert!(story.contains(want), "{story}");
}

#[test]
fn spare_that_ran_out_long_before_the_fall_is_no_cause() {
    for out_s in [20, 120, 160] {
        let free = |second: u32| {
            if second < out_s { 977 - 972 * u64::from(second) / u64::from(out_s) } else { 4 }
        };
        let story = story(&run_named("r"), &full_size(178, free));
        assert!(story.contains("after 178 s.\n"), "{out_s}: {story}");
    }
}

#[test]
fn the_spare_area_stands_in_every_sentence() {
    let mut run = real_drive();
    run.span.variant = "25%".to_owned();
    for line in story(&run, &load_rows(120, 30)).lines() {
        assert!(line.starts_with("The drive with 25% spare area "), "{line}");
    }
}

#[test]
fn an_even_run_keeps_its_pace() {
    let mut rows = load_rows(120, 120);
    rows.seconds.iter_mut().for_each(|row| row.ios = [0, 700, 0, 0]);
    let story = story(&real_drive(), &rows);
    assert!(story.contains("keeps its pace: no fall in 120 s."), "{story}");
    assert!(!story.contains("settles"), "{story}");
}

#[test]
fn slow_seconds_are_counted_and_a_late_fall_is_a_snapshot() {
    let mut rows = load_rows(120, 1);
    for row in &mut rows.seconds[1..] {
        row.ios[1] = if row.second % 4 == 0 { 10 } else { 200 };
    }
    let uneven = story(&real_drive(), &rows);
    assert!(
        uneven.contains("less than half its mean in 25% of the seconds from 80 s on"),
        "{uneven}"
    );
    assert!(uneven.contains("the slowest gives 10 IOPS"), "{uneven}");
    let late = story(&real_drive(), &load_rows(120, 112));
    assert!(late.contains("does not settle within 120 s"), "{late}");
}

#[test]
fn the_part_without_time_left_is_the_limit() {
    let run = run_named("r");
    let mut rows = load_rows(120, 30);
    let unknown = story(&run, &rows);
    assert!(!unknown.contains("limited"), "{unknown}");
    let mut told = |busy_ns| {
        for row in &mut rows.seconds[80..] {
            row.telemetry.as_mut().unwrap().controller_busy_ns = busy_ns;
        }
        story(&run, &rows)
    };
    let with_time_left = told(900_000_000);
    assert!(!with_time_left.contains("limited"), "{with_time_left}");
    let controller = told(999_500_000);
    let want =
        "is limited by its controller from 80 s on (busy: controller more than 99.9%, dies 78%).";
    assert!(controller.contains(want), "{controller}");
    for row in &mut rows.seconds {
        row.telemetry.as_mut().unwrap().die_busy_ns = 64_000_000_000;
    }
    let both = story(&run, &rows);
    assert!(both.contains("is limited by its controller and its dies from 80 s on"), "{both}");
}

#[test]
fn nothing_measured_says_nothing() {
    assert_eq!(story(&real_drive(), &PhaseRows::default()), "");
}
