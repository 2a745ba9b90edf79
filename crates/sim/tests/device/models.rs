//! Are bad drive models refused with helpful messages?

use base::{OpKind, Ratio, Rng};
use sim::{Device, Model, PAGE_BYTES, model};

use crate::common::{SMALL, alone, closed_loop, fill, in_order, op, small, small_config};

fn refusal(text: &str, changes: &[(&str, &str)]) -> String {
    let changes: Vec<_> = changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Model::load("test", text, &changes)
        .and_then(|model| model.resolve(Ratio::ONE))
        .expect_err("the model must be refused")
        .to_string()
}

#[test]
fn built_in_models_are_valid_at_every_scale() {
    for (name, text) in model::BUILT_IN {
        let model = Model::load(name, text, &[]).unwrap_or_else(|error| panic!("{error}"));
        for scale in ["1", "1/4", "1/16", "1/64", "1/256"] {
            let config = model.resolve(scale.parse().unwrap()).unwrap_or_else(|e| panic!("{e}"));
            let full = model.resolve(Ratio::ONE).unwrap();
            let spare = |c: &sim::Config| 1.0 - c.capacity_bytes() as f64 / c.raw_bytes as f64;
            assert!((spare(&config) - spare(&full)).abs() < 0.001, "{name} at {scale}");
        }
    }
}

/// A drive of the model with about a gigabyte, or the smallest one above it that has room to clean up.
fn smallest(name: &str) -> Device {
    let model = Model::load(name, model::built_in(name).unwrap(), &[]).unwrap();
    let mut parts = (model.user_bytes().unwrap() / 1_000_000_000).next_power_of_two().max(64);
    loop {
        match model.resolve(Ratio::new(1, parts).unwrap()) {
            Ok(config) => return Device::new(config),
            Err(error) => assert!(parts > 1, "{name}: {error}"),
        }
        parts /= 2;
    }
}

#[test]
fn every_built_in_model_is_filled_and_loaded_with_balanced_books() {
    for (name, text) in model::BUILT_IN {
        // The commands of this test are not in the order of zones.
        if Model::load(name, text, &[]).unwrap().zones.is_some() {
            continue;
        }
        let mut device = smallest(name);
        let (pages, depth) =
            (device.config().capacity_bytes() / PAGE_BYTES, device.config().queue_depth);
        closed_loop(&mut device, depth, pages.div_ceil(32), in_order(pages));
        let mut rng = Rng::new(1);
        closed_loop(&mut device, depth, 20_000, |tag| {
            let kind = if rng.chance(1, 8) { OpKind::Read } else { OpKind::Write };
            op(kind, rng.below(pages), 1, tag)
        });
        device.check().unwrap_or_else(|broken| panic!("{name}: {broken}"));
        alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
        device.check().unwrap_or_else(|broken| panic!("{name} after a flush: {broken}"));
        assert!(device.telemetry().host_pages > pages, "{name}");
    }
}

#[test]
fn built_in_capacities_are_those_of_the_shelf() {
    let capacity = |name: &str| {
        let model = Model::load(name, model::built_in(name).unwrap(), &[]).unwrap();
        model.resolve(Ratio::ONE).unwrap()
    };
    let samsung = capacity("samsung-840-pro-256gb");
    assert_eq!((samsung.capacity_bytes(), samsung.raw_bytes), (256_060_514_304, 256 << 30));
    // 937,703,088 sectors of 512 bytes, less the half page at the end.
    let sandisk = capacity("sandisk-extreme-ii-480gb");
    assert_eq!((sandisk.capacity_bytes(), sandisk.raw_bytes), (480_103_981_056, 512 << 30));
    assert_eq!(capacity("intel-ssd-730-480gb").raw_bytes, 528 << 30);
}

