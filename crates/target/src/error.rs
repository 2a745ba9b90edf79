//! What can go wrong with a target, split by what the user can do about it.

/// True for the errors with which a drive that works says that it cannot read what it holds: `EIO`, `ENODATA` (the
/// kernel's word for a medium error) and `EILSEQ` (protection information that does not fit).
#[must_use]
pub fn is_of_medium(errno: i32) -> bool {
    use rustix::io::Errno;
    [Errno::IO, Errno::NODATA, Errno::ILSEQ].iter().any(|known| known.raw_os_error() == errno)
}

/// Why a target could not be opened or used. The kind decides the exit code of the program.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// The target string or an option is wrong (exit code 2). Names the value and the fix.
    #[error("{0}")]
    Usage(String),
    /// It would be unsafe (exit code 3): a stable machine-readable code and a sentence with the fix.
    #[error("{message}")]
    Refused {
        /// Stable word, e.g. `mounted`; see `docs/safety.md`.
        code: &'static str,
        /// Why, and what to do.
        message: String,
    },
    /// The device or the operating system failed (exit code 4).
    #[error("{context}")]
    Device {
        /// What was being done, on what.
        context: String,
        /// The system's own words.
        #[source]
        source: std::io::Error,
    },
    /// Stopped by the user (exit code 130); says in which state the target is.
    #[error("{0}")]
    Interrupted(String),
    /// This machine or target cannot do it (exit code 5).
    #[error("{0}")]
    Unsupported(String),
}

/// One reason not to write to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Stable word, as in [`IoError::Refused`].
    pub code: &'static str,
    /// Why, and what to do.
    pub message: String,
}

impl From<Refusal> for IoError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { code: refusal.code, message: refusal.message }
    }
}
