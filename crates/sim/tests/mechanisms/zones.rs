//! Are zones written in order only, at no write amplification, and do a reset and a finish cost what they should?

use base::{Completion, Op, OpKind, Ratio, Rng, Status};
use sim::host::ZoneAction;
use sim::mechanism::zones::{ZoneError, ZoneState};
use sim::{Device, Model};

use crate::common::{SMALL, alone, op, small};

/// Zones of one superblock of 512 pages, of which 500 can be written: 512 from one zone to the next.
const ZONES: [(&str, &str); 4] = [
    ("zones.capacity_bytes", "2_048_000"),
    ("zones.open_max", "3"),
    ("zones.active_max", "4"),
    ("buffer.power_loss_protected", "true"),
];
const SIZE: u64 = 512;
const CAPACITY: u64 = 500;

fn zoned() -> Device {
    small(&ZONES)
}

/// The status and the latency of what was sent with this tag, alone.
fn ended(device: &mut Device) -> Completion {
    let mut out = Vec::new();
    device.reap(1, &mut out);
    assert_eq!(out.len(), 1, "the command ends");
    out[0]
}

fn write(device: &mut Device, page: u64, pages: u64) -> Status {
    device.submit(&op(OpKind::Write, page, pages, 0));
    ended(device).status
}

fn manage(device: &mut Device, action: ZoneAction, zone: u32) -> Completion {
    device.manage_zone(0, action, zone);
    ended(device)
}

fn refused(reason: ZoneError) -> Status {
    Status::Failed { errno: reason.errno() }
}

/// State and written pages of a zone.
fn zone(device: &Device, zone: usize) -> (ZoneState, u64) {
    let zone = &device.zones().unwrap().all()[zone];
    (zone.state, zone.written_pages)
}

#[test]
fn a_zone_is_written_at_its_write_pointer_up_to_its_capacity() {
    let mut device = zoned();
    assert_eq!(zone(&device, 2), (ZoneState::Empty, 0));
    assert_eq!(write(&mut device, 2 * SIZE + 1, 8), refused(ZoneError::InvalidWrite));
    assert_eq!(write(&mut device, 2 * SIZE, 8), Status::Ok);
    assert_eq!(zone(&device, 2), (ZoneState::ImplicitlyOpen, 8));
    assert_eq!(write(&mut device, 2 * SIZE, 8), refused(ZoneError::InvalidWrite));
    assert_eq!(write(&mut device, 2 * SIZE + 8, 493), refused(ZoneError::Boundary));
    assert_eq!(write(&mut device, 2 * SIZE + 8, 492), Status::Ok);
    assert_eq!(zone(&device, 2), (ZoneState::Full, CAPACITY));
    assert_eq!(write(&mut device, 2 * SIZE + CAPACITY, 1), refused(ZoneError::Full));
    let past_the_end = device.zones().unwrap().all().len() as u64 * SIZE;
    assert_eq!(write(&mut device, past_the_end, 1), refused(ZoneError::OutOfRange));
    device.submit(&op(OpKind::Deallocate, 2 * SIZE, 8, 0));
    assert_eq!(ended(&mut device).status, refused(ZoneError::Unsupported));
    device.check().unwrap();
}

#[test]
fn what_is_not_written_is_read_without_nand_and_no_read_crosses_a_border() {
    let mut device = zoned();
    write(&mut device, 0, 400);
    let read = |device: &mut Device, page, pages| alone(device, &op(OpKind::Read, page, pages, 0));
    let (written, unwritten) = (read(&mut device, 0, 4), read(&mut device, 400, 4));
    assert!(written > unwritten + 50_000, "{written} ns, {unwritten} ns without tR");
    // The end of the capacity, the rest of the zone, an empty zone.
    for page in [CAPACITY - 2, CAPACITY + 4, SIZE] {
        assert_eq!(read(&mut device, page, 4), unwritten);
    }
    device.submit(&op(OpKind::Read, SIZE - 2, 4, 0));
    assert_eq!(ended(&mut device).status, refused(ZoneError::Boundary));
}

