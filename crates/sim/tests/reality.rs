//! Do the drive models reproduce the published figures of the drives? The figures are in
//! `fixtures/published.csv`. Inputs of a model must come out of it again; the others (`held out`)
//! show its accuracy.

mod common;

use base::text::significant;
use base::{Data, Op, OpKind, Rng};
use common::{built_in, closed_loop, op};
use sim::model::{HostProfile, built_in_host};
use sim::{Device, PAGE_BYTES};

const PUBLISHED: &str = include_str!("fixtures/published.csv");
/// Superblocks and caches of a quarter: the measurements take seconds.
const SCALE: &str = "1/4";
const TRANSFER_PAGES: u64 = 32;

/// A line of the file.
struct Fact {
    drive: &'static str,
    quantity: &'static str,
    value: f64,
    unit: &'static str,
    within_percent: f64,
    /// Figure of the model when the line was written, to three digits.
    recorded: &'static str,
}

fn facts() -> Vec<Fact> {
    let fact = |line: &'static str| {
        let fields: Vec<&str> = line.splitn(9, ',').collect();
        let [drive, quantity, value, unit, in_print_as, usage, within_percent, recorded, _source] =
            fields[..]
        else {
            panic!("{line}: nine fields")
        };
        assert!(["input", "fitted", "held out"].contains(&usage), "{line}");
        assert!(["rated", "measured"].contains(&in_print_as), "{line}");
        let number = |text: &str| text.parse().expect(line);
        let (value, within_percent) = (number(value), number(within_percent));
        Fact { drive, quantity, value, unit, within_percent, recorded }
    };
    PUBLISHED.lines().skip(1).map(fact).collect()
}

/// Commands per second after the first quarter of `count`: the buffer of a new drive is full by
/// then.
fn per_second(device: &mut Device, depth: u32, count: u64, mut next: impl FnMut(u32) -> Op) -> f64 {
    closed_loop(device, depth, count / 4, &mut next);
    let begin_ns = device.now().0;
    let counted = count - count / 4;
    closed_loop(device, depth, counted, next);
    counted as f64 * 1e9 / (device.now().0 - begin_ns) as f64
}

/// MB/s of large transfers in order from the first LBA on.
fn sequential(device: &mut Device, kind: OpKind, data: Data, bytes: u64) -> f64 {
    sequential_from(0, device, kind, data, bytes)
}

/// The same from an offset on.
fn sequential_from(offset: u64, device: &mut Device, kind: OpKind, data: Data, bytes: u64) -> f64 {
    let transfers = bytes / PAGE_BYTES / TRANSFER_PAGES;
    let mut page = offset / PAGE_BYTES;
    let rate = per_second(device, 32, transfers, |tag| {
        page += TRANSFER_PAGES;
        Op { data, ..op(kind, page - TRANSFER_PAGES, TRANSFER_PAGES, tag) }
    });
    rate * (TRANSFER_PAGES * PAGE_BYTES) as f64 / 1e6
}

/// IOPS of single pages anywhere in a span.
fn random(device: &mut Device, kind: OpKind, data: Data, span_bytes: u64, depth: u32) -> f64 {
    let mut rng = Rng::new(1);
    let pages = span_bytes / PAGE_BYTES;
    per_second(device, depth, 100_000, |tag| Op { data, ..op(kind, rng.below(pages), 1, tag) })
}

/// A reviewer's figure of a new drive, in the unit of the file.
fn simulated(fact: &Fact) -> f64 {
    const SPAN_BYTES: u64 = 1 << 30;
    let mut device = built_in(fact.drive, SCALE, &[]);
    if fact.quantity.ends_with("through a file") {
        let name = "sata-2012-file";
        let text = built_in_host(name).expect("built in");
        let host = HostProfile::load(name, text).expect("sound").system();
        device = Device::new(device.config().clone().behind(Some(host)));
    }
    // Four workers of 32 for NVMe, as its vendors rate it.
    let depth = device.config().queue_depth.min(128);
    let new = &mut device;
    let noise = Data::Incompressible;
    let (read, write) = (OpKind::Read, OpKind::Write);
    match fact.quantity {
        // Half a span fits into the smallest cache at this scale.
        "sequential write" => sequential(new, write, noise, SPAN_BYTES / 2),
        "sequential write of compressible data" => {
            sequential(new, write, Data::Repeating, SPAN_BYTES)
        }
        "random write" => random(new, write, noise, SPAN_BYTES, depth),
        "random write of compressible data" => {
            random(new, write, Data::Repeating, SPAN_BYTES, depth)
        }
        "random write one at a time through a file" => random(new, write, noise, SPAN_BYTES, 1),
        other => {
            sequential(new, write, noise, SPAN_BYTES);
            match other {
                // Data that is overwritten in the cache makes room in it; a few of its superblocks are folded
                // and written again meanwhile.
                "sequential write behind the cache" => {
                    sequential_from(SPAN_BYTES, new, write, noise, 8 * SPAN_BYTES)
                }
                "sequential read" => sequential(new, read, noise, SPAN_BYTES),
                "random read" => random(new, read, noise, SPAN_BYTES, depth),
                "random read one at a time through a file" => {
                    random(new, read, noise, SPAN_BYTES, 1)
                }
                _ => panic!("nobody knows how to measure the {other}"),
            }
        }
    }
}

#[test]
fn models_do_what_is_in_print_as_well_as_the_file_says() {
    let facts = facts();
    assert!(
        sim::model::ONE_OF_EACH_KIND
            .iter()
            .all(|name| facts.iter().any(|fact| fact.drive == *name))
    );
    let mut faults = Vec::new();
    for fact in &facts {
        let Fact { drive, quantity, value, unit, within_percent, recorded } = fact;
        let simulated = simulated(fact);
        let text = significant(simulated).replace(',', "");
        if (simulated / value - 1.0).abs() * 100.0 > *within_percent {
            faults
                .push(format!("{drive}, {quantity}: {text} {unit}, not within {within_percent}%"));
        }
        if text != *recorded {
            faults.push(format!("{drive}, {quantity}: {text} {unit}, recorded as {recorded}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
