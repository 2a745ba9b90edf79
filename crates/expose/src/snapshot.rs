//! The whole state of a disk at one moment: drive, data, faults.

use crate::contents::{Contents, ContentsError};
use crate::disk::faults::Faults;
use crate::disk::simulated::Simulated;
use crate::disk::volatile::Volatile;

/// A state of a disk without outstanding requests.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) drive: Simulated,
    pub(crate) contents: Contents,
    pub(crate) volatile: Option<Volatile>,
    pub(crate) faults: Faults,
}

impl Snapshot {
    /// Bytes of data in it.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.contents.pages() * self.contents.shape().page_bytes
    }
}

impl<T> crate::Disk<T> {
    /// Copies the state, after the end of all outstanding requests.
    ///
    /// # Errors
    /// [`ContentsError::Memory`].
    pub fn snapshot(&mut self) -> Result<Snapshot, ContentsError> {
        self.drain();
        Ok(Snapshot {
            contents: self.contents().copy()?,
            drive: self.drive().clone(),
            volatile: self.volatile().cloned(),
            faults: self.faults.clone(),
        })
    }

    /// Gives the disk a state that it had, after the end of all outstanding requests. The account of requests and work
    /// goes on.
    ///
    /// # Errors
    /// That of the file behind the contents: then the disk has the drive of the snapshot, and every block whose data
    /// could not be replaced is unknown.
    pub fn restore(&mut self, snapshot: &Snapshot) -> std::io::Result<()> {
        self.drain();
        self.replace(
            snapshot.drive.clone(),
            snapshot.volatile.clone(),
            snapshot.faults.clone(),
            &snapshot.contents,
        )
    }
}