/// The last of a file, its child and the overrides counts, in either form.
#[test]
fn a_capacity_may_have_any_unit() {
    let bytes = |changes: &[(&str, &str)]| small_config(Ratio::ONE, changes).capacity_bytes();
    let teaching =
        [("capacity", "64MB"), ("nand.blocks_per_plane", "72"), ("nand.pages_per_block", "20")];
    assert_eq!(bytes(&teaching), 64_000_000);
    assert_eq!(bytes(&[("capacity", "900MiB")]), 900 << 20);
    // Whole pages of the map.
    assert_eq!(bytes(&[("capacity", "100000001B")]), 100_000_001 / 4096 * 4096);
    assert_eq!(bytes(&[("capacity", "64MB"), ("capacity_gb", "1")]), 1_000_000_000 / 4096 * 4096);
    let mut device = small(&teaching);
    fill(&mut device, 64_000_000 / PAGE_BYTES);
    let both = format!("{SMALL}\ncapacity = {{ value = \"64MB\", from = \"assumed: test\" }}");
    let error = Model::load("small", &both, &[]).unwrap().resolve(Ratio::ONE).unwrap_err();
    assert!(error.to_string().contains("`capacity` is 64MB"), "{error}");
    let without = SMALL.replace("capacity_gb", "#");
    let error = Model::load("small", &without, &[]).unwrap().resolve(Ratio::ONE).unwrap_err();
    assert!(error.to_string().contains("`capacity_gb` is absent"), "{error}");
}

#[test]
fn refusals_name_the_key_the_value_and_the_rule() {
    for (changes, words) in [
        (vec![("nand.channels", "0")], vec!["`nand.channels` is 0", "between 1 and 256"]),
        (vec![("nand.page_bytes", "5000")], vec!["`nand.page_bytes` is 5000", "multiple of 4096"]),
        (vec![("capacity", "2GB")], vec!["`capacity` is 2GB", "all NAND together is"]),
        (vec![("capacity", "much")], vec!["capacity", "much", "a size such as"]),
        (vec![("capacity_gb", "2")], vec!["`capacity_gb` is 2", "bytes"]),
        (vec![("nand.blocks_per_plane", "480")], vec!["gc.free_high + 4", "lower capacity_gb"]),
        (vec![("gc.free_high", "2")], vec!["`gc.free_high` is 2", "between 4"]),
        (vec![("buffer.write_bytes", "4096")], vec!["`buffer.write_bytes` is 4096", "two program"]),
        (vec![("gc.policy", "magic")], vec!["magic", "greedy"]),
        (vec![("gc.pacing", "7")], vec!["7", "watermark"]),
        (vec![("nand.planes", "many")], vec!["nand.planes", "many"]),
        (vec![("nand.pages.program_lower_ns", "1")], vec!["program_upper_ns"]),
        (
            vec![("nand.pages.program_lower_ns", "1"), ("nand.pages.program_upper_ns", "3")],
            vec!["`nand.program_ns` is 600000", "mean", "program_*_ns, 2"],
        ),
        (vec![("nand.suspend.resume_ns", "1")], vec!["nand.suspend", "missing field"]),
        (vec![("nand.retry.corrected_ppb", "few")], vec!["nand.retry.corrected_ppb", "few"]),
        (
            vec![
                ("nand.retry.initial_cycles", "1"),
                ("nand.retry.fresh_ppb", "1"),
                ("nand.retry.per_kilocycle_ppb", "1"),
                ("nand.retry.per_day_ppb", "1"),
                ("nand.retry.per_day_per_kilocycle_ppb", "1"),
                ("nand.retry.corrected_ppb", "1"),
                ("nand.retry.retries_max", "1000"),
                ("nand.read_ns", "3600000000000"),
            ],
            vec!["`nand.retry.retries_max` is 1000", "nand.read_ns", "within an hour"],
        ),
        (vec![("interface.queue_depth", "64")], vec!["`interface.queue_depth` is 64", "nvme"]),
        (vec![("interface.queues", "2")], vec!["`interface.queues` is 2", "nvme"]),
        (vec![("interface.kind", "scsi")], vec!["scsi", "sata"]),
        (vec![("interface.logical_block_bytes", "520")], vec!["is 520", "512 or 4096"]),
        (vec![("read_cache.bytes", "1")], vec!["`read_cache.bytes` is 1", "between 32768"]),
        (vec![("power.idle_mw", "1")], vec!["power", "missing field"]),
        (vec![("nand.plains", "2")], vec!["no value `nand.plains`", "nand.planes"]),
        (vec![("planes", "2")], vec!["no value `planes`", "nand.*"]),
        (vec![("nand", "2")], vec!["no value `nand`"]),
        (
            vec![("throttle.burst_bytes", "100"), ("throttle.bytes_per_s", "5000")],
            vec!["`throttle.burst_bytes` is 100", "4096"],
        ),
        (vec![("nand.planes.value", "2")], vec!["no value `nand.planes.value`"]),
        (
            vec![("background_gc.target", "9")],
            vec!["no value `background_gc.target`", "free_target"],
        ),
        (vec![("idle_gc.free_target", "20")], vec!["missing field", "in `idle_gc`"]),
        (vec![("background_gc.free_target", "soon")], vec!["background_gc.free_target", "soon"]),
        (
            vec![("background_gc.free_target", "12")],
            vec!["`background_gc.free_target` is 12", "13"],
        ),
    ] {
        let message = refusal(SMALL, &changes);
        for word in words {
            assert!(message.contains(word), "{changes:?}: {message}");
        }
    }
}

