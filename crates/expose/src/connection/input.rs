//! The requests in the bytes of a client.

use std::io::Read;

use crate::input_buffer::InputBuffer;
use crate::nbd::{self, Agreement, Export, NbdCommand, NbdError, RequestState};
use crate::request::Action;

/// Most data of requests and replies that are carried out together, in bytes.
const BATCH_BYTES: u64 = nbd::DATA_BYTES_MAX as u64;

/// The bytes that a client has sent and that are not yet understood.
#[derive(Debug, Default)]
pub struct Input {
    buffer: InputBuffer,
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
            match nbd::parse(self.buffer.rest(), export, agreed)? {
                RequestState::Complete(bytes, command) => {
                    self.buffer.consume(bytes);
                    self.has_left = command == NbdCommand::Disconnect;
                    batch_bytes += data_bytes(&command);
                    batch.push(command);
                    if batch_bytes >= BATCH_BYTES {
                        return Ok(Some(batch));
                    }
                }
                RequestState::Incomplete(_) if !batch.is_empty() => return Ok(Some(batch)),
                RequestState::Incomplete(bytes) if !self.buffer.fill(stream, bytes)? => break,
                RequestState::Incomplete(_) => {}
            }
        }
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
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