#[test]
fn limits_close_zones_that_nobody_has_opened_and_refuse_the_others() {
    let mut device = zoned();
    for zone in 0..3 {
        assert_eq!(write(&mut device, zone * SIZE, 1), Status::Ok);
    }
    // The fourth takes the place of an open zone; a fifth would be too many active ones.
    assert_eq!(write(&mut device, 3 * SIZE, 1), Status::Ok);
    assert_eq!(zone(&device, 0), (ZoneState::Closed, 1));
    let zones = device.zones().unwrap();
    assert_eq!((zones.open(), zones.active()), (3, 4));
    assert_eq!(write(&mut device, 4 * SIZE, 1), refused(ZoneError::TooManyActive));
    // Zones that the host has opened stay open.
    for zone in 1..4 {
        assert_eq!(manage(&mut device, ZoneAction::Open, zone).status, Status::Ok);
    }
    assert_eq!(write(&mut device, 1, 1), refused(ZoneError::TooManyOpen));
    assert_eq!(manage(&mut device, ZoneAction::Close, 2).status, Status::Ok);
    assert_eq!(write(&mut device, 1, 1), Status::Ok);
    // A full zone counts no more, and an open one without data closes as an empty one.
    assert_eq!(manage(&mut device, ZoneAction::Finish, 3).status, Status::Ok);
    assert_eq!(zone(&device, 3), (ZoneState::Full, CAPACITY));
    assert_eq!(manage(&mut device, ZoneAction::Open, 5).status, Status::Ok);
    assert_eq!(manage(&mut device, ZoneAction::Close, 5).status, Status::Ok);
    assert_eq!(zone(&device, 5), (ZoneState::Empty, 0));
    let transition = refused(ZoneError::InvalidTransition);
    assert_eq!(manage(&mut device, ZoneAction::Open, 3).status, transition);
    assert_eq!(manage(&mut device, ZoneAction::Close, 5).status, transition);
    assert!(device.retire_zone(3, false) && device.retire_zone(6, true));
    assert_eq!(manage(&mut device, ZoneAction::Reset, 3).status, transition);
    assert_eq!(write(&mut device, 3 * SIZE, 1), refused(ZoneError::ReadOnly));
    device.submit(&op(OpKind::Read, 6 * SIZE, 1, 0));
    assert_eq!(ended(&mut device).status, refused(ZoneError::Offline));
    device.check().unwrap();
}

#[test]
fn appends_in_flight_learn_places_side_by_side() {
    let mut device = zoned();
    let append = |device: &mut Device, tag| device.append(&op(OpKind::Write, 7 * SIZE, 3, tag));
    let places: Vec<u64> = (0..32).map(|tag| append(&mut device, tag)).collect();
    let expected: Vec<u64> = (0..32).map(|number| (7 * SIZE + 3 * number) * 4096).collect();
    assert_eq!(places, expected);
    let mut out = Vec::new();
    device.reap(32, &mut out);
    assert!(out.len() == 32 && out.iter().all(|end| end.status == Status::Ok), "{out:?}");
    assert_eq!(zone(&device, 7), (ZoneState::ImplicitlyOpen, 96));
}

/// Also where a zone ends at the begin of the next one.
#[test]
fn an_append_to_a_full_zone_is_refused() {
    for capacity_bytes in ["2_048_000", "2_097_152"] {
        let mut keys = ZONES;
        keys[0].1 = capacity_bytes;
        let mut device = small(&keys);
        manage(&mut device, ZoneAction::Finish, 7);
        device.append(&op(OpKind::Write, 7 * SIZE, 3, 0));
        assert_eq!(ended(&mut device).status, refused(ZoneError::Full));
        assert_eq!(zone(&device, 8), (ZoneState::Empty, 0));
    }
}

/// Whole zones, rewritten again and again in random order: all that is programmed is what the host has written. A zone
/// of 500 pages ends within a program unit; one of 512 does not.
#[test]
fn whole_zones_have_no_write_amplification() {
    let mut whole = ZONES;
    whole[0].1 = "2_097_152";
    let mut device = small(&whole);
    let zones = device.zones().unwrap().all().len() as u64;
    let mut rng = Rng::new(1);
    for round in 0..3 * zones {
        let at = if round < zones { round } else { rng.below(zones) };
        if zone(&device, at as usize).0 == ZoneState::Full {
            assert_eq!(manage(&mut device, ZoneAction::Reset, at as u32).status, Status::Ok);
        }
        for part in 0..SIZE / 64 {
            assert_eq!(write(&mut device, at * SIZE + 64 * part, 64), Status::Ok);
        }
    }
    // The last programs end.
    device.run_until(base::Nanos(device.now().0 + 1_000_000_000));
    let totals = device.telemetry();
    assert_eq!(totals.host_pages, 3 * zones * SIZE);
    assert_eq!(totals.programmed_pages, totals.host_pages, "WAF 1");
    assert_eq!((totals.gc_moved_pages, totals.padding_pages), (0, 0));
    assert_eq!(totals.erased_superblocks, 2 * zones);
    device.check().unwrap();
}

/// 3 ms of erase and the controller's 6 us; a zone without data has nothing to erase.
#[test]
fn a_reset_costs_an_erase() {
    let mut device = zoned();
    for part in 0..CAPACITY / 50 {
        write(&mut device, 50 * part, 50);
    }
    device.run_until(base::Nanos(device.now().0 + 1_000_000_000));
    let latency_ns = manage(&mut device, ZoneAction::Reset, 0).latency().0;
    assert_eq!(latency_ns, 3_006_000);
    assert_eq!(zone(&device, 0), (ZoneState::Empty, 0));
    assert_eq!(manage(&mut device, ZoneAction::Reset, 0).latency().0, 6_000);
    assert_eq!(device.telemetry().erased_superblocks, 1);
    // Its content is gone, and the zone can be written again.
    let read_ns = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
    assert!(read_ns < 50_000, "{read_ns} ns");
    assert_eq!(write(&mut device, 0, 50), Status::Ok);
    device.check().unwrap();
}

