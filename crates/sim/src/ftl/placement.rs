//! Placement handles: the host names data that belongs together.
//!
//! Phenomenon: a drive with flexible data placement writes the data of each handle into separate superblocks. Data of
//! one lifetime then becomes invalid together. Garbage collection mixes the handles again (initially isolated), or
//! keeps them apart too (persistently isolated). Source: NVM Express, flexible data placement; measured drives have
//! eight handles and are initially isolated (WARP, FAST 2026). Simplifications: one reclaim group; a reclaim unit is a
//! superblock; an unknown handle counts as the first; if erased superblocks are short, moved pages complete an open
//! unit of another handle for which erases wait. Test: `tests/mechanisms/placement.rs`.

pub mod own;

use serde::Deserialize;

use super::gc::handle_choice::{HandleChoice, HandleFirst};
use super::{Ftl, StreamId};

/// Most handles of a drive.
pub const HANDLES_MAX: u32 = StreamId::HOSTS.len() as u32;

/// The extent to which garbage collection keeps handles apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Moved data of all handles goes to one superblock.
    Initial,
    /// Moved data stays with its handle.
    Persistent,
}

impl Isolation {
    /// The word used in drive models.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Persistent => "persistent",
        }
    }
}

/// The handles of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Placement {
    /// Number of handles, at least two.
    pub handles: u32,
    /// The extent to which garbage collection keeps them apart.
    pub isolation: Isolation,
    /// Rule for the handle of the next victim, or `None` if it is chosen among those of all.
    pub victim_handle: Option<HandleChoice>,
}

impl Placement {
    /// The first decision of garbage collection, or `None` if it chooses among the superblocks of all handles.
    pub fn handle_first(self) -> Option<HandleFirst> {
        let is_moved_apart = self.isolation == Isolation::Initial;
        self.victim_handle.map(|choice| HandleFirst { choice, is_moved_apart })
    }

    /// The stream for a write with a handle.
    pub fn stream_of_write(self, handle: u8) -> StreamId {
        let known = Some(handle).filter(|&handle| u32::from(handle) < self.handles);
        StreamId::HOSTS[usize::from(known.unwrap_or(0))]
    }

    /// The stream for data that moves out of a superblock.
    pub fn stream_of_move(self, ftl: &Ftl, superblock: u32) -> StreamId {
        let from = ftl.written_by[superblock as usize];
        let is_of_handle = |&handle: &usize| {
            from == StreamId::HOSTS[handle] || from == StreamId::COLLECTED[handle]
        };
        let handle = match self.isolation {
            Isolation::Initial => None,
            Isolation::Persistent => (0..StreamId::HOSTS.len()).find(is_of_handle),
        };
        StreamId::COLLECTED[handle.unwrap_or(0)]
    }

    /// Number of open superblocks beyond those of a drive without handles.
    pub fn more_open_superblocks(self) -> u32 {
        let streams = match self.isolation {
            Isolation::Initial => 1,
            Isolation::Persistent => 2,
        };
        streams * (self.handles - 1)
    }

    /// Number of spare superblocks that the handles need: open ones and, if moved data stays apart, ones whose erase
    /// waits for full units.
    pub fn more_spare_superblocks(self) -> u32 {
        let waiting = match self.isolation {
            Isolation::Initial => 0,
            Isolation::Persistent => self.handles,
        };
        self.more_open_superblocks() + waiting
    }

    /// Whether pages of one handle must complete units of another, given the number of superblocks that wait for it.
    pub fn must_mix(self, waiting_superblocks: usize) -> bool {
        self.isolation == Isolation::Persistent && waiting_superblocks > self.handles as usize
    }
}
