//! Drives in every state of the security feature set, decoded here and by hdparm: do both agree?
//! `fixtures/README.md` describes the capture of hdparm's answers.

use std::path::Path;

use device::ata::identify::IdentifyDevice;
use device::ata::security;

/// Words of the answer to IDENTIFY DEVICE that differ from the captured drive.
type Words = &'static [(usize, u16)];

/// Supported commands and feature sets; bit 1 is security.
const FEATURES: (usize, u16) = (82, 0x4023);

const DRIVES: [(&str, Words); 6] = [
    ("none", &[]),
    ("ready", &[FEATURES, (128, 0x21), (89, 3), (90, 1)]),
    ("frozen", &[FEATURES, (128, 0x29), (89, 3), (90, 1)]),
    ("locked", &[FEATURES, (85, 0x4023), (128, 0x07), (89, 30)]),
    ("expired", &[FEATURES, (85, 0x4023), (128, 0x17), (89, 0xff)]),
    ("slow", &[FEATURES, (128, 0x01), (89, 0x83e8)]),
];

const SSD: (&str, Words) = (
    "ssd",
    &[
        (80, 0x03f0),
        (81, 0x0110),
        (106, 0x5000),
        (117, 2048),
        (118, 0),
        (169, 1),
        (217, 1),
        (69, 0x4000),
        (76, 0x000e),
        (77, 0x0006),
    ],
);

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The captured drive with some words changed.
fn identify(words: Words) -> IdentifyDevice {
    let mut bytes = fixture("ata-identify.bin");
    for &(index, word) in words {
        bytes[index * 2..index * 2 + 2].copy_from_slice(&word.to_le_bytes());
    }
    IdentifyDevice::decode(&bytes)
}

/// The output of hdparm, line by line, without blanks at the ends.
fn hdparm(name: &str) -> Vec<String> {
    let text = String::from_utf8(fixture(&format!("hdparm/{name}.txt"))).expect("a text");
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// The lines of the section `Security:`.
fn security_lines(name: &str) -> Vec<String> {
    let lines = hdparm(name).into_iter().skip_while(|line| line != "Security:").skip(1);
    lines.take_while(|line| !line.ends_with(':')).collect()
}

/// True if hdparm prints the word, false if it prints `not` before it; `None` if it prints neither.
fn says(lines: &[String], word: &str) -> Option<bool> {
    lines.iter().find_map(|line| match line.strip_prefix("not") {
        Some(rest) if rest.trim() == word => Some(false),
        None if line == word => Some(true),
        _ => None,
    })
}

#[test]
fn every_state_of_the_security_feature_set_is_what_hdparm_says() {
    for (name, words) in DRIVES {
        let found = identify(words).security;
        let lines = security_lines(name);
        assert_eq!(found.supported, !lines.is_empty(), "{name}");
        if lines.is_empty() {
            continue;
        }
        let states = [
            ("supported", found.supported),
            ("enabled", found.enabled),
            ("locked", found.locked),
            ("frozen", found.frozen),
            ("expired: security count", found.exhausted),
        ];
        for (word, found) in states {
            assert_eq!(says(&lines, word), Some(found), "{name}: {word}");
        }
        let time = lines.iter().find(|line| line.contains("for SECURITY ERASE UNIT"));
        let minutes = time.and_then(|line| line.split("min").next()?.parse().ok());
        assert_eq!(found.erase_min, minutes, "{name}: `more than` is no time");
    }
}

#[test]
fn only_the_drive_that_hdparm_finds_ready_may_be_erased() {
    let open = |(name, words): &(&'static str, Words)| {
        security::obstacle(&identify(words).security).is_none().then_some(*name)
    };
    let open: Vec<_> = DRIVES.iter().filter_map(open).collect();
    assert_eq!(open, ["ready", "slow"]);
}

#[test]
fn blocks_trim_and_link_of_a_solid_state_drive_are_what_hdparm_says() {
    let (name, words) = SSD;
    let found = identify(words);
    let lines = hdparm(name);
    let after = |start: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(start));
        line.unwrap_or_else(|| panic!("no `{start}` in {lines:#?}")).trim().to_owned()
    };
    assert_eq!(format!("{} bytes", found.logical_block_bytes), after("Logical  Sector size:"));
    assert_eq!(found.blocks.to_string(), after("LBA48  user addressable sectors:"));
    assert_eq!(found.solid_state, after("Nominal Media Rotation Rate:") == "Solid State Device");
    let supported = |words: &str| lines.iter().any(|line| line.contains(words));
    assert_eq!(found.trim, supported("Data Set Management TRIM supported"));
    assert_eq!(found.link_mbit_per_s == Some(6000), supported("Gen3 signaling speed (6.0Gb/s)"));
    assert!(found.solid_state && found.trim, "the comparison is not one of nothing");
}
