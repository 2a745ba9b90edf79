//! Answers of drives, decoded here and by nvme-cli, sg3-utils and smartctl: do all agree?
//! `fixtures/README.md` lists the commands that captured them.

use std::path::Path;

use device::ata::identify::IdentifyDevice;
use device::ata::smart::{Attribute, attributes};
use device::nvme::identify::{IdentifyController, IdentifyNamespace};
use device::nvme::log::SmartLog;
use serde_json::Value;

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).expect("a JSON document")
}

/// A number that nvme-cli prints as such, or as text where it may exceed 53 bits.
fn number(value: &Value) -> u64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    value.as_u64().or(text).unwrap_or_else(|| panic!("{value} is no number"))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text").trim()
}

#[test]
fn a_controller_is_what_nvme_cli_says_it_is() {
    let expected = json("nvme-id-ctrl.json");
    let found = IdentifyController::decode(&bytes("nvme-id-ctrl.bin"));
    assert_eq!(found.serial, text(&expected["sn"]));
    assert_eq!(found.model, text(&expected["mn"]));
    assert_eq!(found.firmware, text(&expected["fr"]));
    let (major, minor, tertiary) = found.version;
    let version = u64::from(major) << 16 | u64::from(minor) << 8 | u64::from(tertiary);
    assert_eq!(version, number(&expected["ver"]));
    assert_eq!(found.format, number(&expected["oacs"]) & 0b10 != 0);
    assert_eq!(found.crypto_erase, number(&expected["fna"]) & 0b100 != 0);
    assert_eq!(found.sanitize_block || found.sanitize_crypto, number(&expected["sanicap"]) != 0);
    assert_eq!(u64::from(found.warning_temperature_k), number(&expected["wctemp"]));
    assert_eq!(found.volatile_write_cache, number(&expected["vwc"]) & 1 != 0);
    assert_eq!(found.autonomous_power, number(&expected["apsta"]) & 1 != 0);
    let states = expected["psds"].as_array().expect("power states");
    assert_eq!(found.power_states.len(), states.len());
    for (found, expected) in found.power_states.iter().zip(states) {
        assert_eq!(u64::from(found.power_max_100uw), number(&expected["max_power"]) * 100);
        assert_eq!(u64::from(found.entry_latency_us), number(&expected["entry_lat"]));
        assert_eq!(u64::from(found.exit_latency_us), number(&expected["exit_lat"]));
    }
}

#[test]
fn a_namespace_is_formatted_as_nvme_cli_says() {
    let expected = json("nvme-id-ns.json");
    let found = IdentifyNamespace::decode(&bytes("nvme-id-ns.bin"));
    assert_eq!(found.size_blocks, number(&expected["nsze"]));
    assert_eq!(found.capacity_blocks, number(&expected["ncap"]));
    assert_eq!(found.used_blocks, number(&expected["nuse"]));
    assert_eq!(u64::from(found.format.lba_format), number(&expected["flbas"]) & 0x0f);
    let format = &expected["lbafs"][usize::from(found.format.lba_format)];
    assert_eq!(found.layout().block_bytes, Some(1 << number(&format["ds"])));
    assert_eq!(u64::from(found.layout().metadata_bytes), number(&format["ms"]));
}

#[test]
fn health_is_what_nvme_cli_says() {
    let expected = json("nvme-smart.json");
    let found = SmartLog::decode(&bytes("nvme-smart.bin"));
    assert_eq!(u64::from(found.temperature_k), number(&expected["temperature"]));
    assert_eq!(u64::from(found.percentage_used), number(&expected["percent_used"]));
    assert_eq!(found.host_read_bytes, number(&expected["data_units_read"]) * 512_000);
    assert_eq!(found.host_written_bytes, number(&expected["data_units_written"]) * 512_000);
    assert_eq!(found.power_cycles, number(&expected["power_cycles"]));
    assert_eq!(found.media_errors, number(&expected["media_errors"]));
    assert_eq!(u64::from(found.throttle_s[0]), number(&expected["thm_temp1_total_time"]));
    assert!(found.host_read_bytes > 0, "the comparison is not one of zeros");
}

#[test]
fn a_sata_drive_is_what_smartctl_says_it_is() {
    let expected = json("smartctl.json");
    let found = IdentifyDevice::decode(&bytes("ata-identify.bin"));
    assert_eq!(found.serial, text(&expected["serial_number"]));
    assert_eq!(found.model, text(&expected["model_name"]));
    assert_eq!(found.firmware, text(&expected["firmware_version"]));
    assert_eq!(found.blocks, number(&expected["user_capacity"]["blocks"]));
    assert_eq!(u64::from(found.logical_block_bytes), number(&expected["logical_block_size"]));
    assert_eq!(Some(found.trim), expected["trim"]["supported"].as_bool());
    assert!(found.smart);
    assert!(!found.security.supported, "this emulated drive has no security feature set");
}

#[test]
fn attributes_are_those_that_smartctl_lists() {
    let expected = json("smartctl.json");
    let found = attributes(&bytes("ata-smart.bin"));
    let table = expected["ata_smart_attributes"]["table"].as_array().expect("a table");
    let expected_lines: Vec<_> = table
        .iter()
        .map(|line| (&line["id"], &line["value"], &line["worst"], &line["raw"]["value"]))
        .map(|(id, value, worst, raw)| [number(id), number(value), number(worst), number(raw)])
        .collect();
    let lines: Vec<_> = found
        .iter()
        .map(|a| [u64::from(a.id), u64::from(a.value), u64::from(a.worst), a.raw])
        .collect();
    assert_eq!(lines, expected_lines);
    let temperature = expected["temperature"]["current"].as_i64();
    assert_eq!(Attribute::temperature_c(&found).map(i64::from), temperature);
}
