//! Lines of output, each marked with its step, because two steps may run at once.

use std::io::Write;

/// The destination of the lines of a step.
#[derive(Clone, Copy)]
pub struct Log {
    step: &'static str,
    stream: Stream,
}

#[derive(Clone, Copy)]
enum Stream {
    Stdout,
    Stderr,
}

impl Log {
    /// For the verbs whose output is the log itself.
    pub const fn stdout(step: &'static str) -> Self {
        Self { step, stream: Stream::Stdout }
    }

    /// For the verbs whose stdout is data.
    pub const fn stderr(step: &'static str) -> Self {
        Self { step, stream: Stream::Stderr }
    }

    /// Writes one whole line at once, so that lines of two steps never mix.
    pub fn line(self, text: &str) {
        let line = format!("[{}] {}\n", self.step, text.trim_end());
        // A closed pipe (`| head`) is not a reason to stop the work half done.
        let _ = match self.stream {
            Stream::Stdout => std::io::stdout().write_all(line.as_bytes()),
            Stream::Stderr => std::io::stderr().write_all(line.as_bytes()),
        };
    }
}
