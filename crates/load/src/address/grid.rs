//! The places at which commands may begin: the span in steps of the alignment.

/// The steps of a span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    start: u64,
    end: u64,
    pub(super) step_bytes: u32,
    /// Number of steps.
    pub(super) steps: u64,
}

impl Grid {
    pub(super) fn new(start: u64, span_bytes: u64, step_bytes: u32) -> Self {
        let steps = span_bytes / u64::from(step_bytes);
        Self { start, end: start + steps * u64::from(step_bytes), step_bytes, steps }
    }

    /// Offset and length of a command at this step. One that would leave the span begins earlier, so that it ends
    /// with it.
    #[inline]
    pub(super) fn at(&self, step: u64, len: u32) -> (u64, u32) {
        let offset = self.start + step * u64::from(self.step_bytes);
        if offset + u64::from(len) > self.end {
            return (self.last_start(len), len);
        }
        (offset, len)
    }

    /// The last step at which a command of this length fits.
    #[cold]
    fn last_start(&self, len: u32) -> u64 {
        let step = u64::from(self.step_bytes);
        let offset = self.end.saturating_sub(u64::from(len).next_multiple_of(step));
        offset.max(self.start)
    }
}
