//! Files of 10 GB that are mostly empty, read to their end in little memory. This is a separate
//! program, because it measures the memory of its process.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use base::OpKind;
use flate2::Compression;
use flate2::write::GzEncoder;
use load::trace::format::{BlktraceSource, Event, Format, FormatOptions, NamedFormat};
use load::trace::import::{OrderedRecords, lines};
use load::trace::store::{TraceReader, TraceWriter};
use load::trace::{ImportOptions, Record, Source, StreamSet, TraceError, TraceInfo, import};

const HUGE_BYTES: u64 = 10 << 30;

/// Most memory of the reading process, the test program included.
const MEMORY_BYTES_MAX: u64 = 128 << 20;

/// `head`, then this number of bytes of filler, then `tail`.
struct Stuffed {
    head: &'static [u8],
    filler: u8,
    left: u64,
    tail: &'static [u8],
}

impl Read for Stuffed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(buffer);
        }
        if self.left == 0 {
            return self.tail.read(buffer);
        }
        let some = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        buffer[..some].fill(self.filler);
        self.left -= some as u64;
        Ok(some)
    }
}

fn memory_bytes_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

fn count(source: &mut dyn Source) -> Result<u64, TraceError> {
    let mut records = 0;
    while source.next_record()?.is_some() {
        records += 1;
    }
    Ok(records)
}

fn in_little_memory() {
    assert!(memory_bytes_peak() < MEMORY_BYTES_MAX, "{} bytes", memory_bytes_peak());
}

#[test]
fn a_line_of_10_gb_is_one_bad_line() {
    let (head, tail) = (b"1,R,0,4096,5\n", b"\n1,W,4096,512,6\n");
    let input = Stuffed { head, filler: b'7', left: HUGE_BYTES, tail };
    let raw =
        lines("alibaba".parse().unwrap(), Box::new(input), "stuffed", &ImportOptions::default());
    let mut source = OrderedRecords::new(raw.unwrap(), String::new(), StreamSet::default());
    assert_eq!(count(&mut source).unwrap(), 2);
    assert_eq!(source.problems().bad_lines, 1);
    in_little_memory();
}

#[test]
fn many_good_lines_take_no_more_memory_than_few() {
    const LINE: &[u8] = b"0,W,8192,4096,1577808144360767\n";
    let input = (0..3_000_000_u64).map(|_| LINE);
    let input = Lines { lines: Box::new(input), line: b"" };
    let raw =
        lines("alibaba".parse().unwrap(), Box::new(input), "lines", &ImportOptions::default());
    let mut source = OrderedRecords::new(raw.unwrap(), String::new(), StreamSet::default());
    assert_eq!(count(&mut source).unwrap(), 3_000_000);
    in_little_memory();
}

struct Lines {
    lines: Box<dyn Iterator<Item = &'static [u8]>>,
    line: &'static [u8],
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.line.is_empty() {
            self.line = self.lines.next().unwrap_or_default();
        }
        self.line.read(buffer)
    }
}

#[test]
fn a_long_damage_in_a_block_trace_is_passed_over() {
    let fixture: &'static [u8] = include_bytes!("fixtures/sample.blktrace.0");
    let input = Stuffed { head: fixture, filler: 0, left: 64 << 20, tail: fixture };
    let raw = BlktraceSource::new(vec![("stuffed".to_owned(), Box::new(input))], Event::Queue);
    let mut source =
        OrderedRecords::new(Box::new(raw.unwrap()), String::new(), StreamSet::default());
    assert!(count(&mut source).unwrap() > 500);
    assert_eq!(source.problems().bad_lines, 1);
    in_little_memory();
}

/// A sparse file takes no room on the disk.
#[test]
fn a_trace_file_of_10_gb_whose_index_lies_is_refused() {
    for index_bytes in [u32::MAX, 3 << 30, 1 << 20] {
        let mut file: File = tempfile::tempfile().unwrap();
        file.write_all(b"PAR1").unwrap();
        file.seek(SeekFrom::Start(HUGE_BYTES)).unwrap();
        file.write_all(&index_bytes.to_le_bytes()).unwrap();
        file.write_all(b"PAR1").unwrap();
        let read = TraceReader::new(file, "sparse").map(drop);
        let message = read.unwrap_err().to_string();
        assert!(message.contains("sparse is damaged"), "{index_bytes}: {message}");
        in_little_memory();
    }
}

