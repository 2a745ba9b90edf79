//! The form oracleGeneral of libCacheSim.

use base::OpKind;

use super::{detected, imported, io};

/// Time in s, object, size, number of the next request.
fn requests(requests: &[(u32, u64, u32, i64)]) -> Vec<u8> {
    let records = requests.iter().map(|(time, object, size, next)| {
        [&time.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()]
            .concat()
    });
    records.collect::<Vec<_>>().concat()
}

#[test]
fn requests_are_reads_of_the_blocks_that_objects_name() {
    let hash = 0xdead_beef_cafe_f00d;
    let bytes = requests(&[
        (100, 6_322_464, 4608, 3),
        (100, 7, 512, i64::MAX),
        (101, 8, 0, -1),
        (103, 6_322_464, 4608, -1),
        (103, hash, 4096, -1),
    ]);
    // A size of 0 is no I/O, and no sign against the form once it is chosen.
    assert_eq!(detected(&bytes[..48]).name(), "oracle-general");
    let sized = [&bytes[..48], &bytes[72..]].concat();
    let (records, problems) = imported(&sized, "a.oracleGeneral.bin");
    let expected = [
        io(0, OpKind::Read, 6_322_464 * 512, 4608, 0, 0),
        io(0, OpKind::Read, 7 * 512, 512, 0, 0),
        io(3_000_000_000, OpKind::Read, 6_322_464 * 512, 4608, 0, 0),
        io(3_000_000_000, OpKind::Read, hash % (1 << 45) * 512, 4096, 0, 0),
    ];
    assert_eq!(records, expected);
    assert_eq!(problems.bad_lines, 0);
    assert!(problems.sentences().iter().any(|text| text.contains("each request counts as a read")));
}

#[test]
fn a_cut_record_is_told_with_its_place() {
    let whole = requests(&[(1, 5, 512, -1); 70]);
    let (records, problems) = imported(&[&whole[..], &[1, 2, 3]].concat(), "a");
    assert_eq!((records.len(), problems.bad_lines), (70, 1));
    assert_eq!(problems.first_bad_lines[0].at, 70 * 24);
}
