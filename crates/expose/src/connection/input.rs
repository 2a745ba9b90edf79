//! The requests in the bytes of a client.

use std::io::{self, Read};

use crate::nbd::{self, Agreement, Export, NbdCommand, NbdError, RequestState};
use crate::request::Action;

/// Bytes to read at once, and to keep when a client sends less.
pub(super) const INPUT_BYTES: usize = 256 << 10;
/// Most data of requests and replies that are carried out together, in bytes.
const BATCH_BYTES: u64 = nbd::DATA_BYTES_MAX as u64;

/// The bytes that a client has sent and that are not yet understood.
#[derive(Debug, Default)]
pub struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    has_left: bool,
}

impl Input {
    /// Reads a request and returns it with those that came together with it, or `None` if the client has left.
    ///
    /// # Errors
    /// [`NbdError`]: that of the stream, or the bytes are no request. After [`io::ErrorKind::WouldBlock`] nothing is
    /// lost.
    pub fn batch(
        &mut self,
        stream: &mut impl Read,
        export: &Export,
        agreed: Agreement,
    ) -> Result<Option<Vec<NbdCommand>>, NbdError> {
        let mut batch = Vec::new();
        let mut batch_bytes = 0;
        while !self.has_left {
            match nbd::parse(&self.bytes[self.start..self.end], export, agreed)? {
                RequestState::Complete(bytes, command) => {
                    self.start += bytes;
                    self.has_left = command == NbdCommand::Disconnect;
                    batch_bytes += data_bytes(&command);
                    batch.push(command);
                    if batch_bytes >= BATCH_BYTES {
                        return Ok(Some(batch));
                    }
                }
                RequestState::Incomplete(_) if !batch.is_empty() => return Ok(Some(batch)),
                RequestState::Incomplete(bytes) if !self.fill(stream, bytes)? => break,
                RequestState::Incomplete(_) => {}
            }
        }
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }

    /// Reads once, with room for a request of so many bytes; false at the end of the stream.
    fn fill(&mut self, stream: &mut impl Read, request_bytes: usize) -> io::Result<bool> {
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

/// Bytes of memory that a command and its answer take beside themselves.
pub(super) fn data_bytes(command: &NbdCommand) -> u64 {
    match command {
        NbdCommand::Disk(_, request) if request.action == Action::Read => request.bytes,
        NbdCommand::Disk(_, request) => request.data.len() as u64,
        NbdCommand::Extents { most, .. } => *most as u64 * 8,
        NbdCommand::Refused(..) | NbdCommand::Disconnect => 0,
    }
}
