//! The interface that looks at the other users of a target.

use std::fmt::Debug;
use std::time::Duration;

use crate::error::TargetError;

/// Looks at the other users of a target that is written to, beside all work on it.
pub trait UseProbe: Debug + Send + Sync {
    /// Time between two looks during a phase.
    fn interval(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Makes sure that nobody else has begun to use the target, or a thing that shares bytes with
    /// it, since it was opened.
    ///
    /// # Errors
    /// [`TargetError::Refused`] with the code of the use; [`TargetError::Unsupported`] if nobody can tell
    /// any more.
    fn require_unused(&self) -> Result<(), TargetError>;
}
