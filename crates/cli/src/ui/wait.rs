//! A line about work that takes longer than a moment and tells no part of itself.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::out::{talk, visible};

/// Shorter work has no line.
const MOMENT: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(200);

/// Shows a line about the work until it is dropped: with the time so far on a terminal, once elsewhere.
pub struct Wait {
    end: Option<Sender<()>>,
    line: Option<JoinHandle<()>>,
}

impl Wait {
    /// Begins the work of these words, e.g. `reading runs (2,000)`.
    pub fn new(work: &str) -> Self {
        let (end, ended) = channel();
        let work = visible(work).into_owned();
        Self { end: Some(end), line: Some(spawn(move || show(&work, &ended))) }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(line) = self.line.take() {
            let _ = line.join();
        }
    }
}

fn show(work: &str, ended: &Receiver<()>) {
    if !lasts(ended, MOMENT) {
        return;
    }
    if !std::io::stderr().is_terminal() {
        talk!("{work} ...");
        return;
    }
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
    let bar = ProgressBar::new_spinner().with_elapsed(MOMENT).with_message(work.to_owned());
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    while lasts(ended, TICK) {
        bar.tick();
    }
    bar.finish_and_clear();
}

/// Whether the work goes on after this time.
fn lasts(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_has_ended_has_no_line_and_ends_at_once() {
        let wait = Wait::new("a moment's work");
        let line = wait.line.as_ref().map(JoinHandle::thread).map(std::thread::Thread::id);
        assert!(line.is_some_and(|id| id != std::thread::current().id()));
        drop(wait);
        let (end, ended) = channel::<()>();
        assert!(lasts(&ended, Duration::ZERO));
        drop(end);
        assert!(!lasts(&ended, MOMENT));
    }
}
