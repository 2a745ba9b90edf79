//! Heat: the levels of the rate, throttling, and figures for each watt.

use run::Outcome;

use crate::common::{metric, request, run_quietly, settings, simulated};

/// A drive of 2 GB at full size: a scaled one also warms faster.
const DRIVE: [(&str, &str); 4] = [
    ("capacity_gb", "2"),
    ("nand.pages_per_block", "1"),
    ("nand.blocks_per_plane", "1092"),
    ("nand.erase_ns", "19531"),
];
/// A drive that reaches 60 C after some seconds of writes, where firmware limits it.
const HOT: [(&str, &str); 6] = [
    ("thermal.ambient_c", "30"),
    ("thermal.resistance_mk_per_w", "25_000"),
    ("thermal.capacity_mj_per_k", "8_000"),
    ("thermal.light.threshold_c", "60"),
    ("thermal.light.hysteresis_c", "15"),
    ("thermal.light.bytes_per_s", "20_000_000"),
];
/// The same drive without limits.
const WARM: [(&str, &str); 3] = [HOT[0], HOT[1], HOT[2]];

fn run(keys: &[(&str, &str)]) -> Outcome {
    let library = tempfile::tempdir().unwrap();
    let keys = [&DRIVE, keys].concat();
    let mut target = simulated("sandisk-extreme-ii-480gb", &keys);
    let short = settings("cool=10m time=120s mixed=20s");
    let request = request(library.path(), "thermal".parse().unwrap(), &short);
    run_quietly(&mut target, &request).unwrap()
}

#[test]
fn a_limit_by_heat_is_named_and_a_drive_without_one_keeps_its_rate() {
    let hot = run(&HOT);
    let start_s = metric(&hot, "thermal.sequential_write.throttle_s");
    assert!((3.0..100.0).contains(&start_s), "{start_s}");
    assert!(metric(&hot, "thermal.sequential_write.kept_share") < 0.3);
    let levels = hot.run.tables.iter().find(|table| table.name == "levels").unwrap();
    assert!(levels.rows.len() >= 4, "{levels:?}");
    let hottest = metric(&hot, "thermal.sequential_write.temperature_c_max");
    assert!((59.0..63.0).contains(&hottest), "{hottest}");
    let warm = run(&WARM);
    assert_eq!(warm.run.metrics["thermal.sequential_write.throttle_s"], None);
    assert!(metric(&warm, "thermal.sequential_write.kept_share") > 0.95);
    assert!(metric(&warm, "thermal.sequential_write.temperature_c_max") > 63.0);
}

#[test]
fn rates_for_each_watt_are_those_of_rate_and_power() {
    let outcome = run(&[]);
    for phase in ["sequential_write", "mixed"] {
        let of = |end: &str| metric(&outcome, &format!("thermal.{phase}.{end}"));
        let (rate, power) = (of("mb_per_s"), of("power_w_mean"));
        assert!((of("mb_per_s_per_w") - rate / power).abs() < 1e-6 * rate, "{phase}");
        assert!((of("iops_per_w") - of("iops") / power).abs() < 1e-6 * of("iops"), "{phase}");
    }
    let joules = metric(&outcome, "thermal.sequential_write.energy_j_per_gb");
    assert!(
        (joules * metric(&outcome, "thermal.sequential_write.mb_per_s_per_w") - 1e3).abs() < 0.1
    );
    assert_eq!(outcome.run.metrics["thermal.sequential_write.temperature_c_max"], None);
}

#[test]
fn short_work_has_one_level() {
    let library = tempfile::tempdir().unwrap();
    let mut target = simulated("sandisk-extreme-ii-480gb", &DRIVE);
    let short = settings("cool=1s time=8s mixed=8s");
    let request = request(library.path(), "thermal".parse().unwrap(), &short);
    let run = run_quietly(&mut target, &request).unwrap().run;
    let levels = run.tables.iter().find(|table| table.name == "levels").unwrap();
    assert_eq!(levels.rows.len(), 2, "{levels:?}");
    assert!(levels.rows.iter().all(|row| row.values[0] > Some(0.0)), "{levels:?}");
    assert!(run.warnings.iter().any(|text| text.contains("has one level of its rate")), "{run:?}");
}
