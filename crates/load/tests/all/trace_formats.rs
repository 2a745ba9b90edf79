//! Trace files of other tools: each record is read exactly, for any content.

mod clocks;
mod oracle_general;
mod packed;
mod times;
mod vscsi;

use std::io::Cursor;
use std::path::{Path, PathBuf};

use base::OpKind;
use load::trace::format::{
    BlktraceSource, BoxedInput, Event, Format, FormatOptions, HEAD_BYTES, WaitUnit, detect,
};
use load::trace::import::{OrderedRecords, lines};
use load::trace::{Flags, ImportOptions, Problems, Record, Source, StreamSet, TraceError, import};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn all(source: &mut dyn Source) -> Result<Vec<Record>, TraceError> {
    let mut records = Vec::new();
    while let Some(record) = source.next_record()? {
        records.push(record);
    }
    Ok(records)
}

fn input(bytes: &[u8]) -> BoxedInput {
    Box::new(Cursor::new(bytes.to_vec()))
}

fn detected(bytes: &[u8]) -> Format {
    detect(&bytes[..bytes.len().min(HEAD_BYTES)], "memory").unwrap()
}

/// Reads a text that must be recognised as `format`.
fn read_with(format: &str, text: &str, options: &ImportOptions) -> (Vec<Record>, Problems) {
    let format: Format = format.parse().unwrap();
    assert_eq!(detected(text.as_bytes()), format);
    let raw = lines(format, input(text.as_bytes()), "memory", options).unwrap();
    let mut source = OrderedRecords::new(raw, String::new(), StreamSet::default());
    let records = all(&mut source).unwrap();
    (records, source.problems())
}

fn read(format: &str, text: &str) -> Vec<Record> {
    let (records, problems) = read_with(format, text, &ImportOptions::default());
    let Problems { bad_lines, other_devices, late_ios, clock_restarts, .. } = problems;
    assert_eq!((bad_lines, other_devices, late_ios, clock_restarts), (0, 0, 0, 0), "{problems:?}");
    assert_eq!(problems.time_doubt, None);
    records
}

fn io(issue_ns: u64, op: OpKind, offset: u64, len: u32, stream: u32, queue_depth: u16) -> Record {
    Record { stream, queue_depth, ..Record::new(issue_ns, op, offset, len) }
}

