//! The bytes that a client has sent and that are not yet understood.

use std::io::{self, Read};

/// Bytes to read at once, and to keep when a client sends less.
pub(crate) const INPUT_BYTES: usize = 256 << 10;

/// Bytes on their way from a stream to a parser.
#[derive(Debug, Default)]
pub(crate) struct InputBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl InputBuffer {
    /// The bytes that are there.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Takes bytes away from the front.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Reads once, with room for a request of so many bytes; false at the end of the stream.
    pub(crate) fn fill(
        &mut self,
        stream: &mut impl Read,
        request_bytes: usize,
    ) -> io::Result<bool> {
        self.bytes.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let room_bytes = request_bytes.max(INPUT_BYTES);
        if self.bytes.len() != room_bytes && self.end <= room_bytes {
            self.bytes.resize(room_bytes, 0);
            self.bytes.shrink_to_fit();
        }
        let read_bytes = stream.read(&mut self.bytes[self.end..])?;
        self.end += read_bytes;
        Ok(read_bytes > 0)
    }
}
