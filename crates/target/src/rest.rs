//! The words for what a drive may do while there is nothing to do.

/// What link and drive may do while there is nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Whatever they did before the run.
    AsFound,
    /// Go to sleep, by the host's wish or the drive's.
    Allowed,
    /// Stay awake.
    Denied,
}
