//! The host's side: links, queues, sectors smaller than a page, the read cache. Latencies of the
//! small drive compared with the sum of its parts, as in `timing.rs`.

use base::{Completion, Op, OpKind};
use sim::Device;

use crate::common::{alone, fill, op, random_writes, secs, small};

const READ_COMMAND: u64 = 5_000;
const WRITE_COMMAND: u64 = 6_000;
const LINK_PAGE: u64 = 8_000;
const LINK_SECTOR: u64 = 1_000;
const CHANNEL_PAGE: u64 = 10_000;
const READ: u64 = 50_000;

const NVME: (&str, &str) = ("interface.kind", "nvme");
const SECTORS: (&str, &str) = ("interface.logical_block_bytes", "512");

/// A command of 512-byte sectors.
fn sectors(kind: OpKind, first: u64, count: u64) -> Op {
    Op { offset: first * 512, len: (count * 512) as u32, ..op(kind, 0, 1, 0) }
}

/// Sends all commands at once; latencies by tag.
fn together(device: &mut Device, ops: &[Op]) -> Vec<u64> {
    let mut out: Vec<Completion> = Vec::new();
    ops.iter().for_each(|op| device.submit(op));
    while out.len() < ops.len() {
        device.reap(1, &mut out);
    }
    out.sort_by_key(|end| end.tag);
    out.iter().map(|end| end.latency().0).collect()
}

#[test]
fn alone_a_command_takes_the_same_on_either_interface() {
    const PROGRAM: u64 = 600_000;
    for changes in [&[][..], &[NVME], &[NVME, ("interface.queues", "4")]] {
        let mut device = small(&[changes, &[("read_cache.bytes", "1048576")]].concat());
        let mut time = |kind, fua| alone(&mut device, &Op { fua, ..op(kind, 0, 4, 0) });
        let written = WRITE_COMMAND + 4 * LINK_PAGE;
        let hit = READ_COMMAND + 4 * LINK_PAGE;
        assert_eq!(time(OpKind::Write, false), written, "into the buffer");
        assert_eq!(time(OpKind::Read, false), hit, "from the buffer");
        let through = WRITE_COMMAND + 4 * LINK_PAGE + 4 * CHANNEL_PAGE + PROGRAM;
        device.run_until(secs(1));
        let mut time = |kind, fua| alone(&mut device, &Op { fua, ..op(kind, 0, 4, 0) });
        assert_eq!(time(OpKind::Write, true), through, "through the buffer");
        let miss = READ_COMMAND + READ + 4 * CHANNEL_PAGE + 4 * LINK_PAGE;
        assert_eq!(time(OpKind::Read, false), miss, "from NAND");
        assert_eq!(time(OpKind::Read, false), hit, "from the read cache");
    }
}

#[test]
fn sata_carries_one_direction_at_a_time_and_nvme_both() {
    let both = [op(OpKind::Read, 0, 32, 0), op(OpKind::Write, 64, 32, 1)];
    let read = READ_COMMAND + 32 * LINK_PAGE;
    assert_eq!(together(&mut small(&[]), &both), [read, read + 32 * LINK_PAGE]);
    let write = READ_COMMAND + WRITE_COMMAND + 32 * LINK_PAGE;
    assert_eq!(together(&mut small(&[NVME]), &both), [read, write]);
}

/// No data arrives before its last bit: a fraction of a nanosecond counts as a whole one.
#[test]
fn a_transfer_takes_its_last_nanosecond_as_a_whole() {
    // 4,096 bytes at 300 MB/s are 13,653.3 ns, at 409.6 MB/s over the channel 10,000 ns.
    let mut device = small(&[("interface.link_bytes_per_s", "300_000_000")]);
    assert_eq!(alone(&mut device, &op(OpKind::Write, 0, 1, 0)), WRITE_COMMAND + 13_654);
    assert_eq!(alone(&mut device, &op(OpKind::Write, 1, 3, 0)), WRITE_COMMAND + 3 * 4_096 * 10 / 3);
    let mut slow = small(&[("nand.channel_bytes_per_s", "300_000_000")]);
    alone(&mut slow, &op(OpKind::Write, 0, 4, 0));
    slow.run_until(secs(1));
    let read = alone(&mut slow, &op(OpKind::Read, 0, 1, 0));
    assert_eq!(read, READ_COMMAND + READ + 13_654 + LINK_PAGE);
}

