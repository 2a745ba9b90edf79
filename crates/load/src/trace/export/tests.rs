use std::io::Cursor;

use base::{OpKind, Rng};

use super::*;
use crate::trace::format::{Format, HEAD_BYTES, detect};
use crate::trace::import::{ImportOptions, OrderedRecords, lines};
use crate::trace::{Addresses, Flags, StreamSet, TraceInfo};

/// Records from memory.
struct Memory<'a>(std::slice::Iter<'a, Record>, TraceInfo);

impl Source for Memory<'_> {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        Ok(self.0.next().copied())
    }

    fn info(&self) -> TraceInfo {
        self.1.clone()
    }
}

fn records(kinds: u64, flags: u64) -> Vec<Record> {
    let mut rng = Rng::new(9);
    let mut issue_ns = 0;
    let record = |_| {
        let op = OpKind::ALL[rng.below(kinds) as usize];
        let flush = op == OpKind::Flush;
        let len = if flush { 0 } else { 512 * (1 + rng.below(256) as u32) };
        let offset = if flush { 0 } else { 512 * rng.below(1 << 30) };
        let mut record = Record::new(issue_ns, op, offset, len);
        record.stream = rng.below(3) as u32;
        record.flags = Flags(rng.below(flags) as u8);
        if op != OpKind::Write {
            record.flags.0 &= !Flags::PREFLUSH.0;
        }
        issue_ns += 1000 * rng.below(1000);
        record
    };
    (0..500).map(record).collect()
}

fn written(records: &[Record], format: ExportFormat) -> (Vec<u8>, ExportCounts) {
    // A trace whose streams are disks, begun in 2007.
    let epoch_ns = 1_172_163_600_306_162_900;
    written_as(
        records,
        format,
        TraceInfo { epoch_ns, addresses: Addresses::OfEach, ..TraceInfo::default() },
    )
}

fn written_as(
    records: &[Record],
    format: ExportFormat,
    info: TraceInfo,
) -> (Vec<u8>, ExportCounts) {
    let mut text = Vec::new();
    let mut source = Memory(records.iter(), info);
    let exported = export(&mut source, format, &mut text, "memory").unwrap();
    (text, exported)
}

fn read_back(text: Vec<u8>) -> (Format, Vec<Record>) {
    let format = detect(&text[..text.len().min(HEAD_BYTES)], "memory").unwrap();
    let raw = lines(format, Box::new(Cursor::new(text)), "memory", &ImportOptions::default());
    let mut ordered = OrderedRecords::new(raw.unwrap(), String::new(), StreamSet::default());
    let mut records = Vec::new();
    while let Some(record) = ordered.next_record().unwrap() {
        records.push(record);
    }
    assert_eq!(ordered.problems().bad_lines, 0, "{:?}", ordered.problems());
    (format, records)
}

#[test]
fn an_iolog_comes_back_with_flushes_of_their_own() {
    let records = records(4, 32);
    let (text, exported) = written(&records, ExportFormat::Iolog);
    assert_eq!(exported, ExportCounts { ios: 500, not_expressible: 0 });
    let (format, read) = read_back(text);
    assert_eq!(format.name(), "iolog");
    let mut expected = Vec::new();
    for record in records {
        let plain = Record { stream: 0, flags: Flags::NONE, ..record };
        if record.flags.contains(Flags::PREFLUSH) {
            expected.push(Record { op: OpKind::Flush, offset: 0, len: 0, ..plain });
        }
        expected.push(plain);
    }
    assert_eq!(read, expected);
}

#[test]
fn blkparse_text_comes_back_as_it_was() {
    let records = records(4, 32);
    let (format, read) = read_back(written(&records, ExportFormat::Blkparse).0);
    assert_eq!(format.name(), "blkparse");
    let plain = |record: &Record| Record { queue_depth: 0, ..*record };
    assert!(read.iter().map(plain).eq(records.iter().map(plain)));
}

#[test]
fn msr_lines_come_back_and_flushes_are_counted_as_left_out() {
    let records = records(4, 1);
    let (text, exported) = written(&records, ExportFormat::Msr);
    let (format, read) = read_back(text);
    assert_eq!(format.name(), "msr");
    let data: Vec<_> = records.iter().filter(|record| record.moves_data()).copied().collect();
    assert_eq!(exported.not_expressible, (records.len() - data.len()) as u64);
    let first_ns = data[0].issue_ns;
    let expected: Vec<_> =
        data.iter().map(|r| Record { issue_ns: r.issue_ns - first_ns, ..*r }).collect();
    assert_eq!(read, expected);
}

#[test]
fn msr_times_are_those_of_the_source_and_shared_addresses_are_one_disk() {
    let record =
        |issue_ns, stream| Record { stream, ..Record::new(issue_ns, OpKind::Read, 0, 512) };
    let records = [record(0, 3), record(100, 4)];
    let text = |addresses| {
        let epoch_ns = (128_166_372_003_061_629 - 116_444_736_000_000_000) * 100;
        let info = TraceInfo { epoch_ns, addresses, ..TraceInfo::default() };
        String::from_utf8(written_as(&records, ExportFormat::Msr, info).0).unwrap()
    };
    let of_each =
        "128166372003061629,ssdlab,3,Read,0,512,0\n128166372003061630,ssdlab,4,Read,0,512,0\n";
    assert_eq!(text(Addresses::OfEach), of_each);
    assert_eq!(text(Addresses::Shared), of_each.replace(",3,", ",0,").replace(",4,", ",0,"));
}
