//! The events of a run: plain data for progress lines and logs.

use base::Nanos;

/// End of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// After this much time on the target's clock.
    Time(Nanos),
    /// After this many bytes.
    Bytes(u64),
    /// At its own end, which is unknown before.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The run directory exists; the target is unchanged.
    Started {
        /// Name of the run directory.
        run_id: String,
        /// Name of the target.
        target: String,
        /// Name of the spare-area variant.
        variant: String,
        /// Seed of every random choice.
        seed: u64,
        /// Resolved parameters, name and value.
        config: Vec<(String, String)>,
    },
    /// The run continues an earlier, incomplete one.
    Resumed {
        /// Name of the earlier run.
        run_id: String,
        /// The parts of it that are kept, the parts that run again, and the reason; a sentence.
        what: String,
    },
    /// A phase begins.
    PhaseStarted {
        name: String,
        /// Its work, in words.
        what: String,
        /// Its end.
        length: Length,
    },
    /// A second of a phase has ended on the target's clock.
    Second {
        /// Index from the start of the phase.
        second: u32,
        /// Commands per second over the true interval.
        iops: f64,
        /// Bytes moved since the start of the phase.
        bytes_done: u64,
        /// Time since the start of the phase.
        elapsed: Nanos,
        /// 99th percentile of the latency in this second.
        latency_ns_p99: Option<u64>,
    },
    /// A phase has ended.
    PhaseEnded {
        name: String,
        /// Commands that ended within it.
        ios: u64,
        /// Length on the target's clock.
        duration: Nanos,
    },
    /// A reason to trust the figures less.
    Warning(String),
}
