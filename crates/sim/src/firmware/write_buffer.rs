//! The write buffer: pages on their way to NAND, and the writes that wait for room among them.
//!
//! Phenomenon: a write ends when its data is in the buffer; a full buffer makes the next ones wait for a program
//! (back-pressure). Source: all drives of the class have DRAM or SRAM for it. Simplification: a page overwritten in
//! the buffer is programmed all the same. Tests: `tests/timing.rs`, `tests/throughput.rs`.

use crate::ring::Ring;

/// Room for data, and those who wait for it.
#[derive(Debug)]
pub struct WriteBuffer {
    limit_pages: u32,
    pages: u32,
    /// Tags of writes whose data has arrived.
    waiting: Ring<u32>,
}

impl WriteBuffer {
    /// A buffer of so many pages, `pages` of which hold data, for as many writes as the queue is deep.
    #[must_use]
    pub fn new(limit_pages: u32, pages: u32, queue_depth: usize) -> Self {
        Self { limit_pages, pages, waiting: Ring::with_capacity(queue_depth) }
    }

    /// Pages that it holds, padding among them.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Pages that have room. Padding may have taken more than there was.
    #[inline]
    #[must_use]
    pub fn room_pages(&self) -> u32 {
        self.limit_pages.saturating_sub(self.pages)
    }

    /// Pages have come in.
    #[inline]
    pub fn add(&mut self, pages: u32) {
        self.pages += pages;
    }

    /// Pages have been programmed.
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
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many writes wait for room.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A write waits behind all others.
    #[inline]
    pub fn wait(&mut self, tag: u32) {
        self.waiting.push_back(tag);
    }

    /// The write whose turn is next, or `None` if none waits.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<u32> {
        self.waiting.front()
    }

    /// The write whose turn it was has all its pages in the buffer.
    #[inline]
    pub fn admitted(&mut self) {
        self.waiting.pop_front();
    }
}
