//! Is one command right to the nanosecond? Unloaded latencies of the small drive compared with the
//! sum of its parts: command 5,000 (read) or 6,000 ns, link 8,000 ns per page, channel 10,000 ns
//! per page, tR 50,000, tPROG 600,000.

use base::{Op, OpKind};

use crate::common::{alone, op, secs, small};

const READ_COMMAND: u64 = 5_000;
const WRITE_COMMAND: u64 = 6_000;
const LINK_PAGE: u64 = 8_000;
const CHANNEL_PAGE: u64 = 10_000;
const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;

#[test]
fn a_write_ends_in_the_buffer() {
    let mut device = small(&[]);
    assert_eq!(alone(&mut device, &op(OpKind::Write, 0, 1, 0)), WRITE_COMMAND + LINK_PAGE);
    assert_eq!(alone(&mut device, &op(OpKind::Write, 8, 32, 0)), WRITE_COMMAND + 32 * LINK_PAGE);
}

#[test]
fn a_read_of_nothing_needs_no_nand() {
    let mut device = small(&[]);
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), READ_COMMAND + LINK_PAGE);
}

#[test]
fn a_read_hits_the_buffer_until_its_unit_is_programmed() {
    let mut device = small(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 1, 0));
    device.run_until(secs(1));
    let hit = READ_COMMAND + LINK_PAGE;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), hit, "its unit is not full");
    alone(&mut device, &op(OpKind::Write, 1, 3, 0));
    device.run_until(secs(2));
    let miss = READ_COMMAND + READ + CHANNEL_PAGE + LINK_PAGE;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), miss);
    let whole_unit = READ_COMMAND + READ + 4 * CHANNEL_PAGE + 4 * LINK_PAGE;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 4, 0)), whole_unit);
}

#[test]
fn data_to_the_drive_has_a_rate_of_its_own() {
    for kind in ["sata", "nvme"] {
        let slower = ("interface.link_write_bytes_per_s", "256_000_000");
        let mut device = small(&[("interface.kind", kind), slower]);
        let write = WRITE_COMMAND + 2 * LINK_PAGE;
        assert_eq!(alone(&mut device, &op(OpKind::Write, 0, 1, 0)), write, "{kind}");
        let read = READ_COMMAND + LINK_PAGE;
        assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), read, "{kind}");
        assert_eq!(alone(&mut device, &op(OpKind::Write, 0, 1, 0)), write, "{kind}");
    }
}

#[test]
fn dies_on_two_channels_work_at_once_and_share_none() {
    let mut device = small(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 8, 0));
    device.run_until(secs(1));
    // Two units on dies 0 and 1, on channels 0 and 1: as long as one, but for the link.
    let both = READ_COMMAND + READ + 4 * CHANNEL_PAGE + 8 * LINK_PAGE;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 8, 0)), both);
}

#[test]
fn dies_on_one_channel_wait_for_the_bus() {
    let mut device = small(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 12, 0));
    device.run_until(secs(1));
    // Units 0 and 2 are on dies 0 and 2, both on channel 0; unit 1 ends earlier on channel 1.
    let three = READ_COMMAND + READ + 8 * CHANNEL_PAGE + 12 * LINK_PAGE;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 12, 0)), three);
}

/// A die is busy from the begin of an operation, over its wait for the bus, to the end of its
/// transfer; the bus itself only while data moves.
#[test]
fn a_die_is_busy_until_its_data_has_left_it() {
    let mut device = small(&[]);
    let mut busy = |op| {
        let before = device.telemetry();
        alone(&mut device, &op);
        device.run_until(secs(device.now().0 / 1_000_000_000 + 1));
        let after = device.telemetry();
        (after.die_busy_ns - before.die_busy_ns, after.channel_busy_ns - before.channel_busy_ns)
    };
    let unit = 4 * CHANNEL_PAGE;
    assert_eq!(busy(op(OpKind::Write, 0, 4, 0)), (unit + PROGRAM, unit));
    assert_eq!(busy(op(OpKind::Read, 0, 1, 0)), (READ + CHANNEL_PAGE, CHANNEL_PAGE));
    assert_eq!(busy(op(OpKind::Read, 0, 4, 0)), (READ + unit, unit));
    // Dies 1 and 2 are on different channels; then dies 1 and 3 share one.
    assert_eq!(busy(op(OpKind::Write, 4, 12, 0)), (3 * (unit + PROGRAM) + unit, 3 * unit));
    assert_eq!(busy(op(OpKind::Read, 4, 12, 0)), (3 * (READ + unit) + unit, 3 * unit));
}

