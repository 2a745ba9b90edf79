//! Why a trace could not be read or written.

/// What went wrong with a trace as a whole; single bad lines are [`super::Problems`].
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The arguments or the content ask for something else than what is there. Names the value and the fix.
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
    /// A file that is damaged where a reader cannot go on.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// File.
        what: String,
        /// What is wrong with it.
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
