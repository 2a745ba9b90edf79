//! The whole state of a disk at one moment: drive, data, faults. In memory, or in a [`file`].

pub mod bare;
pub mod file;
mod sections;

use std::io;

use thiserror::Error;

use crate::contents::{Contents, ContentsError};
use crate::disk::faults::Faults;
use crate::disk::simulated::ExposedDrive;
use crate::disk::volatile::Volatile;

/// An error of a state file, in the words behind its name.
#[derive(Debug, Error)]
pub enum FileFault {
    /// The system refuses it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is something of its name.
    #[error("exists; give the name of a new file")]
    Exists,
    /// It is another kind of file.
    #[error("is no saved state of a disk; expected a file that `ssdlab sim save` or --state wrote")]
    NoState,
    /// It is arranged in another way.
    #[error(
        "is a saved state of format {found}, and this program reads format {known}; use the program that saved it"
    )]
    Format {
        /// Its format.
        found: u32,
        /// That of this program.
        known: u32,
    },
    /// It ends too early.
    #[error("is a saved state that is cut off: a part of it is missing")]
    Truncated,
    /// A part of it is not as it was written.
    #[error("is a damaged state of a disk: {0} is wrong")]
    Damaged(&'static str),
    /// Another simulator wrote it.
    #[error(
        "was saved by ssdlab {program} with another simulator than that of this program; use the program that saved it"
    )]
    Simulator {
        /// Version of the program.
        program: String,
    },
    /// It is the state of another drive.
    #[error(
        "is the state of {found}, which is another drive, or has other settings or another seed; expose that one"
    )]
    OtherDrive {
        /// Name of its drive.
        found: String,
    },
    /// The contents file is that of another state.
    #[error(
        "has other data than the contents file; name a new contents file, or start without --state"
    )]
    OtherContents,
    /// The data has no room.
    #[error("holds more data than the disk may; permit more with --contents-max")]
    Full,
}

/// A state of a disk without outstanding requests.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) drive: ExposedDrive,
    pub(crate) contents: Contents,
    pub(crate) volatile: Option<Volatile>,
    pub(crate) faults: Faults,
}

impl Snapshot {
    /// Bytes of data in it.
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
