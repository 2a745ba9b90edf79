//! Files of 10 GB that are mostly empty, read to their end in little memory. This is a separate
//! program, because it measures the memory of its process.
#![allow(missing_docs, reason = "a test")]

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use load::trace::format::{BlktraceSource, Event};
use load::trace::import::{Ordered, lines};
use load::trace::{ImportOptions, Source, StreamSet, TraceError};

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
    let mut source = Ordered::new(raw.unwrap(), String::new(), StreamSet::default());
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
    let mut source = Ordered::new(raw.unwrap(), String::new(), StreamSet::default());
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
    let mut source = Ordered::new(Box::new(raw.unwrap()), String::new(), StreamSet::default());
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
        let read = load::trace::store::TraceReader::new(file, "sparse").map(drop);
        let message = read.unwrap_err().to_string();
        assert!(message.contains("sparse is damaged"), "{index_bytes}: {message}");
        in_little_memory();
    }
}
