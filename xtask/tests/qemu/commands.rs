//! Do other tools report the same drives, and do they send the same commands?

use crate::machine::Record;

/// The devices of `ssdlab list` with this serial.
fn listed(serial: &str) -> Vec<serde_json::Value> {
    let document = Record::of("list").document();
    let devices = document["devices"].as_array().expect("devices").clone();
    devices.into_iter().filter(|device| device["serial"] == serial).collect()
}

#[test]
fn every_drive_is_listed_with_its_identity() {
    let cli = Record::of("nvme-id-ctrl").document();
    let nvme = &listed("NVME-ONE")[0];
    assert_eq!(nvme["model"], cli["mn"].as_str().expect("a model").trim());
    assert_eq!(nvme["firmware"], cli["fr"].as_str().expect("a revision").trim());
    assert_eq!(nvme["capacity_bytes"], 64 << 20);
    assert_eq!(nvme["in_use"].as_array().map(Vec::len), Some(0));
    let sata = &listed("SATA-ONE")[0];
    assert_eq!(sata["model"], "QEMU HARDDISK");
    assert_eq!(sata["deallocate"], true);
    assert_eq!(listed("NVME-TWO").len(), 3, "all namespaces");
}

/// The admin commands of this kind in a kernel trace, without time and number.
fn sent(trace: &str, kind: &str) -> Vec<String> {
    let lines = Record::of(trace).stdout.lines().filter(|line| line.contains(kind));
    let fields = lines.filter_map(|line| {
        let namespace = line.split("nsid=").nth(1)?.split(',').next()?;
        Some(format!("nsid={namespace} {}", line.split("cmd=").nth(1)?))
    });
    fields.collect()
}

#[test]
fn a_format_is_the_same_command_as_that_of_nvme_cli() {
    let own = sent("own-format", "format_nvm");
    assert_eq!(own, sent("nvme-cli-format", "format_nvm"));
    assert!(own.len() == 1 && own[0].starts_with("nsid=1 ") && own[0].contains("ses=1"), "{own:?}");
}
