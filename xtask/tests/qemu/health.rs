//! Does a run record the values that nvme-cli and smartctl read from the same drive at the same
//! time?

use serde_json::Value;

use crate::machine::Record;

fn number(value: &Value) -> u64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    value.as_u64().or(text).unwrap_or_else(|| panic!("{value} is no number"))
}

/// A counter read by ssdlab lies between the values that nvme-cli read before and after.
fn must_lie_between(counter: &Value, name: &str, unit: u64) {
    let read = |record| number(&Record::of(record).document()[name]) * unit;
    let (low, high) = (read("nvme-smart-before"), read("nvme-smart-after"));
    assert!((low..=high).contains(&number(counter)), "{name}: {counter} outside {low} to {high}");
}

#[test]
fn the_health_of_an_nvme_drive_is_what_nvme_cli_reads() {
    let health = Record::of("nvme.json").document()["health"].clone();
    let cli = Record::of("nvme-smart-before").document();
    for look in ["before", "after"] {
        let look = &health[look];
        assert_eq!(look["source"], "nvme-smart-log");
        assert_eq!(number(&look["temperature_c"]) + 273, number(&cli["temperature"]));
        must_lie_between(&look["host_written_bytes"], "data_units_written", 512_000);
        must_lie_between(&look["host_read_bytes"], "data_units_read", 512_000);
        must_lie_between(&look["power_on_hours"], "power_on_hours", 1);
        assert_eq!(look["critical_warning"], 0);
    }
    let written = |look: &str| number(&health[look]["host_written_bytes"]);
    assert!(written("after") >= written("before") + (64 << 20), "the fill is counted: {health:#}");
}

#[test]
fn an_nvme_drive_is_looked_at_during_the_run() {
    let run = Record::of("nvme.json").document();
    let samples = run["health"]["samples"].as_array().expect("samples").clone();
    assert!(!samples.is_empty(), "more than 10 s went by: {run:#}");
    let phases = run["phases"].as_array().expect("phases");
    let end_ns = phases.iter().map(|p| number(&p["start_ns"]) + number(&p["duration_ns"])).max();
    for sample in &samples {
        assert_eq!(sample["temperature_c"], run["health"]["before"]["temperature_c"]);
        assert!(Some(number(&sample["at_ns"])) <= end_ns, "on the clock of the phases: {run:#}");
    }
}

#[test]
fn the_attributes_of_a_sata_drive_are_those_of_smartctl() {
    let health = Record::of("sata.json").document()["health"].clone();
    let smartctl = Record::of("sata-smart").document();
    let table = smartctl["ata_smart_attributes"]["table"].as_array().expect("a table");
    let after = &health["after"];
    assert_eq!(after["source"], "ata-smart");
    assert_eq!(after["attributes"].as_object().map(serde_json::Map::len), Some(table.len()));
    for line in table {
        assert_eq!(after["attributes"][line["id"].to_string()], line["raw"]["value"], "{line:#}");
    }
    assert_eq!(after["temperature_c"], smartctl["temperature"]["current"]);
    assert_eq!(health["samples"].as_array().map(Vec::len), Some(0), "a look would hold it up");
}
