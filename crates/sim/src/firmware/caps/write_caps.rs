//! Caps on one kind of writes: on random ones, on sequential ones, or on each.
//!
//! Phenomenon: firmware grants random writes fewer commands in a second than the drive could do, or sequential writes
//! a lower rate than its NAND has, and the other kind is as fast as ever. Source: `SandForce` SF-1200, whose standard
//! firmware stops at 10,000 random writes a second and that of OCZ does not (`AnandTech` 4256); a `MemoRight` FTM Plus,
//! held to 112 MB/s of random writes behind a first interval (review of SF-2281 drives); Intel X25-M, 70 MB/s of
//! sequential writes by firmware (`AnandTech` 4244). Simplifications: the cap holds acknowledgements back and not data,
//! so that no command waits for one of the other kind; a random write counts as one whatever its size; the first
//! command of a stream counts as random. Test: `tests/mechanisms/caps/write_caps.rs`.

use crate::firmware::sequences::{Followed, Sequences};
use crate::host::{Command, transfer_ns};
use crate::ring::Ring;

/// The caps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CapsPlan {
    /// Streams of sequential writes followed at a time.
    pub streams: u32,
    /// Time of a random write at its cap; 0: no cap.
    pub random_command_ns: u64,
    /// Time that random writes may be ahead of their cap.
    pub random_burst_ns: u64,
    /// The cap on sequential writes, or `None` if there is none.
    pub sequential_bytes_per_s: Option<u64>,
}

/// Commands that pass one after the other, each with its time.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Gate {
    /// Those that have passed take until then at the capped rate.
    taken_until_ns: u64,
    burst_ns: u64,
    /// Those that are to pass, with their time; it only grows.
    held: Ring<(u64, u32)>,
}

impl Gate {
    fn new(burst_ns: u64, queue_depth: usize) -> Self {
        Self { taken_until_ns: 0, burst_ns, held: Ring::with_capacity(queue_depth) }
    }

    /// A command that takes so long comes; true if it has to wait.
    fn hold(&mut self, tag: u32, now_ns: u64, command_ns: u64) -> bool {
        let passes_ns = self.taken_until_ns.saturating_sub(self.burst_ns).max(now_ns);
        self.taken_until_ns = self.taken_until_ns.max(now_ns).saturating_add(command_ns);
        if passes_ns > now_ns {
            self.held.push_back((passes_ns, tag));
        }
        passes_ns > now_ns
    }

    fn next_ns(&self) -> Option<u64> {
        self.held.front().map(|(passes_ns, _)| passes_ns)
    }
}

/// The caps with their state.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct WriteCaps {
    plan: CapsPlan,
    sequences: Sequences,
    random: Gate,
    sequential: Gate,
}

impl WriteCaps {
    /// Caps of a drive that takes so many commands; no write has come yet.
    #[must_use]
    pub fn new(plan: CapsPlan, queue_depth: usize) -> Self {
        Self {
            plan,
            sequences: Sequences::new(plan.streams),
            random: Gate::new(plan.random_burst_ns, queue_depth),
            sequential: Gate::new(0, queue_depth),
        }
    }

    /// Whether the next write, to a drive of pages of this size, is a random one.
    pub fn is_random(&mut self, write: &Command, page_bytes: u64) -> bool {
        matches!(self.sequences.follow(&write.span_bytes(page_bytes)), Followed::Begins(_))
    }

    /// All data of a write is in the drive; true if its acknowledgement has to wait. The state of the drive may demand
    /// a longer time of a random write than its cap.
    pub fn hold(&mut self, tag: u32, write: &Command, now_ns: u64, state_ns: u64) -> bool {
        if write.is_random {
            return self.random.hold(tag, now_ns, self.plan.random_command_ns.max(state_ns));
        }
        let rate = self.plan.sequential_bytes_per_s;
        let command_ns = rate.map_or(0, |rate| transfer_ns(write.bytes.into(), rate));
        self.sequential.hold(tag, now_ns, command_ns)
    }

    /// The time of the next acknowledgement, or `None` if none waits.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        [&self.random, &self.sequential].into_iter().filter_map(Gate::next_ns).min()
    }

    /// Takes a write whose acknowledgement need not wait any longer.
    pub fn take_due(&mut self, now_ns: u64) -> Option<u32> {
        let gates = [&mut self.random, &mut self.sequential];
        let due = gates.into_iter().find(|gate| gate.next_ns().is_some_and(|ns| ns <= now_ns))?;
        due.held.pop_front().map(|(_, tag)| tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_at_once_and_then_a_command_at_a_time() {
        let mut gate = Gate::new(20, 8);
        let mut hold = |tag| gate.hold(tag, 100, 10);
        assert_eq!([0, 1, 2].map(&mut hold), [false; 3]);
        assert!(hold(3) && hold(4));
        assert_eq!(
            (gate.held.pop_front(), gate.held.pop_front()),
            (Some((110, 3)), Some((120, 4)))
        );
        // Rest gives the burst back, and no more.
        let mut hold = |tag| gate.hold(tag, 1_000, 10);
        assert_eq!([0, 1, 2, 3].map(&mut hold), [false, false, false, true]);
    }
}
