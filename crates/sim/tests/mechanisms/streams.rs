//! Does a stream for cold data save work with hot and cold data, and cost nothing otherwise?

use std::collections::BTreeMap;

use base::{OpKind, Ratio, Rng};
use sim::ftl::StreamId;
use sim::{Device, Probe};

use crate::common::{closed_loop, op, small_config};

const COLD: (&str, &str) = ("streams.cold", "survivor");

/// The writer of each physical page, and the number of pages from each stream to each.
#[derive(Default)]
struct Moves {
    written_by: BTreeMap<u64, StreamId>,
    place: BTreeMap<u64, u64>,
    counts: BTreeMap<(u32, u32), u64>,
}

impl Probe for Moves {
    fn placed(&mut self, stream: StreamId, logical: u64, physical: u64) {
        let old = self.place.insert(logical, physical);
        if stream != StreamId::Host {
            let from = self.written_by[&old.expect("only mapped pages move")];
            *self.counts.entry((from as u32, stream as u32)).or_default() += 1;
        }
        self.written_by.insert(physical, stream);
    }
}

/// WAF and moves under writes of which `writes_percent` go to a tenth of the pages.
fn live(changes: &[(&str, &str)], writes_percent: u64) -> (f64, Device<Moves>) {
    let config = small_config(Ratio::new(1, 4).expect("a ratio"), changes);
    let mut device = Device::with_probe(config, Moves::default());
    let pages = device.config().geometry.logical_pages;
    let hot_pages = pages / 10;
    let mut rng = Rng::split(1, "addresses");
    let mut write = |device: &mut Device<Moves>, count| {
        closed_loop(device, 32, count, |tag| {
            let is_hot = rng.chance(writes_percent, 100);
            let page = if is_hot {
                rng.below(hot_pages)
            } else {
                hot_pages + rng.below(pages - hot_pages)
            };
            op(OpKind::Write, page, 1, tag)
        });
    };
    for page in 0..pages / 16 {
        closed_loop(&mut device, 1, 1, |tag| op(OpKind::Write, page * 16, 16, tag));
    }
    write(&mut device, 4 * pages);
    let before = device.telemetry();
    write(&mut device, 4 * pages);
    let after = device.telemetry();
    let programmed = after.programmed_pages - before.programmed_pages;
    device.check().unwrap();
    (programmed as f64 / (after.host_pages - before.host_pages) as f64, device)
}

#[test]
fn hot_and_cold_data_apart_move_less_where_age_counts() {
    let policy = ("gc.policy", "cost-benefit");
    let (together, _) = live(&[policy], 90);
    let (apart, _) = live(&[policy, COLD], 90);
    println!("90% of writes to 10% of the data: WAF {together:.3}, with a cold stream {apart:.3}");
    assert!(apart < 0.9 * together);
}

#[test]
fn a_circular_log_gains_nothing() {
    // Under FIFO a page stays for one turn of the log wherever it stands (see `theory_workloads.rs`).
    let policy = ("gc.policy", "fifo");
    let (together, _) = live(&[policy], 90);
    let (apart, _) = live(&[policy, COLD], 90);
    println!("FIFO: WAF {together:.3}, with a cold stream {apart:.3}");
    assert!((apart / together - 1.0).abs() < 0.01);
}

#[test]
fn uniform_data_is_none_the_worse() {
    let (together, _) = live(&[], 10);
    let (apart, _) = live(&[COLD], 10);
    println!("uniform writes: WAF {together:.3}, with a cold stream {apart:.3}");
    // One more superblock stands open.
    assert!((apart / together - 1.0).abs() < 0.05);
}

#[test]
fn what_survives_twice_is_cold() {
    let (_, device) = live(&[COLD], 90);
    let counts = &device.probe().counts;
    let [host, gc, cold] =
        [StreamId::Host, StreamId::Gc, StreamId::Cold].map(|stream| stream as u32);
    println!("moves from and to: {counts:?}");
    let count = |from, to| counts.get(&(from, to)).copied().unwrap_or(0);
    for (from, to, elsewhere) in [(host, gc, cold), (gc, cold, gc), (cold, cold, gc)] {
        // A few pages complete the open unit of the other stream.
        assert!(count(from, to) > 1_000 && count(from, elsewhere) * 50 < count(from, to));
    }
}
