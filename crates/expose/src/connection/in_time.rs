//! One client of NBD on the real clock.
//!
//! The thread that has read a request is awake, so that it keeps the time ([`Turn`]) until no event is near, and reads
//! further requests meanwhile. To wake another thread would take longer than many a drive reads.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::thread;

use super::input::{Input, data_bytes};
use crate::nbd::{self, Agreement, Export, NbdCommand, NbdError};
use crate::outbox::Outbox;
use crate::request::Request;
use crate::shared::turn::Turn;
use crate::shared::{RequestToken, SharedDisk};
use crate::socket::Stream;

/// Serves a client that has negotiated until it leaves.
pub(super) fn serve(
    stream: &mut Stream,
    export: &Export,
    agreed: Agreement,
    shared: &SharedDisk,
) -> Result<(), NbdError> {
    let outbox = Arc::new(Outbox::new(stream.try_clone()?));
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("replies".to_owned());
        writer.spawn_scoped(scope, || outbox.write_backlog())?;
        let client = Client { stream, agreed, shared, outbox: &outbox, turn: None };
        let end = client.serve(export);
        outbox.close();
        end
    })
}

struct Client<'a> {
    stream: &'a Stream,
    agreed: Agreement,
    shared: &'a SharedDisk,
    outbox: &'a Arc<Outbox>,
    /// Held while events are near, or `None` while somebody else keeps the time.
    turn: Option<Turn<'a>>,
}

/// A stream that is read without waiting.
struct AtOnce<'a>(&'a Stream);

impl Read for AtOnce<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.receive_now(bytes)
    }
}

impl Client<'_> {
    fn serve(mut self, export: &Export) -> Result<(), NbdError> {
        let mut input = Input::default();
        loop {
            let batch = match &mut self.turn {
                None => input.batch(&mut &*self.stream, export, self.agreed),
                Some(turn) => match input.batch(&mut AtOnce(self.stream), export, self.agreed) {
                    Err(error) if is_empty(&error) => {
                        if turn.is_due() && !turn.follow() {
                            self.turn = None;
                        }
                        continue;
                    }
                    batch => batch,
                },
            };
            let Some(batch) = batch? else { return Ok(()) };
            for command in batch {
                if command == NbdCommand::Disconnect {
                    return Ok(());
                }
                self.carry_out(command)?;
            }
        }
    }

    fn carry_out(&mut self, command: NbdCommand) -> Result<(), NbdError> {
        let bytes = data_bytes(&command);
        let mut out = Vec::new();
        match command {
            NbdCommand::Disk(mark, request) => {
                self.reserve(bytes)?;
                let (outbox, agreed) = (Arc::clone(self.outbox), self.agreed);
                self.send(RequestToken::Client { outbox, agreed, mark, bytes }, request);
                return Ok(());
            }
            NbdCommand::Extents { mark, range, most } => {
                let extents = self.shared.with(|disk| disk.extents(range, most));
                nbd::extents(&mut out, mark, &extents);
            }
            NbdCommand::Refused(mark, fault) => nbd::reply(&mut out, self.agreed, mark, Err(fault)),
            NbdCommand::Disconnect => {}
        }
        self.reserve(bytes)?;
        self.outbox.send(&out, bytes);
        Ok(())
    }

    /// Waits for room, and lets somebody else keep the time meanwhile.
    fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        if !self.outbox.reserve_now(bytes)? {
            self.turn = None;
            self.outbox.reserve(bytes)?;
        }
        Ok(())
    }

    fn send(&mut self, token: RequestToken, request: Request) {
        if self.turn.is_none() {
            self.turn = self.shared.take_turn();
        }
        match &mut self.turn {
            None => self.shared.with(|disk| disk.submit(token, request)),
            Some(turn) => {
                if !turn.submit(token, request) {
                    self.turn = None;
                }
            }
        }
    }
}

/// Whether the client has sent nothing more so far.
fn is_empty(error: &NbdError) -> bool {
    matches!(error, NbdError::Io(error) if error.kind() == ErrorKind::WouldBlock)
}
