//! Opening of files, packed with gzip or not.

use std::fs::File;
use std::io::{Cursor, Error, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::TraceError;
use super::format::{BoxedInput, HEAD_BYTES};

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An open file, its first bytes, and its packing.
pub(super) struct Input {
    /// The first bytes, [`HEAD_BYTES`] or all that it has.
    pub(super) head: Vec<u8>,
    /// All bytes, the first ones included.
    pub(super) whole: BoxedInput,
    /// Whether it is unpacked while it is read.
    pub(super) packed: bool,
}

impl Input {
    /// Opens a file; `-` is the standard input.
    pub(super) fn open(path: &Path, what: &str) -> Result<Self, TraceError> {
        let input: BoxedInput = if path == Path::new("-") {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).map_err(TraceError::read(what))?)
        };
        let plain = Self::read_ahead(input, what, false)?;
        if plain.head.starts_with(&GZIP) {
            let unpacked = Unpacked(MultiGzDecoder::new(plain.whole));
            return Self::read_ahead(Box::new(unpacked), what, true);
        }
        Ok(plain)
    }

    fn read_ahead(mut input: BoxedInput, what: &str, packed: bool) -> Result<Self, TraceError> {
        let mut head = Vec::new();
        let read = (&mut input).take(HEAD_BYTES as u64).read_to_end(&mut head);
        read.map_err(TraceError::read(what))?;
        let whole = Box::new(Cursor::new(head.clone()).chain(input));
        Ok(Self { head, whole, packed })
    }
}

/// Unpacks gzip, member by member, in constant memory; its errors say what they are about.
struct Unpacked(MultiGzDecoder<BoxedInput>);

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            Error::new(error.kind(), format!("its gzip data is damaged or cut off: {error}"))
        })
    }
}