#[test]
fn nvme_commands_in_one_direction_share_its_lanes() {
    let reads = [op(OpKind::Read, 0, 32, 0), op(OpKind::Read, 64, 32, 1)];
    let first = READ_COMMAND + 32 * LINK_PAGE;
    assert_eq!(together(&mut small(&[NVME]), &reads), [first, first + 32 * LINK_PAGE]);
}

#[test]
fn a_queue_with_one_command_does_not_wait_for_a_full_one() {
    let lone = |changes: &[(&str, &str)]| {
        let mut ops: Vec<_> = (0..10).map(|i| op(OpKind::Read, i, 1, 2 * i as u32)).collect();
        ops.push(op(OpKind::Read, 20, 1, 19));
        *together(&mut small(changes), &ops).last().unwrap()
    };
    // Links, not commands, are the bottleneck: it is the n-th to come to the link.
    assert_eq!(lone(&[NVME]), READ_COMMAND + 11 * LINK_PAGE, "one queue: last");
    let two = [NVME, ("interface.queues", "2")];
    assert_eq!(lone(&two), READ_COMMAND + 2 * LINK_PAGE, "its own queue: second");
    let bursts = [NVME, two[1], ("interface.arbitration_burst", "4")];
    assert_eq!(lone(&bursts), READ_COMMAND + 5 * LINK_PAGE, "after a burst of four");
}

#[test]
fn a_write_keeps_its_slot_until_the_buffer_has_it() {
    let last = |changes: &[(&str, &str)]| {
        let mut ops: Vec<_> = (0..10).map(|i| op(OpKind::Write, i, 1, 2 * i as u32)).collect();
        ops.push(op(OpKind::Read, 20, 1, 19));
        *together(&mut small(changes), &ops).last().unwrap()
    };
    let (write, read) = (WRITE_COMMAND + LINK_PAGE, READ_COMMAND + LINK_PAGE);
    assert_eq!(last(&[NVME]), 10 * WRITE_COMMAND + read, "all are decoded at once");
    let one = ("interface.command_slots", "1");
    assert_eq!(last(&[NVME, one]), 10 * write + read, "one after the other");
    let two = [NVME, one, ("interface.queues", "2")];
    assert_eq!(last(&two), write + read, "its own queue: second");
}

/// Little's law: with few slots a read stands behind the outstanding writes of its queue, with many behind none of them.
#[test]
fn reads_of_an_overloaded_drive_wait_for_a_slot_as_long_as_its_writes() {
    const DEPTH: u32 = 32;
    // Mean latency of reads in ns, all commands a second and writes a second.
    let overloaded = |changes: &[(&str, &str)]| {
        let mut device = small(changes);
        let pages = device.config().geometry.logical_pages;
        let mut rng = base::Rng::new(1);
        fill(&mut device, pages);
        random_writes(&mut device, pages, pages, &mut rng);
        let (begin_ns, mut out) = (device.now().0, Vec::new());
        let (mut ended, mut reads, mut waited_ns) = (0, 0, 0);
        let mut send = |device: &mut Device, tag| {
            let kind = if tag == 0 { OpKind::Read } else { OpKind::Write };
            device.submit(&op(kind, rng.below(pages), 1, tag));
        };
        (0..DEPTH).for_each(|tag| send(&mut device, tag));
        while ended < 20_000 {
            out.clear();
            device.reap(1, &mut out);
            for end in &out {
                ended += 1;
                if end.tag == 0 {
                    (reads, waited_ns) = (reads + 1, waited_ns + end.latency().0);
                }
                send(&mut device, end.tag);
            }
        }
        let rate = |count| count * 1_000_000_000 / (device.now().0 - begin_ns);
        (waited_ns / reads, rate(ended), rate(ended - reads))
    };
    let (wait_ns, rate, writes) = overloaded(&[NVME, ("interface.command_slots", "1")]);
    let little_ns = u64::from(DEPTH) * 1_000_000_000 / rate;
    assert!(wait_ns.abs_diff(little_ns) < little_ns / 10, "{wait_ns} ns, {little_ns} by the rate");
    let (without_ns, _, same_writes) = overloaded(&[NVME]);
    assert!(without_ns < little_ns / 3, "{without_ns} ns without a limit");
    assert!(
        same_writes.abs_diff(writes) < writes / 20,
        "slots cost no writes: {writes}, {same_writes}"
    );
}

