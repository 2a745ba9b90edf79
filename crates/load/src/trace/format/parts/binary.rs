//! The bytes of a binary trace, with their place in the file.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use crate::trace::TraceError;
use crate::trace::input::BoxedInput;

/// Buffer of one file; a blktrace has a file for each CPU.
const BUFFER_BYTES: usize = 1 << 17;

/// A file of binary records.
pub(crate) struct BinaryInput {
    what: String,
    input: BufReader<BoxedInput>,
    at: u64,
}

impl BinaryInput {
    /// Reads `input` from its start; `what` names it in errors.
    pub(crate) fn new(what: String, input: BoxedInput) -> Self {
        Self { what, input: BufReader::with_capacity(BUFFER_BYTES, input), at: 0 }
    }

    /// Bytes from the start of the file to the next one to be read.
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    /// Fills `bytes` up to the end of the file; returns the number of bytes read.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> Result<usize, TraceError> {
        let mut done = 0;
        while done < bytes.len() {
            match self.input.read(&mut bytes[done..]) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::read(&self.what)(error)),
            }
        }
        self.at += done as u64;
        Ok(done)
    }

    /// The next bytes; empty only at the end of the file.
    pub(crate) fn ahead(&mut self) -> Result<&[u8], TraceError> {
        self.input.fill_buf().map_err(TraceError::read(&self.what))
    }

    /// Skips this number of the bytes [`Self::ahead`].
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.input.consume(bytes);
        self.at += bytes as u64;
    }
}
