use super::*;
use crate::trace::stats::{SIZE_BINS, Summary, TraceStats};

fn summary(scenario: &str, scale: Ratio, seed: u64) -> Summary {
    let scenario = Scenario::load(scenario).unwrap();
    let mut synth = Synth::new(&scenario, scale, seed).unwrap();
    let expected = synth.records();
    let mut stats = TraceStats::default();
    let mut last_ns = 0;
    while let Some(record) = synth.next_record().unwrap() {
        assert!(record.issue_ns >= last_ns);
        last_ns = record.issue_ns;
        stats.add(&record);
    }
    let summary = stats.summary();
    assert_eq!(summary.ios, expected);
    summary
}

fn near(name: &str, found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance, "{name}: {found}, expected {wanted}");
}

/// All published figures of a trace, of which one command in `parts` is made, within their tolerances.
fn equals_what_was_published(scenario: &str, parts: u32, mean_depth_tolerance: f64) -> Summary {
    let published = Scenario::load(scenario).unwrap().published;
    let summary = summary(scenario, Ratio::new(1, parts.into()).unwrap(), 1);
    let parts = u64::from(parts);
    let wanted = (published.reads / parts, published.writes / parts);
    assert_eq!((summary.reads.ios, summary.writes.ios), wanted);
    for (found, wanted) in
        [(summary.reads.bytes, published.read_bytes), (summary.writes.bytes, published.write_bytes)]
    {
        let wanted = (wanted / parts) as f64;
        near("bytes", found as f64, wanted, 0.001 * wanted);
    }
    for (size, share) in &published.sizes {
        let row = summary.sizes.iter().find(|row| row.size == size).unwrap();
        near(size, row.share, *share, 0.005);
    }
    near("sequential", summary.sequential_share, published.sequential_share.unwrap(), 0.01);
    let depths = summary.queue_depth.as_ref().unwrap();
    if let Some(mean) = published.queue_depth_mean {
        near("mean depth", depths.mean, mean, mean_depth_tolerance * mean);
    }
    if let Some(share) = published.queue_depth_1_share {
        near("depth 1", depths.shares[0], share, 0.01);
    }
    for (found, wanted) in depths.shares.iter().zip(published.queue_depth_shares.iter().flatten()) {
        near("table of depths", *found, *wanted, 0.002);
    }
    summary
}

#[test]
fn heavy_equals_what_was_published() {
    let summary = equals_what_was_published("heavy-2011", 1, 0.02);
    assert!((0.6..0.95).contains(&summary.aligned_share), "{}", summary.aligned_share);
}

#[test]
fn light_equals_what_was_published() {
    let summary = equals_what_was_published("light-2011", 1, 0.02);
    assert!((0.6..0.95).contains(&summary.aligned_share), "{}", summary.aligned_share);
}

/// A tenth of the I/Os; all 49.8 million with `SSDLAB_TEST_FULL=1`.
#[test]
fn the_destroyer_equals_what_was_published() {
    let is_full = std::env::var_os("SSDLAB_TEST_FULL").is_some_and(|full| full == "1");
    let parts = if is_full { 1 } else { 10 };
    let summary = equals_what_was_published("destroyer-2013", parts, 0.03);
    assert_eq!(summary.ios, 49_810_000 / u64::from(parts));
}

#[test]
fn a_fiftieth_of_the_destroyer_has_its_means() {
    let published = Scenario::load("destroyer-2013").unwrap().published;
    let summary = summary("destroyer-2013", Ratio::new(1, 50).unwrap(), 7);
    assert_eq!((summary.reads.ios, summary.writes.ios), (776_600, 219_600));
    let mean = |bytes: u64, ios: u64| bytes as f64 / ios as f64;
    let pairs = [
        (mean(summary.reads.bytes, summary.reads.ios), mean(published.read_bytes, published.reads)),
        (
            mean(summary.writes.bytes, summary.writes.ios),
            mean(published.write_bytes, published.writes),
        ),
    ];
    for (found, wanted) in pairs {
        near("mean size", found, wanted, 0.001 * wanted);
    }
    near("sequential", summary.sequential_share, 0.67, 0.01);
    near("mean depth", summary.queue_depth.unwrap().mean, 5.5, 0.03 * 5.5);
}

/// A replay can keep the recorded depths only if none exceeds the preceding one by more than one.
#[test]
fn depths_climb_one_by_one() {
    let scenario = Scenario::load("heavy-2011").unwrap();
    let mut synth = Synth::new(&scenario, Ratio::new(1, 20).unwrap(), 3).unwrap();
    let mut last = 0;
    while let Some(record) = synth.next_record().unwrap() {
        assert!(record.queue_depth >= 1 && record.queue_depth <= last + 1);
        last = record.queue_depth;
    }
}

