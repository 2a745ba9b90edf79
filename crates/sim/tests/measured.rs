//! Do drive models reproduce measurements of others on the drives? The figures are in
//! `fixtures/measured.csv`. Fitted figures must come out of the model again, held out ones show its
//! accuracy, and figures that are not explained show a missing mechanism: they differ by more than
//! the bound.
//!
//! Models are simulated at a scale that keeps WAF and means, and random commands behind the host of
//! the measurement.
#![allow(missing_docs, reason = "a test")]

mod common;

use base::{OpKind, Ratio, Rng};
use common::{fill, op};
use sim::model::{HostProfile, built_in_host};
use sim::{Device, Model, PAGE_BYTES};

const DOCS: &str = include_str!("../../../docs/simulator/measured.md");
const MEASURED: &str = include_str!("fixtures/measured.csv");
const SCALE_DIVISOR: u64 = 128;
/// Outstanding commands in the writes of SSD-iq: four threads of 128.
const WRITE_DEPTH: u32 = 512;

/// A line of the file.
struct Fact {
    drive: &'static str,
    quantity: &'static str,
    at: &'static str,
    value: f64,
    unit: &'static str,
    within_percent: f64,
    usage: &'static str,
}

impl Fact {
    /// The condition as a number: a queue depth, or GiB of span.
    fn number(&self) -> u64 {
        let digits = self.at.split(' ').find_map(|word| word.parse().ok());
        digits.unwrap_or_else(|| panic!("{}: no number", self.at))
    }
}

fn facts() -> Vec<Fact> {
    let fact = |line: &'static str| {
        let fields: Vec<&str> = line.splitn(8, ',').collect();
        let [drive, quantity, at, value, unit, within_percent, usage, _source] = fields[..] else {
            panic!("{line}: eight fields")
        };
        assert!(["fitted", "held out", "not explained"].contains(&usage), "{line}");
        let number = |text: &str| text.parse().expect(line);
        let (value, within_percent) = (number(value), number(within_percent));
        Fact { drive, quantity, at, value, unit, within_percent, usage }
    };
    MEASURED.lines().skip(1).map(fact).collect()
}

fn model(drive: &str) -> Model {
    let text = sim::model::built_in(drive).expect("built in");
    Model::load(drive, text, &[]).expect("valid")
}

/// A new drive behind the host of its model.
fn new_drive(drive: &str) -> Device {
    let model = model(drive);
    let host = model.host.as_ref().expect("a host").value.clone();
    let text = built_in_host(&host).expect("built in");
    let host = HostProfile::load(&host, text).expect("sound").system();
    let config = model.resolve(Ratio::new(1, SCALE_DIVISOR).expect("a ratio")).expect("consistent");
    Device::new(config.behind(Some(host)))
}

/// Commands per second of random single pages in the first `pages`, after `warm_up` of them have
/// ended.
fn per_second(
    device: &mut Device,
    (kind, depth, pages): (OpKind, u32, u64),
    warm_up: u64,
    count: u64,
) -> f64 {
    let mut rng = Rng::new(1);
    let mut next = |tag| op(kind, rng.below(pages), 1, tag);
    let mut begin_ns = device.now().0;
    let mut ended = 0;
    common::watched_loop(device, depth, warm_up + count, &mut next, |device, _| {
        ended += 1;
        if ended == warm_up {
            begin_ns = device.now().0;
        }
    });
    count as f64 * 1e9 / (device.now().0 - begin_ns) as f64
}

/// IOPS at a queue depth on a filled drive. Writes stay within the spare, like those of the
/// measurement, which wrote the same pages in each of its runs.
fn random(fact: &Fact, kind: OpKind) -> f64 {
    let mut device = new_drive(fact.drive);
    let pages = u64::from(device.config().geometry.logical_pages) / 8;
    fill(&mut device, pages);
    device.run_until(common::secs(60));
    per_second(&mut device, (kind, fact.number() as u32, pages), 1_000, 20_000)
}