#[test]
fn keys_are_refused_where_they_would_have_no_effect() {
    for (changes, words) in [
        (vec![("age.cycles", "5")], vec!["`age.cycles` is 5", "nand.retry and nand.wear"]),
        (vec![("age.retention_days", "5")], vec!["`age.retention_days` is 5", "nand.retry"]),
        (vec![("age.read_count", "5")], vec!["`age.read_count` is 5", "per_kiloread_ppb"]),
        (
            vec![
                ("thermal.ambient_c", "30"),
                ("thermal.resistance_mk_per_w", "25000"),
                ("thermal.capacity_mj_per_k", "15000"),
            ],
            vec!["`thermal.ambient_c` is 30", "no [power]"],
        ),
        (
            vec![("interface.placement_handles", "2")],
            vec!["`interface.placement_handles` is 2", "nvme"],
        ),
        (
            vec![
                ("interface.kind", "nvme"),
                ("interface.placement_handles", "8"),
                ("streams.cold", "survivor"),
            ],
            vec!["`interface.placement_handles` is 8", "together with [streams]"],
        ),
        (vec![("gc.handle_isolation", "initial")], vec!["handle_isolation` is initial", "above 1"]),
        (
            vec![("gc.victim_handle", "most-garbage")],
            vec!["victim_handle` is most-garbage", "interface.placement_handles above 1"],
        ),
        (vec![("gc.early_used_percent", "90")], vec!["90", "needs gc.early_valid_percent"]),
        (vec![("gc.early_valid_percent", "5")], vec!["belongs to gc.early_used_percent"]),
    ] {
        let message = refusal(SMALL, &changes);
        for word in words {
            assert!(message.contains(word), "{changes:?}: {message}");
        }
    }
}

#[test]
fn files_must_be_complete_known_and_say_where_values_come_from() {
    let message = refusal(&SMALL.replace("nand.read_ns", "nand.reed_ns"), &[]);
    assert!(message.contains("reed_ns"), "{message}");
    let message =
        refusal(&SMALL.replace("gc.free_low = { value = 3, from = \"assumed: test\" }", ""), &[]);
    assert!(message.contains("free_low"), "{message}");
    let message = refusal(&SMALL.replacen("assumed: test", "heard somewhere", 1), &[]);
    assert!(message.contains("heard somewhere") && message.contains("published:"), "{message}");
    assert!(refusal("not toml at all [", &[]).contains("test"));
}

#[test]
fn a_section_that_the_file_leaves_out_is_made_by_overrides() {
    let load = |changes: &[(&str, &str)]| {
        let changes: Vec<_> =
            changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Model::load("test", SMALL, &changes)
    };
    assert!(load(&[]).unwrap().parity.is_none());
    let parity = load(&[("parity.stripe_units", "4")]).unwrap().parity.unwrap();
    assert_eq!(
        (parity.stripe_units.value, parity.stripe_units.from.as_str()),
        (4, "override: command line")
    );
    let message = refusal(SMALL, &[("parity.stripe_units", "many")]);
    assert!(
        message.contains("parity.stripe_units") && message.contains("whole number"),
        "{message}"
    );
    let message = refusal(SMALL, &[("parity.stripe_units", "3")]);
    assert!(
        message.contains("`parity.stripe_units` is 3") && message.contains("dies"),
        "{message}"
    );
    let message = refusal(SMALL, &[("parity.strips", "3")]);
    assert!(
        message.ends_with("has no value `parity.strips`; `parity` has parity.stripe_units"),
        "{message}"
    );
}

