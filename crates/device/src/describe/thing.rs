//! Files and devices, known by their identity: names change, and one of them may have several.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use crate::host::sysfs::DeviceNumber;

/// A regular file, by any of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    /// Number of the file system, as in `st_dev`.
    pub(crate) on: DeviceNumber,
    pub(crate) inode: u64,
}

impl FileId {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self { on: DeviceNumber::from_raw(metadata.dev()), inode: metadata.ino() }
    }
}

/// A range of bytes of one thing; the end is the first byte beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Region {
    pub(crate) const WHOLE: Self = Self { start: 0, end: u64::MAX };

    pub(crate) fn of_len(start: u64, len_bytes: u64) -> Self {
        Self { start, end: start.saturating_add(len_bytes) }
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The part of it that is visible through a `window`, counted from the start of the window, or
    /// `None` if none is.
    pub(crate) fn seen_through(self, window: Self) -> Option<Self> {
        self.overlaps(window).then(|| Self {
            start: self.start.max(window.start) - window.start,
            end: self.end.min(window.end) - window.start,
        })
    }

    /// A region of a window, counted from the start of the thing that the window is in.
    pub(crate) fn below(self, window: Self) -> Self {
        let end = self.end.saturating_add(window.start).min(window.end);
        Self { start: self.start.saturating_add(window.start).min(end), end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_goes_through_a_window_and_back() {
        let window = Region::of_len(100, 50);
        let region = Region { start: 120, end: 400 };
        let seen = region.seen_through(window).unwrap();
        assert_eq!(seen, Region { start: 20, end: 50 });
        assert_eq!(seen.below(window), Region { start: 120, end: 150 });
        assert_eq!(Region::WHOLE.below(window), window);
        assert_eq!(Region::of_len(150, 50).seen_through(window), None);
        assert!(Region::WHOLE.contains(window) && !window.contains(region));
    }

    #[test]
    fn no_region_overflows() {
        let window = Region::of_len(u64::MAX - 1, 50);
        assert_eq!(Region::WHOLE.below(window), window);
        assert_eq!(Region::of_len(7, 7).below(window).end, u64::MAX);
    }
}
