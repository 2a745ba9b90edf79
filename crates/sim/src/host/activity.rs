//! Commands under way, and since when there are none.

/// Whether the host is there, and since when it is not.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostActivity {
    outstanding: u32,
    last_end_ns: u64,
    is_missed: bool,
}

impl HostActivity {
    /// Commands sent and not yet ended.
    #[inline]
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// A command was sent; true where it is the only one outstanding.
    #[inline]
    pub fn sent(&mut self) -> bool {
        self.outstanding += 1;
        self.outstanding == 1
    }

    /// A command has ended.
    #[inline]
    pub fn ended(&mut self, now_ns: u64) {
        debug_assert!(self.outstanding > 0, "a command ended that nobody had sent");
        self.outstanding -= 1;
        self.last_end_ns = now_ns;
    }

    /// When the host will have been away for so long, or `None` while a command is outstanding.
    #[must_use]
    pub fn away_ns(&self, after_ns: u64) -> Option<u64> {
        (self.outstanding == 0).then(|| self.last_end_ns.saturating_add(after_ns))
    }

    /// Somebody wants to know when the host comes back.
    pub fn miss(&mut self) {
        self.is_missed = true;
    }

    /// Nobody wants to know any more.
    pub fn forget(&mut self) {
        self.is_missed = false;
    }

    /// Whether somebody wants to know when the host comes back.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        self.is_missed
    }
}