#[test]
fn queues_multiply_the_depth() {
    let device = small(&[NVME, ("interface.queues", "8"), ("interface.queue_depth", "1024")]);
    assert_eq!(device.config().queue_depth, 8192);
}

#[test]
fn a_part_of_a_page_is_written_after_the_rest_is_read() {
    let mut device = small(&[SECTORS]);
    let sector = sectors(OpKind::Write, 3, 1);
    let in_dram = WRITE_COMMAND + LINK_SECTOR;
    assert_eq!(alone(&mut device, &sector), in_dram, "the page held nothing");
    assert_eq!(alone(&mut device, &sector), in_dram, "the page is in the buffer");
    alone(&mut device, &op(OpKind::Write, 8, 2, 0));
    device.run_until(secs(1));
    assert_eq!(device.telemetry().buffer_pages, 0);
    let read_first = in_dram + READ + CHANNEL_PAGE;
    assert_eq!(alone(&mut device, &sector), read_first, "the page is in NAND");
    // From the middle of page 8 to the middle of page 9, both in one unit: two reads on one die.
    let two_edges = WRITE_COMMAND + 8 * LINK_SECTOR + 2 * (READ + CHANNEL_PAGE);
    assert_eq!(alone(&mut device, &sectors(OpKind::Write, 8 * 8 + 4, 8)), two_edges);
    assert_eq!(device.telemetry().host_pages, 1 + 1 + 2 + 1 + 2, "whole pages are written");
    device.check().unwrap();
}

#[test]
fn reads_of_sectors_move_sectors_over_the_link() {
    let mut device = small(&[SECTORS]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(1));
    let one = READ_COMMAND + READ + CHANNEL_PAGE + LINK_SECTOR;
    assert_eq!(alone(&mut device, &sectors(OpKind::Read, 5, 1)), one);
    let over_the_edge = READ_COMMAND + READ + 2 * CHANNEL_PAGE + 2 * LINK_SECTOR;
    assert_eq!(alone(&mut device, &sectors(OpKind::Read, 7, 2)), over_the_edge);
}

#[test]
fn deallocate_spares_pages_that_it_covers_in_part() {
    let mut device = small(&[SECTORS]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(1));
    alone(&mut device, &sectors(OpKind::Deallocate, 1, 3 * 8));
    let unmapped = |page: u64| device.ftl().l2p.get(page) == sim::ftl::NO_PAGE;
    assert_eq!([0, 1, 2, 3].map(unmapped), [false, true, true, false]);
}

#[test]
fn what_was_read_is_read_again_from_dram() {
    let mut device = small(&[("read_cache.bytes", "32768")]);
    alone(&mut device, &op(OpKind::Write, 0, 64, 0));
    device.run_until(secs(1));
    let hit = READ_COMMAND + LINK_PAGE;
    let miss = hit + READ + CHANNEL_PAGE;
    let mut read = |page| alone(&mut device, &op(OpKind::Read, page, 1, 0));
    assert_eq!([read(0), read(0), read(1), read(0)], [miss, hit, miss, hit]);
    // Room for eight pages: page 1 is the least recently used one when the ninth comes.
    (2..9).for_each(|page| assert_eq!(read(page), miss));
    assert_eq!([read(0), read(1)], [hit, miss]);
}

