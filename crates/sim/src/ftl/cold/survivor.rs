//! Survivor: what has been moved once and is still valid when its superblock is collected again is cold.
//!
//! Source: dynamic data clustering (Chiang, Lee and Chang 1999): a page that is moved goes one region
//! colder, a page that is written goes back to the hottest. Here with three regions: host, GC, cold.
//! It needs no memory per page, for a superblock knows which stream wrote it. Test: `tests/mechanisms/cold.rs`.

use crate::ftl::{Ftl, StreamId};

#[inline]
pub(super) fn stream_of_move(ftl: &Ftl, superblock: u32) -> StreamId {
    match ftl.written_by[superblock as usize] {
        StreamId::Host | StreamId::Pslc => StreamId::Gc,
        StreamId::Gc | StreamId::Cold => StreamId::Cold,
    }
}