/// Units of 4 pages on 4 dies in 0.6 ms and their transfers; the buffer of 256 pages takes the last of them.
#[test]
fn a_finish_costs_the_fill_of_what_is_left() {
    let finish_ns = |written: u64| {
        let mut device = zoned();
        for part in 0..written / 50 {
            write(&mut device, 50 * part, 50);
        }
        device.run_until(base::Nanos(device.now().0 + 1_000_000_000));
        let latency_ns = manage(&mut device, ZoneAction::Finish, 0).latency().0;
        assert_eq!(device.telemetry().padding_pages, CAPACITY - written);
        device.check().unwrap();
        latency_ns
    };
    let (empty, half, full) = (finish_ns(0), finish_ns(250), finish_ns(CAPACITY));
    println!("finish of an empty zone {empty} ns, of a half {half} ns, of a full one {full} ns");
    let programs_ns = (CAPACITY - 256) * 600_000 / 16;
    assert!((programs_ns..programs_ns * 5 / 4).contains(&empty), "{empty} of {programs_ns} ns");
    assert_eq!((half, full), (6_000, 6_000), "the buffer takes 250 pages at once");
}

/// Random commands, several at a time, against the states that they should lead to: all that a completed write has put
/// into a zone is mapped, and nothing else is. The same seed gives the same nanoseconds.
#[test]
fn random_commands_leave_what_was_written() {
    let run = |seed| {
        let mut device = zoned();
        let mut rng = Rng::new(seed);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..3_000 {
            let mut out = Vec::new();
            let count = 1 + rng.below(8) as u32;
            for tag in 0..count {
                let at = rng.below(7);
                let order =
                    |device: &mut Device, action| device.manage_zone(tag, action, at as u32);
                match rng.below(16) {
                    0 => order(&mut device, ZoneAction::Reset),
                    1 => order(&mut device, ZoneAction::Open),
                    2 => order(&mut device, ZoneAction::Close),
                    3 if rng.chance(1, 4) => order(&mut device, ZoneAction::Finish),
                    4..=6 => device.submit(&op(OpKind::Read, at * SIZE + rng.below(500), 3, tag)),
                    7 => device.submit(&op(OpKind::Flush, 0, 0, tag)),
                    _ => {
                        let length = 1 + rng.below(40);
                        let write: Op = op(OpKind::Write, at * SIZE, length, tag);
                        device.append(&write);
                    }
                }
            }
            device.reap(count as usize, &mut out);
            assert_eq!(out.len(), count as usize, "the drive came to a standstill");
            let good = out.iter().filter(|end| end.status == Status::Ok).count();
            accepted += good;
            refused += out.len() - good;
            let zones = device.zones().unwrap();
            assert!(zones.open() <= 3 && zones.active() <= 4);
        }
        device.check().unwrap();
        let zones = device.zones().unwrap();
        for (number, zone) in (0..).zip(zones.all()) {
            let first = number * CAPACITY;
            let is_mapped = |place: &u64| device.ftl().l2p.get(first + place) != sim::ftl::NO_PAGE;
            let mapped = (0..CAPACITY).filter(is_mapped).count() as u64;
            if zone.state == ZoneState::Full {
                // The padding of a finish holds nothing.
                assert!((0..mapped).all(|place| is_mapped(&place)), "zone {number}");
            } else {
                assert_eq!(mapped, zone.written_pages, "zone {number}");
                assert!((0..mapped).all(|place| is_mapped(&place)), "zone {number}");
            }
        }
        assert!(accepted > 5_000 && refused > 500, "{accepted} accepted, {refused} refused");
        assert_eq!(device.telemetry().gc_moved_pages, 0);
        (device.now(), device.telemetry())
    };
    for seed in 1..6 {
        assert_eq!(run(seed), run(seed));
    }
}

#[test]
fn models_that_zones_do_not_go_with_are_refused() {
    let refusal = |more: &[(&str, &str)]| {
        let changes: Vec<_> =
            ZONES.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let model = Model::load("test", SMALL, &changes);
        model.and_then(|model| model.resolve(Ratio::ONE)).expect_err("refused").to_string()
    };
    for (change, words) in [
        (("buffer.power_loss_protected", "false"), "outlives a loss of power"),
        (("zones.active_max", "2"), "between 3 and"),
        (("zones.active_max", "64"), "a unit for each and one more"),
        (("interface.logical_block_bytes", "512"), "sectors of 4,096 bytes"),
        (("nand.die_groups", "2"), "superblocks over all dies"),
        (("zones.superblocks", "4"), "more than the"),
    ] {
        let text = refusal(&[change]);
        assert!(text.contains(words), "{change:?}: {text}");
    }
    let text =
        refusal(&[("throttle.burst_bytes", "1_000_000"), ("throttle.bytes_per_s", "5_000_000")]);
    assert!(text.contains("throttle"), "{text}");
}