#[test]
fn the_read_cache_forgets_what_is_overwritten_or_deallocated() {
    let mut device = small(&[("read_cache.bytes", "1048576")]);
    alone(&mut device, &op(OpKind::Write, 0, 8, 0));
    device.run_until(secs(1));
    let hit = READ_COMMAND + LINK_PAGE;
    let miss = hit + READ + CHANNEL_PAGE;
    let read = op(OpKind::Read, 0, 1, 0);
    assert_eq!([alone(&mut device, &read), alone(&mut device, &read)], [miss, hit]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(2));
    assert_eq!([alone(&mut device, &read), alone(&mut device, &read)], [miss, hit]);
    alone(&mut device, &op(OpKind::Deallocate, 0, 1, 0));
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(3));
    assert_eq!(alone(&mut device, &read), miss);
    device.check().unwrap();
}

/// A write of several pages makes all of them obsolete, at any place in the command.
#[test]
fn the_read_cache_forgets_every_page_of_an_overwrite() {
    let mut device = small(&[("read_cache.bytes", "1048576")]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(1));
    let hit = READ_COMMAND + LINK_PAGE;
    let miss = hit + READ + CHANNEL_PAGE;
    for page in 0..4 {
        let read = op(OpKind::Read, page, 1, 0);
        assert_eq!([alone(&mut device, &read), alone(&mut device, &read)], [miss, hit]);
    }
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(2));
    for page in 0..4 {
        assert_eq!(alone(&mut device, &op(OpKind::Read, page, 1, 0)), miss, "page {page}");
    }
}

/// Two kinds of pages must not enter the cache: those overwritten during the read, and those in the
/// write buffer, which are in DRAM anyway.
#[test]
fn the_read_cache_takes_nothing_that_is_still_to_be_programmed() {
    let mut device = small(&[("read_cache.bytes", "1048576")]);
    let hit = READ_COMMAND + LINK_PAGE;
    let miss = hit + READ + CHANNEL_PAGE;
    // Pages 0 to 3 are in NAND and page 4 is in the buffer when all five are read.
    alone(&mut device, &op(OpKind::Write, 0, 5, 0));
    device.run_until(secs(1));
    alone(&mut device, &op(OpKind::Read, 0, 5, 0));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), hit);
    assert_eq!(alone(&mut device, &op(OpKind::Read, 4, 1, 0)), miss);
    // Page 8 is overwritten while its old data is on the way.
    alone(&mut device, &op(OpKind::Write, 8, 4, 0));
    device.run_until(secs(2));
    let crossing = [op(OpKind::Read, 8, 1, 0), op(OpKind::Write, 8, 1, 1)];
    let [read, write] = together(&mut device, &crossing)[..] else { panic!("two commands") };
    assert!(write < read, "the write ended first");
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    assert_eq!(alone(&mut device, &op(OpKind::Read, 8, 1, 0)), miss);
    device.check().unwrap();
}

/// A page in the write buffer is read from there, also if its unit lies in a superblock that was
/// full and has been erased.
#[test]
fn the_buffer_is_read_in_superblocks_that_were_in_use_before() {
    let mut device = small(&[]);
    let pages = device.config().geometry.logical_pages;
    let mut rng = base::Rng::new(1);
    fill(&mut device, pages);
    random_writes(&mut device, pages, pages / 2, &mut rng);
    device.run_until(secs(device.now().0 / 1_000_000_000 + 10));
    assert!(device.telemetry().erased_superblocks > 0);
    for _ in 0..2_000 {
        let page = rng.below(pages);
        alone(&mut device, &op(OpKind::Write, page, 1, 0));
        let hit = alone(&mut device, &op(OpKind::Read, page, 1, 0));
        assert!(hit < READ_COMMAND + READ, "{hit} ns, page {page} was read from NAND");
    }
}
