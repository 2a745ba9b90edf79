//! Permission for an idle drive to rest.

/// Permission for link and drive to rest while they are idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// As before the run.
    AsFound,
    /// Permission to sleep, at the request of the host or the drive.
    Allowed,
    /// No permission: they stay awake.
    Denied,
}
