//! Operations of a die.

use crate::ftl::StreamId;
use crate::mechanism::mapping::MapWrite;

/// One operation on one die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum DieOp {
    /// Program a full unit.
    Program {
        /// Unit over the whole drive.
        unit: u32,
        /// The writer whose order of programs this belongs to.
        stream: StreamId,
        /// Place in the stream's order of programs.
        sequence: u64,
    },
    /// Program the parity of a stripe.
    Parity {
        /// Unit over the whole drive.
        unit: u32,
    },
    /// Program a unit of journal or checkpoint.
    Map {
        /// Unit over the whole drive.
        unit: u32,
        /// Its content.
        write: MapWrite,
    },
    /// Read the valid pages of a unit for garbage collection.
    GcRead {
        /// Unit over the whole drive.
        unit: u32,
        /// Number of valid pages.
        pages: u32,
        /// Valid pages, bit 0 first.
        valid: u64,
    },
    /// Read pages of one unit for the host, or parts of them.
    HostRead {
        /// Tag of the command.
        tag: u32,
        /// Unit over the whole drive.
        unit: u32,
        /// Transfers over the channel: pages wanted, or pieces of 4 KiB of larger ones.
        transfers: u32,
        /// The page of the unit, or `None` if there are several.
        page: Option<u16>,
    },
    /// Read a page of the map that a command waits for.
    MapRead {
        /// Tag of the command.
        tag: u32,
        /// Unit over the whole drive.
        unit: u32,
        /// Transfers over the channel.
        transfers: u32,
    },
    /// Read a page of the map for which nobody waits.
    MapLoad {
        /// Unit over the whole drive.
        unit: u32,
    },
    /// Read pages of one unit before the host asks for them.
    ReadAhead {
        /// Its number.
        fetch: u64,
        /// Unit over the whole drive.
        unit: u32,
        /// Number of requested pages.
        pages: u32,
    },
    /// Read a unit to see whether it is sound.
    Patrol {
        /// Unit over the whole drive.
        unit: u32,
    },
    /// Read pages of one unit to rewrite them in the order of their LBAs.
    SortRead {
        /// Unit over the whole drive.
        unit: u32,
        /// Number of pages.
        pages: u32,
    },
    /// Erase this die's blocks of a superblock.
    Erase {
        /// Superblock over the whole drive.
        superblock: u32,
    },
}
