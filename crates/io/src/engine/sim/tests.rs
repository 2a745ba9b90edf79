//! Descriptions, memory and age of simulated targets.

use super::*;

#[test]
fn block_size_and_depth_are_those_of_the_model() {
    let limits = |name: &str, keys: &[(&str, &str)]| {
        let keys: Vec<_> = keys.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let (_, limits) = describe("sim:", name, &keys).expect("a valid model");
        (limits.logical_block_bytes, limits.physical_block_bytes, limits.queue_depth_max)
    };
    assert_eq!(limits("samsung-840-pro-256gb", &[]), (512, 4096, 32));
    let changes = [
        ("interface.kind", "nvme"),
        ("interface.queues", "4"),
        ("interface.queue_depth", "64"),
        ("interface.logical_block_bytes", "4096"),
    ];
    assert_eq!(limits("samsung-840-pro-256gb", &changes), (4096, 4096, 256));
}

#[test]
fn keys_that_are_no_values_of_the_model_say_what_was_expected() {
    for (key, value, expected) in [
        ("seed", "-1", "such as 7"),
        ("scale", "NaN", "such as 1/64"),
        ("host", "sata", "sata-2012"),
    ] {
        let keys = [(key.to_owned(), value.to_owned())];
        let slip = describe("sim:", "samsung-840-pro-256gb", &keys);
        let message = slip.map(|_| ()).expect_err(value).to_string();
        assert!(message.contains(&format!("`{key}={value}`")), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

/// Counted by an allocator: whether a drive fits in memory is decided by the figure.
#[test]
fn a_drive_takes_the_memory_that_was_foreseen() {
    let map_cache = [("map_cache.bytes", "16_777_216"), ("map_cache.entry_bytes", "1024")];
    for (name, changes) in [
        ("samsung-840-pro-256gb", &[][..]),
        ("corsair-neutron-240gb", &[("map.unit_bytes", "16384")]),
        ("samsung-840-pro-256gb", &[map_cache[0], map_cache[1], ("capacity_gb", "200")]),
        ("ocz-vertex-3-240gb", &[]),
    ] {
        let keys = [&[("scale", "1/16")], changes].concat();
        let keys: Vec<_> = keys.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let foreseen_bytes = memory_bytes(name, &keys).expect("a valid model");
        let mut target = None;
        let counted = allocation_counter::measure(|| {
            target = Some(SimTarget::open("sim:", name, &keys).expect("a valid model"));
        });
        let maps_bytes = foreseen_bytes - OTHER_BYTES;
        let beside_maps_bytes = i128::from(counted.bytes_max) - i128::from(maps_bytes);
        // The memory beside the maps shrinks with the drive.
        let most = i128::from(OTHER_BYTES / 16);
        assert!((0..most).contains(&beside_maps_bytes), "{name}: {beside_maps_bytes} bytes");
    }
}

/// Memory of a large drive.
fn memory_of_large(capacity_gb: &str, dies: &str, unit_bytes: &str) -> u64 {
    let keys = [
        ("capacity_gb", capacity_gb),
        ("map.unit_bytes", unit_bytes),
        ("nand.channels", "16"),
        ("nand.dies_per_channel", dies),
        ("nand.planes", "4"),
        ("nand.pages_per_block", "2048"),
    ];
    let keys = keys.map(|(key, value)| (key.to_owned(), value.to_owned()));
    memory_bytes("intel-ssd-750-400gb", &keys).expect("a valid model")
}

#[test]
fn a_mapping_unit_takes_8_bytes_on_a_large_drive_and_6_or_7_on_one_of_more_than_2_to_the_31() {
    for (capacity_gb, dies, unit_bytes, gib) in [
        ("30720", "16", "16384", 16_u64),
        ("61440", "32", "16384", 24),
        ("61440", "32", "65536", 8),
        ("30720", "16", "4096", 56),
        ("61440", "32", "4096", 112),
    ] {
        let bytes = memory_of_large(capacity_gb, dies, unit_bytes) - OTHER_BYTES;
        let most = gib << 30_u32;
        assert!((most / 10 * 9..most).contains(&bytes), "{capacity_gb} GB: {bytes} of {most}");
    }
}

#[test]
fn memory_alone_refuses_a_drive_with_more_pages_than_32_bits_count() {
    let needed_bytes = memory_of_large("30720", "16", "4096");
    let check = |gib: u64| memory::check_against("sim:x", needed_bytes, Some(gib << 30_u32));
    assert!(check(128).is_ok());
    let refusal = check(48).expect_err("too little memory").to_string();
    let needed = base::Bytes(needed_bytes).rounded();
    assert!(refusal.contains(&format!("take {needed} of memory")), "{refusal}");
    assert!(refusal.contains("51.5 GB are available"), "{refusal}");
}

#[test]
fn days_pass_for_drives_whose_data_ages() {
    let open = |keys: &[(&str, &str)]| {
        let scale = [("scale", "1/256")];
        let keys = scale.iter().chain(keys);
        let keys: Vec<_> = keys.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        SimTarget::open("sim:", "samsung-840-pro-256gb", &keys).expect("a valid model")
    };
    let slip = open(&[])
        .age(Past { days: 30, ..Past::default() })
        .expect_err("it has no [nand.retry]")
        .to_string();
    assert!(slip.contains("its model lacks [nand.retry]"), "{slip}");
    let mut target = open(&[
        ("nand.retry.initial_cycles", "0"),
        ("nand.retry.fresh_ppb", "0"),
        ("nand.retry.per_kilocycle_ppb", "0"),
        ("nand.retry.per_day_ppb", "100"),
        ("nand.retry.per_day_per_kilocycle_ppb", "0"),
        ("nand.retry.corrected_ppb", "1000"),
        ("nand.retry.retries_max", "9"),
    ]);
    let mut senses_after = |days| {
        target.age(Past { days, ..Past::default() }).expect("its data ages");
        let before = target.drive().operations().reads;
        let data = base::Data::Incompressible;
        let read = |kind| Op { kind, data, fua: false, placement: 0, len: 4096, tag: 0, offset: 0 };
        if days == 0 {
            target.submit(&[read(base::OpKind::Write)]);
            target.reap(1, &mut Vec::new()).expect("it ends");
            target.flush().expect("it ends");
        }
        target.submit(&[read(base::OpKind::Read)]);
        target.reap(1, &mut Vec::new()).expect("it ends");
        target.drive().operations().reads - before
    };
    assert_eq!([0, 15, 30].map(&mut senses_after), [1, 2, 5], "100 a day, 1,000 a sense");
}

#[test]
fn a_part_of_a_drive_does_not_carry_the_name_of_the_whole() {
    let name = |keys: &[(&str, &str)]| {
        let keys: Vec<_> = keys.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        describe("sim:", "samsung-840-pro-256gb", &keys).expect("a valid model").0.name
    };
    assert_eq!(name(&[]), "Samsung SSD 840 Pro 256 GB");
    assert_eq!(name(&[("scale", "1/64")]), "Samsung SSD 840 Pro 256 GB [scale=1/64]");
    assert_eq!(
        name(&[("gc.policy", "fifo"), ("seed", "3")]),
        "Samsung SSD 840 Pro 256 GB [gc.policy=fifo, seed=3]"
    );
}

#[test]
fn zones_take_writes_in_order_and_orders_one_at_a_time() {
    let keys = [("scale".to_owned(), "1/64".to_owned())];
    let mut target =
        SimTarget::open("sim:", "wd-ultrastar-dc-zn540-1000gb", &keys).expect("a valid model");
    let zones = target.limits().zones.expect("a drive with zones");
    assert_eq!((zones.zones, zones.open_max), (904, 14));
    assert!(zones.capacity_bytes <= zones.size_bytes);
    let op = |kind, offset| Op {
        kind,
        data: base::Data::Incompressible,
        fua: false,
        placement: 0,
        len: 4096,
        tag: 0,
        offset,
    };
    let status = |target: &mut SimTarget, op| {
        let mut ended = Vec::new();
        target.submit(&[op]);
        target.reap(1, &mut ended).expect("it ends");
        ended[0].status
    };
    let at = 3 * zones.size_bytes;
    assert_eq!(status(&mut target, op(base::OpKind::Write, at)), Status::Ok);
    assert_ne!(status(&mut target, op(base::OpKind::Write, at)), Status::Ok, "not at the pointer");
    assert_eq!(status(&mut target, op(base::OpKind::Read, at)), Status::Ok);
    assert_eq!(target.unwritten_reads(), Some(0), "the place of the zone, not of the page");
    assert_eq!(status(&mut target, op(base::OpKind::Read, at + 4096)), Status::Ok);
    assert_eq!(target.unwritten_reads(), Some(1));
    let finish = target.manage_zone(3, ZoneOrder::Finish).expect("an open zone");
    let reset = target.manage_zone(3, ZoneOrder::Reset).expect("a full zone");
    assert!(finish > Nanos(1_000_000) && reset > Nanos(1_000_000), "{finish} {reset}");
    assert!(target.manage_zone(904, ZoneOrder::Reset).is_err(), "beyond the last");
    assert_eq!(status(&mut target, op(base::OpKind::Write, at)), Status::Ok, "empty again");
}
