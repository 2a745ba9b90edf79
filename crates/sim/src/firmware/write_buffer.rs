//! The write buffer: pages on their way to NAND, and the writes that wait for room among them.
//!
//! Phenomenon: a write ends when its data is in the buffer; a full buffer makes the next ones wait
//! for a program (back-pressure). Source: all drives of the class have DRAM or SRAM for it.
//! Simplification: a page overwritten in the buffer is programmed all the same. Test:
//! `tests/device/timing.rs`.

use std::num::NonZeroU32;

use crate::ring::Ring;

/// Room for data, and the queue of waiting writes.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WriteBuffer {
    limit_pages: u32,
    pages: u32,
    /// Tags of waiting writes whose data has arrived.
    waiting: Ring<u32>,
}

impl WriteBuffer {
    /// A buffer of this size, `pages` of which hold data, for as many writes as the queue is deep.
    pub fn new(limit_pages: u32, pages: u32, queue_depth: usize) -> Self {
        Self { limit_pages, pages, waiting: Ring::with_capacity(queue_depth) }
    }

    /// Pages in the buffer, padding included.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Free pages. Padding may have taken more than there were.
    #[inline]
    pub fn room_pages(&self) -> u32 {
        self.limit_pages.saturating_sub(self.pages)
    }

    /// Free pages, or `None` if there are none.
    #[inline]
    pub fn room(&self) -> Option<NonZeroU32> {
        self.limit_pages.checked_sub(self.pages).and_then(NonZeroU32::new)
    }

    /// Adds pages.
    #[inline]
    pub fn add(&mut self, pages: u32) {
        self.pages += pages;
    }

    /// Removes programmed pages.
    #[inline]
    pub fn remove(&mut self, pages: u32) {
        debug_assert!(
            pages <= self.pages,
            "{pages} pages programmed, {} in the buffer",
            self.pages
        );
        self.pages -= pages;
    }

    /// Whether a write waits for room.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Number of writes that wait for room.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a write behind all others.
    #[inline]
    pub fn wait(&mut self, tag: u32) {
        self.waiting.push_back(tag);
    }

    /// The first waiting write, or `None` if none waits.
    #[inline]
    pub fn next(&self) -> Option<u32> {
        self.waiting.front()
    }

    /// Removes the first waiting write: all its pages are in the buffer.
    #[inline]
    pub fn admitted(&mut self) {
        self.waiting.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_comes_back_with_programs_and_writes_enter_in_their_order() {
        let mut buffer = WriteBuffer::new(8, 3, 4);
        buffer.add(5);
        buffer.wait(2);
        buffer.wait(1);
        assert_eq!((buffer.room_pages(), buffer.waiting(), buffer.next()), (0, 2, Some(2)));
        // Padding may take more than there is.
        buffer.add(1);
        assert_eq!(buffer.room_pages(), 0);
        buffer.remove(4);
        assert_eq!(buffer.room_pages(), 3);
        buffer.admitted();
        assert!(buffer.is_awaited() && buffer.next() == Some(1));
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "4 pages programmed, 3 in the buffer"))]
    fn no_more_is_programmed_than_the_buffer_holds() {
        let mut buffer = WriteBuffer::new(8, 3, 4);
        buffer.remove(if cfg!(debug_assertions) { 4 } else { 3 });
    }
}
