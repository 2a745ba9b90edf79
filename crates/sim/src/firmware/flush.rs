//! Flush and forced unit access: acknowledged data is in NAND before the command ends.
//!
//! Phenomenon: a loss of power destroys the content of the write buffer; a flush, and a write with
//! FUA, end when their data has left it. Source: ATA FLUSH CACHE and WRITE FPDMA QUEUED with FUA,
//! NVMe Flush and FUA. Simplification: padding completes the open unit, and the command waits for
//! all programs that its streams have issued. Tests: `tests/device/timing.rs`,
//! `tests/power_loss.rs`.

use std::collections::VecDeque;

use crate::ftl::durability::{Mark, StreamPrograms};

/// A waiting flush or forced write.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Flush {
    tag: u32,
    /// Programs that must end first.
    programs: Mark,
    /// Position before which the journal must be durable.
    journal: u64,
}

/// Waiting flushes and forced writes, oldest first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Flushes {
    waiting: VecDeque<Flush>,
}

impl Flushes {
    /// An empty queue with room for one entry per command.
    pub fn new(queue_depth: usize) -> Self {
        Self { waiting: VecDeque::with_capacity(queue_depth) }
    }

    /// Number of waiting commands.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a command that waits for these programs and for the journal's entries before a
    /// position.
    pub fn push(&mut self, tag: u32, programs: Mark, journal: u64) {
        debug_assert!(
            self.waiting.back().is_none_or(|last| last.journal <= journal),
            "the journal became shorter"
        );
        self.waiting.push_back(Flush { tag, programs, journal });
    }

    /// Removes the oldest one, or returns `None` if that has to wait longer; `journal_durable`
    /// entries are in NAND.
    #[inline]
    pub fn pop_ended(&mut self, programs: &StreamPrograms, journal_durable: u64) -> Option<u32> {
        let front = self.waiting.front()?;
        let has_ended = programs.reached(front.programs) && front.journal <= journal_durable;
        if !has_ended {
            return None;
        }
        self.waiting.pop_front().map(|flush| flush.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::StreamId;

    #[test]
    fn a_flush_waits_for_programs_and_journal_and_for_the_one_before_it() {
        let mut programs = StreamPrograms::default();
        let mut flushes = Flushes::new(2);
        let first = programs.issue(StreamId::Host);
        flushes.push(7, programs.mark(&StreamId::BUFFERED), 3);
        flushes.push(8, Mark::default(), 3);
        assert_eq!(flushes.pop_ended(&programs, 3), None);
        programs.end(StreamId::Host, first);
        assert_eq!(flushes.pop_ended(&programs, 2), None);
        assert_eq!(flushes.pop_ended(&programs, 3), Some(7));
        assert_eq!(flushes.pop_ended(&programs, 3), Some(8));
        assert_eq!(flushes.pop_ended(&programs, 3), None);
    }
}