#[test]
fn a_flush_waits_for_the_program_and_costs_nothing_with_capacitors() {
    let mut device = small(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 1, 0));
    let wait = WRITE_COMMAND + 4 * CHANNEL_PAGE + PROGRAM;
    assert_eq!(alone(&mut device, &op(OpKind::Flush, 0, 0, 0)), wait);
    assert_eq!(device.telemetry().padding_pages, 3, "the unit was completed");
    assert_eq!(alone(&mut device, &op(OpKind::Flush, 0, 0, 0)), WRITE_COMMAND, "nothing to do");
    let mut safe = small(&[("buffer.power_loss_protected", "true")]);
    alone(&mut safe, &op(OpKind::Write, 0, 1, 0));
    assert_eq!(alone(&mut safe, &op(OpKind::Flush, 0, 0, 0)), WRITE_COMMAND);
}

#[test]
fn a_forced_write_ends_with_its_program_and_at_once_with_capacitors() {
    let forced = |page| Op { fua: true, ..op(OpKind::Write, page, 1, 0) };
    let mut device = small(&[]);
    let buffered = WRITE_COMMAND + LINK_PAGE;
    let durable = buffered + 4 * CHANNEL_PAGE + PROGRAM;
    assert_eq!(alone(&mut device, &forced(0)), durable);
    assert_eq!(device.telemetry().padding_pages, 3, "its unit was completed");
    assert_eq!(alone(&mut device, &op(OpKind::Write, 8, 1, 0)), buffered, "others need not wait");
    assert_eq!(
        alone(&mut device, &Op { fua: true, ..op(OpKind::Read, 50, 1, 0) }),
        READ_COMMAND + LINK_PAGE
    );
    let mut safe = small(&[("buffer.power_loss_protected", "true")]);
    assert_eq!(alone(&mut safe, &forced(0)), buffered);
    assert_eq!(safe.telemetry().padding_pages, 0);
}

#[test]
fn a_full_buffer_makes_writes_wait_for_a_program() {
    // A buffer of two units: the third unit waits for the first program to end.
    let mut device = small(&[("buffer.write_bytes", "32768")]);
    alone(&mut device, &op(OpKind::Write, 0, 8, 0));
    let first_program_ends = WRITE_COMMAND + 8 * LINK_PAGE + 4 * CHANNEL_PAGE + PROGRAM;
    alone(&mut device, &op(OpKind::Write, 8, 1, 0));
    assert_eq!(device.now().0, first_program_ends);
}

#[test]
fn deallocated_pages_read_without_nand() {
    let mut device = small(&[]);
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(secs(1));
    assert_eq!(alone(&mut device, &op(OpKind::Deallocate, 0, 4, 0)), WRITE_COMMAND);
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), READ_COMMAND + LINK_PAGE);
    device.check().unwrap();
}

#[test]
fn commands_outside_the_drive_fail_at_once() {
    let mut device = small(&[]);
    let mut out = Vec::new();
    let end = device.config().capacity_bytes() / 4096;
    for bad in [op(OpKind::Write, end, 1, 0), op(OpKind::Read, end - 1, 2, 0)] {
        device.submit(&bad);
        device.reap(1, &mut out);
        assert_eq!(out.pop().unwrap().status, base::Status::Failed { errno: 22 });
    }
    let mut unaligned = op(OpKind::Write, 0, 1, 0);
    unaligned.offset = 512;
    device.submit(&unaligned);
    device.reap(1, &mut out);
    assert_eq!(out.pop().unwrap().status, base::Status::Failed { errno: 22 });
}
