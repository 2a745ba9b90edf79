//! Survivor: data is cold if it was moved once and is still valid at the next collection of its
//! superblock.
//!
//! Source: dynamic data clustering (Chiang, Lee and Chang 1999): a moved page goes one region
//! colder, a written page goes back to the hottest. Here there are three regions: host, GC, cold.
//! It needs no memory per page, because a superblock knows the stream that wrote it. Test:
//! `tests/mechanisms/cold.rs`.

use crate::ftl::{Ftl, StreamId};

#[inline]
pub(super) fn stream_of_move(ftl: &Ftl, superblock: u32) -> StreamId {
    if ftl.written_by[superblock as usize].is_moved() { StreamId::Cold } else { StreamId::Gc }
}
