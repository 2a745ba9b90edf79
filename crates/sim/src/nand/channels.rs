//! The channels: each moves the data of one die at a time, in the order in which transfers become ready.

/// All channels of a drive.
#[derive(Debug)]
pub(super) struct Channels {
    page_transfer_ns: u64,
    /// Until when each is taken.
    free_ns: Vec<u64>,
    /// Pages moved since the start.
    pub(super) pages: u64,
}

impl Channels {
    pub(super) fn new(channels: u32, page_transfer_ns: u64) -> Self {
        Self { page_transfer_ns, free_ns: vec![0; channels as usize], pages: 0 }
    }

    /// Time of transfers since the start, summed, counted when a transfer begins.
    pub(super) fn busy_ns(&self) -> u64 {
        self.pages * self.page_transfer_ns
    }

    /// Moves pages over a channel as soon as it is free; returns the end.
    #[inline]
    pub(super) fn transfer(&mut self, channel: u32, pages: u32, now_ns: u64) -> u64 {
        let length_ns = u64::from(pages) * self.page_transfer_ns;
        self.pages += u64::from(pages);
        let free_ns = &mut self.free_ns[channel as usize];
        *free_ns = (*free_ns).max(now_ns) + length_ns;
        *free_ns
    }
}
