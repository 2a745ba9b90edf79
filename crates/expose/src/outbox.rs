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
    /// Whether somebody waits for room.
    is_awaited: bool,
}

impl State {
    /// Whether there was room for so many bytes more; they are then reserved.
    fn reserve(&mut self, bytes: u64) -> io::Result<bool> {
        if self.is_closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let has_room = self.held_bytes + self.backlog.len() as u64 <= HELD_BYTES_MAX;
        if has_room {
            self.held_bytes += bytes;
        }
        Ok(has_room)
    }
}

/// The replies to a client.
#[derive(Debug)]
pub struct Outbox {
    stream: Stream,
    state: Mutex<State>,
    /// There is a backlog, or an end.
    work: Condvar,
    /// There is room for a request, or an end.
    room: Condvar,
}

impl Outbox {
    /// An empty one.
    pub fn new(stream: Stream) -> Self {
        let (work, room) = Default::default();
        Self { stream, state: Mutex::default(), work, room }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Outbox::reserve`], but false instead of waiting.
    ///
    /// # Errors
    /// [`ErrorKind::BrokenPipe`] if the connection has ended.
    pub fn reserve_now(&self, bytes: u64) -> io::Result<bool> {
        self.lock().reserve(bytes)
    }

    /// Waits until there is room for a request and its reply of so many bytes.
    ///
    /// # Errors
    /// [`ErrorKind::BrokenPipe`] if the connection has ended.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.lock();
        while !state.reserve(bytes)? {
            state.is_awaited = true;
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Sends replies, to requests for which so many bytes were reserved.
    pub fn send(&self, reply: &[u8], reserved_bytes: u64) {
        let mut state = self.lock();
        state.held_bytes = state.held_bytes.saturating_sub(reserved_bytes);
        self.tell_of_room(&mut state);
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
        if sent_bytes < reply.len() {
            state.backlog.extend(&reply[sent_bytes..]);
            self.work.notify_one();
        }
    }

    /// Wakes whoever waits for room; to wake nobody would cost a system call for each reply.
    fn tell_of_room(&self, state: &mut State) {
        if std::mem::take(&mut state.is_awaited) {
            self.room.notify_all();
        }
    }

    fn fail(&self, state: &mut State) {
        state.is_closed = true;
        state.backlog = Vec::new();
        self.stream.end();
        self.work.notify_one();
        self.tell_of_room(state);
    }

    /// Writes waiting replies until [`Outbox::close`] and the end of the backlog.
    pub fn write_backlog(&self) {
        let mut state = self.lock();
        loop {
            while state.backlog.is_empty() && !state.is_closed {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
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
                Ok(()) => self.tell_of_room(&mut state),
                Err(_) => self.fail(&mut state),
            }
        }
    }

    /// Takes no further reply.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        self.work.notify_one();
        self.tell_of_room(&mut state);
    }
}
