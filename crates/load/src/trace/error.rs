//! Errors of reading and writing traces.

/// A fault of a trace as a whole; single bad lines are [`super::Problems`].
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The arguments do not fit the content. Names the value and the fix.
    #[error("{0}")]
    Usage(String),
    /// The file system failed.
    #[error("{what} cannot be {verb}: {source}")]
    Io {
        /// File, or `standard input`.
        what: String,
        /// `read` or `written`.
        verb: &'static str,
        /// The failure.
        source: std::io::Error,
    },
    /// A file with damage that stops the reader.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// File.
        what: String,
        /// The damage.
        reason: String,
    },
}

impl TraceError {
    /// A failure while reading `what`.
    pub fn read(what: &str) -> impl Fn(std::io::Error) -> Self + '_ {
        move |source| Self::Io { what: what.to_owned(), verb: "read", source }
    }

    /// A failure while writing `what`.
    pub fn write(what: &str) -> impl Fn(std::io::Error) -> Self + '_ {
        move |source| Self::Io { what: what.to_owned(), verb: "written", source }
    }
}
