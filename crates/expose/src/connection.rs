//! One client of NBD.
//!
//! On the fast clock the requests that it has sent so far go to the drive together, and the replies go back together.
//! On the real clock each request goes to the drive when it comes, and its reply goes back when its time has come
//! ([`crate::outbox`]). In both cases the depth of its queue is the one that the drive sees.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::clock::Pace;
use crate::nbd::{self, Agreed, Command, Export, NbdError, Parsed};
use crate::outbox::Outbox;
use crate::request::Action;
use crate::shared::{Shared, Token};
use crate::socket::Stream;

/// Time for a client to negotiate.
const NEGOTIATION: Duration = Duration::from_secs(10);
/// Bytes to read at once, and to keep when a client sends less.
const INPUT_BYTES: usize = 256 << 10;
/// Most data of requests and replies that are carried out together, in bytes.
const BATCH_BYTES: u64 = nbd::DATA_BYTES_MAX as u64;

/// Serves a client until it leaves.
///
/// # Errors
/// [`NbdError`]: the client or its connection is broken.
pub fn serve(stream: &mut Stream, export: &Export, shared: &Shared) -> Result<(), NbdError> {
    stream.set_patience(Some(NEGOTIATION))?;
    let Some(agreed) = nbd::negotiate(stream, export)? else { return Ok(()) };
    stream.set_patience(None)?;
    match shared.pace() {
        Pace::Fast => serve_at_once(stream, export, agreed, shared),
        Pace::Real { .. } => serve_in_time(stream, export, agreed, shared),
    }
}

fn serve_at_once(
    stream: &mut Stream,
    export: &Export,
    agreed: Agreed,
    shared: &Shared,
) -> Result<(), NbdError> {
    let mut input = Input::default();
    let mut replies = Vec::new();
    while let Some(batch) = input.batch(stream, export, agreed)? {
        carry_out(batch, shared, agreed, &mut replies);
        stream.write_all(&replies)?;
        replies.clear();
        replies.shrink_to(INPUT_BYTES);
    }
    Ok(())
}

fn carry_out(batch: Vec<Command>, shared: &Shared, agreed: Agreed, out: &mut Vec<u8>) {
    shared.with(|disk| {
        for command in batch {
            match command {
                Command::Disk(mark, request) => disk.submit(Token::Mark(mark), request),
                Command::Extents { mark, range, most } => {
                    nbd::extents(out, mark, &disk.extents(range, most));
                }
                Command::Refused(mark, fault) => nbd::reply(out, agreed, mark, Err(fault)),
                Command::Disconnect => {}
            }
        }
        for finished in disk.run() {
            // Nobody else sends while this thread has the disk.
            if let Token::Mark(mark) = finished.token {
                nbd::reply(out, agreed, mark, finished.result.as_ref().map_err(|fault| *fault));
            }
        }
    });
}

fn serve_in_time(
    stream: &mut Stream,
    export: &Export,
    agreed: Agreed,
    shared: &Shared,
) -> Result<(), NbdError> {
    let outbox = Arc::new(Outbox::new(stream.try_clone()?));
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("replies".to_owned());
        writer.spawn_scoped(scope, || outbox.write_backlog())?;
        let end = send_as_they_come(stream, export, agreed, shared, &outbox);
        outbox.close();
        end
    })
}

fn send_as_they_come(
    stream: &mut Stream,
    export: &Export,
    agreed: Agreed,
    shared: &Shared,
    outbox: &Arc<Outbox>,
) -> Result<(), NbdError> {
    let mut input = Input::default();
    while let Some(batch) = input.batch(stream, export, agreed)? {
        for command in batch {
            let bytes = data_bytes(&command);
            let mut out = Vec::new();
            match command {
                Command::Disk(mark, request) => {
                    outbox.reserve(bytes)?;
                    let outbox = Arc::clone(outbox);
                    let reply = move |result: Result<_, _>| {
                        let mut out = Vec::new();
                        nbd::reply(&mut out, agreed, mark, result.as_ref().map_err(|&fault| fault));
                        outbox.send(&out, bytes);
                    };
                    shared.send(request, Box::new(reply));
                    continue;
                }
                Command::Extents { mark, range, most } => {
                    nbd::extents(&mut out, mark, &shared.with(|disk| disk.extents(range, most)));
                }
                Command::Refused(mark, fault) => nbd::reply(&mut out, agreed, mark, Err(fault)),
                Command::Disconnect => return Ok(()),
            }
            outbox.reserve(bytes)?;
            outbox.send(&out, bytes);
        }
    }
    Ok(())
}

/// The bytes that a client has sent and that are not yet understood.
#[derive(Debug, Default)]
pub struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    has_left: bool,
}

impl Input {
    /// Waits for a request and returns it with those that came together with it, or `None` if the client has left.
    ///
    /// # Errors
    /// [`NbdError`]: that of the stream, or the bytes are no request.
    pub fn batch(
        &mut self,
        stream: &mut impl Read,
        export: &Export,
        agreed: Agreed,
    ) -> Result<Option<Vec<Command>>, NbdError> {
        let mut batch = Vec::new();
        let mut batch_bytes = 0;
        while !self.has_left {
            match nbd::parse(&self.bytes[self.start..self.end], export, agreed)? {
                Parsed::Complete(bytes, command) => {
                    self.start += bytes;
                    self.has_left = command == Command::Disconnect;
                    batch_bytes += data_bytes(&command);
                    batch.push(command);
                    if batch_bytes >= BATCH_BYTES {
                        return Ok(Some(batch));
                    }
                }
                Parsed::Incomplete(_) if !batch.is_empty() => return Ok(Some(batch)),
                Parsed::Incomplete(bytes) if !self.fill(stream, bytes)? => break,
                Parsed::Incomplete(_) => {}
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
fn data_bytes(command: &Command) -> u64 {
    match command {
        Command::Disk(_, request) if request.action == Action::Read => request.bytes,
        Command::Disk(_, request) => request.data.len() as u64,
        Command::Extents { most, .. } => *most as u64 * 8,
        Command::Refused(..) | Command::Disconnect => 0,
    }
}