#[test]
fn an_impossible_map_is_named() {
    let section = [
        ("mapping.entry_bytes", "8"),
        ("mapping.map_entry_bytes", "4"),
        ("mapping.journal_superblocks", "4"),
        ("nand.reserved_superblocks", "6"),
    ];
    let with = |changes: &[(&'static str, &'static str)]| [&section[..], changes].concat();
    let owned = section.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let model = Model::load("test", SMALL, &owned).unwrap();
    assert_eq!(model.resolve(Ratio::ONE).unwrap().options.mapping.unwrap().superblocks(), 6);
    for (key, value, rule) in [
        ("mapping.entry_bytes", "2", "between 4 and 1024"),
        ("mapping.map_entry_bytes", "2048", "between 4 and 1024"),
        ("mapping.journal_superblocks", "2", "between 3 and"),
        ("nand.reserved_superblocks", "5", "take 6 of them"),
    ] {
        let message = refusal(SMALL, &with(&[(key, value)]));
        assert!(message.contains(&format!("`{key}` is {value}")), "{message}");
        assert!(message.contains(rule), "{message}");
    }
    let message = refusal(SMALL, &section[..2]);
    assert!(message.contains("journal_superblocks"), "{message}");
}

#[test]
fn caches_and_compression_that_cannot_be_are_refused() {
    let cache = [
        ("pslc.bytes", "1_000_000"),
        ("pslc.borrows", "false"),
        ("pslc.bits_per_cell", "2"),
        ("pslc.read_ns", "20_000"),
        ("pslc.program_ns", "200_000"),
        ("pslc.erase_ns", "1_000_000"),
        ("pslc.idle_after_ns", "1_000_000"),
        ("pslc.when_full", "direct"),
    ];
    for (changes, words) in [
        (vec![("pslc.bits_per_cell", "1")], vec!["`pslc.bits_per_cell` is 1", "between 2 and 4"]),
        (vec![("pslc.bytes", "0")], vec!["`pslc.bytes` is 0", "pslc.borrows"]),
        (vec![("pslc.bytes", "1_000_000_000")], vec!["`pslc.bytes` is 1000000000", "superblocks"]),
        (vec![("pslc.bytes", "200_000_000")], vec!["capacity_gb", "leave"]),
        (vec![("pslc.when_full", "wait")], vec!["wait", "direct"]),
        (vec![("compression.granule_bytes", "4096")], vec!["granule_bytes` is 4096", "512, 1024"]),
    ] {
        let message = refusal(SMALL, &[&cache[..], &changes].concat());
        for word in words {
            assert!(message.contains(word), "{changes:?}: {message}");
        }
    }
    let message = refusal(SMALL, &[("pslc.bytes", "1_000_000")]);
    assert!(message.contains("missing field") && message.contains("pslc"), "{message}");
}

#[test]
fn superblocks_whose_pages_cannot_divide_all_pages_are_refused() {
    let message = refusal(
        SMALL,
        &[
            ("nand.channels", "16"),
            ("nand.dies_per_channel", "16"),
            ("nand.planes", "4"),
            ("nand.page_bytes", "16384"),
            ("nand.pages_per_block", "65536"),
            ("nand.blocks_per_plane", "1024"),
        ],
    );
    for word in ["`nand.pages_per_block` is 65536", "268435456 pages", "at most 2^64"] {
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn bursts_and_rates_that_contradict_the_pacing_are_refused() {
    for (changes, words) in [
        (vec![("gc.duty_percent", "50")], vec!["`gc.duty_percent` is 50", "gc.quantum_bytes"]),
        (
            vec![("gc.quantum_bytes", "4096"), ("gc.duty_percent", "0")],
            vec!["`gc.duty_percent` is 0", "between 1 and 100"],
        ),
        (
            vec![("gc.quantum_bytes", "4096"), ("gc.pacing", "watermark")],
            vec!["`gc.quantum_bytes` is 4096", "watermark"],
        ),
        (vec![("gc.pacing", "rate")], vec!["`gc.pacing` is rate", "gc.rate_iops"]),
        (vec![("gc.rate_iops", "5000")], vec!["`gc.rate_iops` is 5000", "not rate"]),
        (vec![("gc.rate_valid_percent", "70")], vec!["`gc.rate_valid_percent` is 70", "not rate"]),
        (vec![("gc.rate_burst_bytes", "9000")], vec!["`gc.rate_burst_bytes` is 9000", "not rate"]),
        (
            vec![("gc.pacing", "rate"), ("gc.rate_iops", "9"), ("gc.rate_burst_bytes", "100")],
            vec!["`gc.rate_burst_bytes` is 100", "between 4096 and"],
        ),
    ] {
        let refusal = refusal(SMALL, &changes);
        for word in words {
            assert!(refusal.contains(word), "{word} is missing in {refusal}");
        }
    }
}
