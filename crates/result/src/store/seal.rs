//! A file that contains the checksum of its own bytes, so that a flipped bit in any of them is
//! detected, also in bytes that a decoder ignores. The checksum counts as [`BLANK`] in its own
//! place.
//!
//! It cannot be in another file: a crash between two renames would leave one that does not fit.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crc32fast::Hasher;

/// The text in the place of the checksum during its computation.
pub(super) const BLANK: &str = "00000000";
/// The text before the checksum of `run.json`, its last member.
pub(super) const OF_RUN_JSON: &[u8] = b"\"run_json\": \"";
/// The key of the checksum in the footer of a Parquet file.
pub(super) const PARQUET_KEY: &str = "ssdlab.crc32";
/// The bytes before the checksum of a Parquet file: the key, then a field of 8 bytes (Thrift's
/// compact protocol).
pub(super) const OF_PARQUET: &[u8] = b"ssdlab.crc32\x18\x08";

/// Largest distance of the checksum from the end of a Parquet file: behind it are only its creator
/// and an order for each column.
const TAIL_BYTES: u64 = 1 << 14;
const PIECE_BYTES: usize = 1 << 16;

/// The state of the bytes of a file by its own checksum.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seal {
    /// The bytes are intact.
    Whole,
    /// The bytes are damaged.
    Broken,
    /// There is no checksum: an old file, or one that another program rewrote.
    Absent,
}

/// The form of a checksum in files.
pub(super) fn text(checksum: u32) -> String {
    format!("{checksum:08x}")
}

/// Writes the checksum of all bytes behind the last `marker`, in place of [`BLANK`].
pub(super) fn set(bytes: &mut [u8], marker: &[u8]) {
    if let Some(place) = place_in(bytes, marker) {
        let checksum = text(crc32fast::hash(bytes));
        bytes[place].copy_from_slice(checksum.as_bytes());
    }
}

/// Writes the checksum of a Parquet file into it; `sum` covers all its bytes with [`BLANK`] in that
/// place.
pub(super) fn set_in_file(file: &File, sum: Hasher) -> io::Result<()> {
    let length = file.metadata()?.len();
    let tail_start = length.saturating_sub(TAIL_BYTES);
    let mut tail = vec![0; usize::try_from(length - tail_start).unwrap_or_default()];
    file.read_exact_at(&mut tail, tail_start)?;
    let place = place_in(&tail, OF_PARQUET).ok_or(io::ErrorKind::InvalidData)?;
    file.write_all_at(text(sum.finalize()).as_bytes(), tail_start + place.start as u64)
}

/// Compares bytes with the checksum in them.
pub(super) fn check(bytes: &[u8], marker: &[u8]) -> Seal {
    check_tail(Hasher::new(), bytes, marker)
}

/// Compares a Parquet file with the checksum in it, piece by piece: a long run need not fit in
/// memory.
pub(super) fn check_parquet(mut file: File) -> io::Result<Seal> {
    let tail_start = file.metadata()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(0))?;
    let mut sum = Hasher::new();
    let mut body = (&mut file).take(tail_start);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match body.read(&mut piece)? {
            0 => break,
            length => sum.update(&piece[..length]),
        }
    }
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    Ok(check_tail(sum, &tail, OF_PARQUET))
}

/// As [`check`]; `sum` covers the bytes before `tail`.
fn check_tail(mut sum: Hasher, tail: &[u8], marker: &[u8]) -> Seal {
    let Some(place) = place_in(tail, marker) else { return Seal::Absent };
    sum.update(&tail[..place.start]);
    sum.update(BLANK.as_bytes());
    sum.update(&tail[place.end..]);
    if text(sum.finalize()).as_bytes() == &tail[place] { Seal::Whole } else { Seal::Broken }
}

fn place_in(bytes: &[u8], marker: &[u8]) -> Option<Range<usize>> {
    let before = bytes.windows(marker.len()).rposition(|window| window == marker)?;
    let start = before + marker.len();
    let place = start..start + BLANK.len();
    (place.end <= bytes.len()).then_some(place)
}
