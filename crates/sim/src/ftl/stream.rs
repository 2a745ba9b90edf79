//! The streams: the writers of a drive, each with the superblock that it fills.

/// No superblock.
pub const NO_SUPERBLOCK: u32 = u32::MAX;

/// The writer of a stream: data of different age goes to different superblocks. Four bytes, so that
/// the records that carry it are copied in aligned pieces (bytes cost a stall in the die queues).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[repr(u32)]
pub enum StreamId {
    /// Data from the host.
    Host,
    /// Valid data moved by garbage collection.
    Gc,
    /// Moved data that the drive expects to stay unchanged, if it separates such data; see
    /// [`crate::mechanism::streams`].
    Cold,
    /// Data from the host that goes to the pSLC cache first; see [`crate::mechanism::pslc`].
    Pslc,
    /// Data from the host with placement handle 1; see [`crate::ftl::placement`].
    Host1,
    /// Data from the host with placement handle 2; see [`crate::ftl::placement`].
    Host2,
    /// Data from the host with placement handle 3; see [`crate::ftl::placement`].
    Host3,
    /// Data from the host with placement handle 4; see [`crate::ftl::placement`].
    Host4,
    /// Data from the host with placement handle 5; see [`crate::ftl::placement`].
    Host5,
    /// Data from the host with placement handle 6; see [`crate::ftl::placement`].
    Host6,
    /// Data from the host with placement handle 7; see [`crate::ftl::placement`].
    Host7,
    /// Moved data of placement handle 1, if the drive keeps it apart.
    Gc1,
    /// Moved data of placement handle 2, if the drive keeps it apart.
    Gc2,
    /// Moved data of placement handle 3, if the drive keeps it apart.
    Gc3,
    /// Moved data of placement handle 4, if the drive keeps it apart.
    Gc4,
    /// Moved data of placement handle 5, if the drive keeps it apart.
    Gc5,
    /// Moved data of placement handle 6, if the drive keeps it apart.
    Gc6,
    /// Moved data of placement handle 7, if the drive keeps it apart.
    Gc7,
}

impl StreamId {
    /// All streams.
    pub const ALL: [Self; STREAMS] = {
        use StreamId::*;
        [
            Host, Gc, Cold, Pslc, Host1, Host2, Host3, Host4, Host5, Host6, Host7, Gc1, Gc2, Gc3,
            Gc4, Gc5, Gc6, Gc7,
        ]
    };
    /// The streams that take data from the write buffer.
    pub const BUFFERED: [Self; 9] = {
        use StreamId::*;
        [Host, Pslc, Host1, Host2, Host3, Host4, Host5, Host6, Host7]
    };
    /// The streams that garbage collection writes.
    pub const MOVED: [Self; 9] = {
        use StreamId::*;
        [Gc, Cold, Gc1, Gc2, Gc3, Gc4, Gc5, Gc6, Gc7]
    };
    /// The streams of the host by placement handle.
    pub const HOSTS: [Self; 8] = {
        use StreamId::*;
        [Host, Host1, Host2, Host3, Host4, Host5, Host6, Host7]
    };
    /// The streams of moved data by placement handle, if the drive keeps it apart.
    pub const COLLECTED: [Self; 8] = {
        use StreamId::*;
        [Gc, Gc1, Gc2, Gc3, Gc4, Gc5, Gc6, Gc7]
    };

    /// The placement handle of its data; 0 for streams without one.
    pub fn handle(self) -> u8 {
        let is_it = |&(host, moved): &(Self, Self)| host == self || moved == self;
        let pairs = Self::HOSTS.into_iter().zip(Self::COLLECTED);
        (0..).zip(pairs).find(|(_, pair)| is_it(pair)).map_or(0, |(handle, _)| handle)
    }

    /// A bit for each stream that garbage collection writes.
    const MOVED_BITS: u32 = {
        let (mut bits, mut index) = (0, 0);
        while index < Self::MOVED.len() {
            bits |= 1 << Self::MOVED[index] as u32;
            index += 1;
        }
        bits
    };

    /// Whether garbage collection writes the stream; if not, its data comes from the write buffer.
    #[inline]
    pub fn is_moved(self) -> bool {
        Self::MOVED_BITS >> self as u32 & 1 == 1
    }
}

/// Number of streams.
pub const STREAMS: usize = 18;

/// A write frontier.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Stream {
    /// Superblock being written, or [`NO_SUPERBLOCK`].
    pub superblock: u32,
    /// Next page within it.
    pub next_page: u32,
    /// Remaining pages for data in it.
    pub room_pages: u32,
    /// Remaining pages of the open unit; the whole unit at its beginning.
    pub unit_room_pages: u32,
}
