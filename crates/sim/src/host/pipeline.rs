//! The controller's pipeline: latency beside occupancy.
//!
//! Phenomenon: a command spends more time in hardware and firmware than it keeps any part of them
//! busy, so that one command at a time is far slower than the rated rate. Source: rated latency at
//! QD 1 against rated IOPS at QD 32 (Intel S4600: 52 us for a buffered write, 65,000 IOPS).
//! Firmware takes no constant time for a command: one in a hundred waits for interrupts, locks and timers.
//! Under a light load the 99th percentile of a write of a Micron 7450 is 1.5 times its median (SSD-iq).
//! Simplification: the whole latency passes after the work of the command and before the report of
//! its end; the spread is uniform, from nothing to its largest value; the tail adds as much again each time that its
//! probability halves, which is exponential but for straight lines between the halves. Test: `tests/latency.rs`.

use base::{OpKind, Rng};

/// Time of commands in the controller without occupying it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PipelineLatency {
    /// Of a read.
    pub read_ns: u64,
    /// Of any other command.
    pub write_ns: u64,
    /// Largest addition to the latency of a command, drawn at random for each.
    pub spread_ns: u64,
    /// Mean of a further addition, drawn at random for each command: most are short and few are long.
    pub tail_ns: u64,
}

impl PipelineLatency {
    /// A controller whose commands take no time beyond their work.
    pub const NONE: Self = Self { read_ns: 0, write_ns: 0, spread_ns: 0, tail_ns: 0 };
}

/// A pipeline with its random generator.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Pipeline {
    latency: PipelineLatency,
    rng: Rng,
}

impl Pipeline {
    pub(super) fn new(latency: PipelineLatency, seed: u64) -> Self {
        Self { latency, rng: Rng::split(seed, "pipeline") }
    }

    /// The latency of the next command that ends.
    pub(super) fn draw_ns(&mut self, kind: OpKind) -> u64 {
        let PipelineLatency { read_ns, write_ns, spread_ns, tail_ns } = self.latency;
        let fixed_ns = if kind == OpKind::Read { read_ns } else { write_ns };
        let spread_ns = if spread_ns > 0 { self.rng.below(spread_ns + 1) } else { 0 };
        let tail_ns = if tail_ns > 0 { self.rng.exponential(tail_ns) } else { 0 };
        fixed_ns + spread_ns + tail_ns
    }
}