fn file_with(bytes: &[u8], name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn imported(bytes: &[u8], name: &str) -> (Vec<Record>, Problems) {
    let (_dir, path) = file_with(bytes, name);
    let mut source = import(&path, &ImportOptions::default()).unwrap();
    (all(&mut source).unwrap(), source.problems())
}

#[test]
fn a_name_stands_for_one_format() {
    let mut names: Vec<_> = Format::all().map(Format::name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn msr_times_and_response_times_give_depths() {
    let text = "\
128166372003061629,hm,0,Read,383496192,32768,1000
128166372003061729,hm,0,Write,2822144,4096,50
128166372003061829,hm,1,Write,8192,512,0
";
    let expected = [
        io(0, OpKind::Read, 383_496_192, 32_768, 0, 1),
        io(10_000, OpKind::Write, 2_822_144, 4096, 0, 2),
        io(20_000, OpKind::Write, 8192, 512, 1, 0),
    ];
    assert_eq!(read("msr", text), expected);
}

#[test]
fn fiu_blocks_are_sectors() {
    let text = "\
89966904702391 4892 syslogd 904265560 8 W 6 0 531e779d6a2b6fd0c51a0ea2b5eb7a1e
89966904712391 1990 kjournald 508541144 16 R 6 0 9ec2a5d1f0fd3a3d0ba1fae0b04b2b0c
";
    let expected = [
        io(0, OpKind::Write, 904_265_560 * 512, 4096, 4892, 0),
        io(10_000, OpKind::Read, 508_541_144 * 512, 8192, 1990, 0),
    ];
    assert_eq!(read("fiu", text), expected);
}

#[test]
fn spc_times_are_seconds_from_the_start() {
    let text = "0,20941264,8192,W,0.551706\n1,20939840,8192,r,0.554041,extra\n";
    let expected = [
        io(0, OpKind::Write, 20_941_264 * 512, 8192, 0, 0),
        io(2_335_000, OpKind::Read, 20_939_840 * 512, 8192, 1, 0),
    ];
    assert_eq!(read("spc", text), expected);
}

#[test]
fn tencent_counts_sectors_and_seconds() {
    let text = "1538323200,12910952,128,0,1063\n1538323201,6265688,8,1,1064\n";
    let expected = [
        io(0, OpKind::Read, 12_910_952 * 512, 65_536, 1063, 0),
        io(1_000_000_000, OpKind::Write, 6_265_688 * 512, 4096, 1064, 0),
    ];
    assert_eq!(read("tencent", text), expected);
}

#[test]
fn alibaba_counts_bytes_and_microseconds() {
    let text =
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n";
    let expected = [
        io(0, OpKind::Write, 8_792_731_648, 16_384, 419, 0),
        io(46_000, OpKind::Read, 59_110_326_272, 360_448, 725, 0),
    ];
    assert_eq!(read("alibaba", text), expected);
}

/// The header as the sets have it; the times, offsets and disks of the I/Os are ours.
const MS_PRODUCTION: &str = "\
BeginHeader
              DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, \
ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
             DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, \
ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
          DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
             DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           \
ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
EndHeader
OS Version: 6.1.6001, Trace Size: 1048576KB
          DiskReadInit,       2000,     sqlservr.exe (2876),       3160, 0xfffffa80b3a8d010
              DiskRead,       5000,     sqlservr.exe (2876),       3160, 0xfffffa80b3a8d010, 0x0000001000, 0x00002000, \
       3000,        3, 0x060043,        2900,       3,  Unknown, 0xfffffa80a1b2c3d0, \"Disk3:\\s1\\s2,s3\"
             DiskWrite,       4000,           System (   4),       3160, 0xfffffa80b3a8d011, 0x012f5bc000, 0x00010000, \
       1500,        3, 0x060043,        1400,       3,  Unknown, 0xfffffa80a1b2c3d0, \"Disk3:\\s4\"
             DiskFlush,       7000,           System (   4),       3160, 0xfffffa80b3a8d012,                           \
        500,        0, 0x000000,         500,       3
            FileIoRead,       7100,           System (   4),  1, 2, 3
";

#[test]
fn ms_production_events_are_issued_before_they_end() {
    let expected = [
        io(0, OpKind::Read, 0x1000, 0x2000, 3, 1),
        io(500_000, OpKind::Write, 0x1_2f5b_c000, 0x10000, 3, 2),
        io(4_500_000, OpKind::Flush, 0, 0, 0, 1),
    ];
    assert_eq!(read("ms-production", MS_PRODUCTION), expected);
    let without_header = MS_PRODUCTION.split_once("EndHeader\n").unwrap().1;
    assert_eq!(read("ms-production", without_header), expected);
}

#[test]
fn ms_production_columns_are_found_by_their_names() {
    let text = "BeginHeader
        DiskRead, TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum
        EndHeader
        DiskRead, 9, a.exe (1), 2, 0, 0xf, 0x200, 0x400, 4, 7\n";
    assert_eq!(read("ms-production", text), [io(0, OpKind::Read, 0x200, 0x400, 7, 1)]);
    let unnamed = text.replace("IOSize", "Size");
    let options = ImportOptions::default();
    let mut raw =
        lines("ms-production".parse().unwrap(), input(unnamed.as_bytes()), "memory", &options)
            .unwrap();
    while raw.next_raw().unwrap().is_some() {}
    let problems = raw.problems();
    assert!(problems.first_bad_lines[0].reason.contains("expected IOSize"), "{problems:?}");
}

#[test]
fn disksim_has_milliseconds_and_mqsim_nanoseconds() {
    let expected = [
        io(0, OpKind::Read, 512 * 100, 4096, 0, 0),
        io(1_500_000, OpKind::Write, 512 * 200, 8192, 1, 0),
    ];
    assert_eq!(read("disksim", "0.000000 0 100 8 1\n1.500000 1 200 16 0\n"), expected);
    assert_eq!(read("mqsim", "7 0 100 8 1\n1500007 1 200 16 0\n"), expected);
}

#[test]
fn fio_version_2_waits_as_fio_or_as_its_manual_says() {
    let text = "\
fio version 2 iolog
a add
a open
a read 0 4096
a wait 2000 0
a write 4096 512
a wait 2000 0
a trim 8192 4096
b datasync 0 0
a close
";
    let times = |wait_unit| {
        let format_options =
            FormatOptions { wait_unit: Some(wait_unit), ..FormatOptions::default() };
        let options = ImportOptions { format_options, ..ImportOptions::default() };
        let (records, problems) = read_with("iolog", text, &options);
        assert!(problems.is_empty(), "{problems:?}");
        records.iter().map(|r| (r.issue_ns, r.op, r.stream)).collect::<Vec<_>>()
    };
    let with_waits = |first, second| {
        [
            (0, OpKind::Read, 0),
            (first, OpKind::Write, 0),
            (second, OpKind::Deallocate, 0),
            (second, OpKind::Flush, 1),
        ]
    };
    assert_eq!(times(WaitUnit::Fio), with_waits(2_000_000_000, 2_000_000_000));
    assert_eq!(times(WaitUnit::Doc), with_waits(2_000_000, 4_000_000));
}

#[test]
fn fio_version_3_logs_are_microseconds() {
    let mut source =
        import(&fixture("fio-3.42-write_iolog-v3.log"), &ImportOptions::default()).unwrap();
    let records = all(&mut source).unwrap();
    let expected = [
        io(0, OpKind::Write, 16_388_096, 4096, 0, 0),
        io(26_000, OpKind::Write, 14_524_416, 4096, 0, 0),
        io(34_000, OpKind::Flush, 14_524_416, 0, 0, 0),
        io(571_000, OpKind::Write, 11_018_240, 4096, 0, 0),
        io(580_000, OpKind::Write, 8_658_944, 4096, 0, 0),
    ];
    assert_eq!(records, expected);
    assert_eq!(source.info().streams, ["t.dat"]);
}

/// Content of one line of blkparse: time, letters, sector, sectors, process.
type Printed = (u64, String, Option<(u64, u64)>, u32);

/// The events of a kind in the text of blkparse, decoded independently of the reader.
fn printed(action: &str) -> Vec<Printed> {
    let text = std::fs::read_to_string(fixture("sample.blkparse.txt")).unwrap();
    let mut lines = Vec::new();
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if !line.trim_start().starts_with("7,0") || words[5] != action || words[6] == "N" {
            continue;
        }
        let (seconds, ns) = words[3].split_once('.').unwrap();
        let at = seconds.parse::<u64>().unwrap() * 1_000_000_000 + ns.parse::<u64>().unwrap();
        let plus = words.get(8) == Some(&"+");
        let extent = plus.then(|| (words[7].parse().unwrap(), words[9].parse().unwrap()));
        lines.push((at, words[6].to_owned(), extent, words[4].parse().unwrap()));
    }
    lines
}

/// A record as blkparse would print it.
fn in_letters(record: &Record) -> Printed {
    let has = |flag| record.flags.contains(flag);
    let flush = record.op == OpKind::Flush;
    let kind = match record.op {
        OpKind::Read => "R",
        OpKind::Write => "W",
        OpKind::Deallocate => "D",
        // A flush is asked for as a write without data, or by the block layer itself as nothing.
        OpKind::Flush if has(Flags::SYNC) => "W",
        OpKind::Flush => "N",
    };
    let letters = [
        (has(Flags::PREFLUSH) || flush, "F"),
        (true, kind),
        (has(Flags::FUA), "F"),
        (has(Flags::READAHEAD), "A"),
        (has(Flags::SYNC), "S"),
        (has(Flags::META), "M"),
    ];
    let letters: String = letters.iter().filter(|(set, _)| *set).map(|(_, l)| *l).collect();
    let extent = (!flush).then_some((record.offset / 512, u64::from(record.len) / 512));
    (record.issue_ns, letters, extent, record.stream)
}

fn records_of(name: &str, event: Event) -> Vec<Record> {
    let format_options = FormatOptions { event: Some(event), ..FormatOptions::default() };
    let options = ImportOptions { format_options, ..ImportOptions::default() };
    let mut source = import(&fixture(name), &options).unwrap();
    let records = all(&mut source).unwrap();
    assert!(source.problems().is_empty(), "{:?}", source.problems());
    records
}

#[test]
fn a_block_trace_is_read_as_blkparse_prints_it() {
    for (event, action) in [(Event::Queue, "Q"), (Event::Issue, "D")] {
        let mut expected = printed(action);
        let first_ns = expected[0].0;
        expected.iter_mut().for_each(|line| line.0 -= first_ns);
        assert!(expected.len() > 100, "{}", expected.len());
        for name in ["sample.blktrace.0", "sample.blkparse.txt"] {
            let read: Vec<_> = records_of(name, event).iter().map(in_letters).collect();
            assert_eq!(read, expected, "{name}");
        }
    }
}

#[test]
fn writes_that_flush_first_keep_their_data() {
    let records = records_of("sample.blktrace.0", Event::Queue);
    let writes: Vec<_> = records.iter().filter(|r| r.op == OpKind::Write).collect();
    assert_eq!(writes.len(), 107);
    let with_flush = writes.iter().filter(|r| r.flags.contains(Flags::PREFLUSH)).count();
    assert_eq!(with_flush, 2);
}

/// blkparse omitted three completions of this capture (another CPU logged them), so depths differ.
#[test]
fn binary_and_text_of_a_block_trace_give_the_same_records() {
    let binary = records_of("sample.blktrace.0", Event::Queue);
    let text = records_of("sample.blkparse.txt", Event::Queue);
    let without_depth = |record: &Record| Record { queue_depth: 0, ..*record };
    assert!(binary.iter().map(without_depth).eq(text.iter().map(without_depth)));
    assert!(binary.iter().all(|record| record.queue_depth > 0));
    assert_eq!(binary.last().map(|record| record.queue_depth), Some(1), "all but the last ended");
}

/// The fixture rewritten as version 8, in the other byte order. Recorded by docs/reference/record.bt
/// during the replay of these 60 I/Os; the program that opened the device read ahead.
#[test]
fn events_of_bpftrace_are_read_as_those_of_blkparse() {
    let records = records_of("bpftrace.txt", Event::Queue);
    let ours = records.iter().filter(|record| !record.flags.contains(Flags::READAHEAD));
    let found: Vec<_> = ours.map(|record| (record.op, record.offset, record.len)).collect();
    let wanted = |i: u64| {
        let op = if i.is_multiple_of(3) { OpKind::Write } else { OpKind::Read };
        (op, i * 7919 % 1000 * 65_536, 4096 * (1 + i as u32 % 16))
    };
    let wanted = |kind| (0..60).map(wanted).filter(move |io| io.0 == kind).collect::<Vec<_>>();
    // The kernel hands a write over to a worker, which a read then overtakes.
    for kind in [OpKind::Read, OpKind::Write] {
        let found: Vec<_> = found.iter().filter(|io| io.0 == kind).copied().collect();
        assert_eq!(found, wanted(kind));
    }
    assert!(records.iter().all(|record| (1..100).contains(&record.queue_depth)));
}

fn as_version_8_big_endian(v7: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = v7;
    while rest.len() >= 48 {
        let u32_at = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let u64_at = |at: usize| u64::from_le_bytes(rest[at..at + 8].try_into().unwrap());
        let u16_at = |at: usize| u16::from_le_bytes(rest[at..at + 2].try_into().unwrap());
        let payload = usize::from(u16_at(46));
        out.extend((u32_at(0) + 1).to_be_bytes());
        out.extend(u32_at(4).to_be_bytes());
        out.extend(u64_at(8).to_be_bytes());
        out.extend(u64_at(16).to_be_bytes());
        out.extend(u32_at(24).to_be_bytes());
        out.extend(u32_at(32).to_be_bytes());
        out.extend(u64::from(u32_at(28)).to_be_bytes());
        out.extend(u32_at(36).to_be_bytes());
        out.extend(u32_at(40).to_be_bytes());
        out.extend(u16_at(44).to_be_bytes());
        out.extend(u16_at(46).to_be_bytes());
        out.extend([0; 12]);
        out.extend(&rest[48..48 + payload]);
        rest = &rest[48 + payload..];
    }
    out
}

fn blktrace(files: &[&[u8]]) -> (Vec<Record>, Problems) {
    let files = files.iter().map(|bytes| ("memory".to_owned(), input(bytes))).collect();
    let raw = BlktraceSource::new(files, Event::Queue).unwrap();
    let mut source = OrderedRecords::new(Box::new(raw), String::new(), StreamSet::default());
    let records = all(&mut source).unwrap();
    (records, source.problems())
}

#[test]
fn version_8_in_the_other_byte_order_gives_the_same_records() {
    let v7 = std::fs::read(fixture("sample.blktrace.0")).unwrap();
    let v8 = as_version_8_big_endian(&v7);
    assert_eq!(detected(&v8).name(), "blktrace");
    assert_eq!(blktrace(&[&v7]), blktrace(&[&v8]));
}

/// The records of the fixture distributed over files, like those of its own CPUs.
fn dealt(v7: &[u8], files: usize) -> Vec<Vec<u8>> {
    let mut out = vec![Vec::new(); files];
    let mut rest = v7;
    let mut index = 0_usize;
    while rest.len() >= 48 {
        let length = 48 + usize::from(u16::from_le_bytes([rest[46], rest[47]]));
        out[index * index % 7 % files].extend(&rest[..length]);
        rest = &rest[length..];
        index += 1;
    }
    out
}

#[test]
fn files_of_several_cpus_are_merged_by_time() {
    let v7 = std::fs::read(fixture("sample.blktrace.0")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    for (cpu, bytes) in dealt(&v7, 3).iter().enumerate() {
        std::fs::write(dir.path().join(format!("sda.blktrace.{cpu}")), bytes).unwrap();
    }
    std::fs::write(dir.path().join("sdb.blktrace.0"), b"another device").unwrap();
    let mut source = import(&dir.path().join("sda.blktrace.0"), &ImportOptions::default()).unwrap();
    assert_eq!(all(&mut source).unwrap(), records_of("sample.blktrace.0", Event::Queue));
}

#[test]
fn a_damaged_place_in_a_block_trace_is_told_and_passed_over() {
    let v7 = std::fs::read(fixture("sample.blktrace.0")).unwrap();
    let mut damaged = v7.clone();
    damaged.splice(496..496, b"not a record".iter().copied());
    damaged.extend(&v7[..30]);
    let (records, problems) = blktrace(&[&damaged]);
    assert!(records == blktrace(&[&v7]).0);
    assert_eq!(problems.bad_lines, 2, "{problems:?}");
    assert_eq!(problems.first_bad_lines[0].at, 496);
    assert_eq!(problems.first_bad_lines[0].reason, "12 bytes that are no record");
}

#[test]
fn a_bad_line_is_told_with_its_number_and_counted() {
    let text = "1,R,0,4096,1\n2,X,0,4096,2\n\n3,W,0,0,3\n4,W,0,512,4\n5,W,0,512,5\n";
    let (records, problems) = read_with("alibaba", text, &ImportOptions::default());
    assert_eq!(records.len(), 3);
    assert_eq!(problems.bad_lines, 2);
    let told: Vec<_> =
        problems.first_bad_lines.iter().map(|bad| (bad.at, bad.reason.as_str())).collect();
    let expected = [
        (2, "the opcode is `X`, expected R or W"),
        (4, "the length is `0`, expected 1 byte to 4 GiB"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn ios_out_of_order_are_put_in_order_and_hopeless_ones_counted() {
    let line = |us: u64| format!("1,R,0,4096,{us}\n");
    let swapped: String = (0..1000).map(|i| line((i ^ 1) + 1)).collect();
    let records = read("alibaba", &swapped);
    assert!(records.is_sorted_by_key(|record| record.issue_ns));
    let late: String = (0..200_000).map(|i| line(i + 10)).chain([line(5)]).collect();
    let (records, problems) = read_with("alibaba", &late, &ImportOptions::default());
    assert_eq!((records.len(), problems.late_ios), (200_001, 1));
    assert!(records.is_sorted_by_key(|record| record.issue_ns));
}

#[test]
fn what_cannot_be_told_apart_or_read_is_said_so() {
    let message = |bytes: &[u8]| detect(bytes, "x").unwrap_err().to_string();
    assert!(message(b"hello\nworld\n").contains("x is in no known trace format"));
    assert!(message(b"").contains("x is empty: it has 0 bytes"));
    assert!(message(b"BZh91AY").contains("bzcat FILE | ssdlab trace import -"));
}

#[test]
fn systor_traces_have_seconds_and_may_lack_a_type_or_an_end() {
    let text = "\
Timestamp,Response,IOType,LUN,Offset,Size
1456135145.133076000,0.000806000,R,0,899056122368,131072
1456135145.133100000,,W,4,4096,4096
1456135145.133200000,0.0001,,0,4096,4096
";
    let expected = [
        io(0, OpKind::Read, 899_056_122_368, 131_072, 0, 1),
        io(24_000, OpKind::Write, 4096, 4096, 4, 0),
    ];
    assert_eq!(read("systor17", text), expected);
}

/// Kernels before 2.6.37 had barriers; later ones preflush and force unit access.
#[test]
fn letters_of_old_and_new_kernels_are_read() {
    let letters = ["WB", "WBS", "RB", "NB", "WS", "DS", "D", "FWFS", "FN", "RAM", "N", "WB"];
    let mut text = String::new();
    for (i, letters) in letters.iter().enumerate() {
        let extent =
            if i == 11 || letters.starts_with('N') || *letters == "FN" { "" } else { "64 + 8 " };
        text += &format!(
            "  8,0    0  {i}     0.00000000{i}   10  Q {letters:>4} {extent}[x]\n",
            i = i % 10
        );
    }
    let found: Vec<_> = read("blkparse", &text).iter().map(|r| (r.op, r.flags)).collect();
    let (none, sync) = (Flags::NONE, Flags::SYNC);
    let barrier = Flags::PREFLUSH | Flags::FUA;
    let expected = [
        (OpKind::Write, barrier),
        (OpKind::Write, barrier | sync),
        (OpKind::Read, none),
        (OpKind::Flush, none),
        (OpKind::Write, sync),
        (OpKind::Deallocate, sync),
        (OpKind::Deallocate, none),
        (OpKind::Write, barrier | sync),
        (OpKind::Flush, none),
        (OpKind::Read, Flags::READAHEAD | Flags::META),
        (OpKind::Flush, none),
    ];
    let key = |x: &(OpKind, Flags)| (x.0.index(), x.1.0);
    let sorted = |mut list: Vec<(OpKind, Flags)>| {
        list.sort_by_key(key);
        list
    };
    assert_eq!(sorted(found), sorted(expected.to_vec()));
}

/// Lines that begin like those of a format and continue otherwise.
fn nearly_a_trace() -> impl Strategy<Value = String> {
    let starts = prop::sample::select(vec![
        "fio version 2 iolog\n",
        "fio version 3 iolog\n",
        "128166372003061629,hm,0,Read,383496192,32768,1000\n",
        "1,R,0,4096,1\n",
        "0,20941264,8192,W,0.551706\n",
        "1538323200,12910952,128,0,1063\n",
        "0.5 0 100 8 1\n",
        "5 0 100 8 1\n",
        "  7,0    0        0     0.000000000 10609  Q  RS 1976 + 8 [x]\n",
        "BeginHeader\nDiskRead, TimeStamp\nEndHeader\n",
        "899 48 syslogd 904 8 W 6 0 531e\n",
        "1456135145.133,0.000806,R,0,899056122368,131072\n",
        "2147483692,4096,1,write,24048792,2756778716647\n",
    ]);
    (starts, "([0-9]{1,20}[ ,.]|[RWQDCFNS+-]|\\PC|[a-z]{3}|\n|99999999999999999999,){0,200}")
        .prop_map(|(start, rest)| format!("{start}{rest}"))
}

fn read_as_every_format(bytes: &[u8]) {
    for format in Format::all() {
        let csv = "csv:time=us,op,offset=sectors,length=KiB,volume=names".parse().ok();
        let format_options = FormatOptions { csv, ..FormatOptions::default() };
        let options =
            ImportOptions { format: Some(format), format_options, ..ImportOptions::default() };
        let Ok(raw) = lines(format, input(bytes), "memory", &options) else { continue };
        let mut source = OrderedRecords::new(raw, String::new(), StreamSet::default());
        let records = all(&mut source).unwrap();
        assert!(records.is_sorted_by_key(|record| record.issue_ns));
        assert!(records.iter().all(|record| record.end() <= i64::MAX as u64));
    }
    let _ = detect(bytes, "memory");
    blktrace(&[bytes]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_that_is_nearly_a_trace_does_harm(text in nearly_a_trace()) {
        read_as_every_format(text.as_bytes());
    }

    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read_as_every_format(&bytes);
    }

    #[test]
    fn a_block_trace_with_damage_does_no_harm(
        at in any::<prop::sample::Index>(), value: u8, cut in any::<prop::sample::Index>()
    ) {
        let mut bytes = std::fs::read(fixture("sample.blktrace.0")).unwrap();
        let index = at.index(bytes.len());
        bytes[index] = value;
        bytes.truncate(cut.index(bytes.len()));
        blktrace(&[&bytes]);
    }
}
