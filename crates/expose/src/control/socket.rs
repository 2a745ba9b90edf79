//! The socket of the control: a thread for each client, bounded in number and in the length of a line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::{Control, ControlCommand, ControlResult};
use crate::server::ServerError;
use crate::socket::{Address, Listener, Stream};

/// Longest line of a client, in bytes.
pub const LINE_BYTES_MAX: u64 = 16 << 10;
/// Most clients at a time.
const CLIENTS_MAX: usize = 16;
/// Time between two looks at the stop button, and for a client that takes no answer.
const LOOK: Duration = Duration::from_millis(50);
/// Time for a client to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Shortest time between two answers of [`ControlCommand::Watch`].
const INTERVAL_MIN: Duration = Duration::from_millis(10);

/// A control at its socket.
#[derive(Debug)]
pub struct ControlServer {
    listener: Listener,
    control: Control,
    clients: AtomicUsize,
}

impl ControlServer {
    /// Listens at a Unix socket for this user alone, and obeys nobody yet.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn bind(path: &Path, control: Control) -> Result<Self, ServerError> {
        let address = Address::Unix(path.to_owned());
        let listener = Listener::bind(&address, false)
            .map_err(|source| ServerError::Bind { address, source })?;
        Ok(Self { listener, control, clients: AtomicUsize::new(0) })
    }

    /// Obeys until `stop` is set.
    pub fn run(&self, stop: &AtomicBool) {
        thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                match self.listener.accept(LOOK) {
                    Ok(Some(stream)) => self.welcome(scope, stream, stop),
                    Ok(None) => {}
                    // Too many files are open, or a client left before it was accepted.
                    Err(_) => thread::sleep(LOOK),
                }
            }
        });
    }

    fn welcome<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        stream: Stream,
        stop: &'scope AtomicBool,
    ) {
        if self.clients.fetch_add(1, Ordering::Relaxed) >= CLIENTS_MAX {
            self.clients.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let serve = move || {
            // A client that goes, or sends no text, loses its connection and nothing else.
            let _ = self.serve(stream, stop);
            self.clients.fetch_sub(1, Ordering::Relaxed);
        };
        let client = thread::Builder::new().name("control".to_owned());
        if client.spawn_scoped(scope, serve).is_err() {
            self.clients.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn serve(&self, stream: Stream, stop: &AtomicBool) -> io::Result<()> {
        stream.set_patience(Some(PATIENCE))?;
        let mut out = stream.try_clone()?;
        let input = Patient { stream, stop };
        serve_lines(&self.control, input, &mut out, stop)
    }
}

/// A stream whose reads wait until the stop button is pressed.
struct Patient<'a> {
    stream: Stream,
    stop: &'a AtomicBool,
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(0);
            }
            if self.stream.is_readable(LOOK)? {
                return self.stream.read(bytes);
            }
        }
    }
}

/// Obeys the lines of a client and writes the answers, until the end of the lines or of the program.
///
/// # Errors
/// Errors of the streams.
pub fn serve_lines(
    control: &Control,
    input: impl Read,
    out: &mut impl Write,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read_bytes = input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read_bytes == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') && read_bytes as u64 == LINE_BYTES_MAX {
            let slip = format!("a line has more than {LINE_BYTES_MAX} bytes");
            return write_answer(out, Err(slip));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(ControlCommand::Watch { interval_ms, count }) => {
                watch(control, interval_ms, count, out, stop)?;
            }
            Ok(command) => write_answer(out, control.obey(command))?,
            Err(error) => write_answer(out, Err(error.to_string()))?,
        }
    }
}

fn watch(
    control: &Control,
    interval_ms: u64,
    count: Option<u64>,
    out: &mut impl Write,
    stop: &AtomicBool,
) -> io::Result<()> {
    let interval = Duration::from_millis(interval_ms).max(INTERVAL_MIN);
    let mut next = Instant::now();
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 && !stop.load(Ordering::Relaxed) {
        write_answer(out, control.obey(ControlCommand::Status))?;
        left -= 1;
        next = next.checked_add(interval).unwrap_or(next);
        while left > 0 && Instant::now() < next && !stop.load(Ordering::Relaxed) {
            thread::sleep(LOOK.min(next.saturating_duration_since(Instant::now())));
        }
    }
    Ok(())
}

fn write_answer(out: &mut impl Write, outcome: ControlResult) -> io::Result<()> {
    let answer = outcome.map_or_else(
        |error| {
            Map::from_iter([("ok".to_owned(), false.into()), ("error".to_owned(), error.into())])
        },
        |members| std::iter::once(("ok".to_owned(), true.into())).chain(members).collect(),
    );
    let mut line = Value::Object(answer).to_string();
    line.push('\n');
    out.write_all(line.as_bytes())
}
