//! Requests of a client and their answers, the same for every protocol.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sim::host::ZoneAction;
use sim::mechanism::zones::ZoneError;

/// The wish of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Return the bytes.
    Read,
    /// Read the bytes within the drive, and return none.
    Fetch,
    /// Read the bytes for the drive itself, which tests them: nobody has asked for them.
    Scan,
    /// Write the whole pages among the bytes for the drive itself, which then forgets them.
    Overwrite,
    /// Replace the bytes by those of the request.
    Write,
    /// Replace the bytes by those of the sources, as they are when the request starts.
    Copy,
    /// Write the bytes of the request at the end of the zone that begins at the offset.
    Append,
    /// Change the state of the zone of these bytes.
    Zone {
        /// The order.
        action: ZoneAction,
        /// Whether it goes to every zone among the bytes whose state it can change.
        all: bool,
    },
    /// Make every change durable whose answer was given before.
    Flush,
    /// Forget the whole pages among the bytes.
    Trim,
    /// Make all bytes zero.
    Zero {
        /// Whether their pages must stay mapped.
        keeps_pages: bool,
    },
}

/// Deletion of a namespace, which ends the requests that are for it: its bytes may belong to another one by then.
#[derive(Clone, Debug, Default)]
pub struct Deletion(Arc<AtomicBool>);

impl Deletion {
    /// Lets it happen.
    pub fn happen(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it has happened.
    pub fn has_happened(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Equal are those of the same namespace.
impl PartialEq for Deletion {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Deletion {}

/// A request for the bytes from `offset` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The wish.
    pub action: Action,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; 0 only for a flush.
    pub bytes: u64,
    /// Whether a change has to be durable before the answer (forced unit access).
    pub fua: bool,
    /// The placement handle of a write.
    pub placement: u8,
    /// The bytes of a write or an append, of the length `bytes`; empty for other requests.
    pub data: Vec<u8>,
    /// The bytes that a copy reads, in their order, together as many as `bytes`; empty for other requests.
    pub sources: Vec<Range<u64>>,
    /// Deletion of the namespace that it is for, or `None` if it is for the drive.
    pub deletion: Option<Deletion>,
}

impl Action {
    /// Whether it is work of the drive for itself, which counts for no host.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Scan | Self::Overwrite)
    }
}

impl Request {
    /// A request for the drive without data, and without a wish about its place or its durability.
    pub fn new(action: Action, offset: u64, bytes: u64) -> Self {
        let (data, sources) = Default::default();
        Self { action, offset, bytes, fua: false, placement: 0, data, sources, deletion: None }
    }

    /// Whether the namespace that it is for is gone.
    pub(crate) fn is_void(&self) -> bool {
        self.deletion.as_ref().is_some_and(Deletion::has_happened)
    }
}

/// Bytes that are all data, or all in unmapped pages and therefore zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length.
    pub bytes: u64,
    /// Whether the pages are unmapped.
    pub is_hole: bool,
}

/// The outcome of a request that the disk has carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done,
    /// The append is written from this byte on.
    Place(u64),
    /// The bytes of a read, and the same range in extents.
    Data {
        /// The bytes; holes are zero.
        bytes: Vec<u8>,
        /// Neighbours differ, and the lengths add up to that of the bytes.
        extents: Vec<Extent>,
    },
}

/// The reason why the disk did not carry a request out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The drive or the file behind the contents failed.
    Io,
    /// A source of a copy cannot be read.
    Source,
    /// The request is malformed, or outside the disk.
    Invalid,
    /// The disk takes no changes.
    ReadOnly,
    /// The contents have reached their largest size.
    NoSpace,
    /// The disk has no such function.
    Unsupported,
    /// The reply would be too long.
    TooLong,
    /// The namespace that it is for was deleted.
    Deleted,
    /// A zone refuses it.
    Zone(ZoneError),
}