/// A drive of which the span is filled, and the pages of the span.
fn filled(fact: &Fact) -> (Device, u64) {
    let mut device = new_drive(fact.drive);
    let pages = u64::from(device.config().geometry.logical_pages);
    let whole = model(fact.drive).resolve(Ratio::ONE).expect("consistent");
    // Blocks have whole pages at any scale, so that the share of the capacity counts.
    let span = pages * fact.number() / (whole.capacity_bytes() >> 30);
    let span = span.min(pages) / 32 * 32;
    fill(&mut device, span);
    (device, span)
}

/// WAF and MB/s of random writes within a span after a fill of it, over the last fifth of four overwrites.
fn settled(fact: &Fact) -> (f64, f64) {
    let (mut device, span) = filled(fact);
    let writes = (OpKind::Write, WRITE_DEPTH, span);
    let (most, last) = (span / 5 * 16, span / 5 * 4);
    per_second(&mut device, writes, 1, most);
    let before = device.telemetry();
    let rate = per_second(&mut device, writes, 1, last);
    let after = device.telemetry();
    let programmed = after.programmed_pages - before.programmed_pages;
    let waf = programmed as f64 / (after.host_pages - before.host_pages) as f64;
    (waf, rate * PAGE_BYTES as f64 / 1e6)
}

/// Overwrites of a span after a fill of it until the mean of a minute falls below 0.9 of that of the first minute, in
/// steps of 10 s. Times are in proportion to the scale.
fn onset(fact: &Fact) -> f64 {
    let (mut device, span) = filled(fact);
    let step_ns = 10_000_000_000 / SCALE_DIVISOR;
    let (start_ns, mut steps) = (device.now().0, Vec::new());
    let mut rng = Rng::new(1);
    let mut next = |tag| op(OpKind::Write, rng.below(span), 1, tag);
    common::watched_loop(&mut device, WRITE_DEPTH, 3 * span, &mut next, |device, _| {
        let step = ((device.now().0 - start_ns) / step_ns) as usize;
        steps.resize(steps.len().max(step + 1), 0_u64);
        steps[step] += 1;
    });
    let minute = |steps: &[u64]| steps.iter().sum::<u64>();
    let first = minute(&steps[..6]);
    let slow = steps.windows(6).position(|steps| minute(steps) * 10 < first * 9);
    let slow = slow.expect("cleaning begins");
    minute(&steps[..slow + 6]) as f64 / span as f64
}

fn simulated(fact: &Fact) -> f64 {
    match fact.quantity {
        "random read" => random(fact, OpKind::Read),
        "random write" => random(fact, OpKind::Write),
        "WAF" => settled(fact).0,
        "onset of cleaning" => onset(fact),
        "settled write" => settled(fact).1,
        other => panic!("nobody knows how to measure the {other}"),
    }
}

fn shown(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value:.2}"),
        unit => format!("{value:.0} {unit}"),
    }
}

/// The line of the table in `docs/simulator/measured.md`.
fn line(fact: &Fact, simulated: f64) -> String {
    let Fact { quantity, at, value, unit, usage, .. } = fact;
    let name = model(fact.drive).name;
    let percent = (simulated / value - 1.0) * 100.0;
    let (value, ours) = (shown(*value, unit), shown(simulated, unit));
    let line =
        format!("| {name} | {quantity} | {at} | {value} | {ours} | {percent:+.0}% | {usage} |");
    line.replace("+0%", "0%").replace("-0%", "0%")
}

#[test]
fn models_do_what_others_measured_and_the_docs_say_how_well() {
    let mut faults = Vec::new();
    for fact in facts() {
        let simulated = simulated(&fact);
        let line = line(&fact, simulated);
        let is_within = (simulated / fact.value - 1.0).abs() * 100.0 <= fact.within_percent;
        if is_within == (fact.usage == "not explained") {
            faults.push(format!("{line} within {}%: {is_within}", fact.within_percent));
        }
        if !DOCS.contains(&line) {
            faults.push(line);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
