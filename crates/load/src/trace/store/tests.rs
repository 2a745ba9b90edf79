use base::{OpKind, Rng};
use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::trace::{Addresses, Origin, Source, TraceError, TraceInfo};

fn record(index: u64, rng: &mut Rng) -> Record {
    Record {
        issue_ns: index * 1000 + rng.below(1000),
        offset: rng.below(1 << 62),
        len: rng.next_u64() as u32,
        stream: rng.next_u64() as u32,
        queue_depth: rng.next_u64() as u16,
        op: OpKind::ALL[rng.below(4) as usize],
        flags: Flags(rng.below(32) as u8),
        physical_percent: rng.below(101) as u8,
    }
}

fn info() -> TraceInfo {
    TraceInfo {
        origin: Origin::Synthesised,
        source: "a test".to_owned(),
        streams: vec!["browser".to_owned()],
        epoch_ns: 7,
        addresses: Addresses::Shared,
        volumes: vec![],
        span_bytes: Some(1 << 63),
        warnings: vec![],
        published: None,
    }
}

fn file(records: &[Record]) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), "memory").unwrap();
    records.iter().for_each(|record| writer.push(record).unwrap());
    writer.finish(&info()).unwrap().0
}

fn read(bytes: Vec<u8>) -> Result<Vec<Record>, TraceError> {
    let mut reader = TraceReader::new(Bytes::from(bytes), "memory")?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok(records)
}

#[test]
fn records_come_back_over_several_row_groups() {
    let mut rng = Rng::new(1);
    let count = GROUP_ROWS as u64 + 12_345;
    let records: Vec<_> = (0..count).map(|index| record(index, &mut rng)).collect();
    let bytes = file(&records);
    let reader = TraceReader::new(Bytes::from(bytes.clone()), "memory").unwrap();
    assert_eq!(reader.records(), count);
    assert_eq!(reader.info(), info());
    assert!(read(bytes).unwrap() == records);
}

#[test]
fn an_empty_trace_is_a_trace() {
    assert_eq!(read(file(&[])).unwrap(), []);
}

#[test]
fn time_that_goes_back_is_damage() {
    let at = |ns| Record::new(ns, OpKind::Read, 0, 4096);
    let error = read(file(&[at(5), at(4)])).unwrap_err().to_string();
    assert!(error.contains("a record at 4 ns follows one at 5 ns"), "{error}");
}

#[test]
fn a_parquet_file_of_others_is_no_trace() {
    let mut writer = TraceWriter::new(Vec::new(), "memory").unwrap();
    writer.push(&Record::new(0, OpKind::Read, 0, 4096)).unwrap();
    let mut bytes = writer.finish(&info()).unwrap().0;
    let key = bytes.windows(INFO_KEY.len()).position(|w| w == INFO_KEY.as_bytes()).unwrap();
    bytes[key] = b'x';
    let error = read(bytes).unwrap_err().to_string();
    assert!(error.contains("no ssdlab trace"), "{error}");
}

/// Found by fuzzing: a page header that claims a list of two billion entries. The Parquet reader
/// would continue to request them at the end of the file.
#[test]
fn a_header_that_promises_more_than_the_file_has_is_damage() {
    let bytes = include_bytes!("../../../tests/fixtures/endless-page-header.parquet");
    let error = read(bytes.to_vec()).unwrap_err();
    assert!(matches!(error, TraceError::Damaged { .. }), "{error}");
}

proptest! {
    #[test]
    fn damage_is_an_error_or_other_records_but_no_crash(
        at in any::<prop::sample::Index>(), value: u8, cut in any::<prop::sample::Index>(), seed: u64
    ) {
        let mut rng = Rng::new(seed);
        let records: Vec<_> = (0..300).map(|index| record(index, &mut rng)).collect();
        let mut bytes = file(&records);
        let index = at.index(bytes.len());
        bytes[index] = value;
        let _ = read(bytes.clone());
        bytes.truncate(cut.index(bytes.len()));
        let _ = read(bytes);
    }
}
