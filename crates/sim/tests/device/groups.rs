//! Do superblocks over a part of the dies lie, fill and erase where they should?

use base::{OpKind, Ratio, Rng};
use sim::{Device, Probe};

use crate::common::{alone, closed_loop, op, small, small_config};

/// The dies on which each superblock was erased.
#[derive(Default)]
struct Erases(Vec<(u32, u32)>);

impl Probe for Erases {
    fn die_erased(&mut self, superblock: u32, die: u32) {
        self.0.push((superblock, die));
    }
}

#[test]
fn a_superblock_is_erased_on_the_dies_of_its_group_and_on_no_other() {
    let config = small_config(Ratio::ONE, &[("nand.die_groups", "2")]);
    let mut device = Device::with_probe(config, Erases::default());
    let geometry = device.config().geometry;
    let pages = geometry.logical_pages;
    let mut rng = Rng::new(1);
    closed_loop(&mut device, 32, 4 * pages, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
    let erases = &device.probe().0;
    assert!(erases.len() > 100, "{} erases", erases.len());
    for &(superblock, die) in erases {
        assert_eq!(die / (geometry.dies / 2), superblock % 2, "superblock {superblock}");
    }
    device.check().unwrap();
}

#[test]
fn a_stream_writes_on_all_dies_at_once() {
    let [whole, halves, singles] = ["1", "2", "4"].map(|groups| {
        let mut device = small(&[("nand.die_groups", groups)]);
        let unit_pages = u64::from(device.config().geometry.unit_pages);
        let stripe = unit_pages * u64::from(device.config().geometry.dies);
        // Neighbouring units lie on different channels.
        let pair = alone(&mut device, &op(OpKind::Write, 0, 2 * unit_pages, 0));
        device.run_until(crate::common::secs(1));
        let read_pair = alone(&mut device, &op(OpKind::Read, 0, 2 * unit_pages, 0));
        device.run_until(crate::common::secs(2));
        let rest =
            alone(&mut device, &op(OpKind::Write, 2 * unit_pages, stripe - 2 * unit_pages, 0));
        device.run_until(crate::common::secs(3));
        [pair, read_pair, rest, alone(&mut device, &op(OpKind::Read, 0, stripe, 0))]
    });
    assert_eq!((halves, singles), (whole, whole), "every die holds one unit");
}

#[test]
fn an_impossible_number_of_groups_is_refused() {
    let refusal = |changes: &[(&str, &str)]| {
        let changes: Vec<_> =
            changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let model = sim::Model::load("small", crate::common::SMALL, &changes).unwrap();
        model.resolve(Ratio::ONE).unwrap_err().to_string()
    };
    let odd = refusal(&[("nand.die_groups", "3")]);
    assert!(odd.contains("nand.die_groups") && odd.contains("it must divide the 4 dies"), "{odd}");
    let parity = refusal(&[("nand.die_groups", "2"), ("parity.stripe_units", "4")]);
    assert!(parity.contains("it must be 1 with [parity]"), "{parity}");
}