/// Every text format names the line, and reads on behind it.
#[test]
fn a_line_of_100_mb_is_one_bad_line_in_every_format() {
    let csv: NamedFormat = "csv:time=us,op,offset=sectors,length=sectors".parse().unwrap();
    let mut formats = 0;
    for format in Format::all() {
        let csv = csv.csv.clone().filter(|_| format.needs_columns());
        let options = FormatOptions { csv, ..FormatOptions::default() };
        let options = ImportOptions { format_options: options, ..ImportOptions::default() };
        let input = Stuffed { head: b"", filler: b'7', left: 100 << 20, tail: b"\n!\n" };
        let Ok(raw) = lines(format, Box::new(input), "stuffed", &options) else { continue };
        let mut source = OrderedRecords::new(raw, String::new(), StreamSet::default());
        assert_eq!(count(&mut source).unwrap(), 0, "{format:?}");
        let problems = source.problems();
        assert_eq!(problems.bad_lines, 2, "{format:?}: {problems:?}");
        let told: Vec<_> = problems.first_bad_lines.iter().map(|bad| bad.at).collect();
        assert_eq!(told, [1, 2], "{format:?}");
        assert!(problems.first_bad_lines[0].reason.contains("longer than 65536 bytes"));
        in_little_memory();
        formats += 1;
    }
    assert!(formats > 10, "{formats} text formats");
}

/// Two megabytes of gzip that unpack to two gigabytes of one line.
#[test]
fn a_packed_bomb_is_read_in_little_memory() {
    let member = |bytes: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.csv.gz");
    let mut file = File::create(&path).unwrap();
    file.write_all(&member(b"1,R,0,4096,5\n2,R,0,4096,6\n")).unwrap();
    let block = member(&vec![b'7'; 4 << 20]);
    (0..512).for_each(|_| file.write_all(&block).unwrap());
    file.write_all(&member(b"\n1,W,4096,512,7\n")).unwrap();
    let mut source = import(&path, &ImportOptions::default()).unwrap();
    assert_eq!(count(&mut source).unwrap(), 3);
    let problems = source.problems();
    assert_eq!((problems.bad_lines, problems.first_bad_lines[0].at), (1, 3));
    in_little_memory();
}

#[test]
fn long_names_of_streams_take_little_memory() {
    let name = |i: u64| format!("/{i:065000}");
    let line = move |i: u64| format!("{} write {} 4096\n", name(i), i * 4096);
    let head = "fio version 2 iolog\n".to_owned();
    let text = std::iter::once(head).chain((0..2000).map(line));
    let mut text = text.flat_map(String::into_bytes);
    let input = std::iter::from_fn(move || {
        let some: Vec<u8> = text.by_ref().take(1 << 16).collect();
        (!some.is_empty()).then_some(some)
    });
    let input = Pieces { pieces: Box::new(input), piece: std::io::Cursor::new(Vec::new()) };
    let raw = lines("iolog".parse().unwrap(), Box::new(input), "names", &ImportOptions::default());
    let mut source = OrderedRecords::new(raw.unwrap(), String::new(), StreamSet::default());
    assert_eq!(count(&mut source).unwrap(), 2000);
    in_little_memory();
}

struct Pieces {
    pieces: Box<dyn Iterator<Item = Vec<u8>>>,
    piece: std::io::Cursor<Vec<u8>>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.piece.position() == self.piece.get_ref().len() as u64 {
            self.piece = std::io::Cursor::new(self.pieces.next().unwrap_or_default());
        }
        self.piece.read(buffer)
    }
}

/// Every byte of a trace file as a large number: counts of rows, groups, pages and values, lengths
/// and places among them.
#[test]
fn forged_counts_in_a_trace_file_take_little_memory() {
    let mut writer = TraceWriter::new(Vec::new(), "memory").unwrap();
    let record = |i: u64| Record::new(i * 1000, OpKind::Read, i * 4096, 4096);
    (0..64).for_each(|i| writer.push(&record(i)).unwrap());
    let whole = writer.finish(&TraceInfo::default()).unwrap().0;
    for at in 0..whole.len() {
        for forged in [&[0xff][..], &[0xfe, 0xff, 0xff, 0xff, 0x0f]] {
            let mut bytes = whole.clone();
            let end = (at + forged.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&forged[..end - at]);
            if let Ok(mut reader) = TraceReader::new(bytes::Bytes::from(bytes), "memory") {
                // Damage, or other numbers: never more records than the bytes can hold.
                let records = count(&mut reader).unwrap_or_default();
                assert!(records <= 16 * whole.len() as u64, "{records} at {at}");
            }
        }
    }
    in_little_memory();
}
