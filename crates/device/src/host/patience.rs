//! Attempts at things that somebody else may hold for a moment.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;

/// Tries for half a second while the answer is "busy" or "locked".
pub fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const TRIES: u32 = 10;
    const PAUSE: Duration = Duration::from_millis(50);
    for _ in 1..TRIES {
        match attempt() {
            Err(error) if is_taken(&error) => sleep(PAUSE),
            other => return other,
        }
    }
    attempt()
}

fn is_taken(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::BUSY | Errno::WOULDBLOCK))
}
