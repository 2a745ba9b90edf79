//! Interrupt coalescing: the drive reports several ends at once.
//!
//! Phenomenon: an NVMe drive may delay its interrupt until a number of completions are posted or
//! the oldest has waited for a time. Source: NVM Express base specification, feature 08h
//! (aggregation threshold and time). Simplification: one counter for all queues; the host reads no
//! completion before the interrupt. Test: `tests/latency.rs`.

/// Rule for interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Coalescing {
    /// Number of completions that raise one.
    pub threshold: u32,
    /// Longest wait of the first of them.
    pub time_ns: u64,
}

/// Completions that wait for their interrupt.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Pending {
    rule: Coalescing,
    tags: Vec<u32>,
    /// Number of interrupts so far: identifies the interrupt of a timer.
    raised: u32,
}

/// The effect of one more completion.
pub(super) enum PostEffect {
    /// It waits with earlier ones.
    Waits,
    /// It is the first to wait: the interrupt comes after this time, unless other completions raise
    /// it earlier.
    First {
        /// Delay from now.
        after_ns: u64,
        /// Number of the interrupt.
        interrupt: u32,
    },
    /// It raises the interrupt.
    Raises,
}

impl Pending {
    pub(super) fn new(rule: Coalescing) -> Self {
        Self { rule, tags: Vec::with_capacity(rule.threshold as usize), raised: 0 }
    }

    /// Adds the completion of a command.
    pub(super) fn post(&mut self, tag: u32) -> PostEffect {
        self.tags.push(tag);
        match self.tags.len() {
            waiting if waiting >= self.rule.threshold as usize => PostEffect::Raises,
            1 => PostEffect::First { after_ns: self.rule.time_ns, interrupt: self.raised },
            _ => PostEffect::Waits,
        }
    }

    /// Whether this interrupt is still to be raised by its timer.
    pub(super) fn is_awaited(&self, interrupt: u32) -> bool {
        interrupt == self.raised
    }

    /// Raises the interrupt for all waiting completions.
    pub(super) fn raise(&mut self) -> Vec<u32> {
        self.raised = self.raised.wrapping_add(1);
        std::mem::take(&mut self.tags)
    }
}
