//! Caps on one kind of writes: on random ones, on sequential ones, or on each.
//!
//! Phenomenon: firmware grants random writes fewer commands in a second than the drive could do, or sequential writes
//! a lower rate than its NAND has, and the other kind is as fast as ever. Source: `SandForce` SF-1200, whose standard
//! firmware stops at 10,000 random writes a second and that of OCZ does not (`AnandTech` 4256); a `MemoRight` FTM Plus,
//! held to 112 MB/s of random writes behind a first interval (review of SF-2281 drives); Intel X25-M, 70 MB/s of
//! sequential writes by firmware (`AnandTech` 4244). Simplifications: the cap holds acknowledgements back and not data,
//! so that no command waits for one of the other kind; a random write counts as one whatever its size; the first
//! command of a stream counts as random. Test: `tests/mechanisms/write_caps.rs`.

use base::facts::Sourced;

use crate::firmware::sequences::{Continuation, Sequences};
use crate::geometry::Geometry;
use crate::host::{Command, transfer_ns};
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, TB_PER_S, section};
use crate::ring::Ring;

/// Streams that are followed unless the model says otherwise (assumed).
const STREAMS_USUAL: u32 = 8;
/// Most random writes in a second.
pub(super) const RANDOM_IOPS_MAX: u64 = 10_000_000;

section! {
    /// Firmware caps on random or sequential writes.
    pub struct WriteCapsSection {
        /// Streams of sequential writes followed at a time; absent: 8.
        pub streams: Option<Sourced<u32>> [1, 64],
        /// Random writes in a second; absent: they have no cap.
        pub random_iops: Option<Sourced<u64>> [1, RANDOM_IOPS_MAX],
        /// Random writes that a rested drive of full size takes at full speed; absent: one. Goes with `random_iops`.
        pub random_burst_commands: Option<Sourced<u64>> [1, 1_000_000_000],
        /// Rate of sequential writes; absent: they have no cap.
        pub sequential_bytes_per_s: Option<Sourced<u64>> [1_000_000, TB_PER_S],
    }
}

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

impl Section for WriteCapsSection {
    type Plan = CapsPlan;
    type State = WriteCaps;

    /// A smaller drive takes fewer random writes at full speed, so that its curve has the same shape.
    fn resolve(&self, basis: &Basis<'_>) -> Result<CapsPlan, ModelError> {
        let streams = self.streams.as_ref().map_or(STREAMS_USUAL, |streams| streams.value);
        let random_command_ns = self.random_iops.as_ref().map_or(0, |iops| command_ns(iops.value));
        let burst_commands = self.random_burst_commands.as_ref().map_or(1, |burst| burst.value);
        let sequential_bytes_per_s = self.sequential_bytes_per_s.as_ref().map(|rate| rate.value);
        if random_command_ns == 0 && self.random_burst_commands.is_some() {
            let rule = "it goes with write_caps.random_iops";
            return basis.check.fail("write_caps.random_burst_commands", burst_commands, rule);
        }
        let is_needed = basis.has("cleaning_states");
        if random_command_ns == 0 && sequential_bytes_per_s.is_none() && !is_needed {
            let rule = "a cap goes with it: write_caps.random_iops, \
                        write_caps.sequential_bytes_per_s or [cleaning_states]";
            return basis.check.fail("write_caps.streams", streams, rule);
        }
        Ok(CapsPlan {
            streams,
            random_command_ns,
            random_burst_ns: (basis.scale.of(burst_commands).max(1) - 1) * random_command_ns,
            sequential_bytes_per_s,
        })
    }

    fn begin(plan: CapsPlan, _: &Geometry, queue_depth: usize) -> WriteCaps {
        WriteCaps::new(plan, queue_depth)
    }
}

/// Time of a random write at a rate.
pub(super) fn command_ns(iops: u64) -> u64 {
    1_000_000_000_u64.div_ceil(iops)
}

impl CapsPlan {
    /// No cap: random writes are only told from others, for [`cleaning_states`](super::cleaning_states).
    pub(crate) const NO_CAP: Self = Self {
        streams: STREAMS_USUAL,
        random_command_ns: 0,
        random_burst_ns: 0,
        sequential_bytes_per_s: None,
    };
}

/// Commands that pass one after the other, each with its time.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Gate {
    /// End of the passed commands at the capped rate.
    taken_until_ns: u64,
    burst_ns: u64,
    /// Waiting commands, with the time of each; it only grows.
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
        matches!(self.sequences.follow(&write.span_bytes(page_bytes)), Continuation::Begins(_))
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
