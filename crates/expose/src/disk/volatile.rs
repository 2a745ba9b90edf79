//! The older data of pages whose newer data a loss of power may take back.
//!
//! The contents of a disk have the newest acknowledged data. A drive without capacitors may lose it until a flush has
//! ended that was sent after it, and then a page has one of its earlier states again: which one, the recovery of the
//! drive decides. Until then those states are kept here, by the version that the drive gives each.
//!
//! Simplification: states are those of whole pages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::Shape;

/// The bytes of a page, or `None` for an empty one.
pub type PageData = Option<Box<[u8]>>;

/// The version of an empty page; no version is so high.
const NOTHING: u64 = u64::MAX;

/// A state of a page that a newer one has replaced.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Older {
    version: u64,
    data: PageData,
    /// Number of the change that made it; 0 for the certain state.
    change: u64,
}

/// The states of a page from the certain one on, without the newest, whose data the contents have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct History {
    older: Vec<Older>,
    /// Number of the change that made the newest state.
    change: u64,
}

/// The effect of a cut on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutEffect {
    /// It has its newest acknowledged data.
    Newest,
    /// It has these earlier data.
    Earlier(PageData),
    /// It has another version: that of a command under way, or the drive has broken a promise.
    Other,
}

/// The newest version of each page, and the data that a cut may bring back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Volatile {
    newest: Vec<u64>,
    pages: BTreeMap<u64, History>,
    /// Number of changes so far.
    changes: u64,
    /// Bytes of data that are kept.
    bytes: u64,
}

impl Volatile {
    /// Memory for each page of the drive.
    pub const PAGE_BYTES: u64 = size_of::<u64>() as u64;

    /// An empty disk of this number of pages.
    pub fn new(pages: u64) -> Self {
        Self { newest: vec![NOTHING; pages as usize], pages: BTreeMap::new(), changes: 0, bytes: 0 }
    }

    /// Whether it is that of a disk of this shape, and the kept data adds up.
    pub(super) fn is_sound(&self, shape: &Shape) -> bool {
        let disk_pages = shape.capacity_bytes.div_ceil(shape.page_bytes);
        let is_page = |page: u64, data: &[u8]| {
            let bytes = shape.capacity_bytes.saturating_sub(page * shape.page_bytes);
            data.len() as u64 == bytes.min(shape.page_bytes)
        };
        let are_pages = self.pages.iter().all(|(&page, history)| {
            let mut data = history.older.iter().filter_map(|older| older.data.as_deref());
            page < disk_pages && data.all(|data| is_page(page, data))
        });
        let bytes = self.pages.values().map(|history| bytes_of(&history.older)).sum::<u64>();
        self.disk_pages() == disk_pages && are_pages && bytes == self.bytes
    }

    /// Number of pages of the disk.
    pub fn disk_pages(&self) -> u64 {
        self.newest.len() as u64
    }

    /// Number of changes so far: a flush that is sent now makes them certain.
    pub fn mark(&self) -> u64 {
        self.changes
    }

    /// Bytes of older data.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Records an acknowledged change of a page, from these data to a version, or to an empty page. It is certain at
    /// once, or only after a flush.
    pub fn changed(&mut self, page: u64, from: PageData, to: Option<u64>, is_certain: bool) {
        self.changes += 1;
        let version = std::mem::replace(&mut self.newest[page as usize], to.unwrap_or(NOTHING));
        if is_certain {
            return self.forget(page);
        }
        self.bytes += from.as_ref().map_or(0, |data| data.len() as u64);
        let history = self.pages.entry(page).or_default();
        history.older.push(Older { version, data: from, change: history.change });
        history.change = self.changes;
    }

    fn forget(&mut self, page: u64) {
        if let Some(history) = self.pages.remove(&page) {
            self.bytes -= bytes_of(&history.older);
        }
    }

    /// Records the end of a flush that was sent at `mark`.
    pub fn flushed(&mut self, mark: u64) {
        let bytes = &mut self.bytes;
        self.pages.retain(|_, history| {
            let is_certain = history.change <= mark;
            // The last state that the flush covers is the certain one now.
            let covered = history.older.partition_point(|older| older.change <= mark);
            let gone = if is_certain { covered } else { covered.saturating_sub(1) };
            *bytes -= bytes_of(&history.older[..gone]);
            history.older.drain(..gone);
            !is_certain
        });
    }

    /// Forgets the older data of the pages whose newest state is safe now.
    pub fn prune(&mut self, is_safe: impl Fn(u64, Option<u64>) -> bool) {
        let (bytes, newest) = (&mut self.bytes, &self.newest);
        self.pages.retain(|&page, history| {
            let version = newest[page as usize];
            let is_safe = is_safe(page, (version != NOTHING).then_some(version));
            *bytes -= if is_safe { bytes_of(&history.older) } else { 0 };
            !is_safe
        });
    }

    /// The effect of a cut after which a page has this version, or is empty. The state is certain from then on.
    pub fn found(&mut self, page: u64, version: Option<u64>) -> CutEffect {
        let version = version.unwrap_or(NOTHING);
        let newest = std::mem::replace(&mut self.newest[page as usize], version);
        let older = self.pages.remove(&page).unwrap_or_default().older;
        self.bytes -= bytes_of(&older);
        if newest == version {
            return CutEffect::Newest;
        }
        let found = older.into_iter().rev().find(|older| older.version == version);
        found.map_or(CutEffect::Other, |older| CutEffect::Earlier(older.data))
    }

    /// Makes every state the certain one, after a look at all pages.
    pub fn begin_again(&mut self) {
        self.pages.clear();
        self.bytes = 0;
    }
}

fn bytes_of(states: &[Older]) -> u64 {
    states.iter().filter_map(|older| older.data.as_ref()).map(|data| data.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(byte: u8) -> PageData {
        Some(vec![byte; 4].into())
    }

    fn written_twice() -> Volatile {
        let mut volatile = Volatile::new(10);
        volatile.changed(7, None, Some(1), false);
        volatile.changed(7, data(1), Some(2), false);
        volatile
    }

    #[test]
    fn a_flush_settles_the_changes_before_it() {
        let mut volatile = written_twice();
        volatile.changed(8, None, Some(9), true);
        let mark = volatile.mark();
        volatile.changed(7, data(2), Some(3), false);
        volatile.changed(8, data(9), None, false);
        assert_eq!((volatile.bytes(), volatile.mark()), (12, 5));
        volatile.flushed(mark);
        assert_eq!(volatile.bytes(), 8, "version 2 is the certain one");
        let mut cut = volatile.clone();
        assert_eq!(cut.found(7, Some(3)), CutEffect::Newest);
        assert_eq!(cut.found(8, Some(9)), CutEffect::Earlier(data(9)));
        assert_eq!(cut.bytes(), 0);
        assert_eq!(volatile.clone().found(7, Some(1)), CutEffect::Other, "it was given up");
        volatile.flushed(5);
        assert_eq!(volatile.bytes(), 0);
        assert_eq!(volatile.found(7, Some(2)), CutEffect::Other, "version 3 is certain");
    }

    #[test]
    fn the_state_before_the_changes_can_come_back() {
        assert_eq!(written_twice().found(7, None), CutEffect::Earlier(None));
        assert_eq!(written_twice().found(7, Some(1)), CutEffect::Earlier(data(1)));
        assert_eq!(written_twice().found(3, Some(6)), CutEffect::Other);
        let mut volatile = written_twice();
        volatile.prune(|page, version| (page, version) == (7, Some(2)));
        assert_eq!((volatile.bytes(), volatile.found(7, Some(1))), (0, CutEffect::Other));
    }
}
