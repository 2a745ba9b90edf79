//! Requests in the form oracleGeneral of libCacheSim, in which its authors publish sets of cache and
//! block traces.
//!
//! Source: `oracleGeneralBin.h` and the FAQ of libCacheSim (github.com/1a1a11a/libCacheSim), Yang and
//! others, NSDI 2021 and SOSP 2023. Records of 24 bytes, little-endian, without gaps:
//!
//! ```text
//! u32 time in s, u64 object, u32 size of the object in bytes, i64 number of its next request; -1 for none
//! ```
//!
//! The form keeps neither reads and writes nor addresses: each request counts as a read. Its authors
//! make block traces from those of vscsiStats with the LBN as the object (`vscsi.h`), so an object is
//! the block of 512 bytes at which its data begins. Other sets have hashes; of a number that is no
//! LBN, the low bits count.

use base::OpKind;

use crate::trace::format::about::{About, NamedSource, Reader, Signs};
use crate::trace::format::options::FormatOptions;
use crate::trace::format::parts::binary::BinaryInput;
use crate::trace::format::raw::{Raw, RawSource};
use crate::trace::input::Input;
use crate::trace::{Problems, Record, TraceError};

pub(super) static FORMAT: About =
    About::new("oracle-general", Signs::Records(are_records), Reader::Raw(open));

const RECORD_BYTES: usize = 24;

/// Records that must agree for a file to count as this form, or all of a shorter file.
const AGREEING_RECORDS: usize = 64;

/// Objects from here on are hashes: a block of 512 bytes there lies beyond any address space.
const BLOCKS_MAX: u64 = 1 << 45;

const REMARK: &str = "the form oracleGeneral keeps no kinds of requests and no addresses: each request counts as a \
                      read, its object as the number of a block of 512 bytes";

#[derive(Clone, Copy)]
struct Request {
    time_s: u32,
    object: u64,
    bytes: u32,
    next: i64,
}

impl Request {
    fn of(record: &[u8; RECORD_BYTES]) -> Self {
        let number = |at: usize, len: usize| {
            record[at..at + len].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
        };
        Self {
            time_s: number(0, 4) as u32,
            object: number(4, 8),
            bytes: number(12, 4) as u32,
            next: number(16, 8).cast_signed(),
        }
    }

    /// Whether it may follow a request at `before_s`.
    fn is_plausible(self, before_s: u32) -> bool {
        let has_next =
            self.next == -1 || self.next == i64::MAX || (1..1 << 48).contains(&self.next);
        has_next && self.bytes > 0 && self.time_s >= before_s
    }
}

fn are_records(head: &[u8]) -> bool {
    let (records, _) = head.as_chunks();
    let mut before_s = 0;
    let mut requests = records.iter().take(AGREEING_RECORDS).map(Request::of);
    records.len() > 1
        && requests
            .all(|request| request.is_plausible(std::mem::replace(&mut before_s, request.time_s)))
}

fn open(input: Input, _: &FormatOptions) -> Result<NamedSource, TraceError> {
    let source = Requests {
        input: BinaryInput::new(input.what.clone(), input.whole),
        problems: Problems::default(),
    };
    Ok((Box::new(source), input.what))
}

struct Requests {
    input: BinaryInput,
    problems: Problems,
}

impl RawSource for Requests {
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        let mut record = [0; RECORD_BYTES];
        loop {
            let at = self.input.at();
            let read = self.input.read(&mut record)?;
            if read < RECORD_BYTES {
                if read > 0 {
                    self.problems.bad(at, || format!("{read} bytes that are no record"), b"");
                }
                return Ok(None);
            }
            let Request { time_s, object, bytes, .. } = Request::of(&record);
            if bytes == 0 {
                self.problems.other_lines += 1;
                continue;
            }
            if self.problems.remarks.is_empty() {
                self.problems.remarks.push(REMARK.to_owned());
            }
            let issue_ns = u64::from(time_s) * 1_000_000_000;
            let offset = object % BLOCKS_MAX * 512;
            return Ok(Some(Record::new(issue_ns, OpKind::Read, offset, bytes).into()));
        }
    }

    fn problems(&self) -> Problems {
        self.problems.clone()
    }
}
