//! Replies to one client whose times are not its own: a slow reader stops nobody but itself.
//!
//! A reply goes to the socket at once if there is room for it. The rest waits for a thread that may block. The bytes of
//! all outstanding requests and waiting replies have a bound: beyond it no further request is taken.

use std::io::{self, ErrorKind, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::socket::Stream;

/// Most bytes of requests and replies that are kept for a client before it has to wait.
const HELD_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Default)]
struct State {
    backlog: Vec<u8>,
    /// Whether the thread is writing a part of the backlog.
    is_writing: bool,
    /// Bytes of requests without a reply.
    held_bytes: u64,
    /// Whether no more is sent.
    is_closed: bool,
}

/// The replies to a client.
#[derive(Debug)]
pub struct Outbox {
    stream: Stream,
    state: Mutex<State>,
    changed: Condvar,
}

impl Outbox {
    /// An empty one.
    #[must_use]
    pub fn new(stream: Stream) -> Self {
        Self { stream, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for a request and its reply of so many bytes.
    ///
    /// # Errors
    /// [`ErrorKind::BrokenPipe`] if the connection has ended.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.lock();
        while state.held_bytes + state.backlog.len() as u64 > HELD_BYTES_MAX && !state.is_closed {
            state = self.wait(state);
        }
        state.held_bytes += bytes;
        if state.is_closed { Err(ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    /// Sends a reply, to a request for which so many bytes were reserved.
    pub fn send(&self, reply: &[u8], reserved_bytes: u64) {
        let mut state = self.lock();
        state.held_bytes = state.held_bytes.saturating_sub(reserved_bytes);
        self.changed.notify_all();
        if state.is_closed {
            return;
        }
        let mut sent_bytes = 0;
        if state.backlog.is_empty() && !state.is_writing {
            match self.stream.send_now(reply) {
                Ok(bytes) => sent_bytes = bytes,
                Err(_) => return self.fail(&mut state),
            }
        }
        state.backlog.extend(&reply[sent_bytes..]);
    }

    fn fail(&self, state: &mut State) {
        state.is_closed = true;
        state.backlog = Vec::new();
        self.stream.end();
        self.changed.notify_all();
    }

    /// Writes waiting replies until [`Outbox::close`] and the end of the backlog.
    pub fn write_backlog(&self) {
        let mut state = self.lock();
        loop {
            while state.backlog.is_empty() && !state.is_closed {
                state = self.wait(state);
            }
            if state.backlog.is_empty() {
                return;
            }
            let bytes = std::mem::take(&mut state.backlog);
            state.is_writing = true;
            drop(state);
            let written = (&self.stream).write_all(&bytes);
            state = self.lock();
            state.is_writing = false;
            match written {
                Ok(()) => self.changed.notify_all(),
                Err(_) => self.fail(&mut state),
            }
        }
    }

    /// Takes no further reply.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}
