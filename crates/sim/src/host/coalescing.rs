//! Interrupt coalescing: the drive reports several ends at once.
//!
//! Phenomenon: an NVMe drive may hold its interrupt back until so many completions are posted or the oldest has waited
//! so long. Source: NVM Express base specification, feature 08h (aggregation threshold and time). Simplification: one
//! counter for all queues; the host looks at no completion before the interrupt. Test: `tests/latency.rs`.

/// When an interrupt is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// Completions that raise it.
    pub threshold: u32,
    /// The longest that the first of them waits.
    pub time_ns: u64,
}

/// Completions that wait for their interrupt.
#[derive(Debug)]
pub(super) struct Pending {
    rule: Coalescing,
    tags: Vec<u32>,
    /// Interrupts raised so far: tells the time of an earlier one from that of this one.
    raised: u32,
}

/// The effect of one more completion.
pub(super) enum Posted {
    /// It waits, and so do those before it.
    Waits,
    /// It is the first that waits: unless others raise the interrupt earlier, it is raised after this time.
    First {
        /// From now.
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
    pub(super) fn post(&mut self, tag: u32) -> Posted {
        self.tags.push(tag);
        match self.tags.len() {
            waiting if waiting >= self.rule.threshold as usize => Posted::Raises,
            1 => Posted::First { after_ns: self.rule.time_ns, interrupt: self.raised },
            _ => Posted::Waits,
        }
    }

    /// Whether the time of this interrupt is still the one to raise it.
    pub(super) fn is_awaited(&self, interrupt: u32) -> bool {
        interrupt == self.raised
    }

    /// Raises the interrupt for all that wait.
    pub(super) fn raise(&mut self) -> Vec<u32> {
        self.raised = self.raised.wrapping_add(1);
        std::mem::take(&mut self.tags)
    }
}
