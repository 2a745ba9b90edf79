//! Command traces of VMware's vscsiStats, as text and binary.

use base::OpKind;

use super::{detected, imported, io, read};

/// The lines come from a post about the tool (super-user.org, 2011).
#[test]
fn vscsi_stats_print_bytes_blocks_and_microseconds() {
    let text = "\
#Vscsi Cmd Trace. (Trace Format Version 1)
#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (microseconds)
2147483692,4096,1,write,24048792,2756778716647
2147483769,4608,2,read,6322464,2756778716650
2147483770,0,0,0x35,0,2756778716651
2147483770,36,1,18,0,2756778716652
";
    let expected = [
        io(0, OpKind::Write, 24_048_792 * 512, 4096, 0, 0),
        io(3000, OpKind::Read, 6_322_464 * 512, 4608, 0, 0),
        io(4000, OpKind::Flush, 0, 0, 0, 0),
    ];
    assert_eq!(read("vscsi-text", text), expected);
}

/// A binary file of vscsiStats: SCSI command, bytes, LBN, us, response us.
pub(crate) fn vscsi(version: u8, commands: &[(u8, u32, u64, u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (serial, &(command, len, lbn, us, response_us)) in (7_u32..).zip(commands) {
        let kind = [command, 0, 0, version];
        if version == 2 {
            out.extend(
                [kind, serial.to_le_bytes(), len.to_le_bytes(), 1_u32.to_le_bytes()].concat(),
            );
        } else {
            out.extend(
                [serial.to_le_bytes(), len.to_le_bytes(), 1_u32.to_le_bytes(), kind].concat(),
            );
        }
        out.extend(lbn.to_le_bytes().iter().chain(&us.to_le_bytes()));
        if version == 2 {
            out.extend(response_us.to_le_bytes());
        }
    }
    out
}

#[test]
fn binary_vscsi_traces_of_both_versions_are_read() {
    let commands = [(0x28, 8192, 100, 5000, 900), (0x12, 36, 0, 5001, 1), (0x8a, 512, 7, 5100, 50)];
    for (version, depths) in [(1, [0, 0]), (2, [1, 2])] {
        let bytes = vscsi(version, &commands);
        assert_eq!(detected(&bytes).name(), "vscsi");
        let (records, problems) = imported(&bytes, "w01.vscsitrace");
        let expected = [
            io(0, OpKind::Read, 51_200, 8192, 0, depths[0]),
            io(100_000, OpKind::Write, 3584, 512, 0, depths[1]),
        ];
        assert_eq!(records, expected, "version {version}");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(problems.other_lines, 1);
    }
}

#[test]
fn a_damaged_vscsi_record_is_told_with_its_place() {
    let mut bytes = vscsi(2, &[(0x28, 512, 1, 1, 0); 20]);
    bytes[40 * 18 + 3] = 9;
    bytes[40 * 19 + 8..40 * 19 + 12].fill(0);
    bytes.extend([1, 2, 3]);
    let (records, problems) = imported(&bytes, "x");
    assert_eq!(records.len(), 18);
    let told: Vec<_> = problems.first_bad_lines.iter().map(|b| (b.at, b.reason.as_str())).collect();
    let expected = [
        (720, "no record of version 2"),
        (760, "the length is 0, expected 1 byte to 4 GiB"),
        (800, "3 bytes that are no record"),
    ];
    assert_eq!(told, expected);
}