#[test]
fn a_seed_decides_order_and_place_but_no_total() {
    let records = |seed| {
        let scenario = Scenario::load("light-2011").unwrap();
        let mut synth = Synth::new(&scenario, Ratio::new(1, 100).unwrap(), seed).unwrap();
        std::iter::from_fn(move || synth.next_record().unwrap()).collect::<Vec<_>>()
    };
    let (first, again, other) = (records(1), records(1), records(2));
    assert!(first == again);
    assert!(first != other);
    let bytes = |records: &[Record]| records.iter().map(|r| u64::from(r.len)).sum::<u64>();
    assert_eq!(bytes(&first), bytes(&other));
}

/// A trace from a learned scenario has the figures of the original trace.
#[test]
fn a_learned_scenario_makes_work_like_the_trace() {
    let scale = Ratio::new(1, 40).unwrap();
    let scenario = Scenario::load("heavy-2011").unwrap();
    let mut synth = Synth::new(&scenario, scale, 1).unwrap();
    let mut learner = model::Learner::default();
    let mut stats = TraceStats::default();
    while let Some(record) = synth.next_record().unwrap() {
        learner.add(&record);
        stats.add(&record);
    }
    let text = learner.scenario("mine", &synth.info()).unwrap().to_toml().unwrap();
    let learned = Scenario::parse("mine", &text).unwrap();
    let mut again = Synth::new(&learned, Ratio::ONE, 2).unwrap();
    let mut made = TraceStats::default();
    while let Some(record) = again.next_record().unwrap() {
        made.add(&record);
    }
    let (trace, made) = (stats.summary(), made.summary());
    assert_eq!((made.reads.ios, made.writes.ios), (trace.reads.ios, trace.writes.ios));
    near(
        "bytes",
        made.writes.bytes as f64,
        trace.writes.bytes as f64,
        0.001 * trace.writes.bytes as f64,
    );
    near("sequential", made.sequential_share, trace.sequential_share, 0.02);
    for (made, trace) in made.sizes.iter().zip(&trace.sizes) {
        near(trace.size, made.share, trace.share, 0.005);
    }
    let (made, trace) = (made.queue_depth.unwrap(), trace.queue_depth.unwrap());
    near("mean depth", made.mean, trace.mean, 0.02 * trace.mean);
}

#[test]
fn a_very_small_part_is_still_a_trace() {
    for scenario in built_in() {
        let summary = summary(scenario, Ratio::new(1, 20_000).unwrap(), 1);
        assert!(summary.ios > 0 && summary.ios < 3000, "{scenario} {}", summary.ios);
    }
}

#[test]
fn what_cannot_be_reached_is_named() {
    let scenario = Scenario::load("heavy-2011").unwrap();
    let message = |change: fn(&mut Scenario)| {
        let mut changed = scenario.clone();
        change(&mut changed);
        let synth = Synth::new(&changed, Ratio::ONE, 1);
        synth.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let sizes = message(|scenario| {
        scenario.published.sizes.insert("128 KiB".to_owned(), 0.9);
    });
    assert!(sizes.contains("cannot be reached"), "{sizes}");
    let unknown = message(|scenario| {
        scenario.published.sizes.insert(">= 1 MiB".to_owned(), 0.01);
    });
    assert!(unknown.contains("the share of I/Os of >= 1 MiB"), "{unknown}");
}

#[test]
fn bad_scenarios_are_refused_with_the_value() {
    let parse = |text: &str| Scenario::parse("x", text).unwrap_err().to_string();
    assert!(parse("name = 1").contains("scenario x"));
    let good = include_str!("../../../scenarios/light-2011.toml");
    for (from, to, expected) in [
        ("span = \"60GB\"", "span = \"60\"", "span"),
        ("sequential = 0.8\n", "sequential = 1.8\n", "sequential = 1.8, expected 0 to 1"),
        ("region = [0.5, 0.8]", "region = [0.8, 0.5]", "the end of region"),
        ("\"48KiB\" = 5", "\"48KB\" = 5", "expected a multiple of 512"),
        ("\"8 KiB\" = 0.024", "\"9 KiB\" = 0.024", "published.sizes has `9 KiB`"),
        ("pause = \"2s\"", "pause = \"2\"", "pause"),
        ("reads = 372630", "reads = 1", "512 bytes to 64 MiB each"),
    ] {
        let error = parse(&good.replacen(from, to, 1));
        assert!(error.contains(expected), "{error}");
    }
    let error = Scenario::load("hevy").unwrap_err().to_string();
    assert!(error.contains("known are heavy-2011, light-2011, destroyer-2013"), "{error}");
    assert_eq!(SIZE_BINS[1], "4 KiB");
}
