//! Errors of a target, split by the user's remedy.

/// Whether this error means that a working drive cannot read its data: `EIO`, `ENODATA` (the
/// kernel's code for a medium error) and `EILSEQ` (protection information that does not match).
pub fn is_of_medium(errno: i32) -> bool {
    use rustix::io::Errno;
    [Errno::IO, Errno::NODATA, Errno::ILSEQ].iter().any(|known| known.raw_os_error() == errno)
}

/// Reason for which a target could not be opened or used. The kind decides the exit code of the
/// program.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The target string or an option is wrong (exit code 2). Names the value and the fix.
    #[error("{0}")]
    Usage(String),
    /// It would be unsafe (exit code 3): a stable machine-readable code and a sentence with the fix.
    #[error("{message}")]
    Refused {
        /// Stable word, e.g. `mounted`; see `docs/reference/safety.md`.
        code: &'static str,
        /// The reason and the fix.
        message: String,
    },
    /// The device or the operating system failed (exit code 4).
    #[error("{context}")]
    Device {
        /// The operation and its object.
        context: String,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// Stopped by the user (exit code 130); names the state of the target.
    #[error("{0}")]
    Interrupted(String),
    /// This machine or target cannot do it (exit code 5).
    #[error("{0}")]
    Unsupported(String),
}

impl TargetError {
    /// Its words with those of its cause.
    pub fn with_cause(&self) -> String {
        let cause = std::error::Error::source(self).map(|cause| format!(": {cause}"));
        format!("{self}{}", cause.unwrap_or_default())
    }
}

/// One reason not to write to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Stable word, as in [`TargetError::Refused`].
    pub code: &'static str,
    /// The reason and the fix.
    pub message: String,
}

impl From<Refusal> for TargetError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { code: refusal.code, message: refusal.message }
    }
}
