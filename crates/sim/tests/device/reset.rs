//! Is a drive new after a secure erase, in any earlier state?

use base::OpKind;
use sim::Device;
use sim::ftl::{Ftl, StreamId};

use crate::common::{CACHE, alone, fill, op, small};

/// Cost of a read without NAND: command and link.
const UNMAPPED_READ_NS: u64 = 5_000 + 8_000;

fn assert_new(device: &mut Device) {
    device.check().unwrap();
    assert!(device.ftl().is_new());
    assert_eq!(device.telemetry(), Device::new(device.config().clone()).telemetry());
    assert_eq!(alone(device, &op(OpKind::Read, 0, 1, 0)), UNMAPPED_READ_NS);
}

#[test]
fn a_prepared_drive_that_has_not_worked_forgets_what_it_held() {
    let config = small(&[]).config().clone();
    let mut ftl = Ftl::new(config.geometry);
    assert!(ftl.open_superblock(StreamId::Host));
    for page in 0..8 {
        ftl.place(StreamId::Host, page);
    }
    let mut device = Device::with_ftl(config, ftl);
    assert!(!device.ftl().is_new());
    device.reset();
    assert_new(&mut device);
}

#[test]
fn a_used_drive_forgets_everything_but_the_time() {
    let mut device = small(&[]);
    fill(&mut device, 10_000);
    let before = device.now();
    device.reset();
    assert_eq!(device.now(), before);
    assert_new(&mut device);
}

#[test]
fn a_cache_of_its_own_is_empty_again() {
    let mut device = small(&CACHE);
    let cache_superblocks = device.config().geometry.cache_superblocks as usize;
    fill(&mut device, 10_000);
    assert!(device.ftl().cached_superblocks > 0 && cache_superblocks > 0);
    device.reset();
    assert_eq!(device.ftl().cache_free.len(), cache_superblocks);
    assert_new(&mut device);
}
